//! The way of one message from another node to one kind of actor: functions made for the pair at compile time, called
//! without knowing either.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use volary_core::foreign::Inquiry;
use volary_core::{Accepts, ActorRef, AnyRef, AskError, Message, Moment, Respond, TellError};

use super::DeliverError;
use crate::codec::{Codec, CodecId, DecodeError};
use crate::contain::contain;
use crate::native::Outcome;
use crate::wire::{RemoteActor, Wire, WireRejection};

/// Hands bytes to an actor as the message they are. Found by [`Registry::route`](crate::Registry::route); to be kept
/// beside an interned name.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let registry = registry()?;
/// let to = AnyRef::from(&alice);
/// let route: Route = registry.route(to.actor_type(), "bank.v1.Deposit")?;
/// route.tell(&to, CodecId::PROTO, deposit(5))?;
/// assert_eq!(alice.ask(Deposit { cents: 0 }).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Route(&'static RouteTable);

pub(super) struct RouteTable {
    name: &'static str,
    codec: CodecId,
    tell: fn(&AnyRef, Bytes) -> Result<(), DeliverError>,
    ask: AskFn,
}

pub(super) type AskFn = fn(&AnyRef, Bytes, Option<Duration>) -> Result<Box<dyn PendingReply>, DeliverError>;

impl Route {
    pub(super) fn of<A: RemoteActor + Respond<M>, M: Wire>() -> Self {
        Route(
            const {
                &RouteTable {
                    name: M::NAME,
                    codec: <M::Codec as Codec<M>>::ID,
                    tell: tell::<A, M>,
                    ask: ask::<A, M>,
                }
            },
        )
    }

    /// Tells.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let registry = registry()?;
    /// let to = AnyRef::from(&alice);
    /// let route: Route = registry.route(to.actor_type(), "bank.v1.Deposit")?;
    /// assert!(route.tell(&to, CodecId::JSON, deposit(5)).is_err(), "deposits are written otherwise");
    /// route.tell(&to, CodecId::PROTO, deposit(5))?;
    /// assert_eq!(alice.ask(Deposit { cents: 0 }).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the message did not get into the mailbox; the caller still has its bytes if it kept them.
    #[inline]
    pub fn tell(&self, to: &AnyRef, codec: CodecId, payload: Bytes) -> Result<(), DeliverError> {
        self.check(codec)?;
        (self.0.tell)(to, payload)
    }

    /// Asks. The message has its place in the mailbox when this returns, so that the next one comes behind it; the actor
    /// is not told to run before the reply is started or polled.
    ///
    /// `timeout` is what is left of the sender's deadline; without one the system's own is taken.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let registry = registry()?;
    /// let to = AnyRef::from(&alice);
    /// let route: Route = registry.route(to.actor_type(), "bank.v1.Deposit")?;
    /// let mut pending = route.ask(&to, CodecId::PROTO, deposit(5), Some(Duration::from_secs(1)))?;
    /// std::future::poll_fn(|context| pending.poll_reply(context)).await;
    /// let mut out = BytesMut::new();
    /// pending.write(&mut out);
    /// assert_eq!(out, answer(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the bytes are no message. A full mailbox or a stopped actor is the reply's to tell.
    pub fn ask(
        &self,
        to: &AnyRef,
        codec: CodecId,
        payload: Bytes,
        timeout: Option<Duration>,
    ) -> Result<Box<dyn PendingReply>, DeliverError> {
        self.check(codec)?;
        (self.0.ask)(to, payload, timeout)
    }

    #[inline]
    fn check(&self, found: CodecId) -> Result<(), DeliverError> {
        let RouteTable { name, codec, .. } = *self.0;
        if codec == found {
            return Ok(());
        }
        Err(DeliverError::Codec {
            name,
            expected: codec,
            found,
        })
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Route").field(&self.0.name).finish()
    }
}

