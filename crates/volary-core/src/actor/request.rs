//! Requests: asks whose answer is handled in a later turn, so the actor need not wait.

use std::fmt;
use std::time::Duration;

use super::context::Context;
use super::fault::Fault;
use super::message::Message;
use super::reentrancy::{Mode, RequestError};
use super::traits::Actor;
use crate::cell::Asked;
use crate::reference::{AskError, Recipient};

/// What a continuation may return: nothing, or a result whose error crashes the actor.
///
/// ```
/// # use volary_core::{Continued, Fault};
/// assert!(().into_result().is_ok());
/// assert!(Err::<(), _>(Fault::msg("no")).into_result().is_err());
/// ```
pub trait Continued {
    /// The fault, if there is one.
    ///
    /// ```
    /// # use volary_core::Continued;
    /// assert!(Ok(()).into_result().is_ok());
    /// ```
    ///
    /// # Errors
    /// The fault that goes to the supervisor.
    fn into_result(self) -> Result<(), Fault>;
}

impl Continued for () {
    fn into_result(self) -> Result<(), Fault> {
        Ok(())
    }
}

impl Continued for Result<(), Fault> {
    fn into_result(self) -> Result<(), Fault> {
        self
    }
}

/// A request that has not been made yet; [`then`](Request::then) makes it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let bob = system.spawn(Account::default).await?;
/// # let till: Recipient<Deposit> = bob.recipient();
/// # inside(&alice, move |ctx| {
/// let request: Request<'_, Account, Deposit> = ctx.request(&till, Deposit(5));
/// request.timeout(Duration::from_secs(1)).then(|account, answer, _ctx| account.cents = answer.unwrap_or(1))?;
/// # Ok(()) }).await?;
/// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
/// assert_eq!(alice.ask(Balance).await?, 5); // what bob has answered
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a request is made by `then`"]
pub struct Request<'a, A, M: Message> {
    ctx: &'a Context<A>,
    target: Recipient<M>,
    message: M,
    timeout: Option<Duration>,
    holds_others: bool,
}

impl<A: Actor> Context<A> {
    /// Asks another actor, and goes on without waiting: the answer is handled by the function given to
    /// [`then`](Request::then), in a turn of its own, in order with the messages of this actor.
    ///
    /// What happens to other messages meanwhile is said by [`Props::reentrancy`](crate::Props::reentrancy). When the
    /// actor restarts or stops, its requests are cancelled and their continuations never run.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// use volary_core::*;
    /// # struct Price(u64); impl Message for Price { type Reply = u64; type Rejection = Infallible; }
    /// # struct Market; impl Actor for Market {}
    /// # impl SyncHandler<Price> for Market { fn handle(&mut self, p: Price, _: &mut Context<Self>) -> Result<u64, Failure> { Ok(p.0 * 3) } }
    /// struct Shop { market: ActorRef<Market>, sold: u64 }
    /// impl Actor for Shop {}
    ///
    /// struct Sell(u64);
    /// # impl Message for Sell { type Reply = u64; type Rejection = Infallible; }
    /// impl Respond<Sell> for Shop {
    ///     async fn respond(&mut self, sell: Sell, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         ctx.request(&self.market, Price(sell.0)).then(|shop: &mut Shop, price, _ctx| {
    ///             let price = price.or_fault()?; // the market is gone: crash
    ///             shop.sold += price;
    ///             reply.send(shop.sold);
    ///             Ok(())
    ///         })?;
    ///         Ok(()) // the next message is handled while the market thinks
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("demo").start().await?;
    /// # let market = system.spawn(|| Market).await?;
    /// # let shop = system.spawn(move || Shop { market: market.clone(), sold: 0 }).await?;
    /// assert_eq!(shop.ask(Sell(2)).await?, 6);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn request<M: Message>(&self, target: impl Into<Recipient<M>>, message: M) -> Request<'_, A, M> {
        Request {
            holds_others: self.here().reentrancy().mode == Mode::HoldOthers,
            ctx: self,
            target: target.into(),
            message,
            timeout: None,
        }
    }

    /// How many answers are due.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).await?;
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// ctx.request(&till, Deposit(5)).then(|_, _, _| ())?;
    /// assert_eq!(ctx.requests(), 1);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn requests(&self) -> usize {
        self.here().requests()
    }
}

