//! What nearly every frame is, read without taking a frame apart.

use bytes::{Buf, Bytes};

use super::write::HAS_SENDER;
use super::{Envelope, FrameDecoder, FrameKind, Name, NameRef};
use crate::codec::CodecId;

/// A message that is told, from and to somebody whose name has a number, with nothing else along. A frame is as large as
/// the largest of its kinds, and moving it costs more than reading this one; see [`FrameDecoder::next_told`].
///
/// ```
/// # use volary_wire::CodecId;
/// # use volary_wire::native::{Envelope, Name, Told};
/// let told = Told { sequence: 1, receiver: 7, sender: None, type_name: 2, codec: CodecId::JSON, payload: "{}".into() };
/// assert_eq!(Envelope::from(told).receiver, Name::Id(7));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The place of the message among all of this association.
    pub sequence: u64,
    /// Whom it is for.
    pub receiver: u32,
    /// Who sent it, if an actor did.
    pub sender: Option<u32>,
    /// What it is.
    pub type_name: u32,
    /// How it is written.
    pub codec: CodecId,
    /// The message.
    pub payload: Bytes,
}

impl From<Told> for Envelope {
    fn from(told: Told) -> Self {
        Envelope {
            sequence: told.sequence,
            receiver: Name::Id(told.receiver),
            sender: told.sender.map(Name::Id),
            type_name: Name::Id(told.type_name),
            codec: told.codec,
            metadata: None,
            payload: told.payload,
        }
    }
}

impl FrameDecoder {
    /// The next frame, if it is whole and a [`Told`]. If not, nothing happens, and [`next_frame`](Self::next_frame) says
    /// what there is.
    ///
    /// ```
    /// # use volary_wire::native::{Frame, FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::default());
    /// decoder.feed(&[0, 0, 0, 3, 19, 0, 42]);
    /// assert_eq!(decoder.next_told(), None); // a heartbeat
    /// assert_eq!(decoder.next_frame()?, Some(Frame::Heartbeat { nonce: 42 }));
    /// # Ok::<(), volary_wire::native::FrameError>(())
    /// ```
    #[inline]
    pub fn next_told(&mut self) -> Option<Told> {
        let (length, frame) = self.in_order()?.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        if length > self.limits().max_frame {
            return None;
        }
        let [kind, flags, fields @ ..] = frame.get(..length)? else {
            return None;
        };
        if *kind != FrameKind::Tell as u8 || flags & !HAS_SENDER != 0 {
            return None;
        }
        let mut fields = Fields(fields);
        let sequence = fields.number()?;
        let receiver = fields.id()?;
        let sender = match flags & HAS_SENDER {
            0 => None,
            _ => Some(fields.id()?),
        };
        let type_name = fields.id()?;
        let codec = CodecId::from_number(fields.byte()?);
        let payload = fields.0.len();
        let buffer = self.buffered();
        buffer.advance(4 + length - payload);
        Some(Told {
            sequence,
            receiver,
            sender,
            type_name,
            codec,
            payload: buffer.split_to(payload).freeze(),
        })
    }
}

/// The fields of a frame. It is no error when they are not what is expected here.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// A number of up to nine bytes, written as short as can be.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x7f);
        if first == value as u8 {
            return Some(value);
        }
        for place in 1..9 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return (byte != 0).then_some(value);
            }
        }
        None
    }

    /// A name by its number or in full.
    pub(super) fn name(&mut self) -> Option<NameRef<'a>> {
        let id = self.number()?;
        if id != 0 {
            return u32::try_from(id).ok().map(NameRef::Id);
        }
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(NameRef::Text)
    }

    /// The number of a name; 0 is a name in full.
    #[inline]
    fn id(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok().filter(|id| *id != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Limits};
    use super::*;

    fn decoder(bytes: &[u8]) -> FrameDecoder {
        let mut decoder = FrameDecoder::new(Limits::default());
        decoder.feed(bytes);
        decoder
    }

    fn frame(body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&length[..], body].concat()
    }

    /// Both ways of reading give the same, or the short one gives nothing and leaves everything as it was.
    fn both(bytes: &[u8]) -> Option<Told> {
        let told = decoder(bytes).next_told();
        let read = decoder(bytes).next_frame();
        if let Some(told) = &told {
            assert_eq!(read, Ok(Some(Frame::Tell(told.clone().into()))));
        }
        let mut after = decoder(bytes);
        if after.next_told().is_none() {
            assert_eq!(after.next_frame(), read);
        }
        told
    }

    #[test]
    fn r1_the_short_way_reads_what_the_long_one_does() {
        let tell = FrameKind::Tell as u8;
        let plain = both(&frame(&[tell, 0, 5, 7, 9, 1, 1, 2, 3])).unwrap();
        assert_eq!(
            (plain.sequence, plain.receiver, plain.sender, plain.type_name),
            (5, 7, None, 9)
        );
        assert_eq!(&plain.payload[..], [1, 2, 3]);
        let sent = both(&frame(&[tell, HAS_SENDER, 0x85, 1, 7, 0x80, 1, 9, 1])).unwrap();
        assert_eq!((sent.sequence, sent.sender, sent.type_name), (0x85, Some(0x80), 9));
        assert!(sent.payload.is_empty());
    }

    #[test]
    fn r1_the_short_way_leaves_alone_what_it_does_not_know() {
        let tell = FrameKind::Tell as u8;
        let others: [&[u8]; 9] = [
            &[tell, 0, 5, 0, 1, b'a', 9, 1],                                     // a name in full
            &[tell, 2, 5, 7, 9, 1, 0],                                           // metadata
            &[tell, 4, 5, 7, 9, 1],                                              // a flag that is not known
            &[tell, 0, 0x85, 0, 7, 9, 1],                                        // a number longer than it must be
            &[tell, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 7, 9, 1], // and one of ten bytes
            &[tell, 0, 5, 255, 255, 255, 255, 31, 9, 1],                         // an id of more than 32 bits
            &[tell, 0, 5, 7, 9],                                                 // no codec
            &[tell, 0, 5, 0x87],                                                 // half a number
            &[FrameKind::Ask as u8, 0, 5, 1, 7, 9, 1],
        ];
        for other in others {
            assert_eq!(both(&frame(other)), None, "{other:?}");
        }
        assert_eq!(both(&[255, 255, 255, 255, tell, 0]), None, "too long");
        assert_eq!(both(&frame(&[tell])), None, "too short");
        let whole = frame(&[tell, 0, 5, 7, 9, 1, 1, 2, 3]);
        (0..whole.len()).for_each(|cut| assert_eq!(both(&whole[..cut]), None, "not whole"));
    }

    #[test]
    fn r1_the_short_way_is_closed_after_a_breach() {
        let mut decoder = decoder(&frame(&[255, 0]));
        decoder.next_frame().unwrap_err();
        decoder.feed(&frame(&[FrameKind::Tell as u8, 0, 5, 7, 9, 1]));
        assert_eq!(decoder.next_told(), None);
        decoder.next_frame().unwrap_err();
    }
}
