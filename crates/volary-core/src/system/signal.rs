//! Running until the operating system says that it is time to go.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::handle::ActorSystem;
use super::problem::StopError;

/// What actors get for the work they have when a signal has come.
const SIGNAL_DRAIN: Duration = Duration::from_secs(5);

impl ActorSystem {
    /// Waits for SIGTERM or SIGINT (Ctrl-C), and then stops the system. Comes back as well when the
    /// system is stopped otherwise.
    ///
    /// The signals are caught from the first poll on. The first one begins the stop: readiness turns false, then the
    /// phases of the [`shutdown`](crate::shutdown) follow. Actors have five seconds to do the work they have, or
    /// `drain-timeout` if that is longer, before they are stopped. A second one [hurries](ActorSystem::hurry_stop) it: what
    /// still waits is cut off. Further ones are ignored.
    ///
    /// Cancel safe: once begun, the stop goes on; signals that come later find nobody who hurries it.
    ///
    /// Set `shutdown-timeout` to somewhat less than what the process gets before it is killed, such as the grace period
    /// of a pod: what has to be cut off then may take a few seconds to let go.
    ///
    /// ```
    /// # use volary_core::{Env, SeededEnv};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let env = SeededEnv::new(1);
    /// # env.clone().block_on(async move {
    /// let system = volary_core::ActorSystem::builder("bank")
    ///     # .environment(env)
    ///     .start()
    ///     .await?;
    /// // spawn actors, open sockets
    /// # let other = system.clone();
    /// # system.world().spawn(Box::pin(async move { other.stop().await.unwrap() }));
    /// system.run_until_signal().await?;
    /// # assert!(system.is_stopping());
    /// # Ok(()) }) }
    /// ```
    ///
    /// # Errors
    /// What [`stop`](ActorSystem::stop) reports.
    pub async fn run_until_signal(&self) -> Result<(), StopError> {
        let mut signal = self.core.env().termination();
        let mut stopped = pin!(self.stopped());
        let caught = poll_fn(|task| {
            if let Poll::Ready(signal) = signal.as_mut().poll(task) {
                return Poll::Ready(Some(signal));
            }
            stopped.as_mut().poll(task).map(|_| None)
        })
        .await;
        let Some(signal) = caught else {
            return self.stop().await;
        };
        tracing::info!(system = %self.name(), signal, "stopping");
        self.core.drain_for(SIGNAL_DRAIN);
        let mut again = Some(self.core.env().termination());
        let mut stop = pin!(self.stop());
        poll_fn(|task| {
            if let Poll::Ready(result) = stop.as_mut().poll(task) {
                return Poll::Ready(result);
            }
            if let Some(signal) = &mut again
                && let Poll::Ready(signal) = signal.as_mut().poll(task)
            {
                tracing::warn!(system = %self.name(), signal, "hurrying");
                again = None;
                self.hurry_stop();
            }
            Poll::Pending
        })
        .await
    }

    /// Waits until somebody has stopped the system, without stopping it. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let (_, result) = tokio::join!(system.stop(), system.stopped());
    /// println!("{} is down: {result:?}", system.name());
    /// # assert!(result.is_ok());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What that stop reported.
    pub async fn stopped(&self) -> Result<(), StopError> {
        self.core.stopping.ended().await
    }
}