/// An ask of another node that is under way here. Dropping it cancels the ask.
///
/// The message is in its mailbox. Whoever has it decides who runs the actor, then waits for the answer, then writes it:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// async fn encoded(mut pending: Box<dyn PendingReply>) -> (Answered, BytesMut) {
///     pending.start_elsewhere();
///     std::future::poll_fn(|context| pending.poll_reply(context)).await;
///     let mut out = BytesMut::new();
///     (pending.write(&mut out), out)
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let registry = registry()?;
/// let to = AnyRef::from(&alice);
/// let route: Route = registry.route(to.actor_type(), "bank.v1.Deposit")?;
/// let pending = route.ask(&to, CodecId::PROTO, deposit(5), None)?;
/// assert_eq!(encoded(pending).await.1, answer(5));
/// # system.stop().await?; Ok(()) }
/// ```
pub trait PendingReply: Send {
    /// Says when it came: its time counts from then.
    fn count_from(&mut self, moment: Moment);

    /// Runs the actor on this thread, if it is idle, quick and may be, and leaves it to its dispatcher otherwise. Whether
    /// the ask is over: then the next poll says so.
    fn start_here(&mut self) -> bool;

    /// Leaves the actor to its dispatcher, unless it was started before.
    fn start_elsewhere(&mut self);

    /// Whether the ask is over. The first poll starts the actor here if nobody has.
    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Appends the answer to `out`, unless it ended without one. For an ask that is over.
    fn write(self: Box<Self>, out: &mut BytesMut) -> Answered;
}

/// What [`PendingReply::write`] appended.
///
/// ```
/// use volary_wire::{Answered, CodecId};
/// assert_ne!(Answered::Ok(CodecId::JSON), Answered::Rejected(CodecId::JSON));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// A reply, in this codec.
    Ok(CodecId),
    /// A rejection, in this codec.
    Rejected(CodecId),
    /// Nothing: the ask ended this way.
    Ended(Outcome),
}

fn tell<A: RemoteActor + Respond<M>, M: Wire>(to: &AnyRef, payload: Bytes) -> Result<(), DeliverError> {
    to.with(|actor: &ActorRef<A>| told(actor.tell(decode::<M>(payload)?)))
        .unwrap_or(Err(DeliverError::UnknownKind))
}

#[inline(always)]
pub(super) fn told<M>(told: Result<(), TellError<M>>) -> Result<(), DeliverError> {
    told.map_err(|refused| {
        let error = match &refused {
            TellError::Full(_) => DeliverError::Full,
            TellError::Stopped(_) => DeliverError::Stopped,
            _ => DeliverError::Refused,
        };
        // The message is the user's, and so is what its drop does.
        let _ = contain(|| drop(refused));
        error
    })
}

fn ask<A: RemoteActor + Respond<M>, M: Wire>(
    to: &AnyRef,
    payload: Bytes,
    timeout: Option<Duration>,
) -> Result<Box<dyn PendingReply>, DeliverError> {
    to.with(|actor: &ActorRef<A>| pose::<A, M>(actor, payload, timeout))
        .unwrap_or(Err(DeliverError::UnknownKind))
}

/// Reads a message and asks somebody.
pub(super) fn pose<T: Accepts<M>, M: Wire>(
    to: &ActorRef<T>,
    payload: Bytes,
    timeout: Option<Duration>,
) -> Result<Box<dyn PendingReply>, DeliverError> {
    let asked = match Inquiry::pose(to, decode::<M>(payload)?, timeout) {
        Ok(inquiry) => Asked::Open(inquiry),
        Err((error, message)) => {
            // The message is the user's, and so is what its drop does.
            let _ = contain(|| drop(message));
            Asked::Over(Err(error))
        }
    };
    Ok(Box::new(asked))
}

#[inline(always)]
pub(super) fn decode<M: Wire>(mut payload: Bytes) -> Result<M, DeliverError> {
    match contain(|| M::Codec::decode_in_place(&mut payload)) {
        Ok(decoded) => Ok(decoded?),
        Err(_) => Err(DeliverError::Panicked { name: M::NAME }),
    }
}

