//! Messages too long for one frame, cut in pieces so that others can pass between them.
//!
//! What is cut is a whole frame without its length. Every piece says how long the whole is and where it belongs; the
//! pieces of one transfer come in order. There are no pieces of pieces.

use std::collections::BTreeMap;

use bytes::{Buf, Bytes, BytesMut};

use super::told::Fields;
use super::{Frame, FrameError, FrameKind, FrameWriter, Limits, Oversize};

/// One piece.
///
/// ```
/// use volary_wire::native::Chunk;
/// let _ = Chunk { transfer: 1, total: 100_000, offset: 0, payload: vec![0; 50_000].into() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Which message; not used again on this connection.
    pub transfer: u64,
    /// How long the whole is.
    pub total: u64,
    /// Where this piece begins.
    pub offset: u64,
    /// The piece.
    pub payload: Bytes,
}

/// What the first piece of a frame says of it.
///
/// ```
/// use volary_wire::native::{Beginning, Chunk, FrameKind};
///
/// // The answer to the ask 7, as it begins: kind, no flags, the number.
/// let first = Chunk { transfer: 1, total: 100_000, offset: 0, payload: vec![7, 0, 7, 1].into() };
/// assert_eq!(first.begins(), Some(Beginning { kind: FrameKind::Reply, number: 7 }));
/// let next = Chunk { offset: 4, ..first };
/// assert_eq!(next.begins(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    /// What kind of frame it is.
    pub kind: FrameKind,
    /// The number behind that: of a message its sequence, of what answers or asks the correlation.
    pub number: u64,
}

impl Chunk {
    /// What the frame begins with, if this is its first piece and says so. The example is at [`Beginning`].
    #[must_use]
    pub fn begins(&self) -> Option<Beginning> {
        let [kind, _, fields @ ..] = &self.payload[..] else {
            return None;
        };
        let kind = FrameKind::from_number(*kind)?;
        let number = Fields(fields).number()?;
        (self.offset == 0).then_some(Beginning { kind, number })
    }
}

/// Cuts a frame in pieces, one at a time.
///
/// ```
/// use bytes::{Bytes, BytesMut};
/// use volary_wire::native::{Chunks, Frame, FrameWriter};
///
/// let mut frame = BytesMut::new();
/// FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
/// let mut chunks = Chunks::new(7, frame.freeze(), 2);
/// let mut out = BytesMut::new();
/// while chunks.write_next(&mut out)? {
///     // other frames may go between
/// }
/// # assert_eq!(out.len(), 2 * (4 + 2 + 3 + 2) - 1);
/// # Ok::<(), volary_wire::native::Oversize>(())
/// ```
#[derive(Debug)]
pub struct Chunks {
    transfer: u64,
    total: u64,
    left: Bytes,
    piece: usize,
}

impl Chunks {
    /// Of a frame as [`FrameWriter`] wrote it, with its length in front.
    ///
    /// ```
    /// # use volary_wire::native::{Chunks, Frame, FrameWriter};
    /// let mut frame = bytes::BytesMut::new();
    /// FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
    /// let chunks = Chunks::new(7, frame.freeze(), 1_024);
    /// # let _ = chunks;
    /// # Ok::<(), volary_wire::native::Oversize>(())
    /// ```
    ///
    /// # Panics
    /// When `frame` is no frame, or pieces would be empty.
    #[must_use]
    pub fn new(transfer: u64, mut frame: Bytes, piece: usize) -> Self {
        assert!(frame.len() > 4 && piece > 0, "a frame, and pieces that have a length");
        frame.advance(4);
        Chunks {
            transfer,
            total: frame.len() as u64,
            left: frame,
            piece,
        }
    }

