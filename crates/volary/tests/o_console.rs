//! O3: health, readiness and metrics over HTTP.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use common::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use volary::console::{Console, ConsoleError};
use volary::prelude::*;
use volary::{ShutdownHook, Telemetry, shutdown};

async fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await
}

/// Status, head and body.
async fn ask(address: SocketAddr, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    soon("an answer", stream.read_to_string(&mut text)).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}

/// The samples of a page, after a look at its form.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let mut kinds = BTreeMap::new();
    let mut helped = Vec::new();
    let mut found = BTreeMap::new();
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.is_empty());
            helped.push(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(helped.last().unwrap(), name, "help comes right before");
            assert!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let family = helped.last().unwrap();
            match kinds[family].as_str() {
                "counter" => assert!(name == family && name.ends_with("_total"), "{line}"),
                "gauge" => assert!(name == family && !name.ends_with("_total"), "{line}"),
                "histogram" => {
                    let suffix = name.strip_prefix(family.as_str()).unwrap();
                    assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{line}");
                }
                other => panic!("{other}"),
            }
            assert!(series.contains("{actor_system=\"test\""), "{line}");
            assert!(
                found.insert(series.to_owned(), value.parse().unwrap()).is_none(),
                "{line}"
            );
        }
    }
    found
}

#[tokio::test]
async fn o3_health_and_readiness_are_answered_and_readiness_turns_503_when_a_stop_begins() {
    let (begin, begun) = gate();
    let (open, opened) = gate();
    let hold = ShutdownHook::once(shutdown::INTAKE, "hold", move || async move {
        let _ = begin.send(());
        let _ = opened.await;
    });
    let system = builder("test").on_shutdown(hold).start().await.unwrap();
    let console = Console::bind("127.0.0.1:0").serve(&system).unwrap();
    let address = console.local_addr();
    assert!(address.ip().is_loopback() && address.port() != 0);
    let (status, head, body) = get(address, "/health").await;
    assert_eq!((status, body.as_str()), (200, "alive\n"));
    assert!(
        head.contains("Content-Length: 6\r\n") && head.contains("Connection: close"),
        "{head}"
    );
    assert_eq!(get(address, "/ready?verbose").await.0, 200);

    let stopping = tokio::spawn({
        let system = system.clone();
        async move { system.stop().await }
    });
    soon("the stop", begun).await.unwrap();
    let (status, _, body) = get(address, "/ready").await;
    assert_eq!((status, body.as_str()), (503, "stopping\n"));
    assert_eq!(get(address, "/health").await.0, 200, "it is alive all the while");
    open.send(()).unwrap();
    soon("the stop", stopping).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "it closes with the system");
    assert_eq!((console.traffic().answered, console.connections()), (4, 0));
}

