//! The frames themselves, as they are when they have been read.

use std::fmt;

use bytes::Bytes;

use super::{Chunk, Hello, InternSpace, Metadata, Name, Refuse, Text, Welcome};
use crate::codec::CodecId;

/// The number of a kind, and its name.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $said:literal;)+) => {
        /// What a frame is.
        ///
        /// ```
        /// use volary_wire::native::FrameKind;
        /// assert_eq!(FrameKind::Ask.to_string(), "an ask");
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum FrameKind { $($(#[$doc])* $name = $number,)+ }

        impl FrameKind {
            /// Every kind there is, by number.
            ///
            /// ```
            /// # use volary_wire::native::FrameKind;
            /// assert!(FrameKind::ALL.contains(&FrameKind::Ask));
            /// ```
            pub const ALL: &[FrameKind] = &[$(FrameKind::$name,)+];

            pub(crate) fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(FrameKind::$name),)+ _ => None }
            }
        }

        impl fmt::Display for FrameKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(FrameKind::$name => $said,)+ })
            }
        }
    };
}

kinds! {
    /// See [`Hello`].
    Hello = 1, "a hello";
    /// See [`Welcome`].
    Welcome = 2, "a welcome";
    /// See [`Refuse`].
    Refuse = 3, "a refusal";
    /// See [`Intern`].
    Intern = 4, "a definition";
    /// See [`Envelope`].
    Tell = 5, "a tell";
    /// See [`Envelope`].
    Ask = 6, "an ask";
    /// See [`Reply`].
    Reply = 7, "a reply";
    /// The asker does not wait any more.
    Cancel = 8, "a cancellation";
    /// See [`Chunk`].
    Chunk = 9, "a chunk";
    /// The rest of a message in pieces will not come.
    Abort = 10, "an abort";
    /// See [`Credit`].
    Credit = 11, "a credit";
    /// See [`Confirm`].
    Confirm = 12, "a confirmation";
    /// A message was not taken because its receiver has too many.
    Busy = 13, "a busy";
    /// See [`Watch`].
    Watch = 14, "a watch";
    /// See [`Watch`].
    Unwatch = 15, "an unwatch";
    /// See [`Terminated`].
    Terminated = 16, "a terminated";
    /// See [`Operation`].
    Operation = 17, "an operation";
    /// See [`Answer`].
    Answer = 18, "an answer";
    /// Somebody is there.
    Heartbeat = 19, "a heartbeat";
    /// So is the other.
    HeartbeatReply = 20, "a heartbeat reply";
    /// See [`Goodbye`].
    Goodbye = 21, "a goodbye";
}

/// One frame. All of its bytes share the buffer it was read into.
///
/// ```
/// use bytes::BytesMut;
/// use volary_wire::native::{Frame, FrameDecoder, FrameWriter, Limits};
///
/// let mut out = BytesMut::new();
/// FrameWriter::new(&mut out).frame(&Frame::Cancel { correlation: 7 })?;
/// let mut decoder = FrameDecoder::new(Limits::default());
/// decoder.feed(&out);
/// assert_eq!(decoder.next_frame()?, Some(Frame::Cancel { correlation: 7 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant is the kind of its name")]
pub enum Frame {
    Hello(Hello),
    Welcome(Welcome),
    Refuse(Refuse),
    Intern(Intern),
    Tell(Envelope),
    Ask { correlation: u64, envelope: Envelope },
    Reply(Reply),
    Cancel { correlation: u64 },
    Chunk(Chunk),
    Abort { transfer: u64 },
    Credit(Credit),
    Confirm(Confirm),
    Busy { sequence: u64 },
    Watch(Watch),
    Unwatch(Watch),
    Terminated(Terminated),
    Operation(Operation),
    Answer(Answer),
    Heartbeat { nonce: u64 },
    HeartbeatReply { nonce: u64 },
    Goodbye(Goodbye),
}

impl Frame {
    /// What it is.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameKind};
    /// assert_eq!(Frame::Busy { sequence: 1 }.kind(), FrameKind::Busy);
    /// ```
    #[must_use]
    pub fn kind(&self) -> FrameKind {
        match self {
            Frame::Hello(_) => FrameKind::Hello,
            Frame::Welcome(_) => FrameKind::Welcome,
            Frame::Refuse(_) => FrameKind::Refuse,
            Frame::Intern(_) => FrameKind::Intern,
            Frame::Tell(_) => FrameKind::Tell,
            Frame::Ask { .. } => FrameKind::Ask,
            Frame::Reply(_) => FrameKind::Reply,
            Frame::Cancel { .. } => FrameKind::Cancel,
            Frame::Chunk(_) => FrameKind::Chunk,
            Frame::Abort { .. } => FrameKind::Abort,
            Frame::Credit(_) => FrameKind::Credit,
            Frame::Confirm(_) => FrameKind::Confirm,
            Frame::Busy { .. } => FrameKind::Busy,
            Frame::Watch(_) => FrameKind::Watch,
            Frame::Unwatch(_) => FrameKind::Unwatch,
            Frame::Terminated(_) => FrameKind::Terminated,
            Frame::Operation(_) => FrameKind::Operation,
            Frame::Answer(_) => FrameKind::Answer,
            Frame::Heartbeat { .. } => FrameKind::Heartbeat,
            Frame::HeartbeatReply { .. } => FrameKind::HeartbeatReply,
            Frame::Goodbye(_) => FrameKind::Goodbye,
        }
    }
}

