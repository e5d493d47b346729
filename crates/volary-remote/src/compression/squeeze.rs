//! The sending half.

use std::fmt;
use std::io;

use super::{Compression, Shrink, shrink};

/// A buffer that has grown beyond this is not kept.
const KEPT_BUFFER: usize = 1 << 20;

/// Makes the bytes of one direction of a connection fewer.
///
/// ```
/// # #[cfg(feature = "zstd")] {
/// use volary_remote::compression::{Compression, Squeeze};
///
/// let mut squeeze = Squeeze::new(Compression::Zstd)?;
/// squeeze.write(&[7; 10_000])?;
/// squeeze.flush()?;
/// assert!(squeeze.squeezed().len() < 100);
/// squeeze.clear(); // when they were sent
/// # }
/// # Ok::<(), volary_remote::compression::SqueezeError>(())
/// ```
pub struct Squeeze {
    compression: Compression,
    shrink: Box<dyn Shrink>,
    out: Vec<u8>,
}

/// Bytes could not be made fewer; the connection cannot go on. Choose another compression if it comes again.
///
/// ```
/// # use volary_remote::compression::{Compression, Squeeze};
/// if let Err(error) = Squeeze::new(Compression::Brotli) {
///     println!("{error}"); // this build does not have it
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{compression} does not work: {why}")]
#[non_exhaustive]
pub struct SqueezeError {
    /// Which one.
    pub compression: Compression,
    /// What it says.
    #[source]
    pub why: io::Error,
}

impl Squeeze {
    /// With nothing said before.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Squeeze};
    /// let squeeze = Squeeze::new(Compression::Zstd)?;
    /// assert!(squeeze.squeezed().is_empty());
    /// # }
    /// # Ok::<(), volary_remote::compression::SqueezeError>(())
    /// ```
    ///
    /// # Errors
    /// If this build does not have the compression, or there is no memory for it.
    pub fn new(compression: Compression) -> Result<Self, SqueezeError> {
        let shrink = shrink(compression).map_err(|why| SqueezeError { compression, why })?;
        Ok(Squeeze {
            compression,
            shrink,
            out: Vec::new(),
        })
    }

    /// Takes bytes. Some of them may be seen in [`squeezed`](Self::squeezed) only after a [`flush`](Self::flush).
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Squeeze};
    /// # let mut squeeze = Squeeze::new(Compression::Zstd)?;
    /// squeeze.write(b"what is to be sent")?;
    /// # }
    /// # Ok::<(), volary_remote::compression::SqueezeError>(())
    /// ```
    ///
    /// # Errors
    /// If the compression fails; nothing more can be sent.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SqueezeError> {
        let compression = self.compression;
        self.shrink
            .write(bytes, &mut self.out)
            .map_err(|why| SqueezeError { compression, why })
    }

    /// Sees to it that the other side can read all that was written.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Squeeze};
    /// # let mut squeeze = Squeeze::new(Compression::Zstd)?;
    /// squeeze.write(b"what is to be sent")?;
    /// squeeze.flush()?;
    /// assert!(!squeeze.squeezed().is_empty());
    /// # }
    /// # Ok::<(), volary_remote::compression::SqueezeError>(())
    /// ```
    ///
    /// # Errors
    /// If the compression fails; nothing more can be sent.
    pub fn flush(&mut self) -> Result<(), SqueezeError> {
        let compression = self.compression;
        self.shrink
            .flush(&mut self.out)
            .map_err(|why| SqueezeError { compression, why })
    }

    /// What is to be sent.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Squeeze};
    /// # let mut squeeze = Squeeze::new(Compression::Zstd)?;
    /// squeeze.write(&[7; 10_000])?;
    /// squeeze.flush()?;
    /// assert!(squeeze.squeezed().len() < 100);
    /// # }
    /// # Ok::<(), volary_remote::compression::SqueezeError>(())
    /// ```
    #[must_use]
    pub fn squeezed(&self) -> &[u8] {
        &self.out
    }

    /// It was sent.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// # use volary_remote::compression::{Compression, Squeeze};
    /// # let mut squeeze = Squeeze::new(Compression::Zstd)?;
    /// squeeze.write(b"what is to be sent")?;
    /// squeeze.flush()?;
    /// squeeze.clear();
    /// assert!(squeeze.squeezed().is_empty());
    /// # }
    /// # Ok::<(), volary_remote::compression::SqueezeError>(())
    /// ```
    pub fn clear(&mut self) {
        self.out.clear();
        if self.out.capacity() > KEPT_BUFFER {
            self.out = Vec::new();
        }
    }
}

impl fmt::Debug for Squeeze {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Squeeze")
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}
