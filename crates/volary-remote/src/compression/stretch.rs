//! The receiving half, which trusts nobody.

use std::fmt;
use std::io;

use bytes::{Buf, BytesMut};

use super::{Compression, Grow, grow};

/// How many bytes are read at a time, and given out at a time.
const STEP: usize = 16 << 10;

/// Makes the bytes of one direction of a connection what they were.
///
/// It gives out a little at a time, so that what comes of it can be looked at before more is made.
///
/// ```
/// # #[cfg(feature = "zstd")] {
/// use bytes::BytesMut;
/// use volary_remote::compression::{Compression, Squeeze, Stretch};
///
/// let mut squeeze = Squeeze::new(Compression::Zstd).unwrap();
/// squeeze.write(b"hello").unwrap();
/// squeeze.flush().unwrap();
///
/// let mut stretch = Stretch::new(Compression::Zstd, 1 << 20).unwrap();
/// stretch.feed(squeeze.squeezed());
/// let mut out = BytesMut::new();
/// while stretch.next(&mut out).unwrap() > 0 {}
/// assert_eq!(&out[..], b"hello");
/// # }
/// ```
pub struct Stretch {
    compression: Compression,
    grow: Box<dyn Grow>,
    waiting: BytesMut,
    most: usize,
    /// How many bytes have come of those that were fed last.
    made: usize,
}

/// The peer sent bytes that are of no use, or too many of them. The connection is to be closed.
///
/// ```
/// # use volary_remote::compression::StretchError;
/// let bomb = StretchError::TooMuch { limit: 1 << 20 };
/// assert!(bomb.to_string().contains("1048576"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StretchError {
    /// What came is not what that compression makes.
    #[error("what it sent is no {compression}: {why}")]
    Corrupt {
        /// Which one was agreed on.
        compression: Compression,
        /// What is wrong.
        #[source]
        why: io::Error,
    },
    /// A few bytes would become more than allowed. If they were meant well, raise `stretch_bytes` of the options.
    #[error("what it sent at once would become more than {limit} bytes")]
    TooMuch {
        /// What is allowed.
        limit: usize,
    },
}

impl Stretch {
    /// With nothing heard before; what is fed at once may become `most` bytes.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Stretch};
    /// let stretch = Stretch::new(Compression::Zstd, 1 << 20)?; // no more than a mebibyte of what comes at once
    /// # }
    /// # Ok::<(), volary_remote::compression::StretchError>(())
    /// ```
    ///
    /// # Errors
    /// If this build does not have the compression, or there is no memory for it.
    pub fn new(compression: Compression, most: usize) -> Result<Self, StretchError> {
        let grow = grow(compression).map_err(|why| StretchError::Corrupt { compression, why })?;
        Ok(Stretch {
            compression,
            grow,
            waiting: BytesMut::new(),
            most,
            made: 0,
        })
    }

    /// Takes bytes as they came.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Stretch};
    /// # let mut stretch = Stretch::new(Compression::Zstd, 1 << 20)?;
    /// stretch.feed(b"what came");
    /// # }
    /// # Ok::<(), volary_remote::compression::StretchError>(())
    /// ```
    pub fn feed(&mut self, bytes: &[u8]) {
        self.room().extend_from_slice(bytes);
    }

    /// Where to read into directly; the same as feeding. Call [`next`](Self::next) until it has no more before that.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Stretch};
    /// # let mut stretch = Stretch::new(Compression::Zstd, 1 << 20)?;
    /// stretch.room().extend_from_slice(b"what came");
    /// # }
    /// # Ok::<(), volary_remote::compression::StretchError>(())
    /// ```
    pub fn room(&mut self) -> &mut BytesMut {
        self.made = 0;
        self.waiting.reserve(STEP);
        &mut self.waiting
    }

    /// Puts the next bytes behind those in `out`; how many. 0: more must be fed.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Stretch};
    /// # let mut stretch = Stretch::new(Compression::Zstd, 1 << 20)?;
    /// stretch.feed(b"no zstd");
    /// assert!(stretch.next(&mut bytes::BytesMut::new()).is_err());
    /// # }
    /// # Ok::<(), volary_remote::compression::StretchError>(())
    /// ```
    ///
    /// # Errors
    /// When the peer broke the rules. Nothing more can be read.
    pub fn next(&mut self, out: &mut BytesMut) -> Result<usize, StretchError> {
        let compression = self.compression;
        let start = out.len();
        // Into the room that there is, if it is about as much: with more a buffer of which frames are kept would be another.
        let room = (out.capacity() - start).min(STEP);
        let step = if room < STEP - STEP / 8 { STEP } else { room };
        out.resize(start + step, 0);
        let mut from = &self.waiting[..];
        let read = self.grow.read(&mut from, &mut out[start..]);
        let left = from.len();
        let made = read.as_ref().map_or(0, |made| *made);
        out.truncate(start + made);
        self.waiting.advance(self.waiting.len() - left);
        read.map_err(|why| StretchError::Corrupt { compression, why })?;
        self.made += made;
        if self.made > self.most {
            out.truncate(start);
            return Err(StretchError::TooMuch { limit: self.most });
        }
        Ok(made)
    }
}

impl fmt::Debug for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stretch")
            .field("compression", &self.compression)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
