//! What a link writes at a time.

use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

/// What a link writes next.
#[derive(Default)]
pub(crate) struct Batch {
    pub(super) first: BytesMut,
    pub(super) rest: BytesMut,
    /// Parts of large frames, behind everything else.
    pub(super) pieces: Vec<Bytes>,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_empty() && self.pieces.is_empty()
    }

    /// All of it, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let pieces = self.pieces.iter().map(|piece| &piece[..]);
        let parts = [&self.first[..], &self.rest[..]].into_iter().chain(pieces);
        parts.filter(|part| !part.is_empty())
    }

    /// All of it, to be written with as few calls as can be.
    pub(crate) fn bytes(&self) -> Parts<'_, impl Iterator<Item = &[u8]> + Clone> {
        let mut left = self.parts();
        let now = left.next().unwrap_or_default();
        let length = self.parts().map(<[u8]>::len).sum();
        Parts { now, left, length }
    }
}

/// Slices one after the other, as a buffer.
pub(crate) struct Parts<'a, I> {
    now: &'a [u8],
    left: I,
    length: usize,
}

impl<'a, I: Iterator<Item = &'a [u8]> + Clone> Buf for Parts<'a, I> {
    fn remaining(&self) -> usize {
        self.length
    }

    fn chunk(&self) -> &[u8] {
        self.now
    }

    fn chunks_vectored<'b>(&'b self, slices: &mut [IoSlice<'b>]) -> usize {
        let parts = std::iter::once(self.now).chain(self.left.clone());
        let mut count = 0;
        for (slice, part) in slices.iter_mut().zip(parts.filter(|part| !part.is_empty())) {
            *slice = IoSlice::new(part);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        self.length -= count;
        while count >= self.now.len() {
            count -= self.now.len();
            match self.left.next() {
                Some(next) => self.now = next,
                None => {
                    assert_eq!(count, 0, "no more than there is");
                    self.now = &[];
                    return;
                }
            }
        }
        self.now = &self.now[count..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_a_batch_is_read_in_order_however_it_is_taken() {
        let batch = Batch {
            first: BytesMut::from("ab"),
            rest: BytesMut::new(),
            pieces: vec!["c".into(), "defg".into(), Bytes::new(), "h".into()],
        };
        for step in 1..=8 {
            let mut bytes = batch.bytes();
            let mut read: Vec<u8> = Vec::new();
            while bytes.has_remaining() {
                let mut slices = [IoSlice::new(&[]); 3];
                let filled = bytes.chunks_vectored(&mut slices);
                assert!(slices[..filled].iter().all(|slice| !slice.is_empty()));
                let seen: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
                let taken = step.min(seen.len());
                assert_eq!(seen[0], bytes.chunk()[0]);
                read.extend(&seen[..taken]);
                bytes.advance(taken);
            }
            assert_eq!(read, b"abcdefgh", "in steps of {step}");
        }
        assert!(!batch.is_empty() && Batch::default().is_empty());
    }
}
