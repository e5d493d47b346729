//! How a schedule says that its message failed.

use std::convert::Infallible;

use super::handle::ScheduleId;
use crate::actor::{Fault, Message};

/// The message of a schedule panicked when it was copied, which ends the schedule, or when it was dropped.
/// Published on the event stream.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Rare;
/// impl Clone for Rare {
///     fn clone(&self) -> Self { panic!("there is only one") }
/// }
/// # impl Message for Rare { type Reply = (); type Rejection = Infallible; }
/// # impl SyncHandler<Rare> for Account { fn handle(&mut self, _: Rare, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let events = system.events().subscribe::<ScheduleFailed>();
/// system.scheduler().every(Duration::from_millis(1)).named("rarely").tell(&alice, Rare)?;
/// assert_eq!(events.next().await?.name.as_deref(), Some("rarely"));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScheduleFailed {
    /// Which schedule.
    pub id: ScheduleId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The Rust type of the message.
    pub message_type: &'static str,
    /// What went wrong.
    pub fault: Fault,
}

impl Message for ScheduleFailed {
    type Reply = ();
    type Rejection = Infallible;
}
