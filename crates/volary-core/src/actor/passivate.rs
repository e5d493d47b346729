//! Passivation, as an actor's handlers see it.

use super::context::Context;
use super::traits::Actor;

impl<A: Actor> Context<A> {
    /// Passivates this actor after the message being handled, whatever its [`Passivation`](crate::Passivation) says.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # alice.tell(Deposit(5))?;
    /// # inside(&alice, |ctx| {
    /// ctx.passivate(); // after this message
    /// # Ok(()) }).await?;
    /// assert_eq!(alice.ask(Balance).await?, 0, "built anew, for this one");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivate(&mut self) {
        self.here().passivate();
    }

    /// Keeps this actor awake until [`resume_passivation`](Context::resume_passivation), unless it is
    /// [told](Context::passivate) to go. False: it is never passivated by itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let idle = Passivation::after(Duration::from_secs(60));
    /// # let bob = system.spawn(Account::default).passivation(idle).await?;
    /// # inside(&bob, |ctx| {
    /// assert!(ctx.pause_passivation());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "pausing is what it is called for")]
    pub fn pause_passivation(&mut self) -> bool {
        self.here().pause_passivation(true)
    }

    /// Takes back [`pause_passivation`](Context::pause_passivation); the idle time begins now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let idle = Passivation::after(Duration::from_secs(60));
    /// # let bob = system.spawn(Account::default).passivation(idle).await?;
    /// # inside(&bob, |ctx| {
    /// ctx.pause_passivation();
    /// assert!(ctx.resume_passivation());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "resuming is what it is called for")]
    pub fn resume_passivation(&mut self) -> bool {
        self.here().pause_passivation(false)
    }

    /// Says how much memory this actor holds beside its own size, for
    /// [`Eviction::at_most_bytes`](crate::Eviction::at_most_bytes). Forgotten when it starts anew.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let history: Vec<u64> = Vec::with_capacity(100);
    /// ctx.set_heap_bytes(8 * history.capacity() as u64);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.here().set_heap_bytes(bytes);
    }
}
