//! Volary: typed actors at the speed of the memory bus on one machine, and room to grow into a
//! cluster.
//!
//! ```
//! use volary::prelude::*;
//!
//! struct Account { cents: i64 }
//!
//! #[derive(Debug, Rejection)]
//! struct Overdrawn { missing: i64 }
//!
//! #[actor] // makes the messages Deposit and Withdraw, and their handlers
//! impl Account {
//!     fn deposit(&mut self, cents: i64) -> i64 {
//!         self.cents += cents;
//!         self.cents
//!     }
//!     fn withdraw(&mut self, cents: i64) -> Result<i64, Overdrawn> {
//!         if cents > self.cents {
//!             return Err(Overdrawn { missing: cents - self.cents });
//!         }
//!         self.cents -= cents;
//!         Ok(self.cents)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> volary::Result<()> {
//!     let system = ActorSystem::builder("bank").start().await?;
//!     let alice = system.spawn(|| Account { cents: 0 }).named("alice").await?;
//!     alice.tell(Deposit { cents: 10 })?;
//!     match alice.ask(Withdraw { cents: 15 }).await {
//!         Err(AskError::Rejected(Overdrawn { missing })) => println!("short of {missing}"),
//!         answer => println!("now {}", answer?),
//!     }
//!     system.stop().await?;
//!     Ok(())
//! }
//! ```
//!
//! # Where to look
//! - [`actor`](macro@actor) turns the methods of a type into messages; [`Handler`], [`SyncHandler`]
//!   and [`Respond`] are the traits beneath.
//! - [`ActorRef`] sends: [`tell`](ActorRef::tell), [`send`](ActorRef::send), [`ask`](ActorRef::ask).
//! - [`ActorSystem`] starts, finds, lists and stops actors; [`settings`] says what can be set.
//! - [`Fault`] crashes, a [`Rejection`] answers, [`Failure`] can be either.
//! - [`CircuitBreaker`] stops calling what fails.
//! - [`SeededEnv`] runs a whole system on one thread, in an order drawn from a seed.
//!
//! # Features
//! - `cron`: `Cron`, schedules by the calendar in a time zone. Off unless asked for.
#![forbid(unsafe_code)]

mod error;

pub use error::{Error, Result};
pub use volary_core::*;

/// Makes messages and handlers from the methods of an impl block.
///
/// ```
/// use volary::prelude::*;
///
/// struct Counter { value: u64 }
///
/// #[actor]
/// impl Counter {
///     /// Becomes the message `Add { by }`, answered with the new value.
///     fn add(&mut self, by: u64) -> u64 {
///         self.value += by;
///         self.value
///     }
///     async fn slow_add(&mut self, by: u64, ctx: &mut Context<Self>) -> u64 {
///         ctx.sleep(std::time::Duration::from_millis(1)).await;
///         self.add(by)
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> volary::Result<()> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// let counter = system.spawn(|| Counter { value: 0 }).await?;
/// counter.tell(Add { by: 1 })?;
/// assert_eq!(counter.ask(SlowAdd { by: 2 }).await?, 3);
/// # system.stop().await?; Ok(()) }
/// ```
pub use volary_macros::actor;

/// Names a set of messages, so that a reference can be typed by it instead of by the actor.
///
/// ```
/// use volary::prelude::*;
///
/// # struct Counter { value: u64 }
/// # #[actor] impl Counter { pub fn add(&mut self, by: u64) -> u64 { self.value += by; self.value }
/// #   pub fn get(&mut self) -> u64 { self.value } }
/// protocol!(pub Countable { Add, Get });
///
/// async fn twice(counter: ActorRef<Countable>) -> volary::Result<u64> {
///     counter.tell(Add { by: 2 })?;
///     Ok(counter.ask(Get).await?)
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> volary::Result<()> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// # let counter = system.spawn(|| Counter { value: 0 }).await?;
/// assert_eq!(twice(counter.narrow()).await?, 2);
/// # system.stop().await?; Ok(()) }
/// ```
pub use volary_macros::protocol;

/// Turns a struct or enum into a [`Message`](trait@Message).
///
/// ```
/// use volary::prelude::*;
///
/// #[derive(Message)]
/// #[message(reply = u64)]
/// struct Get;
/// # fn is<M: Message<Reply = u64>>() {} is::<Get>();
/// ```
pub use volary_macros::Message;

/// Turns a type into a [`Rejection`](trait@Rejection): an answer "no" that never reaches the
/// supervisor.
///
/// ```
/// use volary::prelude::*;
///
/// #[derive(Debug, Rejection)]
/// struct SoldOut;
/// # fn is<R: Rejection>() {} is::<SoldOut>();
/// ```
pub use volary_macros::Rejection;

/// What an actor program usually names.
///
/// ```
/// use volary::prelude::*;
/// # let _ = ActorSystem::builder("doc");
/// ```
pub mod prelude {
    pub use crate::{
        Actor, ActorRef, ActorSystem, AskError, Context, Directive, Dispatcher, Failure, Fault, Handler, MailboxKind,
        Message, OrFault, Props, Recipient, Rejection, ReplyTo, Respond, SyncHandler, TellError, Terminated, actor,
        protocol,
    };
}

/// The programs of the README are compiled and run like every other example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
