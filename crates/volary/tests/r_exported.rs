//! R8, O3, L29: what remoting counts is in both exporters, whichever of them began first.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use volary::console::{Console, Running};
use volary::prelude::*;
use volary::remote::Remote;
use volary::telemetry::Otel;

#[derive(Default)]
struct Account {
    cents: u64,
}

#[actor(kind = "bank.Account", remote(Deposit))]
impl Account {
    #[message(remote = "bank.Deposit", codec = postcard, derive(Serialize, Deserialize))]
    fn deposit(&mut self, cents: u64) -> u64 {
        self.cents += cents;
        self.cents
    }
}

async fn node(name: &str) -> (ActorSystem, Remote) {
    let system = builder(name).start().await.unwrap();
    let remote = remote(&system).await;
    (system, remote)
}

async fn remote(system: &ActorSystem) -> Remote {
    let builder = Remote::builder().kind::<Account>();
    builder.start(system, "127.0.0.1:0").await.unwrap()
}

async fn page(console: &Running) -> String {
    let mut stream = TcpStream::connect(console.local_addr()).await.unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut text = String::new();
    soon("an answer", stream.read_to_string(&mut text)).await.unwrap();
    text
}

/// The values of one counter, with their attributes.
fn counted(exporter: &InMemoryMetricExporter, provider: &SdkMeterProvider, name: &str) -> Vec<(Vec<String>, u64)> {
    exporter.reset();
    provider.force_flush().unwrap();
    let mut found = Vec::new();
    for resource in exporter.get_finished_metrics().unwrap() {
        for metric in resource.scope_metrics().flat_map(|scope| scope.metrics()) {
            if metric.name() == name
                && let AggregatedMetrics::U64(MetricData::Sum(sum)) = metric.data()
            {
                found.extend(sum.data_points().map(|point| {
                    let of = |kv: &opentelemetry::KeyValue| format!("{}={}", kv.key, kv.value);
                    (point.attributes().map(of).collect(), point.value())
                }));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_remoting_is_in_the_page_of_the_console_and_among_the_instruments_of_opentelemetry() {
    let (bank, there) = node("bank").await;
    bank.spawn(Account::default).named("alice").await.unwrap();
    let till = builder("till").start().await.unwrap();
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(exporter.clone())
        .build();
    // Before there is any remoting.
    Otel::new(&provider).install(&till).unwrap();
    let console = Console::bind("127.0.0.1:0").serve(&till).unwrap();
    assert!(!page(&console).await.contains("remote_"));

    let here = remote(&till).await;
    let address = format!("volary://bank@{}/user/alice", there.node()).parse().unwrap();
    let alice: ActorRef<Account> = here.actor(&address).unwrap();
    for sum in 1..=3 {
        assert_eq!(soon("an answer", alice.ask(Deposit { cents: 1 })).await.unwrap(), sum);
    }
    let page = page(&console).await;
    let peer = there.node();
    for line in [
        "remote_messages_sent_count_total{actor_system=\"till\"} 3".to_owned(),
        format!("remote_peer_messages_sent_count_total{{actor_system=\"till\",remote_peer=\"{peer}\"}} 3"),
        format!("remote_peer_connected{{actor_system=\"till\",remote_peer=\"{peer}\"}} 1"),
        "# TYPE remote_written_bytes_total counter".to_owned(),
        "# TYPE remote_outbound_waiting_bytes gauge".to_owned(),
    ] {
        assert!(page.lines().any(|seen| seen == line), "no {line} in {page}");
    }

    let counted = |name| counted(&exporter, &provider, name);
    let system = "actor.system=till".to_owned();
    assert_eq!(counted("remote.messages.sent.count"), [(vec![system.clone()], 3)]);
    let mut of_peer = counted("remote.peer.messages.sent.count");
    of_peer.iter_mut().for_each(|(attributes, _)| attributes.sort());
    assert_eq!(of_peer, [(vec![system, format!("remote.peer={peer}")], 3)]);
    till.stop().await.unwrap();
    bank.stop().await.unwrap();
    provider.shutdown().unwrap();
}
