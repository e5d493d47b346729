//! Whom a message is for, read without reading the message: of a frame that this side has written, and that waits.

use super::told::Fields;
use super::write::HAS_METADATA;
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
        Some(Addressed {
            sequence,
            receiver: fields.name()?,
            has_metadata: flags & HAS_METADATA != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::super::{Envelope, Frame, FrameDecoder, FrameWriter, Head, Limits, Metadata};
    use super::*;
    use crate::codec::CodecId;

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
