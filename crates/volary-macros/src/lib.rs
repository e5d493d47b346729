//! The macros of Volary: [`macro@actor`], [`protocol!`](macro@protocol), and the derives
//! [`Message`](macro@Message) and [`Rejection`](macro@Rejection).
//!
//! Use them through the `volary` crate, which brings the traits they implement. Everything they
//! generate could be written by hand against those traits; nothing of it is hidden or magic. Code
//! that reaches the facade by another path says so with `crate = path`, in `#[actor(…)]`,
//! `#[message(…)]`, `#[rejection(…)]` or `#[protocol(…)]`.
#![forbid(unsafe_code)]
#![allow(
    clippy::large_enum_variant,
    reason = "pieces of syntax are large, few, and gone in a moment"
)]

mod actor;
mod complaints;
mod derive;
mod facade;
mod message;
mod protocol;
mod rejection;
mod wire;

use proc_macro::TokenStream;

/// Makes messages of an actor's methods, and handlers for them.
///
/// Stands on an inherent impl block. Every method with `&mut self` or `&self` becomes a message
/// named after it; the block itself stays as written, so the methods can still be called directly.
/// Functions without a receiver, such as constructors, are left alone. A method that is only a
/// helper, private ones included, is marked `#[actor(skip)]`.
///
/// ```
/// use volary::prelude::*;
///
/// struct Account { cents: i64 }
///
/// #[derive(Debug, Rejection)]
/// struct Overdrawn { missing: i64 }
///
/// #[actor]
/// impl Account {
///     fn open() -> Self { Account { cents: 0 } }      // no receiver: not a message
///
///     /// Puts money in.
///     fn deposit(&mut self, cents: i64) -> i64 {      // struct Deposit { cents: i64 }, answers i64
///         self.cents += cents;
///         self.cents
///     }
///
///     async fn withdraw(&mut self, cents: i64) -> Result<i64, Failure<Overdrawn>> {
///         self.check(cents)?;                         // a rejection: goes to the asker
///         self.cents -= cents;
///         Ok(self.cents)
///     }
///
///     fn balance(&self) -> i64 { self.cents }         // struct Balance;
///
///     #[actor(skip)]
///     fn check(&self, cents: i64) -> Result<(), Overdrawn> {
///         if cents > self.cents { Err(Overdrawn { missing: cents - self.cents }) } else { Ok(()) }
///     }
/// }
/// # fn main() -> volary::Result<()> {
/// # volary::run(async {
/// # let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
/// let alice = system.spawn(Account::open).await?;
/// alice.tell(Deposit { cents: 10 })?;
/// assert_eq!(alice.ask(Withdraw { cents: 3 }).await?, 7);
/// assert!(matches!(alice.ask(Withdraw { cents: 9 }).await, Err(AskError::Rejected(Overdrawn { missing: 2 }))));
/// assert_eq!(alice.ask(Balance).await?, 7);
/// # Ok(system.stop().await?)
/// # })
/// # }
/// ```
///
/// # The message
///
/// `fn deposit_all(&mut self, cents: i64)` makes `struct DepositAll { cents: i64 }`. Struct and
/// fields have the visibility, the documentation and the `#[cfg]`s of the method; doc comments on
/// parameters document the fields. A method without parameters makes a unit struct. Parameters are
/// owned and have plain names.
///
/// - `#[message(name = Credit)]` names it otherwise;
/// - `#[message(derive(Debug, Clone))]` derives traits for it;
/// - `#[message(remote = "bank.v1.Deposit", codec = json)]` lets it travel between nodes, as with
///   [`Message`](macro@Message);
/// - `#[handles]` makes none: the message is the type of the one parameter, a message that exists
///   already, whose reply and rejection the method must return.
///
/// Of a generic block, a message gets the parameters that occur in it. Where one occurs only in its
/// reply the struct cannot be written as a literal, and has `new` instead.
///
/// # The answer
///
/// | the method returns | reply | rejection |
/// |---|---|---|
/// | nothing | `()` | none |
/// | `T` | `T` | none |
/// | `Result<T, Fault>` | `T` | none; an error crashes the actor |
/// | `Result<T, R>`, where `R` derives [`Rejection`](macro@Rejection) | `T` | `R` |
/// | `Result<T, Failure<R>>` | `T` | `R`, or a crash |
///
/// Any type whose last segment is `Result` counts as one, aliases included. One that stands for such a result under another name is refused
/// where the block has no type parameters.
///
/// # What the runtime adds
///
/// A parameter `ctx: &mut Context<Self>` is passed by the runtime and is not part of the message.
/// So is `reply: ReplyTo<T>` or `ReplyTo<T, R>`, for answering later or through somebody else; the
/// method then returns nothing or `Result<(), Fault>`. Both may stand anywhere in the list.
///
/// A `fn` is called without any future. An `async fn` that takes `&self` keeps that borrow while it
/// waits, so its actor must be `Sync`; with `&mut self` it need not be.
///
/// # Hooks
///
/// Methods called `started`, `stopping` and `stopped` are no messages but the hooks of `Actor`.
/// They take `&mut self` and, if they like, the context, are sync or async, and return nothing or
/// `Result<(), Fault>`.
///
/// # Options
///
/// - `#[actor(handlers)]`: messages and handlers only, no `impl Actor`. For a second block of the
///   same actor, or one whose `impl Actor` is written by hand. Its messages are not listed in
///   `Actor::messages`, so only a typed reference can send them.
/// - `#[actor(kind = "bank.v1.Account", remote(Deposit, Withdraw))]`: the messages of the block that other nodes may
///   send, and what they call this kind of actor, its own name by default. It implements `RemoteActor`; one block of an
///   actor can say it. Every message listed must be one that can travel. Needs the feature `wire`.
/// - `#[actor(crate = path)]`: where the facade is, if not at `::volary`.
#[proc_macro_attribute]
pub fn actor(arguments: TokenStream, item: TokenStream) -> TokenStream {
    actor::expand(arguments.into(), item.into()).into()
}

