//! One message that was measured, for whoever wants more than histograms.

use std::num::NonZeroU64;
use std::time::{Duration, SystemTime};

use crate::baggage::TraceContext;
use crate::intercept::Outcome;
use crate::tree::Path;

/// A message that was measured from its sending to the end of its handling.
///
/// ```
/// # use volary_core::Sample;
/// fn log(sample: &Sample<'_>) {
///     println!("{} waited {:?} and took {:?}", sample.message_type, sample.waited, sample.took);
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// Who handled it.
    pub actor: Path,
    /// The type of that actor.
    pub actor_type: &'static str,
    /// The type of the message.
    pub message_type: &'static str,
    /// When it was begun, by the calendar.
    pub begun: SystemTime,
    /// How long it waited in the mailbox.
    pub waited: Duration,
    /// How long it was handled.
    pub took: Duration,
    /// How that ended.
    pub outcome: Outcome<'a>,
    /// The span of this handling, if it is part of a trace that is recorded.
    pub trace: Option<TraceContext>,
    /// The span that sent the message; `None` if the trace begins here.
    pub parent: Option<NonZeroU64>,
}

/// Gets every message that is measured; see [`SystemBuilder::telemetry_sink`](crate::SystemBuilder::telemetry_sink).
///
/// Called in the way of messages, on whatever thread they are handled: hand over and return. A panic is contained.
///
/// ```
/// # use volary_core::{Sample, TelemetrySink};
/// struct Print;
/// impl TelemetrySink for Print {
///     fn sample(&self, sample: &Sample<'_>) {
///         println!("{} took {:?}", sample.message_type, sample.took);
///     }
/// }
/// ```
pub trait TelemetrySink: Send + Sync + 'static {
    /// A message was measured.
    fn sample(&self, sample: &Sample<'_>);
}
