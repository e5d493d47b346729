//! The right to answer an ask whose types are not known any more.

use std::any::TypeId;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use crate::actor::{Fault, Message};
use crate::dispatch::{Ending, Host};
use crate::reference::errors::RemoteError;
use crate::reference::reply_slot::ReplySlot;
use crate::reference::reply_to::ReplyTo;

/// The right to answer an ask that went elsewhere. Dropped unused, it ends the ask with
/// [`AskError::NoReply`](crate::AskError::NoReply).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let answer = ask_bob(|reply| {
/// if let Ok(reply) = reply.for_message::<Deposit>() {
///     reply.send(7);
/// }
/// # }).await?;
/// assert_eq!(answer?, 7); // where it was asked
/// # Ok(()) }
/// ```
#[must_use = "dropping it ends the ask with `NoReply`"]
pub struct PendingReply {
    slot: NonNull<ReplySlot>,
    message: fn() -> TypeId,
    end: unsafe fn(NonNull<ReplySlot>, End),
}

enum End {
    NoReply,
    Stopped,
    Full,
    Expired,
    Failed(Fault),
    Remote(RemoteError),
}

// SAFETY: the slot is made to be answered from any thread, and answers are `Send`.
unsafe impl Send for PendingReply {}
// SAFETY: a shared reference only looks at the slot's atomic state.
unsafe impl Sync for PendingReply {}

/// # Safety
/// `slot` is the replier's share of an ask with an `M`.
unsafe fn end<M: Message>(slot: NonNull<ReplySlot>, end: End) {
    let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(Some(slot));
    let ending = match end {
        End::Failed(fault) => return reply.fail(&fault),
        End::Remote(error) => return reply.end_remotely(error),
        End::Expired => return reply.expire(),
        End::NoReply => Ending::NoReply,
        End::Stopped => Ending::Stopped,
        End::Full => Ending::Full,
    };
    Host::with(|host| host.with_ending(ending, || drop(reply)));
}

impl PendingReply {
    /// The replier's share of an ask with an `M`.
    pub(super) fn new<M: Message>(slot: NonNull<ReplySlot>) -> Self {
        PendingReply {
            slot,
            message: TypeId::of::<M>,
            end: end::<M>,
        }
    }

    /// The message was not taken after all: the asker frees the slot.
    pub(super) fn give_back(self) {
        std::mem::forget(self);
    }

    /// How long the asker waits.
    pub(super) fn patience(&self) -> Duration {
        // SAFETY: this is the replier's share, which keeps the slot alive.
        Duration::from_nanos(unsafe { self.slot.as_ref() }.patience())
    }

    fn finish(self, end: End) {
        let this = ManuallyDrop::new(self);
        // SAFETY: made by `new` for the types of this slot, and used up here.
        unsafe { (this.end)(this.slot, end) }
    }

    /// Whether somebody still waits for the answer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// assert!(reply.is_wanted(), "somebody waits for it");
    /// # reply.stopped();
    /// # }).await?;
    /// # assert!(matches!(answer, Err(AskError::Stopped)), "{answer:?}");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        // SAFETY: as in `patience`.
        !unsafe { self.slot.as_ref() }.is_abandoned()
    }

    /// The same with its types, if this is the answer to an `M`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// let reply = reply.for_message::<Balance>().expect_err("it is of another message");
    /// reply.for_message::<Deposit>().expect("it is of this one").send(7);
    /// # }).await?;
    /// assert_eq!(answer?, 7); // where it was asked
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Itself, if it is the answer to another message.
    pub fn for_message<M: Message>(self) -> Result<ReplyTo<M::Reply, M::Rejection>, Self> {
        if (self.message)() != TypeId::of::<M>() {
            return Err(self);
        }
        Ok(ReplyTo::from_slot(Some(ManuallyDrop::new(self).slot)))
    }

    /// The actor there crashed on the message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// reply.fail(Fault::msg("out of ink"));
    /// # }).await?;
    /// assert!(matches!(answer, Err(AskError::Failed(_))));
    /// # Ok(()) }
    /// ```
    pub fn fail(self, fault: Fault) {
        self.finish(End::Failed(fault));
    }

    /// The actor there has stopped.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// reply.stopped();
    /// # }).await?;
    /// assert!(matches!(answer, Err(AskError::Stopped)));
    /// # Ok(()) }
    /// ```
    pub fn stopped(self) {
        self.finish(End::Stopped);
    }

    /// The mailbox there is full.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// reply.full();
    /// # }).await?;
    /// assert!(matches!(answer, Err(AskError::Full)));
    /// # Ok(()) }
    /// ```
    pub fn full(self) {
        self.finish(End::Full);
    }

    /// The actor there came to the message after its deadline, and did not handle it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// reply.expired();
    /// # }).await?;
    /// assert!(matches!(answer, Err(AskError::Timeout { .. })));
    /// # Ok(()) }
    /// ```
    pub fn expired(self) {
        self.finish(End::Expired);
    }

    /// Something on the way went wrong.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let answer = ask_bob(|reply| {
    /// reply.lost(RemoteError::Unconfirmed { node: "bank@10.0.0.7:4242".to_owned() });
    /// # }).await?;
    /// assert!(matches!(answer, Err(AskError::Remote(_))));
    /// # Ok(()) }
    /// ```
    pub fn lost(self, error: RemoteError) {
        self.finish(End::Remote(error));
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        // SAFETY: made by `new` for the types of this slot, and used up here.
        unsafe { (self.end)(self.slot, End::NoReply) }
    }
}

impl fmt::Debug for PendingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply")
            .field("wanted", &self.is_wanted())
            .finish()
    }
}
