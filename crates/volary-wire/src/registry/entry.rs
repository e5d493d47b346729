//! What the sending side knows of a message.

use std::any::{Any, type_name};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use volary_core::{ActorRef, AnyRef, Fault, Message, RemoteError, Takes, foreign};

use super::route::{AskFn, PendingReply, Rejected, decode, decode_answer, pose, told};
use super::{DeliverError, SendEncodeError};
use crate::codec::{Codec, CodecId, DecodeError, EncodeError};
use crate::contain::contain;
use crate::native::Outcome;
use crate::wire::Wire;

/// A registered message: its name, its codec, and how to read the answer to it. Found by
/// [`Registry::entry`](crate::Registry::entry).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_wire::SendEncodeError;
///
/// // Nothing is known of `M` but that it is a message.
/// fn encoded<M: Message>(registry: &Registry, message: &M) -> Result<BytesMut, SendEncodeError> {
///     let mut out = BytesMut::new();
///     registry.entry::<M>()?.encode(message, &mut out)?;
///     Ok(out)
/// }
/// # fn main() -> Done {
/// assert_eq!(encoded(&registry()?, &Deposit { cents: 5 })?, deposit(5));
/// # Ok(()) }
/// ```
pub struct MessageEntry {
    name: Cow<'static, str>,
    type_name: &'static str,
    own_name: &'static str,
    codec: CodecId,
    encode: fn(&dyn Any, &mut BytesMut) -> Option<Result<(), EncodeError>>,
    decode: fn(Rejected, CodecId, Bytes, &mut dyn Any) -> Result<(), DecodeError>,
    answer: fn(&MessageEntry, foreign::PendingReply, Outcome, &str),
    tell: fn(&AnyRef, Bytes) -> Result<(), DeliverError>,
    ask: AskFn,
}

/// How an ask of another node ended, as far as the other node said.
///
/// ```
/// use volary_wire::Reply;
/// fn answer<T, R>(reply: Reply<T, R>) -> Option<T> {
///     match reply {
///         Reply::Ok(value) => Some(value),
///         Reply::Rejected(_) | Reply::Ended(_) => None,
///     }
/// }
/// # assert_eq!(answer(Reply::<u8, u8>::Ok(1)), Some(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T, R> {
    /// With a reply.
    Ok(T),
    /// With a rejection.
    Rejected(R),
    /// Without an answer; an [`Outcome::Ended`].
    Ended(Outcome),
}

impl MessageEntry {
    pub(super) fn of<M: Wire>(name: Cow<'static, str>) -> Self {
        MessageEntry {
            name,
            type_name: type_name::<M>(),
            own_name: M::NAME,
            codec: <M::Codec as Codec<M>>::ID,
            encode: |message, out| Some(M::Codec::encode(message.downcast_ref::<M>()?, out)),
            decode: |rejected, codec, payload, answer| {
                let decoded = decode_answer::<M>(rejected, codec, payload)?;
                if let Some(answer) = answer.downcast_mut::<Option<Result<M::Reply, M::Rejection>>>() {
                    *answer = Some(decoded);
                }
                Ok(())
            },
            answer: answer::<M>,
            tell: |to, payload| {
                let to = to.recipient::<M>().ok_or(DeliverError::UnknownKind)?;
                told(to.tell(decode::<M>(payload)?))
            },
            ask: |to, payload, timeout| {
                let to = to.recipient::<M>().ok_or(DeliverError::UnknownKind)?;
                pose(&ActorRef::<Takes<M>>::from(to), payload, timeout)
            },
        }
    }

