//! What may be written down of messages, and how they are made again.

use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use volary::{Actor, ActorRef, Message, Respond};

use super::book::Payload;

/// Why bytes are no message: whatever the decoder says.
///
/// ```
/// use volary_testkit::record::CodecError;
///
/// fn percent(bytes: &[u8]) -> Result<u8, CodecError> {
///     Ok(*bytes.first().ok_or("no percent")?)
/// }
/// # assert!(percent(&[]).is_err());
/// ```
pub type CodecError = Box<dyn Error + Send + Sync>;

/// For each type of message that may be recorded, how it is written and read. Types that are not here are redacted.
///
/// ```
/// use volary::prelude::*;
/// use volary_testkit::record::Codecs;
///
/// struct Lamp;
/// #[actor]
/// impl Lamp {
///     fn dim(&mut self, percent: u8) { let _ = percent; }
/// }
///
/// let codecs: Codecs<Lamp> = Codecs::new().message(
///     |dim: &Dim| vec![dim.percent],
///     |bytes| Ok(Dim { percent: *bytes.first().ok_or("no percent")? }),
/// );
/// ```
#[must_use]
pub struct Codecs<A: Actor> {
    by_type: BTreeMap<&'static str, Codec<A>>,
}

type Encode = Box<dyn Fn(&dyn Any) -> Option<Vec<u8>> + Send + Sync>;
type Feed<A> = Box<dyn Fn(&[u8], &ActorRef<A>) -> Result<Fed, CodecError> + Send + Sync>;

struct Codec<A: Actor> {
    encode: Encode,
    feed: Feed<A>,
}

/// What became of a message made of bytes.
pub(super) enum Fed {
    Taken,
    /// The actor takes no more.
    Refused,
}

impl<A: Actor> Codecs<A> {
    /// None: every message is redacted.
    ///
    /// ```
    /// # struct Lamp; impl volary::Actor for Lamp {}
    /// let codecs = volary_testkit::record::Codecs::<Lamp>::new();
    /// ```
    pub fn new() -> Self {
        Codecs {
            by_type: BTreeMap::new(),
        }
    }

    /// Records messages of type `M` with what they say. The encoder runs in the actor's turn; one that panics costs the
    /// recording that message's content, and the actor nothing.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::record::Codecs;
    /// # struct Lamp;
    /// # #[actor] impl Lamp { fn dim(&mut self, percent: u8) { let _ = percent; } }
    /// let codecs: Codecs<Lamp> = Codecs::new().message(
    ///     |dim: &Dim| vec![dim.percent],
    ///     |bytes| Ok(Dim { percent: *bytes.first().ok_or("no percent")? }),
    /// );
    /// ```
    pub fn message<M: Message>(
        mut self,
        encode: impl Fn(&M) -> Vec<u8> + Send + Sync + 'static,
        decode: impl Fn(&[u8]) -> Result<M, CodecError> + Send + Sync + 'static,
    ) -> Self
    where
        A: Respond<M>,
    {
        let codec = Codec {
            encode: Box::new(move |message| message.downcast_ref().map(&encode)),
            feed: Box::new(move |bytes, actor: &ActorRef<A>| {
                let message = decode(bytes)?;
                Ok(actor.tell(message).map_or(Fed::Refused, |()| Fed::Taken))
            }),
        };
        self.by_type.insert(type_name::<M>(), codec);
        self
    }

    pub(super) fn encode(&self, type_name: &str, message: Option<&dyn Any>) -> Payload {
        let (Some(codec), Some(message)) = (self.by_type.get(type_name), message) else {
            return Payload::Redacted;
        };
        match catch_unwind(AssertUnwindSafe(|| (codec.encode)(message))) {
            Ok(Some(bytes)) => Payload::Bytes(bytes),
            Ok(None) => Payload::Redacted,
            Err(panic) => {
                // Its drop is the user's code as well.
                if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                    std::mem::forget(another);
                }
                Payload::Failed
            }
        }
    }

    /// Makes the message again and sends it; `None` if there is no decoder.
    pub(super) fn feed(&self, type_name: &str, bytes: &[u8], actor: &ActorRef<A>) -> Option<Result<Fed, CodecError>> {
        let codec = self.by_type.get(type_name)?;
        Some((codec.feed)(bytes, actor))
    }
}

impl<A: Actor> Default for Codecs<A> {
    fn default() -> Self {
        Codecs::new()
    }
}

impl<A: Actor> fmt::Debug for Codecs<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_type.keys()).finish()
    }
}