/// Gives a name an id, for the frames behind this one on the same connection. An id that is given again means the new
/// name from then on.
///
/// ```
/// use volary_wire::native::{Intern, InternSpace};
/// let _ = Intern { space: InternSpace::Type, id: 1, text: "bank.v1.Deposit".into() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Intern {
    /// Whether it is an address or the name of a type.
    pub space: InternSpace,
    /// From 1 on, without gaps.
    pub id: u32,
    /// The name.
    pub text: Text,
}

/// A message of a user, told or asked.
///
/// ```
/// use volary_wire::CodecId;
/// use volary_wire::native::{Envelope, Frame};
///
/// let deposit = Frame::Tell(Envelope {
///     sequence: 1,
///     receiver: "volary://bank/user/alice".into(),
///     sender: None,
///     type_name: "bank.v1.Deposit".into(),
///     codec: CodecId::PROTO,
///     metadata: None,
///     payload: vec![0x08, 0x0a].into(),
/// });
/// # let _ = deposit;
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope {
    /// The place of the message among all of this association, for confirmations.
    pub sequence: u64,
    /// Whom it is for.
    pub receiver: Name,
    /// Who sent it, if an actor did.
    pub sender: Option<Name>,
    /// What it is.
    pub type_name: Name,
    /// How it is written.
    pub codec: CodecId,
    /// Deadline, trace and headers, if there are any.
    pub metadata: Option<Metadata>,
    /// The message.
    pub payload: Bytes,
}

/// How an ask ended.
///
/// ```
/// use volary_wire::CodecId;
/// use volary_wire::native::{Outcome, Reply};
/// let reply = Reply { correlation: 7, outcome: Outcome::Ok { codec: CodecId::JSON, payload: "42".into() } };
/// # let _ = reply;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Which ask.
    pub correlation: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// The ways in which an ask ends on the other node.
///
/// ```
/// use volary_wire::native::Outcome;
/// assert_eq!(Outcome::stopped("gone").number(), 4);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// With the reply.
    Ok {
        /// How it is written.
        codec: CodecId,
        /// The reply.
        payload: Bytes,
    },
    /// With a rejection.
    Rejected {
        /// How it is written.
        codec: CodecId,
        /// The rejection.
        payload: Bytes,
    },
    /// Without an answer.
    Ended {
        /// How: 2 failed, 3 no reply, 4 stopped, 5 busy, 6 unknown type, 7 refused, 8 expired, 9 unreadable; others
        /// are of later versions, and as good as failed.
        number: u8,
        /// More about it, if there is more to say.
        code: u32,
        /// For humans.
        text: Text,
    },
}

impl Outcome {
    pub(crate) const OK: u8 = 0;
    pub(crate) const REJECTED: u8 = 1;
    /// The actor crashed on it.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::FAILED, 0, "").number(), 2);
    /// ```
    pub const FAILED: u8 = 2;
    /// Its `ReplyTo` was dropped unused.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::NO_REPLY, 0, "").number(), 3);
    /// ```
    pub const NO_REPLY: u8 = 3;
    /// The actor has stopped, or there never was one.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::STOPPED, 0, "").number(), 4);
    /// ```
    pub const STOPPED: u8 = 4;
    /// The mailbox is full: the message was not taken.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::BUSY, 0, "").number(), 5);
    /// ```
    pub const BUSY: u8 = 5;
    /// The receiver's kind does not know this type.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::UNKNOWN_TYPE, 0, "").number(), 6);
    /// ```
    pub const UNKNOWN_TYPE: u8 = 6;
    /// The peer may not do this.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::REFUSED, 0, "").number(), 7);
    /// ```
    pub const REFUSED: u8 = 7;
    /// Its deadline had passed before it began.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::EXPIRED, 0, "").number(), 8);
    /// ```
    pub const EXPIRED: u8 = 8;
    /// The payload is not what its type says.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::UNREADABLE, 0, "").number(), 9);
    /// ```
    pub const UNREADABLE: u8 = 9;

    /// Where the texts of endings are cut, so that every peer takes them.
    const MAX_TEXT: usize = 1024;

    /// Without an answer, by one of the constants of this type. A long text is cut.
    ///
    /// # Panics
    /// With 0 or 1, which have an answer.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// let late = Outcome::ended(Outcome::EXPIRED, 0, "3 ms too late");
    /// # assert_eq!(late.number(), 8);
    /// ```
    #[must_use]
    pub fn ended(number: u8, code: u32, text: &str) -> Self {
        assert!(number > Self::REJECTED, "replies and rejections have a payload");
        let text = text[..text.floor_char_boundary(Self::MAX_TEXT)].into();
        Outcome::Ended { number, code, text }
    }

