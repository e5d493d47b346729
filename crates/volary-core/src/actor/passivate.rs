//! Passivation, as an actor's handlers see it.

use super::context::Context;
use super::traits::Actor;

impl<A: Actor> Context<A> {
    /// Passivates this actor after the message being handled, whatever its [`Passivation`](crate::Passivation) says.
    ///
    /// ```
    /// # use volary_core::*;
    /// # fn f<A: Actor>(ctx: &mut Context<A>) {
    /// ctx.passivate();
    /// # }
    /// ```
    pub fn passivate(&mut self) {
        self.here().passivate();
    }

    /// Keeps this actor awake until [`resume_passivation`](Context::resume_passivation), unless it is
    /// [told](Context::passivate) to go. False: it is never passivated by itself.
    ///
    /// ```
    /// # use volary_core::*;
    /// # fn f<A: Actor>(ctx: &mut Context<A>) {
    /// ctx.pause_passivation();
    /// # }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "pausing is what it is called for")]
    pub fn pause_passivation(&mut self) -> bool {
        self.here().pause_passivation(true)
    }

    /// Takes back [`pause_passivation`](Context::pause_passivation); the idle time begins now.
    ///
    /// ```
    /// # use volary_core::*;
    /// # fn f<A: Actor>(ctx: &mut Context<A>) {
    /// ctx.resume_passivation();
    /// # }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "resuming is what it is called for")]
    pub fn resume_passivation(&mut self) -> bool {
        self.here().pause_passivation(false)
    }

    /// Says how much memory this actor holds beside its own size, for
    /// [`Eviction::at_most_bytes`](crate::Eviction::at_most_bytes). Forgotten when it starts anew.
    ///
    /// ```
    /// # use volary_core::*;
    /// # fn f<A: Actor>(ctx: &mut Context<A>, history: &Vec<u64>) {
    /// ctx.set_heap_bytes(8 * history.capacity() as u64);
    /// # }
    /// ```
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.here().set_heap_bytes(bytes);
    }
}
