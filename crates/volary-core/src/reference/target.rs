//! What a reference may be typed by: an actor, or a protocol that several actors speak.

use super::found::Found;
use crate::actor::{Actor, Message, Respond};
use crate::cell::message_table;
use crate::mailbox::MessageTable;

/// Anything that an [`ActorRef`](crate::ActorRef) can be typed by. Actors are; `protocol!` makes
/// others.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// fn describe<T: Target>(reference: &ActorRef<T>) -> String {
///     reference.path().to_string()
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert_eq!(describe(&alice), "/user/alice");
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Target: 'static {
    /// How the function tables of the messages are found: nothing for an actor, a table for a
    /// protocol.
    type Via: Copy + Send + Sync + 'static;

    /// The same for an actor that lives elsewhere.
    #[doc(hidden)]
    fn abroad() -> Self::Via;

    /// The same for an actor here that an address has led to, if it is one.
    #[doc(hidden)]
    fn found(actor: &Found<'_>) -> Option<Self::Via>;
}

impl<A: Actor> Target for A {
    type Via = ();

    fn abroad() -> Self::Via {}

    fn found(actor: &Found<'_>) -> Option<Self::Via> {
        actor.is::<A>().then_some(())
    }
}

/// A target that takes messages of type `M`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// fn save<T: Accepts<Deposit>>(who: &ActorRef<T>) -> bool {
///     who.tell(Deposit(5)).is_ok()
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert!(save(&alice));
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not accept the message `{M}`",
    label = "`{M}` cannot be sent here",
    note = "for an actor, write a method for it in its `#[actor]` block, or implement `Handler<{M}>`",
    note = "for a protocol, add `{M}` to its `protocol!` list"
)]
pub trait Accepts<M: Message>: Target {
    /// The function table of `M` for the actor behind the reference.
    #[doc(hidden)]
    fn table(via: Self::Via) -> &'static MessageTable;
}

// `Actor` is said once more so that the compiler sees that targets which are no actors are not meant here.
impl<A: Actor + Respond<M>, M: Message> Accepts<M> for A {
    #[inline]
    fn table((): ()) -> &'static MessageTable {
        message_table::<A, M>()
    }
}

/// A protocol all of whose messages the actor `A` handles. Made by `protocol!`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/till.rs"));
/// fn hide<A: Actor, P: Covers<A>>(actor: &ActorRef<A>) -> ActorRef<P> {
///     actor.narrow()
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let till: ActorRef<Till> = hide(&alice); // made by `protocol!(Till { Deposit })`
/// assert_eq!(till.path(), alice.path());
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{A}` does not handle every message of `{Self}`",
    note = "`narrow` needs a handler in `{A}` for each message that `{Self}` lists"
)]
pub trait Covers<A: Actor>: Target {
    /// The function tables of the protocol for `A`.
    #[doc(hidden)]
    fn table() -> Self::Via;
}
