//! Reads fields one after the other, without copying, and says where a peer broke the rules.

use bytes::{Buf, Bytes};

use super::{FrameError, FrameKind, Name, Text};

/// The body of one frame, read from the front. It is taken apart only where a part outlives it: to cut bytes off is to
/// count their owners.
pub(crate) struct Reader {
    kind: FrameKind,
    body: Bytes,
    at: usize,
}

impl Reader {
    pub(crate) fn new(kind: FrameKind, body: Bytes) -> Self {
        Reader { kind, body, at: 0 }
    }

    pub(crate) fn kind(&self) -> FrameKind {
        self.kind
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left().is_empty()
    }

    fn left(&self) -> &[u8] {
        &self.body[self.at..]
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, FrameError> {
        let kind = self.kind;
        let byte = *self.left().first().ok_or(FrameError::Truncated { kind, field })?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn number(&mut self, field: &'static str) -> Result<u64, FrameError> {
        let (value, length) = number(self.left(), self.kind, field)?;
        self.at += length;
        Ok(value)
    }

    pub(crate) fn number_below<T: TryFrom<u64>>(&mut self, field: &'static str) -> Result<T, FrameError> {
        let kind = self.kind;
        let value = self.number(field)?;
        T::try_from(value).map_err(|_| FrameError::Value { kind, field, value })
    }

    pub(crate) fn bytes(&mut self, count: usize, field: &'static str) -> Result<Bytes, FrameError> {
        if count > self.left().len() {
            return Err(FrameError::Truncated { kind: self.kind, field });
        }
        self.at += count;
        Ok(self.body.slice(self.at - count..self.at))
    }

    /// What a length in front of it counts.
    pub(crate) fn counted(&mut self, limit: usize, field: &'static str) -> Result<Bytes, FrameError> {
        let count = self.number(field)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.within(count, limit, field)?;
        self.bytes(count, field)
    }

    pub(crate) fn text(&mut self, limit: usize, field: &'static str) -> Result<Text, FrameError> {
        let bytes = self.counted(limit, field)?;
        self.as_text(bytes, field)
    }

    pub(crate) fn name(&mut self, limit: usize, field: &'static str) -> Result<Name, FrameError> {
        match self.number_below::<u32>(field)? {
            0 => self.text(limit, field).map(Name::Text),
            id => Ok(Name::Id(id)),
        }
    }

    pub(crate) fn rest(&mut self) -> Bytes {
        let mut rest = std::mem::take(&mut self.body);
        rest.advance(std::mem::take(&mut self.at));
        rest
    }

    pub(crate) fn rest_as_text(&mut self, limit: usize, field: &'static str) -> Result<Text, FrameError> {
        let bytes = self.rest();
        self.within(bytes.len(), limit, field)?;
        self.as_text(bytes, field)
    }

    /// That nothing is left.
    pub(crate) fn end(self) -> Result<(), FrameError> {
        match self.left().len() {
            0 => Ok(()),
            left => Err(FrameError::Trailing { kind: self.kind, left }),
        }
    }

    pub(crate) fn within(&self, length: usize, limit: usize, field: &'static str) -> Result<(), FrameError> {
        if length <= limit {
            return Ok(());
        }
        Err(FrameError::Field {
            kind: self.kind,
            field,
            length,
            limit,
        })
    }

    pub(crate) fn unfit(&self, field: &'static str, value: u64) -> FrameError {
        FrameError::Value {
            kind: self.kind,
            field,
            value,
        }
    }

    pub(crate) fn as_text(&self, bytes: Bytes, field: &'static str) -> Result<Text, FrameError> {
        Text::checked(bytes).ok_or(FrameError::NotText { kind: self.kind, field })
    }
}

/// The number at the front of some bytes, and how many it takes.
pub(crate) fn number(bytes: &[u8], kind: FrameKind, field: &'static str) -> Result<(u64, usize), FrameError> {
    // Most numbers are small.
    if let Some(&byte) = bytes.first()
        && byte < 0x80
    {
        return Ok((byte.into(), 1));
    }
    let mut value = 0_u64;
    for (place, &byte) in bytes.iter().take(10).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if place == 9 && bits > 1 {
            return Err(FrameError::Number { kind, field });
        }
        value |= bits << (7 * place);
        if byte & 0x80 == 0 {
            if byte == 0 {
                return Err(FrameError::Number { kind, field });
            }
            return Ok((value, place + 1));
        }
    }
    match bytes.len() {
        0..10 => Err(FrameError::Truncated { kind, field }),
        _ => Err(FrameError::Number { kind, field }),
    }
}