/// Makes a type of a list of messages, to type references by.
///
/// An `ActorRef<BankApi>` accepts these messages and hides which actor is behind it, so that a
/// crate, a gateway or a client can be written without linking the actor. Every actor that handles
/// all of them fits. Such a reference is found by an address, and travels in messages, like one of an
/// actor; whoever is found there must list the messages in `Actor::messages`, as `#[actor]` does.
///
/// ```
/// use volary::prelude::*;
///
/// #[derive(Message)]
/// pub struct Deposit(pub u64);
/// #[derive(Message)]
/// #[message(reply = u64)]
/// pub struct Balance;
///
/// protocol! {
///     /// What a teller may do.
///     pub BankApi { Deposit, Balance }
/// }
///
/// async fn save(bank: &ActorRef<BankApi>) -> volary::Result<u64> {
///     bank.tell(Deposit(100))?;
///     Ok(bank.ask(Balance).await?)
/// }
///
/// // Somewhere else there is an actor that handles both.
/// # #[derive(Default)]
/// # struct Account(u64);
/// # #[actor]
/// # impl Account {
/// #     #[handles] fn deposit(&mut self, deposit: Deposit) { self.0 += deposit.0; }
/// #     #[handles] fn balance(&mut self, _: Balance) -> u64 { self.0 }
/// # }
/// # fn main() -> volary::Result<()> {
/// # volary::run(async {
/// # let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
/// let alice = system.spawn(Account::default).named("alice").await?;
/// assert_eq!(save(&alice.narrow()).await?, 100);
/// let found: Option<ActorRef<BankApi>> = system.lookup("/user/alice");
/// assert_eq!(save(&found.expect("alice takes both messages")).await?, 200);
/// # Ok(system.stop().await?)
/// # })
/// # }
/// ```
#[proc_macro]
pub fn protocol(input: TokenStream) -> TokenStream {
    protocol::expand(input.into()).into()
}

/// Makes a message of a struct or an enum.
///
/// `reply` is what an ask answers, `()` by default; `rejection` is the answer "no", none by default.
/// Type parameters must be `Send + 'static`, as everything in a message.
///
/// ```
/// use volary::prelude::*;
///
/// #[derive(Message)]
/// struct Tick;
///
/// #[derive(Message)]
/// #[message(reply = Vec<T>, rejection = TooMany)]
/// struct Sort<T> { values: Vec<T> }
///
/// #[derive(Debug, Rejection)]
/// struct TooMany;
///
/// # struct Sorter;
/// # #[actor] impl Sorter { #[handles] fn sort(&mut self, mut sort: Sort<u8>) -> Result<Vec<u8>, TooMany> {
/// #     if sort.values.len() > 2 { return Err(TooMany) }
/// #     sort.values.sort();
/// #     Ok(sort.values)
/// # } }
/// # fn main() -> volary::Result<()> {
/// # volary::run(async {
/// # let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
/// let sorter = system.spawn(|| Sorter).await?;
/// assert_eq!(sorter.ask(Sort { values: vec![2, 1] }).await?, [1, 2]);
/// assert!(matches!(sorter.ask(Sort { values: vec![3, 2, 1] }).await, Err(AskError::Rejected(TooMany))));
/// # Ok(system.stop().await?)
/// # })
/// # }
/// ```
///
/// # Between nodes
///
/// With the feature `wire` of `volary`, `remote = "name"` lets the message travel, under a name that all nodes agree on;
/// `remote` alone takes the full name of a protobuf message (prost must generate type names). `codec` says how it is
/// written: `proto` (the default), `json`, `cbor`, `postcard`, or the path of one of your own; `reply_codec`, if the
/// reply is written otherwise. A rejection has a codec of its own, see [`Rejection`](macro@Rejection).
///
/// ```ignore
/// #[derive(Message, serde::Serialize, serde::Deserialize)]
/// #[message(reply = i64, remote = "bank.v1.Deposit", codec = json)]
/// struct Deposit { cents: i64 }
/// ```
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    message::expand(input.into()).into()
}

/// Makes a type an answer "no", which goes to the asker and never to the supervisor.
///
/// It can then stand in the error place of an actor's method, alone or in a `Failure`. The type must
/// be `Debug`. With `#[rejection(codec = json)]` (or `proto`, `cbor`, `postcard`, or the path of a codec) it can travel
/// between nodes, which needs the feature `wire` of `volary`.
///
/// ```
/// use volary::prelude::*;
///
/// #[derive(Debug, Rejection)]
/// struct Overdrawn { missing: i64 }
///
/// struct Account { cents: i64 }
///
/// #[actor]
/// impl Account {
///     fn withdraw(&mut self, cents: i64) -> Result<i64, Overdrawn> {
///         if cents > self.cents { return Err(Overdrawn { missing: cents - self.cents }) }
///         self.cents -= cents;
///         Ok(self.cents)
///     }
/// }
/// # fn main() -> volary::Result<()> {
/// # volary::run(async {
/// # let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
/// let alice = system.spawn(|| Account { cents: 0 }).await?;
/// assert!(matches!(alice.ask(Withdraw { cents: 9 }).await, Err(AskError::Rejected(Overdrawn { missing: 9 }))));
/// # Ok(system.stop().await?)
/// # })
/// # }
/// ```
#[proc_macro_derive(Rejection, attributes(rejection))]
pub fn derive_rejection(input: TokenStream) -> TokenStream {
    rejection::expand(input.into()).into()
}
