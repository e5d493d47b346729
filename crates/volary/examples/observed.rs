//! A system that can be looked at: figures and traces for OpenTelemetry, and a console that Prometheus can scrape.
//!
//! `cargo run -p volary --features telemetry,console --example observed`

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use volary::Telemetry;
use volary::console::Console;
use volary::prelude::*;
use volary::telemetry::{Otel, Spans};

struct Till {
    cents: u64,
}

#[actor]
impl Till {
    fn pay(&mut self, cents: u64) -> u64 {
        self.cents += cents;
        self.cents
    }
}

struct Shop {
    till: ActorRef<Till>,
}

#[actor]
impl Shop {
    async fn sell(&mut self, cents: u64) -> Result<u64, Fault> {
        self.till.ask(Pay { cents }).await.or_fault()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In a program of yours these are exporters that send somewhere.
    let (figures, spans) = (InMemoryMetricExporter::default(), InMemorySpanExporter::default());
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(figures.clone())
        .build();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();

    let otel = Otel::new(&meters);
    let system = ActorSystem::builder("market")
        .telemetry(Telemetry::sampled(1.0).begin_traces()) // 0.01 where there is work to do
        .telemetry_sink(otel.latencies("market"))
        .telemetry_sink(Spans::new(tracers.tracer("market")))
        .start()
        .await?;
    otel.install(&system)?;
    let console = Console::bind("127.0.0.1:0").serve(&system)?;

    let till = system.spawn(|| Till { cents: 0 }).named("till").await?;
    let shop = system.spawn(move || Shop { till: till.clone() }).named("shop").await?;
    for _ in 0..3 {
        shop.ask(Sell { cents: 250 }).await?;
    }

    println!("what Prometheus scrapes at http://{}/metrics:", console.local_addr());
    let mut scrape = TcpStream::connect(console.local_addr()).await?;
    scrape.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").await?;
    let mut page = String::new();
    scrape.read_to_string(&mut page).await?;
    for line in page
        .lines()
        .filter(|line| line.starts_with("actor") && !line.contains("_bucket"))
    {
        println!("  {line}");
    }

    println!("what a tracer gets:");
    for span in spans.get_finished_spans()? {
        let (trace, id) = (span.span_context.trace_id(), span.span_context.span_id());
        println!(
            "  {:5} trace {trace} span {id} below {}",
            span.name, span.parent_span_id
        );
    }
    meters.force_flush()?;
    let collected = figures.get_finished_metrics()?;
    let instruments = collected.iter().flat_map(|all| all.scope_metrics());
    println!(
        "and {} instruments were exported",
        instruments.flat_map(|scope| scope.metrics()).count()
    );
    system.stop().await?; // the console closes with it
    Ok(())
}
