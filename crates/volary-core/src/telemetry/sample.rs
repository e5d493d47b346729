//! One message that was measured, for whoever wants more than histograms.

use std::num::NonZeroU64;
use std::time::{Duration, SystemTime};

use crate::baggage::TraceContext;
use crate::intercept::Outcome;
use crate::tree::Path;

/// A message that was measured from its sending to the end of its handling.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/sink.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { sampled(|sample| {
/// println!("{} waited {:?} and took {:?}", sample.message_type, sample.waited, sample.took);
/// # assert!(sample.message_type.ends_with("Deposit"));
/// # assert_eq!(sample.actor.to_string(), "/user/alice");
/// # }).await }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Sample<'a> {
    /// Who handled it.
    pub actor: Path,
    /// The type of that actor.
    pub actor_type: &'static str,
    /// What it is counted under: the type of the actor, unless fewer series are wanted; see
    /// [`Cardinality`](crate::Cardinality).
    pub label: &'static str,
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

/// A handling that begins and is part of a trace.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/sink.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { begun(|begun| {
/// println!("{} is handled by a {}, as part of {:?}", begun.message_type, begun.actor_type, begun.parent);
/// # assert!(begun.message_type.ends_with("Deposit"));
/// # }).await }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Begun {
    /// The type of the actor that handles it.
    pub actor_type: &'static str,
    /// The type of the message.
    pub message_type: &'static str,
    /// When that was, by the calendar.
    pub begun: SystemTime,
    /// The span that sent the message; `None` if the trace begins here.
    pub parent: Option<TraceContext>,
}

/// Gets every message that is measured; see [`SystemBuilder::telemetry_sink`](crate::SystemBuilder::telemetry_sink).
///
/// Called in the way of messages, on whatever thread they are handled: hand over and return. A panic is contained.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use std::sync::Mutex;
///
/// struct Names(Arc<Mutex<Vec<&'static str>>>);
/// impl TelemetrySink for Names {
///     fn sample(&self, sample: &Sample<'_>) {
///         self.0.lock().unwrap().push(sample.message_type);
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// let names = Arc::new(Mutex::default());
/// let builder = ActorSystem::builder("bank").telemetry(Telemetry::sampled(1.0));
/// let system = builder.telemetry_sink(Names(names.clone())).start().await?;
/// system.spawn(Account::default).await?.ask(Deposit(5)).await?;
/// # system.stop().await?;
/// assert!(names.lock().unwrap().iter().any(|name| name.ends_with("Deposit")));
/// # Ok(()) }
/// ```
pub trait TelemetrySink: Send + Sync + 'static {
    /// A message was measured.
    fn sample(&self, sample: &Sample<'_>);

    /// A handling begins that is part of a trace: opens its span, if spans are named elsewhere, and says which it is.
    /// What the handler sends is sent by that span, and the [`Sample`] of its end carries it. One that is not sampled
    /// ends the recording of this branch. With `None` the runtime draws an id itself.
    ///
    /// Of several sinks the first that answers decides.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use std::num::NonZeroU64;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// /// Numbers spans in the order in which they begin.
    /// struct Numbered(Arc<AtomicU64>);
    /// impl TelemetrySink for Numbered {
    ///     fn sample(&self, _: &Sample<'_>) {}
    ///     fn open_span(&self, begun: &Begun) -> Option<TraceContext> {
    ///         let span = NonZeroU64::new(self.0.fetch_add(1, Ordering::Relaxed) + 1)?;
    ///         Some(TraceContext::new(begun.parent?.trace_id(), span).sampled())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let spans = Arc::new(AtomicU64::new(0));
    /// let builder = ActorSystem::builder("bank").telemetry(Telemetry::sampled(1.0).begin_traces());
    /// let system = builder.telemetry_sink(Numbered(spans.clone())).start().await?;
    /// system.spawn(Account::default).await?.ask(Deposit(5)).await?;
    /// assert_eq!(spans.load(Ordering::Relaxed), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    fn open_span(&self, begun: &Begun) -> Option<TraceContext> {
        let _ = begun;
        None
    }
}
