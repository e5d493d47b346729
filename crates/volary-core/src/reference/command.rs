//! What is done to an actor by a reference, besides sending it messages: to stop it, to restart it, to let it sleep.
//!
//! Each sets control bits in the state word of the cell, which its next turn sees. For an actor elsewhere it is an
//! [`Errand`] of its way out.

use super::actor_ref::ActorRef;
use super::foreign::Errand;
use super::target::Target;
use crate::cell::state::{DRAIN, KILL, REINSTATE, RESTART, STOP};

impl<T: Target> ActorRef<T> {
    /// Stops the actor after the message that it is handling. Messages behind that one become dead
    /// letters. Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(alice.tell(Deposit(5)).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stop(&self) {
        self.command(Errand::Stop, STOP);
    }

    /// Stops the actor after everything that is in its mailbox now. New messages are refused.
    /// Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// alice.drain(); // the deposit is handled first
    /// alice.terminated().await;
    /// assert_eq!(system.metrics().dead_letters, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn drain(&self) {
        if self.cell().send_errand(Errand::Drain) {
            return;
        }
        self.cell().close_mailbox();
        self.cell().control(DRAIN);
    }

    /// Stops the actor at once: a suspended handler is dropped where it waits. Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.kill();
    /// alice.terminated().await;
    /// assert!(alice.tell(Deposit(5)).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn kill(&self) {
        self.command(Errand::Kill, KILL);
    }

    /// Passivates the actor after the message that it is handling, whatever its [`Passivation`](crate::Passivation) says: its
    /// hooks run and its state is dropped, and the next message starts it anew. Messages that wait are such messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Deposit(5)).await?;
    /// alice.passivate();
    /// assert_eq!(alice.ask(Balance).await?, 0, "built anew, for this message");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivate(&self) {
        if !self.cell().send_errand(Errand::Passivate) {
            self.cell().passivate();
        }
    }

    /// Keeps the actor awake until [`resume_passivation`](ActorRef::resume_passivation). False: it is never passivated by
    /// itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let idle = Passivation::after(Duration::from_secs(60));
    /// let bob = system.spawn(Account::default).passivation(idle).await?;
    /// assert!(bob.pause_passivation());
    /// assert!(!alice.pause_passivation(), "alice stays awake anyway");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "pausing is what it is called for")]
    pub fn pause_passivation(&self) -> bool {
        self.cell().pause_passivation(true)
    }

    /// Takes back [`pause_passivation`](ActorRef::pause_passivation); the idle time begins now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let idle = Passivation::after(Duration::from_secs(60));
    /// let bob = system.spawn(Account::default).passivation(idle).await?;
    /// bob.pause_passivation();
    /// assert!(bob.resume_passivation());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "resuming is what it is called for")]
    pub fn resume_passivation(&self) -> bool {
        self.cell().pause_passivation(false)
    }

    /// Rebuilds the actor from its factory after the message that it is handling. Its address,
    /// mailbox and watchers stay.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Deposit(5)).await?;
    /// alice.restart();
    /// assert_eq!(alice.ask(Balance).await?, 0, "the same actor, begun anew");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn restart(&self) {
        self.command(Errand::Restart, RESTART);
    }

    /// Lets an actor go on that supervision has suspended, with its state as it is and its restarts
    /// forgiven. Does nothing to one that is not suspended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorSuspended>();
    /// let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// bob.ask(Deposit(5)).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// events.next().await?; // he has crashed, and waits
    /// bob.reinstate();
    /// assert_eq!(bob.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn reinstate(&self) {
        self.command(Errand::Reinstate, REINSTATE);
    }

    /// Sets control bits, or lets somebody do so where the actor lives.
    fn command(&self, errand: Errand, bits: u32) {
        if !self.cell().send_errand(errand) {
            self.cell().control(bits);
        }
    }
}
