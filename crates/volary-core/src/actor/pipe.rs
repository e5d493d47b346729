//! The result of a future as a message.
//!
//! ```text
//!   future ──▶ breaker, timeout ──▶ fallback ──▶ made into a message ──▶ self, an actor, or a path
//! ```
//! All of it runs in a task of the actor (`system/tasks.rs`), which keeps the actor's name and deadline and ends with
//! it; `breaker/call.rs` is the call itself, `contained` what keeps a panic in it from going further.

mod contained;
mod error;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use contained::{Contained, report};
pub use error::PipeError;

use super::context::{Context, Task};
use super::message::Message;
use super::traits::{Actor, Respond};
use crate::breaker::{Call, CircuitBreaker, Outcome};
use crate::cell::WeakCell;
use crate::dispatch::contain;
use crate::reference::Recipient;
use crate::tree::Path;

impl<A: Actor> Context<A> {
    /// Runs a future beside the actor and sends its result as a message. The actor goes on with other messages
    /// meanwhile.
    ///
    /// Say how the call is guarded ([`timeout`](Pipe::timeout), [`breaker`](Pipe::breaker),
    /// [`fallback`](Pipe::fallback)) and then where its result goes: [`to_self`](Pipe::to_self), [`to`](Pipe::to) or
    /// [`to_path`](Pipe::to_path), which sets it off.
    ///
    /// It runs as a task of [`Context::spawn`] does: under the actor's name and with the deadline of the request being
    /// handled, and it is aborted when the actor stops or restarts. Only a result that is being sent at that very
    /// moment, or waits in the mailbox already, arrives after a restart. A panic in the future reaches the message as
    /// [`PipeError::Panicked`]; wherever one happens, it is contained and reported as [`ActorFailed`](crate::ActorFailed).
    ///
    /// A message that is refused, by a full mailbox or because its receiver has ended, becomes exactly one dead letter.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use std::convert::Infallible;
    /// use volary_core::*;
    ///
    /// # async fn fetch(_: u32) -> Result<u64, std::io::Error> { Ok(3) }
    /// struct Shop { prices: CircuitBreaker }
    /// # impl Actor for Shop {}
    /// # struct Order { item: u32 }
    /// # impl Message for Order { type Reply = (); type Rejection = Infallible; }
    /// struct Priced { item: u32, cents: Option<u64> }
    /// # impl Message for Priced { type Reply = (); type Rejection = Infallible; }
    ///
    /// impl SyncHandler<Order> for Shop {
    ///     fn handle(&mut self, order: Order, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         let item = order.item;
    ///         ctx.pipe(fetch(item))
    ///             .timeout(Duration::from_secs(2))
    ///             .breaker(&self.prices)
    ///             .to_self(move |price| Priced { item, cents: price.ok() });
    ///         Ok(())
    ///     }
    /// }
    /// impl SyncHandler<Priced> for Shop {
    ///     fn handle(&mut self, priced: Priced, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         println!("{} costs {:?}", priced.item, priced.cents);
    ///         # ctx.system().events().publish(priced.cents);
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("demo").start().await?;
    /// # let priced = system.events().subscribe::<Option<u64>>();
    /// # let prices = CircuitBreaker::new(BreakerOptions::default().named("prices"))?;
    /// let shop = system.spawn(move || Shop { prices: prices.clone() }).await?;
    /// shop.tell(Order { item: 7 })?;
    /// # assert_eq!(priced.next().await?, Some(3));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn pipe<F, T, E>(&self, future: F) -> Pipe<'_, A, F, T, E>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: 'static,
        E: 'static,
    {
        Pipe {
            ctx: self,
            future,
            timeout: None,
            breaker: None,
            judge: None,
            fallback: None,
        }
    }
}

/// A future whose result will be a message; see [`Context::pipe`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, move |ctx| {
/// let pipe = ctx.pipe(fetch()); // nothing has happened yet
/// pipe.to_self(|price| Deposit(price.unwrap_or(1))); // now it runs
/// # Ok(()) }).await?;
/// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a pipe does nothing until it is told where its result goes"]
pub struct Pipe<'a, A, F, T, E> {
    ctx: &'a Context<A>,
    future: F,
    timeout: Option<Duration>,
    breaker: Option<CircuitBreaker>,
    judge: Option<Judge<E>>,
    fallback: Option<Fallback<T, E>>,
}

type Judge<E> = Box<dyn FnOnce(&E) -> Outcome + Send>;
type Fallback<T, E> = Box<dyn FnOnce(PipeError<E>) -> T + Send>;

