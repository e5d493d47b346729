//! Writes frames to the end of a buffer, in place: a payload is encoded where it will be sent from, and the length is
//! filled in when it is known.

use bytes::{BufMut, BytesMut};

use super::handshake::{write_hello, write_welcome};
use super::{Frame, FrameKind, Metadata, NameRef, Outcome, Oversize};
use crate::codec::CodecId;

pub(crate) const HAS_SENDER: u8 = 1;
pub(crate) const HAS_METADATA: u8 = 2;
pub(crate) const HAS_RECEIVER: u8 = 1;
/// Marks a frame that may be skipped by a peer that does not know its kind.
pub(crate) const SKIPPABLE: u8 = 0x80;

/// The longest frame that the length can say.
const MAX: usize = u32::MAX as usize;

/// Everything of a message but its payload.
///
/// ```
/// use volary_wire::CodecId;
/// use volary_wire::native::{Head, NameRef};
///
/// let head = Head {
///     sequence: 1,
///     receiver: NameRef::Id(4),
///     sender: None,
///     type_name: NameRef::Text("bank.v1.Deposit"),
///     codec: CodecId::PROTO,
///     metadata: None,
/// };
/// # let _ = head;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The place of the message among all of this association.
    pub sequence: u64,
    /// Whom it is for.
    pub receiver: NameRef<'a>,
    /// Who sends it, if an actor does.
    pub sender: Option<NameRef<'a>>,
    /// What it is.
    pub type_name: NameRef<'a>,
    /// How it is written.
    pub codec: CodecId,
    /// Deadline, trace and headers, if there are any.
    pub metadata: Option<&'a Metadata>,
}

/// Appends frames to a buffer. Whatever fails leaves the buffer as it was.
///
/// ```
/// use bytes::{BufMut, BytesMut};
/// use volary_wire::CodecId;
/// use volary_wire::native::{FrameWriter, Head, NameRef};
///
/// let mut out = BytesMut::new();
/// # let (receiver, type_name) = (NameRef::Id(1), NameRef::Id(1));
/// let head = Head { sequence: 1, receiver, sender: None, type_name, codec: CodecId::JSON, metadata: None };
/// FrameWriter::new(&mut out).tell(&head, |payload| {
///     payload.put_slice(b"{}"); // a codec writes here
///     Ok::<(), std::fmt::Error>(())
/// })??;
/// assert_eq!(out[..], [0, 0, 0, 8, 5, 0, 1, 1, 1, 2, b'{', b'}']);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrameWriter<'a> {
    out: &'a mut BytesMut,
    max_frame: usize,
}

impl<'a> FrameWriter<'a> {
    /// For frames of any length.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameWriter};
    /// let mut out = bytes::BytesMut::new();
    /// FrameWriter::new(&mut out).frame(&Frame::Cancel { correlation: 1 })?;
    /// assert!(!out.is_empty());
    /// # Ok::<(), volary_wire::native::Oversize>(())
    /// ```
    #[must_use]
    pub fn new(out: &'a mut BytesMut) -> Self {
        FrameWriter { out, max_frame: MAX }
    }

    /// Refuses frames that are longer than the other side takes.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameWriter};
    /// let mut out = bytes::BytesMut::new();
    /// assert!(FrameWriter::new(&mut out).at_most(2).frame(&Frame::Cancel { correlation: 1 }).is_err());
    /// assert!(out.is_empty());
    /// ```
    #[must_use]
    pub fn at_most(mut self, max_frame: usize) -> Self {
        self.max_frame = max_frame.min(MAX);
        self
    }

