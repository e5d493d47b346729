//! Whom a message is for, read without reading the message: of a frame that this side has written, and that waits. And how
//! much of its time is left when it has waited.

use std::ops::Range;
use std::time::Duration;

use bytes::{BufMut, BytesMut};

use super::metadata::{DEADLINE, micros};
use super::told::Fields;
use super::write::{HAS_METADATA, HAS_SENDER, number_length, put_number};
use super::{FrameKind, NameRef};

/// What the frame of a message begins with.
///
/// ```
/// # use bytes::BytesMut;
/// # use volary_wire::CodecId;
/// use volary_wire::native::{Addressed, Frame, FrameWriter, Head, NameRef};
///
/// let mut out = BytesMut::new();
/// # let type_name = NameRef::Text("bank.v1.Deposit");
/// let receiver = NameRef::Text("volary://bank@10.0.0.7:4242/user/alice");
/// let head = Head { sequence: 3, receiver, sender: None, type_name, codec: CodecId::JSON, metadata: None };
/// let _ = FrameWriter::new(&mut out).tell(&head, |_| Ok::<(), ()>(()));
/// let addressed = Addressed::of(&out).unwrap();
/// assert_eq!((addressed.sequence, addressed.receiver), (3, receiver));
/// # let mut out = BytesMut::new();
/// FrameWriter::new(&mut out).frame(&Frame::Heartbeat { nonce: 1 })?;
/// assert!(Addressed::of(&out).is_none());
/// # Ok::<(), volary_wire::native::Oversize>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Addressed<'a> {
    /// The place of the message among all of this association.
    pub sequence: u64,
    /// Whom it is for.
    pub receiver: NameRef<'a>,
    /// Whether anything travels along.
    pub has_metadata: bool,
}

impl<'a> Addressed<'a> {
    /// What a whole frame, its length included, begins with; none if it is no message. What comes behind the receiver is
    /// not looked at. The example is above.
    #[must_use]
    pub fn of(frame: &'a [u8]) -> Option<Self> {
        let (flags, sequence, mut fields) = message(frame)?;
        Some(Addressed {
            sequence,
            receiver: fields.name()?,
            has_metadata: flags & HAS_METADATA != 0,
        })
    }

    /// Appends a whole frame with `by` less of its [time](super::Metadata::deadline), to the microsecond, and with one at
    /// least. False, and nothing is written, if it is no message that has a time.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use bytes::BytesMut;
    /// # use volary_wire::CodecId;
    /// use volary_wire::native::{Addressed, Frame, FrameDecoder, FrameWriter, Head, Limits, Metadata, NameRef};
    ///
    /// let time = |seconds| Metadata::builder().deadline(Duration::from_secs(seconds)).build();
    /// # let (receiver, type_name) = (NameRef::Id(1), NameRef::Id(1));
    /// let metadata = Some(&time(5));
    /// let head = Head { sequence: 3, receiver, sender: None, type_name, codec: CodecId::JSON, metadata };
    /// let (mut waiting, mut out) = (BytesMut::new(), BytesMut::new());
    /// let _ = FrameWriter::new(&mut waiting).tell(&head, |_| Ok::<(), ()>(()));
    /// assert!(Addressed::count_down(&waiting, Duration::from_secs(2), &mut out));
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// decoder.feed(&out);
    /// let Ok(Some(Frame::Tell(envelope))) = decoder.next_frame() else { panic!() };
    /// assert_eq!(envelope.metadata, Some(time(3)));
    /// ```
    pub fn count_down(frame: &[u8], by: Duration, out: &mut BytesMut) -> bool {
        let Some(time) = Time::of(frame) else {
            return false;
        };
        let left = time.left.saturating_sub(micros(by)).max(1);
        let length = number_length(left);
        let start = out.len();
        out.put_slice(&frame[..time.place.start]);
        put_number(out, (2 + length + time.others) as u64);
        out.put_slice(&[DEADLINE, length as u8]);
        put_number(out, left);
        out.put_slice(&frame[time.place.end..]);
        let length = (out.len() - start - 4) as u32; // not more than it was
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        true
    }
}

/// What time a message has, in microseconds, and where that is said.
struct Time {
    left: u64,
    /// From the length of the metadata to the end of the first of them.
    place: Range<usize>,
    /// The length of the others.
    others: usize,
}

impl Time {
    /// None if there is none; it is the first of the metadata as we write them.
    fn of(frame: &[u8]) -> Option<Self> {
        let (flags, _, mut fields) = message(frame)?;
        if flags & HAS_METADATA == 0 {
            return None;
        }
        fields.name()?;
        if flags & HAS_SENDER != 0 {
            fields.name()?;
        }
        fields.name()?;
        fields.byte()?;
        let start = frame.len() - fields.0.len();
        let length = usize::try_from(fields.number()?).ok()?;
        let behind = fields.0.len();
        if fields.byte()? != DEADLINE {
            return None;
        }
        fields.byte()?;
        let left = fields.number()?;
        Some(Time {
            left,
            place: start..frame.len() - fields.0.len(),
            others: length.checked_sub(behind - fields.0.len())?,
        })
    }
}

