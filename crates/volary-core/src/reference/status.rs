//! What can be said of an actor from outside, at one moment.

use crate::cell::Header;
use crate::cell::state::{ASLEEP, DEAD, DRAIN, HELD, KILL, PAUSED, SLOW, STOP};

/// The flags of an actor, as they were when somebody looked.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let status: ActorStatus = alice.status();
/// assert!(status.running && !status.slow && !status.ended);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ActorStatus {
    /// It handles messages: it has started, and nobody has told it to stop.
    pub running: bool,
    /// A turn is under way or due, or a handler waits for something.
    pub busy: bool,
    /// It was told to stop, and has not ended yet.
    pub stopping: bool,
    /// It has crashed, and is held by supervision.
    pub suspended: bool,
    /// It is passivated, and starts with its next message.
    pub asleep: bool,
    /// It has ended.
    pub ended: bool,
    /// Its handlers were seen to keep a worker for long.
    pub slow: bool,
    /// It belongs to the runtime and lives below `/system`.
    pub system: bool,
}

impl ActorStatus {
    pub(crate) fn of(cell: &Header) -> Self {
        let state = cell.state.load();
        let ended = state & DEAD != 0;
        let stopping = !ended && state & (STOP | DRAIN | KILL) != 0;
        ActorStatus {
            running: !ended && !stopping && state & PAUSED == 0,
            busy: !ended && cell.state.is_busy(),
            stopping,
            suspended: state & HELD != 0,
            asleep: !ended && state & ASLEEP != 0,
            ended,
            slow: state & SLOW != 0,
            system: is_system(cell),
        }
    }
}

/// Whether the cell is the guardian `/system` or lives below it.
fn is_system(cell: &Header) -> bool {
    let mut cell = cell;
    while let Some(parent) = cell.parent() {
        if parent.parent().is_none() {
            return cell.name_bytes() == b"system";
        }
        cell = parent;
    }
    false
}