    /// A message that nobody waits for; `payload` appends it. The outer error is an error of the frame, the inner one
    /// of the payload.
    ///
    /// ```
    /// # use bytes::{BufMut, BytesMut};
    /// # use volary_wire::CodecId;
    /// # use volary_wire::native::{FrameWriter, Head, NameRef};
    /// # let mut out = BytesMut::new();
    /// # let (receiver, type_name) = (NameRef::Id(1), NameRef::Id(1));
    /// let head = Head { sequence: 1, receiver, sender: None, type_name, codec: CodecId::JSON, metadata: None };
    /// FrameWriter::new(&mut out).tell(&head, |payload| {
    ///     payload.put_slice(b"{}");
    ///     Ok::<(), std::fmt::Error>(())
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the frame became too long; the buffer is as before.
    pub fn tell<E>(
        &mut self,
        head: &Head<'_>,
        payload: impl FnOnce(&mut BytesMut) -> Result<(), E>,
    ) -> Result<Result<(), E>, Oversize> {
        self.message(FrameKind::Tell, head, None, payload)
    }

    /// A message whose reply is waited for.
    ///
    /// ```
    /// # use bytes::{BufMut, BytesMut};
    /// # use volary_wire::CodecId;
    /// # use volary_wire::native::{FrameWriter, Head, NameRef};
    /// # let mut out = BytesMut::new();
    /// # let (receiver, type_name) = (NameRef::Id(1), NameRef::Id(1));
    /// let head = Head { sequence: 1, receiver, sender: None, type_name, codec: CodecId::JSON, metadata: None };
    /// FrameWriter::new(&mut out).ask(7, &head, |payload| {
    ///     payload.put_slice(b"{}");
    ///     Ok::<(), std::fmt::Error>(())
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`tell`](Self::tell).
    pub fn ask<E>(
        &mut self,
        correlation: u64,
        head: &Head<'_>,
        payload: impl FnOnce(&mut BytesMut) -> Result<(), E>,
    ) -> Result<Result<(), E>, Oversize> {
        self.message(FrameKind::Ask, head, Some(correlation), payload)
    }

    /// A reply or a rejection, whichever `payload` appends and says; or none of the two, which is then written instead.
    ///
    /// ```
    /// use bytes::{BufMut, BytesMut};
    /// use volary_wire::native::{FrameWriter, Outcome};
    /// use volary_wire::{Answered, CodecId};
    ///
    /// let mut out = BytesMut::new();
    /// FrameWriter::new(&mut out).reply(7, |payload| {
    ///     payload.put_slice(b"42");
    ///     Answered::Ok(CodecId::JSON)
    /// })?;
    /// assert_eq!(out[..], [0, 0, 0, 7, 7, 0, 7, 0, 2, b'4', b'2']);
    /// # Ok::<(), volary_wire::native::Oversize>(())
    /// ```
    ///
    /// # Errors
    /// When the frame became too long; the buffer is as before.
    pub fn reply(
        &mut self,
        correlation: u64,
        payload: impl FnOnce(&mut BytesMut) -> crate::Answered,
    ) -> Result<(), Oversize> {
        let start = self.begin(FrameKind::Reply, 0);
        put_number(self.out, correlation);
        let tag = self.out.len();
        self.out.put_slice(&[0, 0]);
        match payload(self.out) {
            crate::Answered::Ok(codec) => self.out[tag..tag + 2].copy_from_slice(&[Outcome::OK, codec.number()]),
            crate::Answered::Rejected(codec) => {
                self.out[tag..tag + 2].copy_from_slice(&[Outcome::REJECTED, codec.number()]);
            }
            crate::Answered::Ended(outcome) => {
                self.out.truncate(tag);
                put_outcome(self.out, &outcome);
            }
        }
        self.finish(start)
    }

    /// Any frame.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameWriter};
    /// # let mut out = bytes::BytesMut::new();
    /// FrameWriter::new(&mut out).frame(&Frame::Heartbeat { nonce: 42 })?;
    /// assert_eq!(out[..], [0, 0, 0, 3, 19, 0, 42]);
    /// # Ok::<(), volary_wire::native::Oversize>(())
    /// ```
    ///
    /// # Errors
    /// When it is too long; the buffer is as before.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), Oversize> {
        let out = match frame {
            Frame::Tell(envelope) | Frame::Ask { envelope, .. } => {
                let head = Head {
                    sequence: envelope.sequence,
                    receiver: envelope.receiver.borrowed(),
                    sender: envelope.sender.as_ref().map(|name| name.borrowed()),
                    type_name: envelope.type_name.borrowed(),
                    codec: envelope.codec,
                    metadata: envelope.metadata.as_ref(),
                };
                let correlation = match frame {
                    Frame::Ask { correlation, .. } => Some(*correlation),
                    _ => None,
                };
                let payload = |out: &mut BytesMut| {
                    out.put_slice(&envelope.payload);
                    Ok::<(), Oversize>(())
                };
                return self.message(frame.kind(), &head, correlation, payload)?;
            }
            Frame::Credit(credit) => {
                let start = self.begin(FrameKind::Credit, credit.receiver.as_ref().map_or(0, |_| HAS_RECEIVER));
                put_number(self.out, credit.count);
                put_number(self.out, credit.bytes);
                if let Some(receiver) = &credit.receiver {
                    put_name(self.out, receiver.borrowed());
                }
                return self.finish(start);
            }
            _ => self.begin(frame.kind(), 0),
        };
        put_body(self.out, frame);
        self.finish(out)
    }

    /// A piece but for its payload, which has that length.
    pub(crate) fn chunk_head(
        &mut self,
        transfer: u64,
        total: u64,
        offset: u64,
        payload: usize,
    ) -> Result<(), Oversize> {
        let start = self.begin(FrameKind::Chunk, 0);
        for number in [transfer, total, offset] {
            put_number(self.out, number);
        }
        self.finish_with(start, payload)
    }

    fn message<E>(
        &mut self,
        kind: FrameKind,
        head: &Head<'_>,
        correlation: Option<u64>,
        payload: impl FnOnce(&mut BytesMut) -> Result<(), E>,
    ) -> Result<Result<(), E>, Oversize> {
        let sender = head.sender.map_or(0, |_| HAS_SENDER);
        let metadata = head.metadata.map_or(0, |_| HAS_METADATA);
        let start = self.out.len();
        let out = &mut *self.out;
        let mut short = Short::new();
        short.length = 4; // of the frame's own, which is not known yet
        short.put(kind as u8);
        short.put(sender | metadata);
        short.number(head.sequence);
        if let Some(correlation) = correlation {
            short.number(correlation);
        }
        short.name(head.receiver, out);
        if let Some(sender) = head.sender {
            short.name(sender, out);
        }
        short.name(head.type_name, out);
        short.put(head.codec.number());
        short.append(out);
        if let Some(metadata) = head.metadata {
            metadata.write(out);
        }
        match payload(out) {
            Ok(()) => self.finish(start).map(Ok),
            Err(error) => {
                self.out.truncate(start);
                Ok(Err(error))
            }
        }
    }

    fn begin(&mut self, kind: FrameKind, flags: u8) -> usize {
        let start = self.out.len();
        self.out.put_slice(&[0, 0, 0, 0, kind as u8, flags]);
        start
    }

    fn finish(&mut self, start: usize) -> Result<(), Oversize> {
        self.finish_with(start, 0)
    }

    /// The same if so many bytes are yet to come.
    fn finish_with(&mut self, start: usize, to_come: usize) -> Result<(), Oversize> {
        let length = self.out.len() - start - 4 + to_come;
        if length > self.max_frame {
            self.out.truncate(start);
            let limit = self.max_frame;
            return Err(Oversize { length, limit });
        }
        self.out[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
    }
}

