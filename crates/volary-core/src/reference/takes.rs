//! A target that is known for one message alone.

use std::marker::PhantomData;

use super::actor_ref::ActorRef;
use super::found::Found;
use super::recipient::Recipient;
use super::target::{Accepts, Target};
use crate::actor::Message;
use crate::cell::absent_table;
use crate::mailbox::MessageTable;

/// Types a reference by the one message that it takes: an `ActorRef<Takes<M>>` is a [`Recipient<M>`](Recipient) where a
/// reference is asked for, as in a [group](crate::groups::Group) or a [router](crate::routing::Router) whose members
/// have nothing else in common.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let till: ActorRef<Takes<Deposit>> = alice.recipient().into();
/// assert_eq!(till.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug)]
pub struct Takes<M>(PhantomData<fn(M)>);

impl<M: Message> Target for Takes<M> {
    type Via = &'static MessageTable;

    fn abroad() -> Self::Via {
        absent_table::<M>()
    }

    fn found(actor: &Found<'_>) -> Option<Self::Via> {
        actor.table::<M>()
    }
}

impl<M: Message> Accepts<M> for Takes<M> {
    fn table(via: &'static MessageTable) -> &'static MessageTable {
        via
    }
}

impl<M: Message> From<Recipient<M>> for ActorRef<Takes<M>> {
    fn from(recipient: Recipient<M>) -> Self {
        ActorRef::from_cell(recipient.cell().clone(), recipient.table())
    }
}