/// Flags and number of a whole frame that is a message, and what stands behind.
fn message(frame: &[u8]) -> Option<(u8, u64, Fields<'_>)> {
    let [kind, flags, fields @ ..] = frame.get(4..)? else {
        return None;
    };
    let is_asked = *kind == FrameKind::Ask as u8;
    if !is_asked && *kind != FrameKind::Tell as u8 {
        return None;
    }
    let mut fields = Fields(fields);
    let sequence = fields.number()?;
    if is_asked {
        fields.number()?;
    }
    Some((*flags, sequence, fields))
}

#[cfg(test)]
mod tests {
    use super::super::{Envelope, Frame, FrameDecoder, FrameWriter, Head, Limits, Metadata};
    use super::*;
    use crate::codec::CodecId;

    /// A message with everything that there can be, and this along.
    fn written(correlation: Option<u64>, sender: Option<NameRef<'_>>, metadata: Option<&Metadata>) -> BytesMut {
        let (receiver, type_name) = (NameRef::Text("volary://a@b:1/user/c"), NameRef::Text("test"));
        let (sequence, codec) = (300, CodecId::JSON);
        let head = Head {
            sequence,
            receiver,
            sender,
            type_name,
            codec,
            metadata,
        };
        let payload = |out: &mut BytesMut| {
            out.put_slice(b"payload");
            Ok::<(), ()>(())
        };
        let mut out = BytesMut::new();
        let mut writer = FrameWriter::new(&mut out);
        let written = match correlation {
            None => writer.tell(&head, payload),
            Some(correlation) => writer.ask(correlation, &head, payload),
        };
        assert_eq!(written, Ok(Ok(())));
        out
    }

    #[test]
    fn s3_of_a_message_that_has_waited_nothing_but_its_time_is_less() {
        let with = |micros: u64, headers: usize| {
            let metadata = Metadata::builder().deadline(Duration::from_micros(micros));
            let header = [7; 60];
            (0..headers)
                .fold(metadata, |metadata, _| metadata.header("a", &header))
                .build()
        };
        for correlation in [None, Some(1), Some(1 << 40)] {
            for sender in [None, Some(NameRef::Id(7)), Some(NameRef::Text("x"))] {
                for headers in [0, 1, 2, 9] {
                    for (before, by, left) in [
                        (5_000_000, 0, 5_000_000),
                        (5_000_000, 4_999_900, 100),
                        (u64::MAX >> 1, 1, (u64::MAX >> 1) - 1),
                        (129, 2, 127),
                        (7, 7, 1),
                        (7, u64::MAX, 1),
                    ] {
                        let waiting = written(correlation, sender, Some(&with(before, headers)));
                        let expected = written(correlation, sender, Some(&with(left, headers)));
                        let mut out = BytesMut::from(&b"before"[..]);
                        assert!(Addressed::count_down(&waiting, Duration::from_micros(by), &mut out));
                        assert_eq!(out[..6], *b"before");
                        assert_eq!(out[6..], expected[..], "{before} - {by} with {headers}");
                    }
                }
                let timeless = Metadata::builder().header("a", b"b").build();
                for metadata in [None, Some(&timeless)] {
                    let mut out = BytesMut::new();
                    let waiting = written(correlation, sender, metadata);
                    assert!(!Addressed::count_down(&waiting, Duration::from_secs(1), &mut out));
                    assert!(out.is_empty());
                }
            }
        }
    }

    #[test]
    fn r1_whom_a_message_is_for_is_read_as_the_decoder_reads_it() {
        let metadata = Metadata::builder().header("a", b"b").build();
        let names = [
            NameRef::Id(7),
            NameRef::Id(70_000),
            NameRef::Text("volary://a@b:1/user/c"),
            NameRef::Text(""),
        ];
        for receiver in names {
            for (sequence, correlation) in [(1, None), (u64::MAX >> 1, Some(1)), (300, Some(1 << 40))] {
                for (sender, metadata) in [(None, None), (Some(NameRef::Text("x")), Some(&metadata))] {
                    let (type_name, codec) = (NameRef::Text("test"), CodecId::JSON);
                    let head = Head {
                        sequence,
                        receiver,
                        sender,
                        type_name,
                        codec,
                        metadata,
                    };
                    let mut out = BytesMut::new();
                    let mut writer = FrameWriter::new(&mut out);
                    let written = match correlation {
                        None => writer.tell(&head, |_| Ok::<(), ()>(())),
                        Some(correlation) => writer.ask(correlation, &head, |_| Ok::<(), ()>(())),
                    };
                    assert_eq!(written, Ok(Ok(())));
                    let addressed = Addressed::of(&out).unwrap();
                    let mut decoder = FrameDecoder::new(Limits::default());
                    decoder.feed(&out);
                    let read: Envelope = match decoder.next_frame() {
                        Ok(Some(Frame::Ask { envelope, .. } | Frame::Tell(envelope))) => envelope,
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(addressed.sequence, read.sequence);
                    assert_eq!(addressed.receiver, read.receiver.borrowed());
                    assert_eq!(addressed.has_metadata, read.metadata.is_some());
                    // No part of it is taken for more than it is.
                    (0..out.len()).for_each(|cut| {
                        let part = Addressed::of(&out[..cut]);
                        assert!(part.is_none() || part == Some(addressed));
                    });
                }
            }
        }
    }
}