fn put_body(out: &mut BytesMut, frame: &Frame) {
    match frame {
        Frame::Hello(hello) => write_hello(out, hello),
        Frame::Welcome(welcome) => write_welcome(out, welcome),
        Frame::Refuse(refuse) => {
            out.put_u8(refuse.reason.number());
            out.put_slice(refuse.text.as_bytes());
        }
        Frame::Intern(intern) => {
            out.put_u8(intern.space.number());
            put_number(out, intern.id.into());
            out.put_slice(intern.text.as_bytes());
        }
        Frame::Reply(reply) => {
            put_number(out, reply.correlation);
            put_outcome(out, &reply.outcome);
        }
        Frame::Chunk(chunk) => {
            put_number(out, chunk.transfer);
            put_number(out, chunk.total);
            put_number(out, chunk.offset);
            out.put_slice(&chunk.payload);
        }
        Frame::Confirm(confirm) => {
            put_number(out, confirm.up_to);
            out.put_slice(&confirm.ranges);
        }
        Frame::Watch(watch) | Frame::Unwatch(watch) => {
            put_name(out, watch.watcher.borrowed());
            put_name(out, watch.watched.borrowed());
        }
        Frame::Terminated(terminated) => {
            put_name(out, terminated.watcher.borrowed());
            put_name(out, terminated.watched.borrowed());
            out.put_u8(terminated.cause as u8);
        }
        Frame::Operation(operation) => {
            put_number(out, operation.correlation);
            put_counted(out, operation.name.as_bytes());
            out.put_slice(&operation.payload);
        }
        Frame::Answer(answer) => {
            put_number(out, answer.correlation);
            out.put_u8(answer.status);
            out.put_slice(&answer.payload);
        }
        Frame::Goodbye(goodbye) => {
            out.put_u8(goodbye.reason.number());
            out.put_slice(goodbye.text.as_bytes());
        }
        Frame::Cancel { correlation: number }
        | Frame::Abort { transfer: number }
        | Frame::Busy { sequence: number }
        | Frame::Heartbeat { nonce: number }
        | Frame::HeartbeatReply { nonce: number } => put_number(out, *number),
        Frame::Tell(_) | Frame::Ask { .. } | Frame::Credit(_) => {
            unreachable!("`frame` writes these itself, since they have flags")
        }
    }
}

