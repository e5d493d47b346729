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
//! - [`Scheduler`] sends later, or again and again.
//! - [`Fault`] crashes, a [`Rejection`] answers, [`Failure`] can be either.
//! - [`Context::pipe`] makes a message of a future's result; [`CircuitBreaker`] stops calling what fails.
//! - [`Fsm`] is a state machine in an actor, with states that have a timeout.
//! - [`SeededEnv`] runs a whole system on one thread, in an order drawn from a seed.
//!
//! # Features
//! - `cron`: `Cron`, schedules by the calendar in a time zone, and `Scheduler::cron`. Off unless asked for.
//! - `wire`: `wire`, messages that travel between nodes, written as Protocol Buffers; `json`, `cbor` and `postcard`
//!   add the codecs of these names.
//! - `remote`: `remote`, the same `tell` and `ask` across machines. Off unless asked for.
//! - `remote-tls`: certificates on both sides of each connection; `remote-zstd`, `remote-lz4`, `remote-gzip`,
//!   `remote-brotli`: fewer bytes on it. Off unless asked for.
//! - `telemetry`: `volary::telemetry`, figures and traces for OpenTelemetry. Off unless asked for.
//! - `console`: `volary::console`, health, readiness and metrics over HTTP. Off unless asked for.
#![forbid(unsafe_code)]

mod error;

pub use error::{Error, Result};
#[cfg(feature = "console")]
#[doc(inline)]
pub use volary_console as console;
pub use volary_core::*;
#[cfg(feature = "remote")]
#[doc(inline)]
pub use volary_remote as remote;
#[cfg(feature = "telemetry")]
#[doc(inline)]
pub use volary_telemetry as telemetry;

/// Messages that travel between nodes: names, codecs, the registry of types, and the frames they travel in.
///
/// ```
/// use volary::prelude::*;
/// use volary::wire::Registry;
///
/// #[derive(Clone, PartialEq, prost::Message, Message)]
/// #[message(reply = i64, remote = "bank.v1.Deposit")]
/// struct Deposit {
///     #[prost(int64, tag = "1")]
///     cents: i64,
/// }
///
/// struct Account { cents: i64 }
///
/// #[actor(kind = "bank.v1.Account", remote(Deposit))] // what other nodes may send, and nothing else
/// impl Account {
///     #[handles]
///     fn deposit(&mut self, deposit: Deposit) -> i64 {
///         self.cents += deposit.cents;
///         self.cents
///     }
///     fn close(&mut self) {}
/// }
///
/// let mut registry = Registry::new();
/// registry.kind::<Account>()?;
/// assert!(registry.find_kind("bank.v1.Account").is_some());
/// # Ok::<(), volary::wire::RegisterError>(())
/// ```
#[cfg(feature = "wire")]
pub use volary_wire as wire;

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

/// # A chapter on state machines
///
/// Many actors are in one state or another: a door is locked, closed or open; a payment is started, authorised, or
/// over. An enum says which states there are and what each knows. [`FsmState`] says how long each may last, and which
/// may follow which. An `Fsm` of them is a field of the actor, and keeps the time.
///
/// ```
/// use std::time::Duration;
/// use volary::prelude::*;
/// use volary::{Fsm, FsmState, StateTimeout};
///
/// #[derive(Debug, Clone, PartialEq)]
/// enum Door {
///     Locked { wrong: u32 },          // how many wrong codes there were
///     Closed,                         // unlocked: whoever does not open it in time finds it locked
///     Open,
///     Alarm,
/// }
///
/// impl FsmState for Door {
///     fn timeout(&self) -> Option<Duration> {
///         match self {
///             Door::Closed => Some(Duration::from_secs(5)),
///             Door::Open => Some(Duration::from_secs(60)),
///             Door::Locked { .. } | Door::Alarm => None,
///         }
///     }
///     fn may_go_to(&self, next: &Self) -> bool {
///         !matches!((self, next), (Door::Locked { .. }, Door::Open)) // not without being unlocked
///     }
/// }
///
/// struct Lock { door: Fsm<Door>, code: u32 }
///
/// #[actor]
/// impl Lock {
///     fn new(code: u32) -> Self {
///         Lock { door: Fsm::new(Door::Locked { wrong: 0 }), code }
///     }
///
///     fn started(&mut self, ctx: &mut Context<Self>) {
///         self.door.start(ctx);       // the time of the first state begins
///     }
///
///     fn enter(&mut self, code: u32, ctx: &mut Context<Self>) -> Result<bool, Fault> {
///         let is_right = code == self.code;
///         match self.door.state_mut() {
///             Door::Locked { .. } if is_right => { self.door.goto(Door::Closed, ctx)?; }
///             Door::Locked { wrong: 2 } => { self.door.goto(Door::Alarm, ctx)?; }
///             Door::Locked { wrong } => *wrong += 1,
///             Door::Closed if is_right => self.door.stay(ctx), // five seconds again
///             Door::Closed | Door::Open | Door::Alarm => {}
///         }
///         Ok(is_right)
///     }
///
///     fn open(&mut self, ctx: &mut Context<Self>) -> Result<Door, Fault> {
///         if *self.door.state() == Door::Closed {
///             let change = self.door.goto(Door::Open, ctx)?;
///             println!("{change} after {:?}", change.after); // Closed -> Open after 2s
///         }
///         Ok(self.door.state().clone())
///     }
///
///     /// Comes only while the door still is in that state, in the same visit to it.
///     #[handles]
///     fn too_long(&mut self, _: StateTimeout<Door>, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         let next = match self.door.state() {
///             Door::Open => Door::Alarm,
///             _ => Door::Locked { wrong: 0 },
///         };
///         self.door.goto(next, ctx)?;
///         Ok(())
///     }
/// }
///
/// # let env = volary::SeededEnv::new(1);
/// # env.clone().block_on(async move {
/// # let system = ActorSystem::builder("house").environment(env).start().await.unwrap();
/// let lock = system.spawn(|| Lock::new(4711)).await.unwrap();
/// assert_eq!(lock.ask(Open).await.unwrap(), Door::Locked { wrong: 0 });
/// assert!(lock.ask(Enter { code: 4711 }).await.unwrap());
/// assert_eq!(lock.ask(Open).await.unwrap(), Door::Open);
/// system.sleep(Duration::from_secs(61)).await; // virtual time, in a test
/// assert_eq!(lock.ask(Open).await.unwrap(), Door::Alarm);
/// # system.stop().await.unwrap();
/// # });
/// ```
///
/// A change that [`may_go_to`](FsmState::may_go_to) forbids is a bug of the actor: with `?` it is a fault that names
/// both states, and supervision decides. After a restart the factory makes a new machine, and no timeout of the old one
/// arrives.
#[doc(inline)]
pub use volary_core::Fsm;

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
        once, protocol,
    };
}

/// The programs of the README are compiled and run like every other example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The chapter of the book about remoting, so that its programs are run.
#[cfg(all(doctest, feature = "remote", feature = "postcard"))]
#[doc = include_str!("../../../docs/book/src/remoting.md")]
struct Remoting;

/// The chapter of the book about figures and traces, so that its programs are run.
#[cfg(all(doctest, feature = "console", feature = "telemetry"))]
#[doc = include_str!("../../../docs/book/src/observability.md")]
struct Observability;

/// The chapter of the book that needs a codec beside Protocol Buffers.
#[cfg(all(doctest, feature = "json"))]
#[doc = include_str!("../../../docs/book/src/wire.md")]
struct EvolvingMessages;
