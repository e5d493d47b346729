//! From a stream of bytes, however it was cut, to frames.

use bytes::{Buf, Bytes, BytesMut};

use super::handshake::{read_hello, read_welcome};
use super::read::Reader;
use super::write::{HAS_METADATA, HAS_RECEIVER, HAS_SENDER, SKIPPABLE};
use super::{
    Answer, Chunk, Confirm, Credit, Envelope, Frame, FrameError, FrameKind, Goodbye, GoodbyeReason, Intern,
    InternSpace, Limits, Metadata, Operation, Outcome, Refuse, RefuseReason, Reply, Terminated, TerminationCause,
    Watch,
};
use crate::codec::CodecId;

/// A buffer of which less than this part is used is as good as a new one.
const AS_GOOD: usize = 8;

/// Turns bytes into frames. Frames share its buffer: nothing is copied, and as long as they are dropped before the
/// next bytes are read, nothing is allocated.
///
/// ```
/// use volary_wire::native::{Frame, FrameDecoder, Limits};
///
/// let mut decoder = FrameDecoder::new(Limits::default());
/// decoder.feed(&[0, 0, 0, 3, 19]);
/// assert_eq!(decoder.next_frame()?, None); // not whole yet
/// decoder.feed(&[0, 42]);
/// assert_eq!(decoder.next_frame()?, Some(Frame::Heartbeat { nonce: 42 }));
/// # Ok::<(), volary_wire::native::FrameError>(())
/// ```
#[derive(Debug)]
pub struct FrameDecoder {
    limits: Limits,
    buffer: BytesMut,
    skipped: u64,
    broken: Option<FrameError>,
}

impl FrameDecoder {
    /// With nothing in it.
    ///
    /// ```
    /// # use volary_wire::native::{FrameDecoder, Limits};
    /// assert_eq!(FrameDecoder::new(Limits::default()).next_frame(), Ok(None));
    /// ```
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        FrameDecoder {
            limits,
            buffer: BytesMut::new(),
            skipped: 0,
            broken: None,
        }
    }

    /// Other limits from here on, as when a peer has said who it is.
    ///
    /// ```
    /// # use volary_wire::native::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// decoder.set_limits(Limits::default());
    /// ```
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Takes bytes as they came.
    ///
    /// ```
    /// # use volary_wire::native::{FrameDecoder, Limits};
    /// FrameDecoder::new(Limits::default()).feed(&[0, 0]);
    /// ```
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The buffer, with about [`Limits::read_step`] bytes of room at least, to read into directly. What is appended to it counts as
    /// fed; call [`next_frame`](Self::next_frame) until it has no more before reading again.
    ///
    /// ```
    /// # use volary_wire::native::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// let room = decoder.buffer();
    /// assert!(room.capacity() - room.len() >= 14 * 1024);
    /// ```
    pub fn buffer(&mut self) -> &mut BytesMut {
        let missing = match self.buffer.first_chunk::<4>() {
            Some(length) => (4 + u32::from_be_bytes(*length) as usize).saturating_sub(self.buffer.len()),
            None => 0,
        };
        let step = self.limits.read_step;
        let room = self.buffer.capacity() - self.buffer.len();
        // Frames that are kept keep their buffer: if there were another for each read, it would be one for each small frame.
        if room < missing.max(step - step / AS_GOOD) {
            // A length is only a promise: no more is set aside for it than has come.
            self.buffer.reserve(missing.clamp(step, step.max(self.buffer.len())));
        }
        &mut self.buffer
    }

    /// How many frames of unknown kinds were skipped, as their sender allowed.
    ///
    /// ```
    /// # use volary_wire::native::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// decoder.feed(&[0, 0, 0, 2, 200, 0x80]);
    /// assert_eq!(decoder.next_frame(), Ok(None));
    /// assert_eq!(decoder.skipped(), 1);
    /// ```
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next frame; none until more bytes come.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// decoder.feed(&[0, 0, 0, 3, 19, 0, 42]);
    /// assert_eq!(decoder.next_frame()?, Some(Frame::Heartbeat { nonce: 42 }));
    /// # Ok::<(), volary_wire::native::FrameError>(())
    /// ```
    ///
    /// # Errors
    /// When the peer broke the rules: now, and from then on.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let next = self.advance();
        if let Err(error) = &next {
            self.broken = Some(error.clone());
            self.buffer = BytesMut::new();
        }
        next
    }

    #[inline]
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What has come and was not read; nothing once a rule was broken.
    #[inline]
    pub(super) fn in_order(&self) -> Option<&[u8]> {
        self.broken.is_none().then_some(&self.buffer)
    }

    #[inline]
    pub(super) fn buffered(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    fn advance(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let Some(length) = self.buffer.first_chunk::<4>() else {
                return Ok(None);
            };
            let length = u32::from_be_bytes(*length) as usize;
            if length > self.limits.max_frame {
                let limit = self.limits.max_frame;
                return Err(FrameError::TooLong { length, limit });
            }
            if length < 2 {
                return Err(FrameError::TooShort { length });
            }
            if self.buffer.len() < 4 + length {
                return Ok(None);
            }
            self.buffer.advance(4);
            let frame = self.buffer.split_to(length).freeze();
            match Frame::from_bytes(frame, &self.limits)? {
                Some(frame) => return Ok(Some(frame)),
                None => self.skipped += 1,
            }
        }
    }
}

