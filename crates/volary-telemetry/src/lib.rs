//! OpenTelemetry for Volary: the figures of a system as instruments, latencies as histograms, and the handling of
//! messages as spans.
//!
//! ```text
//!   ActorSystem ── instruments() ──▶ Otel ───────▶ observable counters and gauges ─┐
//!        │                                                                        ├─▶ your exporter
//!        └──────── samples ────────▶ Latencies ──▶ histograms ─────────────────────┤
//!                                └─▶ Spans ──────▶ spans ──────────────────────────┘
//! ```
//!
//! Names, units and attributes are those of GoAkt where it has the same figure: `actor.system`, `actor.kind`, and with
//! [`Otel::per_actor`] also `actor.name` and `actor.address`. What GoAkt has and this has not: `actor.uptime` and
//! `actor.last.received.duration`, which would take a look at the clock with every spawn and every message. What can fall
//! is a gauge here; GoAkt calls everything a counter.
//!
//! ```
//! use opentelemetry::trace::TracerProvider;
//! use volary_core::{ActorSystem, Telemetry};
//! use volary_telemetry::{Otel, Spans};
//! # use opentelemetry_sdk::{metrics::SdkMeterProvider, trace::SdkTracerProvider};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (meters, tracers) = (SdkMeterProvider::default(), SdkTracerProvider::default());
//!
//! let otel = Otel::new(&meters);
//! let system = ActorSystem::builder("shop")
//!     .telemetry(Telemetry::sampled(0.01))
//!     .telemetry_sink(otel.latencies("shop"))
//!     .telemetry_sink(Spans::new(tracers.tracer("shop")))
//!     .start()
//!     .await?;
//! otel.install(&system)?;
//! # system.stop().await?; Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod latencies;
mod observed;
mod otel;
mod per_actor;
pub mod propagation;
mod spans;

pub use latencies::Latencies;
pub use otel::{MAX_ACTORS, Otel};
pub use spans::{MAX_OPEN, Spans};