    /// How long pieces are from now on.
    ///
    /// ```
    /// # use bytes::BytesMut;
    /// # use volary_wire::native::{Chunks, Frame, FrameWriter};
    /// # let mut frame = BytesMut::new();
    /// # FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
    /// let mut chunks = Chunks::new(7, frame.freeze(), 1); // of three bytes
    /// let mut head = BytesMut::new();
    /// assert_eq!(chunks.write_next_head(&mut head)?.unwrap().len(), 1);
    /// chunks.set_piece(2);
    /// assert_eq!(chunks.write_next_head(&mut head)?.unwrap().len(), 2);
    /// # Ok::<(), volary_wire::native::Oversize>(())
    /// ```
    ///
    /// # Panics
    /// When pieces would be empty.
    pub fn set_piece(&mut self, piece: usize) {
        assert!(piece > 0, "pieces that have a length");
        self.piece = piece;
    }

    /// Writes the next piece; false when there is none.
    ///
    /// ```
    /// # use volary_wire::native::{Chunks, Frame, FrameWriter, Oversize};
    /// # let mut frame = bytes::BytesMut::new();
    /// # FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
    /// let mut chunks = Chunks::new(7, frame.freeze(), 1); // of three bytes
    /// let (mut out, mut pieces) = (bytes::BytesMut::new(), 0);
    /// while chunks.write_next(&mut out)? {
    ///     pieces += 1;
    /// }
    /// assert_eq!(pieces, 3);
    /// # Ok::<(), Oversize>(())
    /// ```
    ///
    /// # Errors
    /// When pieces are longer than frames may be.
    pub fn write_next(&mut self, out: &mut BytesMut) -> Result<bool, Oversize> {
        let Some(payload) = self.write_next_head(out)? else {
            return Ok(false);
        };
        out.extend_from_slice(&payload);
        Ok(true)
    }

    /// Writes the next piece but for its payload, which is to be sent behind it; none when there is no more. So it need
    /// not be copied.
    ///
    /// ```
    /// # use volary_wire::native::{Chunks, Frame, FrameWriter, Oversize};
    /// # let mut sent = Vec::new();
    /// # let mut send = |bytes: &[u8]| sent.extend_from_slice(bytes);
    /// # let mut frame = bytes::BytesMut::new();
    /// # FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
    /// # let whole = frame[4..].to_vec();
    /// let mut chunks = Chunks::new(7, frame.freeze(), 1_024);
    /// let mut head = bytes::BytesMut::new();
    /// while let Some(payload) = chunks.write_next_head(&mut head)? {
    ///     send(&head.split());
    ///     send(&payload);
    /// }
    /// # assert!(sent.ends_with(&whole));
    /// # Ok::<(), Oversize>(())
    /// ```
    ///
    /// # Errors
    /// As [`write_next`](Self::write_next).
    pub fn write_next_head(&mut self, out: &mut BytesMut) -> Result<Option<Bytes>, Oversize> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let (transfer, total) = (self.transfer, self.total);
        let offset = total - self.left.len() as u64;
        let payload = self.left.split_to(self.piece.min(self.left.len()));
        FrameWriter::new(out).chunk_head(transfer, total, offset, payload.len())?;
        Ok(Some(payload))
    }

    /// Whether there is no more.
    ///
    /// ```
    /// # use volary_wire::native::{Chunks, Frame, FrameWriter, Oversize};
    /// # let mut frame = bytes::BytesMut::new();
    /// # FrameWriter::new(&mut frame).frame(&Frame::Cancel { correlation: 1 })?;
    /// let mut chunks = Chunks::new(7, frame.freeze(), 1_024);
    /// assert!(!chunks.is_empty());
    /// chunks.write_next(&mut bytes::BytesMut::new())?;
    /// assert!(chunks.is_empty());
    /// # Ok::<(), Oversize>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

/// Puts pieces together, within a budget.
///
/// ```
/// use volary_wire::native::{Assembler, Chunk, Frame, Limits};
///
/// let mut assembler = Assembler::new(Limits::default());
/// // A cancellation of 7: kind 8, no flags, the number.
/// let first = Chunk { transfer: 1, total: 3, offset: 0, payload: vec![8, 0].into() };
/// let last = Chunk { transfer: 1, total: 3, offset: 2, payload: vec![7].into() };
/// assert!(assembler.accept(first, 0)?.is_none());
/// assert!(assembler.accept(last, 1).is_err()); // which is not worth cutting, and so not allowed
/// # Ok::<(), volary_wire::native::ChunkError>(())
/// ```
#[derive(Debug)]
pub struct Assembler {
    limits: Limits,
    open: BTreeMap<u64, Assembly>,
    promised: usize,
}