impl Frame {
    /// A frame without its length; none if it is of an unknown kind that may be skipped.
    pub(crate) fn from_bytes(mut frame: Bytes, limits: &Limits) -> Result<Option<Self>, FrameError> {
        let (number, flags) = match frame[..] {
            [number, flags, ..] => (number, flags),
            _ => return Err(FrameError::TooShort { length: frame.len() }),
        };
        match FrameKind::from_number(number) {
            Some(kind) => {
                frame.advance(2);
                read(kind, flags, frame, limits).map(Some)
            }
            None if flags & SKIPPABLE != 0 => Ok(None),
            None => Err(FrameError::UnknownKind(number)),
        }
    }

    /// A frame that came in pieces.
    pub(crate) fn from_pieces(whole: Bytes, limits: &Limits) -> Result<Self, FrameError> {
        let number = whole.first().copied().unwrap_or_default();
        match FrameKind::from_number(number) {
            Some(FrameKind::Tell | FrameKind::Ask | FrameKind::Reply | FrameKind::Operation | FrameKind::Answer) => {
                Frame::from_bytes(whole, limits)?.ok_or(FrameError::UnknownKind(number))
            }
            Some(kind) => Err(FrameError::NotInPieces(kind)),
            None => Err(FrameError::UnknownKind(number)),
        }
    }
}