type Reply<M> = Result<<M as Message>::Reply, AskError<<M as Message>::Rejection>>;

/// An ask, or how it ended.
enum Asked<M: Wire> {
    Open(Inquiry<M>),
    Over(Reply<M>),
}

impl<M: Wire> PendingReply for Asked<M> {
    fn count_from(&mut self, moment: Moment) {
        if let Asked::Open(inquiry) = self {
            inquiry.count_from(moment);
        }
    }

    fn start_here(&mut self) -> bool {
        match self {
            Asked::Open(inquiry) => inquiry.start_here(),
            Asked::Over(_) => true,
        }
    }

    fn start_elsewhere(&mut self) {
        if let Asked::Open(inquiry) = self {
            inquiry.start_elsewhere();
        }
    }

    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Asked::Open(inquiry) = self {
            *self = Asked::Over(ready!(Pin::new(inquiry).poll(context)));
        }
        Poll::Ready(())
    }

    fn write(self: Box<Self>, out: &mut BytesMut) -> Answered {
        match *self {
            Asked::Over(reply) => answer::<M>(reply, out),
            Asked::Open(inquiry) => {
                let _ = contain(|| drop(inquiry));
                Answered::Ended(Outcome::ended(Outcome::NO_REPLY, 0, "there is no answer yet"))
            }
        }
    }
}

fn answer<M: Wire>(reply: Reply<M>, out: &mut BytesMut) -> Answered {
    let start = out.len();
    let written = contain(|| match &reply {
        Ok(reply) => M::ReplyCodec::encode(reply, out).map(|()| Answered::Ok(<M::ReplyCodec as Codec<M::Reply>>::ID)),
        Err(AskError::Rejected(rejection)) => <M::Rejection as WireRejection>::Codec::encode(rejection, out)
            .map(|()| Answered::Rejected(<<M::Rejection as WireRejection>::Codec as Codec<M::Rejection>>::ID)),
        Err(error) => Ok(Answered::Ended(ending(error))),
    });
    let _ = contain(|| drop(reply));
    let failed = |text: &str| Answered::Ended(Outcome::ended(Outcome::FAILED, 0, text));
    let answered = match written {
        Ok(Ok(answered)) => return answered,
        Ok(Err(error)) => failed(&error.to_string()),
        Err(_) => failed(&format!("the codec of the reply to `{}` panicked", type_name::<M>())),
    };
    out.truncate(start);
    answered
}

fn ending<R: volary_core::Rejection>(error: &AskError<R>) -> Outcome {
    let number = match error {
        AskError::NoReply => Outcome::NO_REPLY,
        AskError::Full => Outcome::BUSY,
        AskError::Stopped => Outcome::STOPPED,
        AskError::Timeout { .. } => Outcome::EXPIRED,
        _ => Outcome::FAILED,
    };
    Outcome::ended(number, 0, &error.to_string())
}

/// For entries: reads a reply or a rejection, whichever it is.
pub(super) fn decode_answer<M: Wire>(
    rejected: Rejected,
    codec: CodecId,
    payload: Bytes,
) -> Result<Result<M::Reply, M::Rejection>, DecodeError> {
    let expected = match rejected {
        Rejected::No => <M::ReplyCodec as Codec<M::Reply>>::ID,
        Rejected::Yes => <<M::Rejection as WireRejection>::Codec as Codec<M::Rejection>>::ID,
    };
    if expected != codec {
        return Err(DecodeError::new::<M>(codec, format!("answers to it are in {expected}")));
    }
    let decoded = contain(|| match rejected {
        Rejected::No => M::ReplyCodec::decode(payload).map(Ok),
        Rejected::Yes => <M::Rejection as WireRejection>::Codec::decode(payload).map(Err),
    });
    decoded.unwrap_or_else(|text| Err(DecodeError::new::<M>(codec, format!("the codec panicked: {text}"))))
}

/// Which of the two answers it is.
#[derive(Clone, Copy)]
pub(super) enum Rejected {
    No,
    Yes,
}