#[derive(Debug)]
struct Assembly {
    total: usize,
    touched: u64,
    buffer: BytesMut,
}

/// A piece that does not fit.
///
/// ```
/// use volary_wire::native::ChunkError;
/// assert!(ChunkError::Unknown { transfer: 7 }.is_violation());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// Longer than a message may be. Refuse this transfer with an abort, or close.
    #[error("a message of {total} bytes in pieces, where {limit} are allowed")]
    TooLong {
        /// What the peer announced.
        total: u64,
        /// What is allowed.
        limit: usize,
    },
    /// Too many at the same time, or too many bytes of them. Refuse this transfer with an abort, or close.
    #[error("{what} of messages in pieces are beyond the limit of {limit}")]
    Budget {
        /// Messages or bytes.
        what: &'static str,
        /// What is allowed.
        limit: usize,
    },
    /// The piece belongs to no transfer: it is the rest of one that was given up here, or the peer is confused.
    #[error("a piece from the middle of the unknown transfer {transfer}")]
    Unknown {
        /// The number of the transfer.
        transfer: u64,
    },
    /// The piece is not the one that comes next, or says another total. Close.
    #[error("the transfer {transfer} goes on at {expected}, not at {offset}")]
    OutOfPlace {
        /// The number of the transfer.
        transfer: u64,
        /// Where the piece says it belongs.
        offset: u64,
        /// Where the next one belongs.
        expected: u64,
    },
    /// An empty piece, or one that goes beyond the end. Close.
    #[error("a piece of {length} bytes where at most {left} are left, and at least one")]
    Length {
        /// How long it is.
        length: usize,
        /// How much is missing.
        left: usize,
    },
    /// All pieces are there, and are no frame. Close.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl ChunkError {
    /// Whether the peer broke a rule, so that the connection must end. If not, the transfer alone was refused.
    ///
    /// ```
    /// # use volary_wire::native::ChunkError;
    /// assert!(!ChunkError::TooLong { total: 9, limit: 8 }.is_violation());
    /// ```
    #[must_use]
    pub fn is_violation(&self) -> bool {
        !matches!(self, ChunkError::TooLong { .. } | ChunkError::Budget { .. })
    }
}

