//! The right to answer one ask.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use super::errors::{AskError, RemoteError};
use super::reply_slot::{Delivered, ReplySlot};
use crate::actor::{Fault, Rejection};
use crate::dispatch::{Ending, Host};

/// What an asker receives.
pub(crate) type Answer<T, R> = Result<T, AskError<R>>;

/// Answers one ask, now or later, from here or from somewhere else.
///
/// It is the receiving half of [`Respond`](crate::Respond). Used once; dropped unused it ends the
/// ask with [`AskError::NoReply`]. If the message was told rather than asked, nobody waits and the
/// answer is dropped.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # struct Clerk; impl Actor for Clerk {}
/// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Infallible; }
/// impl Respond<Query> for Clerk {
///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Result<(), Fault> {
///         if reply.is_wanted() {
///             reply.send(42); // or later, from elsewhere
///         }
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let clerk = system.spawn(|| Clerk).await?;
/// assert_eq!(clerk.ask(Query).await?, 42);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "dropping it ends the ask with `NoReply`"]
pub struct ReplyTo<T: Send + 'static, R: Rejection = Infallible> {
    slot: Option<NonNull<ReplySlot>>,
    answer: PhantomData<fn(T, R)>,
}

// SAFETY: the slot is made to be answered from any thread, and the answer is `Send`.
unsafe impl<T: Send + 'static, R: Rejection> Send for ReplyTo<T, R> {}
// SAFETY: a shared reference only looks at the slot's atomic state.
unsafe impl<T: Send + 'static, R: Rejection> Sync for ReplyTo<T, R> {}

impl<T: Send + 'static, R: Rejection> ReplyTo<T, R> {
    #[inline]
    pub(crate) fn from_slot(slot: Option<NonNull<ReplySlot>>) -> Self {
        ReplyTo {
            slot,
            answer: PhantomData,
        }
    }

    /// Takes the slot out, to hand it to another actor.
    #[inline]
    pub(crate) fn into_slot(self) -> Option<NonNull<ReplySlot>> {
        // Forgotten, not emptied: whoever has answered has nothing to drop.
        ManuallyDrop::new(self).slot
    }

    /// Answers.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Clerk; impl Actor for Clerk {}
    /// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Infallible; }
    /// impl Respond<Query> for Clerk {
    ///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         reply.send(42);
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let clerk = system.spawn(|| Clerk).await?;
    /// assert_eq!(clerk.ask(Query).await?, 42);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn send(self, answer: T) {
        if let Some(slot) = self.into_slot() {
            self::answer::<T, R>(slot, Ok(answer));
        }
    }

    /// Answers "no".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[derive(Debug)] struct Closed; impl Rejection for Closed {}
    /// # struct Clerk; impl Actor for Clerk {}
    /// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Closed; }
    /// impl Respond<Query> for Clerk {
    ///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32, Closed>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         reply.reject(Closed);
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let clerk = system.spawn(|| Clerk).await?;
    /// assert!(matches!(clerk.ask(Query).await, Err(AskError::Rejected(Closed))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn reject(mut self, rejection: R) {
        match self.slot.take() {
            Some(slot) => answer::<T, R>(slot, Err(AskError::Rejected(rejection))),
            None => crate::system::unheard_rejection(&rejection),
        }
    }

    /// Answers that the work failed, without crashing the actor that says so.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Clerk; impl Actor for Clerk {}
    /// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Infallible; }
    /// impl Respond<Query> for Clerk {
    ///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         reply.fail(&Fault::msg("the backend is gone"));
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let clerk = system.spawn(|| Clerk).await?;
    /// assert!(matches!(clerk.ask(Query).await, Err(AskError::Failed(_))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn fail(mut self, fault: &Fault) {
        if let Some(slot) = self.slot.take() {
            answer::<T, R>(slot, Err(AskError::Failed(fault.clone())));
        }
    }

    /// Something between the nodes went wrong: for transports.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Clerk; impl Actor for Clerk {}
    /// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Infallible; }
    /// impl Respond<Query> for Clerk {
    ///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         reply.end_remotely(RemoteError::Busy { node: "a:1".to_owned() });
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let clerk = system.spawn(|| Clerk).await?;
    /// assert!(matches!(clerk.ask(Query).await, Err(AskError::Remote(_))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn end_remotely(mut self, error: RemoteError) {
        if let Some(slot) = self.slot.take() {
            answer::<T, R>(slot, Err(AskError::Remote(Box::new(error))));
        }
    }

    /// The time of the asker is over.
    pub(crate) fn expire(mut self) {
        if let Some(slot) = self.slot.take() {
            // SAFETY: this is the replier's share, which keeps the slot alive.
            let after = Duration::from_nanos(unsafe { slot.as_ref() }.patience());
            answer::<T, R>(slot, Err(AskError::Timeout { after }));
        }
    }

    /// Whether somebody still waits for the answer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Clerk; impl Actor for Clerk {}
    /// # struct Query; impl Message for Query { type Reply = u32; type Rejection = Infallible; }
    /// impl Respond<Query> for Clerk {
    ///     async fn respond(&mut self, _: Query, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         assert!(reply.is_wanted(), "somebody waits");
    /// #         reply.send(42);
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let clerk = system.spawn(|| Clerk).await?;
    /// assert_eq!(clerk.ask(Query).await?, 42);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        // SAFETY: this is the replier's share, which keeps the slot alive.
        self.slot.is_some_and(|slot| !unsafe { slot.as_ref() }.is_abandoned())
    }
}

/// Answers; an answer that comes too late is counted.
#[inline]
fn answer<T: Send + 'static, R: Rejection>(slot: NonNull<ReplySlot>, answer: Answer<T, R>) {
    if let Delivered::TooLate(system) = end(slot, answer) {
        crate::system::count_late_reply(system);
    }
}

#[inline]
fn end<T: Send + 'static, R: Rejection>(slot: NonNull<ReplySlot>, answer: Answer<T, R>) -> Delivered {
    // SAFETY: the slot was taken out of the one `ReplyTo` for it, whose types are the asker's.
    unsafe { ReplySlot::complete::<Answer<T, R>>(slot, answer) }
}

impl<T: Send + 'static, R: Rejection> Drop for ReplyTo<T, R> {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            let ending = Host::with(Host::ending).unwrap_or(Ending::NoReply);
            end::<T, R>(
                slot,
                Err(match ending {
                    // The handler has it in hand and crashes; with what, is not known here.
                    Ending::Beginning if std::thread::panicking() => {
                        AskError::Failed(Fault::msg("the handler panicked"))
                    }
                    Ending::NoReply | Ending::Beginning | Ending::Aborted(_) => AskError::NoReply,
                    Ending::Failed(fault) => AskError::Failed(fault),
                    Ending::Stopped => AskError::Stopped,
                    Ending::Full => AskError::Full,
                    Ending::Refused(reason) => AskError::Refused { reason },
                }),
            );
        }
    }
}

impl<T: Send + 'static, R: Rejection> fmt::Debug for ReplyTo<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").field("wanted", &self.is_wanted()).finish()
    }
}