impl<A: Actor, M: Message> Request<'_, A, M> {
    /// How long to wait for the answer; as for an ask.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await; // which holds him
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// let request = ctx.request(&till, Deposit(5)).timeout(Duration::from_millis(5)); // bob does not answer
    /// request.then(|account, answer, _ctx| account.cents = answer.unwrap_or(1))?;
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(alice.ask(Balance).await?, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Other messages wait until this answer has come, whatever the actor's mode.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).await?;
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// let request = ctx.request(&till, Deposit(5)).hold_others();
    /// request.then(|account, answer, _ctx| account.cents = answer.unwrap_or(0))?;
    /// # Ok(()) }).await?;
    /// assert_eq!(alice.ask(Balance).await?, 5); // answered behind that
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn hold_others(mut self) -> Self {
        self.holds_others = true;
        self
    }

    /// Other messages do not wait for this answer, whatever the actor's mode.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await; // which holds him
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// let carol = system.spawn(Account::default).reentrancy(Reentrancy::hold_others()).await?;
    /// # inside(&carol, move |ctx| {
    /// let request = ctx.request(&till, Deposit(5)).let_others_pass(); // bob does not answer
    /// request.then(|_account, _answer, _ctx| ())?;
    /// # Ok(()) }).await?;
    /// assert_eq!(carol.ask(Balance).await?, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn let_others_pass(mut self) -> Self {
        self.holds_others = false;
        self
    }

    /// Makes the request. `then` is called with the actor when the answer is there, or the time is over, or the target
    /// has ended; exactly once, unless the actor restarts or stops before. A fault or panic in it is a crash of the
    /// actor, as in a handler.
    ///
    /// Costs two allocations, for the ask and the continuation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).await?;
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// ctx.request(&till, Deposit(5)).then(|account: &mut Account, answer, _ctx| {
    ///     account.cents = answer.unwrap_or(1);
    /// })?;
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(alice.ask(Balance).await?, 5); // what bob has answered
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the actor may make no requests, or has as many in flight as it may.
    pub fn then<F, T>(self, then: F) -> Result<PendingRequest, RequestError<M>>
    where
        F: FnOnce(&mut A, Result<M::Reply, AskError<M::Rejection>>, &mut Context<A>) -> T + Send + 'static,
        T: Continued,
    {
        let (cell, message) = (self.ctx.here(), self.message);
        let reentrancy = cell.reentrancy();
        if reentrancy.mode == Mode::Off {
            return Err(RequestError::Off(message));
        }
        let limit = reentrancy.in_flight;
        if cell.requests() >= limit {
            return Err(RequestError::TooMany { limit, message });
        }
        let (target, timeout) = (self.target, self.timeout);
        let ask = async move {
            let ask = target.ask(message);
            match timeout {
                Some(timeout) => ask.timeout(timeout).await,
                None => ask.await,
            }
        };
        let then = |actor: &mut A, answer, ctx: &mut Context<A>| then(actor, answer, ctx).into_result();
        Ok(PendingRequest(Asked::begin(
            cell,
            self.ctx.origin(),
            self.holds_others,
            ask,
            then,
        )))
    }
}

impl<A, M: Message> fmt::Debug for Request<'_, A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("target", &self.target)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A request whose answer is due. Dropping this leaves it so.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let bob = system.spawn(Account::default).await?;
/// # let till: Recipient<Deposit> = bob.recipient();
/// # inside(&alice, move |ctx| {
/// let pending: PendingRequest = ctx.request(&till, Deposit(5)).then(|_, _, _| ())?;
/// assert!(pending.is_pending());
/// # Ok(()) }).await?;
/// # system.stop().await?; Ok(()) }
/// ```
pub struct PendingRequest(crate::cell::RequestHandle);

impl PendingRequest {
    /// Cancels the request: its continuation never runs, and the ask ends as if its asker had gone. False: the answer
    /// was handled already, or is being handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).await?;
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// let pending = ctx.request(&till, Deposit(5)).then(|_, _, _| ())?;
    /// assert!(pending.cancel(), "in time");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "cancelling is what it is called for")]
    pub fn cancel(&self) -> bool {
        self.0.cancel()
    }

    /// Whether the answer is still due.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = system.spawn(Account::default).await?;
    /// # let till: Recipient<Deposit> = bob.recipient();
    /// # inside(&alice, move |ctx| {
    /// let pending = ctx.request(&till, Deposit(5)).then(|_, _, _| ())?;
    /// assert!(pending.is_pending());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.0.is_pending()
    }
}

impl fmt::Debug for PendingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingRequest")
            .field("pending", &self.is_pending())
            .finish()
    }
}
