//! What became of the connections of a console.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How connections ended; from [`Running::traffic`](crate::Running::traffic).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/get.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("shop").start().await?;
/// # let console = volary_console::Console::bind("127.0.0.1:0").serve(&system)?;
/// # get(&console, "/live").await?;
/// let traffic: volary_console::Traffic = console.traffic();
/// println!("{} answered, {} too slow", traffic.answered, traffic.timed_out);
/// # assert_eq!((traffic.answered, traffic.timed_out), (1, 0));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Requests that were answered, whatever the answer was.
    pub answered: u64,
    /// Of these, requests that could not be read or were too large.
    pub malformed: u64,
    /// Connections that took too long to ask, or to take the answer.
    pub timed_out: u64,
    /// Connections that broke, ended before they asked, or were open when the console closed.
    pub broken: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) answered: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) timed_out: AtomicU64,
    pub(crate) broken: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl Counters {
    pub(crate) fn read(&self) -> Traffic {
        Traffic {
            answered: self.answered.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            timed_out: self.timed_out.load(Relaxed),
            broken: self.broken.load(Relaxed),
        }
    }
}