fn read(kind: FrameKind, flags: u8, body: Bytes, limits: &Limits) -> Result<Frame, FrameError> {
    let known = match kind {
        FrameKind::Tell | FrameKind::Ask => HAS_SENDER | HAS_METADATA,
        FrameKind::Credit => HAS_RECEIVER,
        _ => 0,
    };
    if flags & !known != 0 {
        return Err(FrameError::Flags { kind, flags });
    }
    let mut from = Reader::new(kind, body);
    let frame = match kind {
        FrameKind::Hello => return read_hello(from, limits).map(Frame::Hello),
        FrameKind::Welcome => return read_welcome(from, limits).map(Frame::Welcome),
        FrameKind::Refuse => Frame::Refuse(Refuse {
            reason: RefuseReason::from_number(from.u8("reason")?),
            text: from.rest_as_text(limits.max_text, "text")?,
        }),
        FrameKind::Intern => Frame::Intern(Intern {
            space: space(&mut from)?,
            id: from.number_below("id")?,
            text: from.rest_as_text(limits.max_name, "text")?,
        }),
        FrameKind::Tell => Frame::Tell(envelope(from.number("sequence")?, &mut from, flags, limits)?),
        FrameKind::Ask => {
            let sequence = from.number("sequence")?;
            Frame::Ask {
                correlation: from.number("correlation")?,
                envelope: envelope(sequence, &mut from, flags, limits)?,
            }
        }
        FrameKind::Reply => Frame::Reply(Reply {
            correlation: from.number("correlation")?,
            outcome: outcome(&mut from, limits)?,
        }),
        FrameKind::Cancel => Frame::Cancel {
            correlation: from.number("correlation")?,
        },
        FrameKind::Chunk => Frame::Chunk(Chunk {
            transfer: from.number("transfer")?,
            total: from.number("total")?,
            offset: from.number("offset")?,
            payload: from.rest(),
        }),
        FrameKind::Abort => Frame::Abort {
            transfer: from.number("transfer")?,
        },
        FrameKind::Credit => Frame::Credit(Credit {
            count: from.number("count")?,
            bytes: from.number("bytes")?,
            receiver: match flags & HAS_RECEIVER {
                0 => None,
                _ => Some(from.name(limits.max_name, "receiver")?),
            },
        }),
        FrameKind::Confirm => Frame::Confirm(Confirm::checked(from.number("up_to")?, from.rest())?),
        FrameKind::Busy => Frame::Busy {
            sequence: from.number("sequence")?,
        },
        FrameKind::Watch => Frame::Watch(watch(&mut from, limits)?),
        FrameKind::Unwatch => Frame::Unwatch(watch(&mut from, limits)?),
        FrameKind::Terminated => {
            let Watch { watcher, watched } = watch(&mut from, limits)?;
            let cause = match from.u8("cause")? {
                0 => TerminationCause::Ended,
                1 => TerminationCause::Nobody,
                2 => TerminationCause::NodeLost,
                other => return Err(from.unfit("cause", other.into())),
            };
            Frame::Terminated(Terminated {
                watcher,
                watched,
                cause,
            })
        }
        FrameKind::Operation => Frame::Operation(Operation {
            correlation: from.number("correlation")?,
            name: from.text(limits.max_name, "name")?,
            payload: from.rest(),
        }),
        FrameKind::Answer => Frame::Answer(Answer {
            correlation: from.number("correlation")?,
            status: from.u8("status")?,
            payload: from.rest(),
        }),
        FrameKind::Heartbeat => Frame::Heartbeat {
            nonce: from.number("nonce")?,
        },
        FrameKind::HeartbeatReply => Frame::HeartbeatReply {
            nonce: from.number("nonce")?,
        },
        FrameKind::Goodbye => Frame::Goodbye(Goodbye {
            reason: GoodbyeReason::from_number(from.u8("reason")?),
            text: from.rest_as_text(limits.max_text, "text")?,
        }),
    };
    from.end()?;
    Ok(frame)
}

fn space(from: &mut Reader) -> Result<InternSpace, FrameError> {
    let number = from.u8("space")?;
    InternSpace::from_number(number).ok_or_else(|| from.unfit("space", number.into()))
}

fn envelope(sequence: u64, from: &mut Reader, flags: u8, limits: &Limits) -> Result<Envelope, FrameError> {
    Ok(Envelope {
        sequence,
        receiver: from.name(limits.max_name, "receiver")?,
        sender: match flags & HAS_SENDER {
            0 => None,
            _ => Some(from.name(limits.max_name, "sender")?),
        },
        type_name: from.name(limits.max_name, "type")?,
        codec: CodecId::from_number(from.u8("codec")?),
        metadata: match flags & HAS_METADATA {
            0 => None,
            _ => {
                let fields = from.counted(limits.max_metadata, "metadata")?;
                Some(Metadata::checked(from.kind(), fields, limits)?)
            }
        },
        payload: from.rest(),
    })
}

fn outcome(from: &mut Reader, limits: &Limits) -> Result<Outcome, FrameError> {
    let number = from.u8("outcome")?;
    if number > Outcome::REJECTED {
        return Ok(Outcome::Ended {
            number,
            code: from.number_below("code")?,
            text: from.rest_as_text(limits.max_text, "text")?,
        });
    }
    let codec = CodecId::from_number(from.u8("codec")?);
    let payload = from.rest();
    Ok(match number {
        Outcome::OK => Outcome::Ok { codec, payload },
        _ => Outcome::Rejected { codec, payload },
    })
}

fn watch(from: &mut Reader, limits: &Limits) -> Result<Watch, FrameError> {
    Ok(Watch {
        watcher: from.name(limits.max_name, "watcher")?,
        watched: from.name(limits.max_name, "watched")?,
    })
}