#[tokio::test]
async fn o3_metrics_are_in_the_text_format_of_prometheus_with_the_values_of_the_system() {
    let system = builder("test")
        .telemetry(Telemetry::sampled(1.0))
        .start()
        .await
        .unwrap();
    let console = Console::bind("127.0.0.1:0").serve(&system).unwrap();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).on_fault(Directive::Stop).await.unwrap();
    for number in 0..10 {
        desk.ask(Note { number }).await.unwrap();
    }
    desk.ask(Nap {
        time: Duration::from_millis(3),
    })
    .await
    .unwrap();
    let _ = desk.ask(Crash).await;
    desk.terminated().await;
    system.spawn(a_desk(&log)).await.unwrap();

    let (status, head, page) = get(console.local_addr(), "/metrics").await;
    assert_eq!(status, 200);
    assert!(
        head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{head}"
    );
    let all = samples(&page);
    let kind = std::any::type_name::<Desk>();
    let by_kind = format!("{{actor_system=\"test\",actor_kind=\"{kind}\"");
    assert_eq!(all["actorsystem_actors_count{actor_system=\"test\"}"], 1.0);
    assert_eq!(all["actorsystem_failure_count_total{actor_system=\"test\"}"], 1.0);
    assert!(all.contains_key("actorsystem_uptime_seconds{actor_system=\"test\"}"));
    assert!(all.contains_key("actorsystem_mailbox_memory_bytes{actor_system=\"test\"}"));
    assert_eq!(all[&format!("actor_live_count{by_kind}}}")], 1.0);
    assert_eq!(all[&format!("actor_processed_count_total{by_kind}}}")], 12.0);
    assert_eq!(all[&format!("actor_failure_count_total{by_kind}}}")], 1.0);

    for name in ["actor_handler_duration_seconds", "actor_mailbox_wait_duration_seconds"] {
        let bucket = format!("{name}_bucket{by_kind},le=\"");
        let mut buckets: Vec<(f64, f64)> = all
            .iter()
            .filter_map(|(series, value)| {
                let bound = series.strip_prefix(&bucket)?.strip_suffix("\"}")?;
                Some((bound.replace("+Inf", "inf").parse().unwrap(), *value))
            })
            .collect();
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert_eq!(buckets.len(), volary::BOUNDS.len() + 1);
        assert!(
            buckets.is_sorted_by(|one, other| one.1 <= other.1),
            "cumulative: {buckets:?}"
        );
        assert_eq!(*buckets.last().unwrap(), (f64::INFINITY, 12.0));
        assert_eq!(all[&format!("{name}_count{by_kind}}}")], 12.0);
    }
    let sum = all[&format!("actor_handler_duration_seconds_sum{by_kind}}}")];
    assert!((0.003..10.0).contains(&sum), "{sum}");
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_without_telemetry_there_are_figures_but_no_histograms() {
    let system = system().await;
    let console = Console::bind("127.0.0.1:0").serve(&system).unwrap();
    system.spawn(a_desk(&Log::new())).await.unwrap();
    let page = get(console.local_addr(), "/metrics").await.2;
    let all = samples(&page);
    assert!(all.keys().any(|series| series.starts_with("actor_live_count{")));
    assert!(!page.contains("_bucket") && !page.contains("actor_processed_count"));
    console.close().await;
    console.close().await;
    assert!(TcpStream::connect(console.local_addr()).await.is_err());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_unknown_paths_and_methods_are_told_so() {
    let system = system().await;
    let console = Console::bind("127.0.0.1:0").serve(&system).unwrap();
    let address = console.local_addr();
    for path in ["/", "/metricsx", "/health/", "*", "http://x/health"] {
        assert_eq!(get(address, path).await.0, 404, "{path}");
    }
    let (status, head, _) = ask(address, "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").await;
    assert!(status == 405 && head.contains("Allow: GET, HEAD"), "{head}");
    let (status, head, body) = ask(address, "HEAD /health HTTP/1.1\r\n\r\n").await;
    assert_eq!((status, body.as_str()), (200, ""));
    assert!(head.contains("Content-Length: 6"));
    assert_eq!(ask(address, "GET /ready HTTP/1.0\r\n\r\n").await.0, 200);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_what_cannot_listen_says_why() {
    let system = system().await;
    let console = Console::bind("127.0.0.1:0").serve(&system).unwrap();
    let taken = Console::bind(console.local_addr().to_string())
        .serve(&system)
        .unwrap_err();
    let text = taken.to_string();
    assert!(matches!(taken, ConsoleError::Listen { .. }), "{text}");
    assert!(
        text.contains(&console.local_addr().to_string()) && text.contains("in use"),
        "{text}"
    );
    for outside in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let error = Console::bind(outside).serve(&system).unwrap_err();
        assert!(matches!(error, ConsoleError::BeyondLoopback { .. }), "{error}");
        assert!(error.to_string().contains("bind_beyond_loopback"));
    }
    let wide = Console::bind_beyond_loopback("0.0.0.0:0").serve(&system).unwrap();
    let near = SocketAddr::from(([127, 0, 0, 1], wide.local_addr().port()));
    assert_eq!(get(near, "/health").await.0, 200);
    for nonsense in ["", "localhost", "127.0.0.1", "127.0.0.1:99999"] {
        let error = Console::bind(nonsense).serve(&system).unwrap_err();
        assert!(matches!(error, ConsoleError::Address { .. }), "{error}");
    }
    let bind = || Console::bind("127.0.0.1:0");
    for (console, option) in [
        (bind().connections(0), "connections"),
        (bind().connections(10_001), "connections"),
        (bind().request_timeout(Duration::ZERO), "request_timeout"),
        (bind().answer_timeout(Duration::MAX), "answer_timeout"),
    ] {
        let error = console.serve(&system).unwrap_err();
        assert!(
            matches!(error, ConsoleError::Option { .. }) && error.to_string().contains(option),
            "{error}"
        );
    }
    let bound = bind();
    let elsewhere = system.clone();
    let error = within("no runtime", move || bound.serve(&elsewhere).unwrap_err());
    assert!(matches!(error, ConsoleError::NoRuntime), "{error}");
    system.stop().await.unwrap();
    let late = bind().serve(&system).unwrap_err();
    assert!(matches!(late, ConsoleError::Stopped(_)), "{late}");
}