impl<A, F, T, E> Pipe<'_, A, F, T, E>
where
    A: Actor,
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: 'static,
    E: 'static,
{
    /// How long the future may take, on the system's clock. After that it is dropped, and the outcome is
    /// [`PipeError::Timeout`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, move |ctx| {
    /// ctx.pipe(fetch()).timeout(Duration::from_secs(2)).to_self(|price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, after: Duration) -> Self {
        self.timeout = Some(after);
        self
    }

    /// Makes the call through a circuit breaker. If that refuses, the future is never polled, and the outcome is
    /// [`PipeError::Refused`]. An error, a timeout and a panic count as failures, a pipe that was aborted as nothing.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, move |ctx| {
    /// let prices = CircuitBreaker::new(BreakerOptions::default())?;
    /// prices.trip(ctx.now()); // it is open, and nothing is fetched
    /// ctx.pipe(fetch()).breaker(&prices).to_self(|price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # let cents = loop { match alice.ask(Balance).await? { 0 => tokio::task::yield_now().await, cents => break cents } };
    /// # assert_eq!(cents, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn breaker(mut self, breaker: &CircuitBreaker) -> Self {
        self.breaker = Some(breaker.clone());
        self
    }

    /// What an error says to the breaker about the called side. Without a judge every error is a failure.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use std::io::ErrorKind;
    /// use volary_core::breaker::Outcome;
    /// # async fn fetch() -> Result<i64, ErrorKind> { Err(ErrorKind::NotFound) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let prices = CircuitBreaker::new(BreakerOptions::default())?;
    /// # let breaker = prices.clone();
    /// # inside(&alice, move |ctx| {
    /// ctx.pipe(fetch())
    ///     .breaker(&breaker)
    ///     .judge(|error| match error {
    ///         ErrorKind::NotFound => Outcome::Success, // they answered, and well
    ///         _ => Outcome::Failure,
    ///     })
    ///     .to_self(|price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(prices.counters(system.now()).failed, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn judge(mut self, judge: impl FnOnce(&E) -> Outcome + Send + 'static) -> Self {
        self.judge = Some(Box::new(judge));
        self
    }

    /// What to do without the call: used when it failed, panicked, took too long or was refused. The outcome is `Ok`
    /// then. To the breaker it remains what it was.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, move |ctx| {
    /// let last_known = 2;
    /// ctx.pipe(fetch()).fallback(move |_| last_known).to_self(|price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn fallback(mut self, fallback: impl FnOnce(PipeError<E>) -> T + Send + 'static) -> Self {
        self.fallback = Some(Box::new(fallback));
        self
    }

    /// Sets it off; the actor itself gets the message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, move |ctx| {
    /// let task = ctx.pipe(fetch()).to_self(|price| Deposit(price.unwrap_or(1)));
    /// task.abort(); // changed our mind
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn to_self<M: Message>(self, message: impl FnOnce(Result<T, PipeError<E>>) -> M + Send + 'static) -> Task
    where
        A: Respond<M>,
    {
        let me = self.ctx.me();
        self.to(&me, message)
    }

    /// Sets it off; another actor gets the message: an [`ActorRef`](crate::ActorRef) or a [`Recipient`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let till: Recipient<Deposit> = alice.recipient();
    /// # inside(&alice, move |ctx| {
    /// ctx.pipe(fetch()).to(&till, |price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn to<M: Message>(
        self,
        target: impl Into<Recipient<M>>,
        message: impl FnOnce(Result<T, PipeError<E>>) -> M + Send + 'static,
    ) -> Task {
        let target = target.into();
        self.run(move |outcome| target.deliver(message(outcome)))
    }

    /// Sets it off; whoever lives at the path when the result is there gets the message, if it is listed in their
    /// [`Actor::messages`], as `#[actor]` does. If nobody there takes it, it is a dead letter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # async fn fetch() -> Result<i64, std::io::Error> { Ok(3) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, move |ctx| {
    /// let alice: Path = "/user/alice".parse()?;
    /// ctx.pipe(fetch()).to_path(&alice, |price| Deposit(price.unwrap_or(1)));
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn to_path<M: Message>(
        self,
        path: &Path,
        message: impl FnOnce(Result<T, PipeError<E>>) -> M + Send + 'static,
    ) -> Task {
        let (system, path) = (self.ctx.system(), path.clone());
        self.run(move |outcome| system.deliver(&path, message(outcome)))
    }

    fn run(self, deliver: impl FnOnce(Result<T, PipeError<E>>) + Send + 'static) -> Task {
        let actor = self.ctx.here().to_ref().downgrade();
        let future = Contained::new(self.future, actor.clone());
        let mut call = Call::new(self.ctx.system(), self.breaker, future);
        if let Some(after) = self.timeout {
            call = call.timeout(after);
        }
        let judge_of = actor.clone();
        call = call.judge(move |error| judged(error, self.judge, &judge_of));
        let fallback = self.fallback;
        self.ctx.spawn(async move {
            let outcome = match (call.await, fallback) {
                (Err(error), Some(fallback)) => contain(|| fallback(error.into())).map_err(|fault| {
                    report(&actor, &fault);
                    PipeError::Panicked(fault)
                }),
                (outcome, _) => outcome.map_err(PipeError::from),
            };
            deliver(outcome);
        })
    }
}

/// What the breaker is told of an error. A judge that panics has not said that it is none.
fn judged<E>(error: &PipeError<E>, judge: Option<Judge<E>>, actor: &WeakCell) -> Outcome {
    let (PipeError::Failed(error), Some(judge)) = (error, judge) else {
        return Outcome::Failure;
    };
    contain(|| judge(error)).unwrap_or_else(|fault| {
        report(actor, &fault);
        Outcome::Failure
    })
}

impl<A, F, T, E> fmt::Debug for Pipe<'_, A, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("timeout", &self.timeout)
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