    /// The actor has stopped.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// let _ = Outcome::stopped("the actor has stopped");
    /// ```
    #[must_use]
    pub fn stopped(text: &str) -> Self {
        Self::ended(Self::STOPPED, 0, text)
    }

    /// The number of this outcome in a frame.
    ///
    /// ```
    /// # use volary_wire::native::Outcome;
    /// assert_eq!(Outcome::ended(Outcome::BUSY, 0, "").number(), 5);
    /// ```
    #[must_use]
    pub fn number(&self) -> u8 {
        match self {
            Outcome::Ok { .. } => Self::OK,
            Outcome::Rejected { .. } => Self::REJECTED,
            Outcome::Ended { number, .. } => *number,
        }
    }
}

/// Room that has become free again, for one receiver or for the association.
///
/// ```
/// use volary_wire::native::Credit;
/// let _ = Credit { receiver: None, count: 64, bytes: 6_400 };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credit {
    /// Whose room; none for the association's.
    pub receiver: Option<Name>,
    /// How many messages.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Messages that left the mailbox, one way or another: all up to a sequence number, and ranges beyond it.
///
/// ```
/// use volary_wire::native::Confirm;
/// let confirm = Confirm::new(10, &[12..=14, 20..=20]).expect("in order and apart");
/// assert_eq!(confirm.beyond().collect::<Vec<_>>(), [12..=14, 20..=20]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirm {
    /// Everything up to here, and this one.
    pub up_to: u64,
    pub(crate) ranges: Bytes,
}

/// A wish to hear of an actor's end, or not any more.
///
/// ```
/// use volary_wire::native::Watch;
/// let _ = Watch { watcher: "/user/a".into(), watched: "/user/b".into() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch {
    /// Who wants to know.
    pub watcher: Name,
    /// About whom.
    pub watched: Name,
}

/// The end of an actor, for one that watches it. Travels behind the last message to the watcher.
///
/// ```
/// use volary_wire::native::{Terminated, TerminationCause};
/// let _ = Terminated { watcher: "/user/a".into(), watched: "/user/b".into(), cause: TerminationCause::Ended };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terminated {
    /// Who watches.
    pub watcher: Name,
    /// Who ended.
    pub watched: Name,
    /// How that is known.
    pub cause: TerminationCause,
}

/// How the end of an actor is known.
///
/// ```
/// use volary_wire::native::TerminationCause;
/// assert_ne!(TerminationCause::Nobody, TerminationCause::NodeLost);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TerminationCause {
    /// It was there and ended.
    Ended = 0,
    /// Nobody of that address is known: it ended before, or never was.
    Nobody = 1,
    /// The node that it lived on is lost.
    NodeLost = 2,
}

/// A request to the node rather than to an actor: spawn, stop, look up. What is in it is not known here.
///
/// ```
/// use volary_wire::native::Operation;
/// let _ = Operation { correlation: 1, name: "lookup".into(), payload: Default::default() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Which one the answer belongs to.
    pub correlation: u64,
    /// What is asked for.
    pub name: Text,
    /// The particulars.
    pub payload: Bytes,
}

/// What became of an [`Operation`].
///
/// ```
/// use volary_wire::native::Answer;
/// let _ = Answer { correlation: 1, status: 0, payload: Default::default() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Of which one.
    pub correlation: u64,
    /// 0 when it was done; the rest is between the operation and its caller.
    pub status: u8,
    /// The particulars.
    pub payload: Bytes,
}

/// The last frame of a connection that ends in order.
///
/// ```
/// use volary_wire::native::{Goodbye, GoodbyeReason};
/// let _ = Goodbye { reason: GoodbyeReason::Leaving, text: "the system stops".into() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goodbye {
    /// Why.
    pub reason: GoodbyeReason,
    /// For humans.
    pub text: Text,
}

/// Why a connection ends.
///
/// ```
/// use volary_wire::native::GoodbyeReason;
/// assert_ne!(GoodbyeReason::Idle, GoodbyeReason::Leaving);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GoodbyeReason {
    /// The node stops.
    Leaving,
    /// Nothing was said for long.
    Idle,
    /// There is another connection for the same.
    Duplicate,
    /// The other side broke a rule.
    Violation,
    /// The other side is quarantined: it must come back as a new incarnation.
    Quarantined,
    /// A reason of a later version.
    Other(u8),
}

impl GoodbyeReason {
    pub(crate) fn number(self) -> u8 {
        match self {
            GoodbyeReason::Leaving => 0,
            GoodbyeReason::Idle => 1,
            GoodbyeReason::Duplicate => 2,
            GoodbyeReason::Violation => 3,
            GoodbyeReason::Quarantined => 4,
            GoodbyeReason::Other(number) => number,
        }
    }

    pub(crate) fn from_number(number: u8) -> Self {
        match number {
            0 => GoodbyeReason::Leaving,
            1 => GoodbyeReason::Idle,
            2 => GoodbyeReason::Duplicate,
            3 => GoodbyeReason::Violation,
            4 => GoodbyeReason::Quarantined,
            other => GoodbyeReason::Other(other),
        }
    }
}