impl Assembler {
    /// With nothing in it.
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Limits};
    /// assert_eq!(Assembler::new(Limits::default()).held_bytes(), 0);
    /// ```
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Assembler {
            limits,
            open: BTreeMap::new(),
            promised: 0,
        }
    }

    /// Takes a piece; with the last one the frame is whole. `now` is any number that grows with time, for
    /// [`give_up_idle`](Self::give_up_idle).
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Chunk, Limits};
    /// let mut assembler = Assembler::new(Limits::default());
    /// let first = Chunk { transfer: 1, total: 100_000, offset: 0, payload: vec![0; 50_000].into() };
    /// assert_eq!(assembler.accept(first, 0)?, None); // half of it
    /// # Ok::<(), volary_wire::native::ChunkError>(())
    /// ```
    ///
    /// # Errors
    /// When the piece does not fit. Its transfer is then forgotten.
    pub fn accept(&mut self, chunk: Chunk, now: u64) -> Result<Option<Frame>, ChunkError> {
        let transfer = chunk.transfer;
        let taken = self.add(chunk, now);
        match taken {
            Ok(false) => Ok(None),
            Ok(true) => {
                let whole = self.forget(transfer).map(BytesMut::freeze).unwrap_or_default();
                Ok(Some(Frame::from_pieces(whole, &self.limits)?))
            }
            Err(error) => {
                self.forget(transfer);
                Err(error)
            }
        }
    }

    /// The peer will not send the rest; false if there was nothing.
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Limits};
    /// assert!(!Assembler::new(Limits::default()).abort(7));
    /// ```
    pub fn abort(&mut self, transfer: u64) -> bool {
        self.forget(transfer).is_some()
    }

    /// Forgets what nothing was added to since `before`, and says which transfers these were.
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Limits};
    /// assert!(Assembler::new(Limits::default()).give_up_idle(100).is_empty());
    /// ```
    pub fn give_up_idle(&mut self, before: u64) -> Vec<u64> {
        let idle: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, assembly)| assembly.touched < before)
            .map(|(transfer, _)| *transfer)
            .collect();
        for transfer in &idle {
            self.forget(*transfer);
        }
        idle
    }

    /// How many bytes are set aside for what is announced; they are taken from memory only as they arrive.
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Limits};
    /// assert_eq!(Assembler::new(Limits::default()).held_bytes(), 0);
    /// ```
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.promised
    }

    /// How many bytes of memory the pieces take that have arrived.
    ///
    /// ```
    /// # use volary_wire::native::{Assembler, Chunk, Limits};
    /// let mut assembler = Assembler::new(Limits::default());
    /// let first = Chunk { transfer: 1, total: 50_000_000, offset: 0, payload: vec![0; 50_000].into() };
    /// assembler.accept(first, 0)?;
    /// assert!((50_000..1_000_000).contains(&assembler.buffered_bytes()));
    /// # Ok::<(), volary_wire::native::ChunkError>(())
    /// ```
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.open.values().map(|assembly| assembly.buffer.capacity()).sum()
    }

    /// Adds a piece; true if it was the last.
    fn add(&mut self, chunk: Chunk, now: u64) -> Result<bool, ChunkError> {
        if !self.open.contains_key(&chunk.transfer) {
            self.begin(&chunk)?;
        }
        let Some(assembly) = self.open.get_mut(&chunk.transfer) else {
            return Err(ChunkError::Unknown {
                transfer: chunk.transfer,
            });
        };
        let have = assembly.buffer.len();
        if chunk.offset != have as u64 || chunk.total != assembly.total as u64 {
            return Err(ChunkError::OutOfPlace {
                transfer: chunk.transfer,
                offset: chunk.offset,
                expected: have as u64,
            });
        }
        let (length, left) = (chunk.payload.len(), assembly.total - have);
        if length == 0 || length > left {
            return Err(ChunkError::Length { length, left });
        }
        if assembly.buffer.capacity() < have + length {
            // Four times as much, but never beyond what was announced: that is what the budget counts.
            let capacity = (4 * (have + length)).min(assembly.total);
            let mut grown = BytesMut::with_capacity(capacity);
            grown.extend_from_slice(&assembly.buffer);
            assembly.buffer = grown;
        }
        assembly.buffer.extend_from_slice(&chunk.payload);
        assembly.touched = now;
        Ok(length == left)
    }

    fn begin(&mut self, chunk: &Chunk) -> Result<(), ChunkError> {
        if chunk.offset != 0 {
            return Err(ChunkError::Unknown {
                transfer: chunk.transfer,
            });
        }
        let limit = self.limits.max_message;
        let Some(total) = usize::try_from(chunk.total).ok().filter(|total| *total <= limit) else {
            return Err(ChunkError::TooLong {
                total: chunk.total,
                limit,
            });
        };
        let budget = |what, limit| Err(ChunkError::Budget { what, limit });
        if self.open.len() >= self.limits.max_assemblies {
            return budget("a number", self.limits.max_assemblies);
        }
        if self.promised + total > self.limits.max_assembly_bytes {
            return budget("bytes", self.limits.max_assembly_bytes);
        }
        self.promised += total;
        let assembly = Assembly {
            total,
            touched: 0,
            buffer: BytesMut::new(),
        };
        self.open.insert(chunk.transfer, assembly);
        Ok(())
    }

    fn forget(&mut self, transfer: u64) -> Option<BytesMut> {
        let assembly = self.open.remove(&transfer)?;
        self.promised -= assembly.total;
        Some(assembly.buffer)
    }
}
