//! What is measured, as data.

/// What the figures of messages are told apart by.
///
/// ```
/// # use volary_core::{Cardinality, Telemetry};
/// let telemetry = Telemetry::sampled(0.01).cardinality(Cardinality::Low);
/// # let _ = telemetry;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Cardinality {
    /// By the type of the actor, up to 256 types; the rest is counted together.
    #[default]
    PerKind,
    /// By nothing: one set of figures for the system.
    Low,
}

/// What is measured of messages; see [`SystemBuilder::telemetry`](crate::SystemBuilder::telemetry).
///
/// ```
/// use volary_core::Telemetry;
/// # use volary_core::ActorSystem;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("shop").telemetry(Telemetry::sampled(0.01)).start().await?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Telemetry {
    pub(crate) share: f64,
    pub(crate) cardinality: Cardinality,
    pub(crate) traces: Traces,
}

/// Whether a message that is measured begins a trace of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traces {
    Continued,
    Begun,
}

impl Telemetry {
    /// Measures this share of all messages, between 0 and 1; 0.01 costs little. Events of the event stream and signals
    /// such as `Terminated` are not measured. A message that was put aside is measured twice: when it was, and when it
    /// came back, from then on.
    ///
    /// ```
    /// # use volary_core::Telemetry;
    /// let _ = Telemetry::sampled(0.01);
    /// ```
    pub fn sampled(share: f64) -> Self {
        Telemetry {
            share,
            cardinality: Cardinality::default(),
            traces: Traces::Continued,
        }
    }

    /// Says what the figures are told apart by.
    ///
    /// ```
    /// # use volary_core::{Cardinality, Telemetry};
    /// let _ = Telemetry::sampled(0.01).cardinality(Cardinality::Low);
    /// ```
    pub fn cardinality(mut self, cardinality: Cardinality) -> Self {
        self.cardinality = cardinality;
        self
    }

    /// Lets a message that is measured, and is not part of a trace, begin one. Otherwise traces only begin where
    /// somebody puts one into a [`Baggage`](crate::Baggage).
    ///
    /// ```
    /// # use volary_core::Telemetry;
    /// let _ = Telemetry::sampled(0.01).begin_traces();
    /// ```
    pub fn begin_traces(mut self) -> Self {
        self.traces = Traces::Begun;
        self
    }

    /// One message in how many; 0 for none.
    pub(crate) fn every(&self) -> u32 {
        if self.share > 0.0 {
            (1.0 / self.share).round().clamp(1.0, f64::from(u32::MAX)) as u32
        } else {
            0
        }
    }

    /// What is wrong with it, if anything.
    pub(crate) fn is_sound(&self) -> bool {
        (0.0..=1.0).contains(&self.share)
    }
}
