//! Timers of an actor, as its handlers see them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

use super::context::Context;
use super::message::Message;
use super::traits::{Actor, Respond};
use crate::cell::{Plan, TimerName};

/// Shorter periods would be all there is to do.
const SHORTEST: Duration = Duration::from_millis(1);

/// Nothing has come for a while; see [`Context::set_receive_timeout`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Session;
/// impl Actor for Session {
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         ctx.set_receive_timeout(Duration::from_millis(5));
///         Ok(())
///     }
/// }
/// impl SyncHandler<ReceiveTimeout> for Session {
///     fn handle(&mut self, _: ReceiveTimeout, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         ctx.stop();
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let session = system.spawn(|| Session).await?;
/// session.terminated().await;
/// assert!(!session.is_alive(), "nothing came");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveTimeout;

impl Message for ReceiveTimeout {
    type Reply = ();
    type Rejection = Infallible;
}

impl<A: Actor> Context<A> {
    /// Sends `message` to this actor after `delay`. A timer of the same name is replaced, even if its message
    /// waits in the mailbox already. It ends with this incarnation of the actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.set_timer("interest", Duration::from_secs(30), Deposit(1));
    /// assert_eq!(ctx.timers(), ["interest"]);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn set_timer<M: Message>(&mut self, name: impl Into<Cow<'static, str>>, delay: Duration, message: M)
    where
        A: Respond<M>,
    {
        self.here()
            .set_timer::<A, M>(TimerName::Named(name.into()), Plan::Once(delay), message, |_| None);
    }

    /// Sends copies of `message` to this actor at a fixed rate, the first after `every` (a millisecond at least). A copy that would come
    /// while the one before still waits in the mailbox is left out. Otherwise as [`set_timer`](Context::set_timer).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.set_interval("interest", Duration::from_secs(1), Deposit(1));
    /// assert_eq!(ctx.timers(), ["interest"]);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn set_interval<M: Message + Clone>(&mut self, name: impl Into<Cow<'static, str>>, every: Duration, message: M)
    where
        A: Respond<M>,
    {
        let every = every.max(SHORTEST);
        self.here()
            .set_timer::<A, M>(TimerName::Named(name.into()), Plan::Every(every), message, |message| {
                Some(message.clone())
            });
    }

    /// Forgets a timer; its message, if it waits in the mailbox, is not delivered. False: there is none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.set_timer("interest", Duration::from_secs(30), Deposit(1));
    /// assert!(ctx.cancel_timer("interest"));
    /// assert!(!ctx.cancel_timer("interest"), "it is not set any more");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn cancel_timer(&mut self, name: impl Into<Cow<'static, str>>) -> bool {
        self.here().cancel_timer(&TimerName::Named(name.into()))
    }

    /// The names of the timers that are set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.set_timer("interest", Duration::from_secs(30), Deposit(1));
    /// assert_eq!(ctx.timers(), ["interest"]);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn timers(&self) -> Vec<String> {
        self.here().timer_names()
    }

    /// Sends [`ReceiveTimeout`] to this actor when no message was handled for `idle`, and again after as long.
    /// A suspended handler is not idle.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let told = system.events().subscribe::<ReceiveTimeout>();
    /// # inside(&alice, |ctx| {
    /// ctx.set_receive_timeout(Duration::from_millis(5));
    /// # Ok(()) }).await?;
    /// assert_eq!(told.next().await?, ReceiveTimeout); // her handler has published it
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn set_receive_timeout(&mut self, idle: Duration)
    where
        A: Respond<ReceiveTimeout>,
    {
        let plan = Plan::Idle(idle.max(SHORTEST));
        self.here().await_messages(true);
        self.here()
            .set_timer::<A, _>(TimerName::ReceiveTimeout, plan, ReceiveTimeout, |message| {
                Some(*message)
            });
    }

    /// Takes it back.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.set_receive_timeout(Duration::from_secs(60));
    /// ctx.cancel_receive_timeout();
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn cancel_receive_timeout(&mut self) {
        self.here().await_messages(false);
        self.here().cancel_timer(&TimerName::ReceiveTimeout);
    }
}