    /// What frames call it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// # let registry = registry()?;
    /// assert_eq!(registry.entry::<Deposit>()?.name(), "bank.v1.Deposit");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is written.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// # let registry = registry()?;
    /// assert_eq!(registry.entry::<Deposit>()?.codec(), CodecId::PROTO);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn codec(&self) -> CodecId {
        self.codec
    }

    /// Ends an ask with such a message by what came back from `node`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use std::sync::Arc;
    /// # use volary_core::foreign::{self, Errand, Outlet, Parcel, Undeliverable};
    /// # use volary_wire::native::Outcome;
    /// struct Ended(Registry);
    /// impl Outlet for Ended {
    ///     fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
    ///         let entry = self.0.entry_of(parcel.message_type()).ok_or(Undeliverable::Unsendable)?;
    ///         let reply: foreign::PendingReply = parcel.take_reply().ok_or(Undeliverable::Gone)?;
    ///         entry.answer(reply, Outcome::stopped("it has ended"), "10.0.0.7:4242");
    ///         Ok(())
    ///     }
    ///     fn run(&self, _: Errand) {}
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let address = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
    /// let bob = system.stand_in(address, Arc::new(Ended(registry()?))).expect("the system runs");
    /// let answer = bob.actor_ref::<Account>().ask(Deposit { cents: 5 }).await;
    /// assert!(matches!(answer, Err(volary_core::AskError::Stopped)));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn answer(&self, reply: foreign::PendingReply, outcome: Outcome, node: &str) {
        (self.answer)(self, reply, outcome, node);
    }

    /// Reads a message and tells somebody.
    pub(super) fn tell(&self, to: &AnyRef, payload: Bytes) -> Result<(), DeliverError> {
        (self.tell)(to, payload)
    }

    /// Reads a message and asks somebody.
    pub(super) fn ask(
        &self,
        to: &AnyRef,
        payload: Bytes,
        timeout: Option<Duration>,
    ) -> Result<Box<dyn PendingReply>, DeliverError> {
        (self.ask)(to, payload, timeout)
    }

    /// The name that the type gives itself.
    pub(super) fn own_name(&self) -> &'static str {
        self.own_name
    }

    pub(super) fn type_name(&self) -> &'static str {
        self.type_name
    }

    pub(super) fn shared_name(&self) -> Cow<'static, str> {
        self.name.clone()
    }

    /// Appends a message of this entry's type. Whatever fails leaves `out` as it was.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// # let registry = registry()?;
    /// let mut out = BytesMut::new();
    /// registry.entry::<Deposit>()?.encode(&Deposit { cents: 5 }, &mut out)?;
    /// assert_eq!(out, deposit(5));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When it is of another type, or cannot be written.
    pub fn encode(&self, message: &dyn Any, out: &mut BytesMut) -> Result<(), SendEncodeError> {
        let start = out.len();
        let mut failed = None;
        // What comes out of `contain` goes through memory: a word of it does not hold anybody up.
        let encoded = contain(|| match (self.encode)(message, out) {
            Some(Ok(())) => true,
            otherwise => {
                failed = Some(otherwise);
                false
            }
        });
        if matches!(encoded, Ok(true)) {
            return Ok(());
        }
        out.truncate(start);
        Err(self.not_encoded(encoded.err(), failed.flatten()))
    }

    /// Why a message could not be written: a panic, its codec's reason, or that it is of another type.
    #[cold]
    fn not_encoded(&self, panic: Option<String>, failed: Option<Result<(), EncodeError>>) -> SendEncodeError {
        match (panic, failed) {
            (Some(text), _) => SendEncodeError::Panicked {
                type_name: self.type_name,
                text,
            },
            (None, Some(Err(error))) => SendEncodeError::Codec(error),
            (None, _) => SendEncodeError::Codec(EncodeError::new::<dyn Any>(
                self.codec,
                format!("it is no `{}`", self.type_name),
            )),
        }
    }

    /// Reads the answer to a message of type `M`, which must be this entry's.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use volary_wire::native::Outcome;
    /// # fn main() -> Done {
    /// # let registry = registry()?;
    /// # let payload = answer(7);
    /// let entry = registry.entry::<Deposit>()?;
    /// match entry.decode_reply::<Deposit>(Outcome::Ok { codec: CodecId::PROTO, payload })? {
    ///     Reply::Ok(cents) => assert_eq!(cents, 7),
    ///     Reply::Rejected(_) | Reply::Ended(_) => panic!("no answer"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the bytes are no such answer, or `M` is not the type of this entry.
    pub fn decode_reply<M: Message>(&self, outcome: Outcome) -> Result<Reply<M::Reply, M::Rejection>, DecodeError> {
        let (rejected, codec, payload) = match outcome {
            Outcome::Ok { codec, payload } => (Rejected::No, codec, payload),
            Outcome::Rejected { codec, payload } => (Rejected::Yes, codec, payload),
            ended => return Ok(Reply::Ended(ended)),
        };
        let mut answer: Option<Result<M::Reply, M::Rejection>> = None;
        (self.decode)(rejected, codec, payload, &mut answer)?;
        match answer {
            Some(Ok(reply)) => Ok(Reply::Ok(reply)),
            Some(Err(rejection)) => Ok(Reply::Rejected(rejection)),
            None => Err(DecodeError::new::<M>(
                codec,
                format!("this is the entry of `{}`", self.type_name),
            )),
        }
    }
}

/// Ends an ask with what came back from the other node.
fn answer<M: Wire>(entry: &MessageEntry, reply: foreign::PendingReply, outcome: Outcome, node: &str) {
    let failed = |why: String| RemoteError::Codec {
        name: entry.name.to_string(),
        why,
    };
    let decoded = match outcome {
        Outcome::Ok { .. } | Outcome::Rejected { .. } => entry.decode_reply::<M>(outcome),
        Outcome::Ended { number, text, .. } => return end(entry, reply, number, text.as_str(), node),
    };
    let reply = match reply.for_message::<M>() {
        Ok(reply) => reply,
        Err(reply) => return reply.lost(failed("it is the answer to another message".to_owned())),
    };
    // What answers do when nobody waits for them is the user's code.
    let _ = contain(|| match decoded {
        Ok(Reply::Ok(answer)) => reply.send(answer),
        Ok(Reply::Rejected(rejection)) => reply.reject(rejection),
        Ok(Reply::Ended(_)) => drop(reply),
        Err(error) => reply.end_remotely(failed(error.to_string())),
    });
}

fn end(entry: &MessageEntry, reply: foreign::PendingReply, number: u8, text: &str, node: &str) {
    let (node, name) = (node.to_owned(), entry.name.to_string());
    match number {
        Outcome::FAILED => reply.fail(Fault::msg(text.to_owned())),
        Outcome::STOPPED => reply.stopped(),
        Outcome::EXPIRED => reply.expired(),
        Outcome::BUSY => reply.lost(RemoteError::Busy { node }),
        Outcome::UNKNOWN_TYPE | Outcome::REFUSED | Outcome::UNREADABLE => reply.lost(RemoteError::NotTaken {
            node,
            name,
            why: text.to_owned(),
        }),
        _ => drop(reply),
    }
}

impl fmt::Debug for MessageEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageEntry")
            .field("name", &self.name)
            .field("type", &self.type_name)
            .field("codec", &self.codec)
            .finish()
    }
}
