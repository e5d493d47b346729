//! The figures of a system as instruments of OpenTelemetry.

use std::sync::Arc;

use opentelemetry::metrics::{Meter, MeterProvider};
use volary_core::{ActorSystem, HookError, Instrument, InstrumentKind, ShutdownHook, shutdown};

use crate::latencies::Latencies;
use crate::observed::Observed;

/// Of how many actors there can be figures of their own; beyond some thousands most exporters lump all together.
///
/// ```
/// assert!(volary_telemetry::MAX_ACTORS >= 100);
/// ```
pub const MAX_ACTORS: usize = 1_000;

/// Hands the figures of systems to OpenTelemetry.
///
/// ```
/// # use opentelemetry_sdk::metrics::SdkMeterProvider;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use volary_core::ActorSystem;
/// use volary_telemetry::Otel;
///
/// let meters = SdkMeterProvider::builder().build();   // with an exporter of your choice
/// let system = ActorSystem::builder("shop").start().await?;
/// Otel::new(&meters).install(&system)?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Otel {
    meter: Meter,
    actors: usize,
}

impl Otel {
    /// With instruments of this provider. Figures of actors are told apart by the type of the actor.
    ///
    /// ```
    /// # use opentelemetry_sdk::metrics::SdkMeterProvider;
    /// let otel = volary_telemetry::Otel::new(&SdkMeterProvider::default());
    /// # let _ = otel;
    /// ```
    pub fn new(provider: &impl MeterProvider) -> Self {
        Otel {
            meter: provider.meter("volary"),
            actors: 0,
        }
    }

    /// Gives figures of their own to so many actors, the first by their paths, and [`MAX_ACTORS`] at most: children,
    /// stash, mailbox and what was processed. All others stay together by their type. Crashes, restarts,
    /// reinstatements and dead letters are always told by type.
    ///
    /// ```
    /// # use opentelemetry_sdk::metrics::SdkMeterProvider;
    /// let otel = volary_telemetry::Otel::new(&SdkMeterProvider::default()).per_actor(100);
    /// # let _ = otel;
    /// ```
    pub fn per_actor(mut self, most: usize) -> Self {
        self.actors = most.min(MAX_ACTORS);
        self
    }

    /// What makes histograms of the messages that a system measures; for
    /// [`SystemBuilder::telemetry_sink`](volary_core::SystemBuilder::telemetry_sink) of the system of that name.
    ///
    /// ```
    /// # use opentelemetry_sdk::metrics::SdkMeterProvider;
    /// use volary_core::{ActorSystem, Telemetry};
    /// # let otel = volary_telemetry::Otel::new(&SdkMeterProvider::default());
    /// let builder = ActorSystem::builder("shop")
    ///     .telemetry(Telemetry::sampled(0.01))
    ///     .telemetry_sink(otel.latencies("shop"));
    /// # let _ = builder;
    /// ```
    pub fn latencies(&self, system: &str) -> Latencies {
        Latencies::new(&self.meter, system)
    }

    /// Registers an instrument for each figure of the system, and of what is added to it later, as by remoting; once for
    /// each system. They are read when the provider collects, and not any more when the system has stopped. With a
    /// system of a million actors a collection takes a look at each of them.
    ///
    /// ```
    /// # use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// # let exporter = InMemoryMetricExporter::default();
    /// # let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
    /// volary_telemetry::Otel::new(&provider).install(&system)?;
    /// # provider.force_flush()?;
    /// # assert!(!exporter.get_finished_metrics()?.is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the system is down already: there is nothing to read.
    pub fn install(&self, system: &ActorSystem) -> Result<(), HookError> {
        let observed = Arc::new(Observed::new(system.clone(), self.actors));
        let released = observed.clone();
        let hook = ShutdownHook::once(shutdown::AFTER_ACTORS, "telemetry", move || async move {
            released.release();
        });
        system.on_shutdown(hook)?;
        let (otel, later) = (self.clone(), observed.clone());
        // First, so that what is added meanwhile is not missed.
        system.on_instruments(move |added| otel.register_new(added, &later));
        self.register_new(&system.instruments(), &observed);
        Ok(())
    }

    fn register_new(&self, instruments: &[Instrument], observed: &Arc<Observed>) {
        for instrument in instruments {
            if observed.is_new(instrument.name) {
                self.register(instrument, observed.clone());
            }
        }
    }

    fn register(&self, instrument: &Instrument, observed: Arc<Observed>) {
        let Instrument { name, unit, help, .. } = *instrument;
        match instrument.kind {
            InstrumentKind::Counter => {
                self.meter
                    .u64_observable_counter(name)
                    .with_unit(unit)
                    .with_description(help)
                    .with_callback(move |told| observed.tell(name, |value, attributes| told.observe(value, attributes)))
                    .build();
            }
            _ => {
                self.meter
                    .u64_observable_gauge(name)
                    .with_unit(unit)
                    .with_description(help)
                    .with_callback(move |told| observed.tell(name, |value, attributes| told.observe(value, attributes)))
                    .build();
            }
        }
    }
}