fn put_outcome(out: &mut BytesMut, outcome: &Outcome) {
    out.put_u8(outcome.number());
    match outcome {
        Outcome::Ok { codec, payload } | Outcome::Rejected { codec, payload } => {
            out.put_u8(codec.number());
            out.put_slice(payload);
        }
        Outcome::Ended { code, text, .. } => {
            put_number(out, (*code).into());
            out.put_slice(text.as_bytes());
        }
    }
}

fn put_name(out: &mut BytesMut, name: NameRef<'_>) {
    let mut short = Short::new();
    short.name(name, out);
    short.append(out);
}

fn put_counted(out: &mut BytesMut, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.put_slice(bytes);
}

pub(crate) fn put_number(out: &mut BytesMut, value: u64) {
    let mut short = Short::new();
    short.number(value);
    short.append(out);
}

/// A few numbers that are put together before they are appended: each appending asks whether there is room.
struct Short {
    bytes: [u8; Short::ROOM],
    length: usize,
}

impl Short {
    /// Of the beginning of a frame: its length, kind and flags, five numbers and a codec.
    const ROOM: usize = 4 + 2 + 5 * 10 + 1;

    fn new() -> Self {
        Short {
            bytes: [0; Short::ROOM],
            length: 0,
        }
    }

    fn put(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.put(value as u8 | 0x80);
            value >>= 7;
        }
        self.put(value as u8);
    }

    /// A name that stands in full is appended where it stands.
    fn name(&mut self, name: NameRef<'_>, out: &mut BytesMut) {
        match name {
            NameRef::Id(id) => self.number(id.into()),
            NameRef::Text(text) => {
                self.put(0);
                self.number(text.len() as u64);
                self.append(out);
                out.put_slice(text.as_bytes());
            }
        }
    }

    fn append(&mut self, out: &mut BytesMut) {
        out.put_slice(&self.bytes[..std::mem::take(&mut self.length)]);
    }
}

/// How many bytes [`put_number`] takes.
pub(crate) fn number_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}
