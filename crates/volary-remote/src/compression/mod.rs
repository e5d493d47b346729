//! Smaller connections: what one side squeezes the other stretches again. Bytes in, bytes out; no I/O.
//!
//! ```text
//!   frames ──▶ Squeeze ── fewer bytes ──▶ Stretch ──▶ frames
//! ```
//!
//! One context lasts as long as its direction of a connection, so that what was said before helps with what comes. Each
//! batch ends with a flush, so that the other side has all of it. A [`Stretch`] gives out little at a time and counts:
//! bytes that would become more than allowed end the connection.
//!
//! Who can choose some of what is sent, and see how long it becomes, can guess at the rest. Do not compress what mixes
//! secrets with the words of strangers.

#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "gzip")]
mod flate;
#[cfg(feature = "lz4")]
mod lz4;
mod squeeze;
mod stretch;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;
use std::io;

pub use squeeze::{Squeeze, SqueezeError};
pub use stretch::{Stretch, StretchError};

/// How the bytes of a connection are made fewer. Each is there with the cargo feature of its name, `Deflate` with `gzip`.
///
/// ```
/// use volary_remote::compression::Compression;
/// assert_eq!(Compression::Zstd.to_string(), "zstd");
/// assert_eq!(Compression::named("zstd"), Some(Compression::Zstd));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Small and quick: the one to take between machines.
    Zstd,
    /// Quickest, less small: for a fast network.
    Lz4,
    /// Where it is asked for.
    Gzip,
    /// Gzip without head and checksum.
    Deflate,
    /// Slow; where it is asked for.
    Brotli,
}

impl Compression {
    const ALL: [Compression; 5] = [
        Compression::Zstd,
        Compression::Lz4,
        Compression::Gzip,
        Compression::Deflate,
        Compression::Brotli,
    ];

    /// As it is called in handshakes.
    ///
    /// ```
    /// assert_eq!(volary_remote::compression::Compression::Lz4.name(), "lz4");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Gzip => "gzip",
            Compression::Deflate => "deflate",
            Compression::Brotli => "brotli",
        }
    }

    /// The one that is called so.
    ///
    /// ```
    /// assert_eq!(volary_remote::compression::Compression::named("arj"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Compression::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether this build has it.
    ///
    /// ```
    /// use volary_remote::compression::Compression;
    /// assert_eq!(Compression::Gzip.is_available(), cfg!(feature = "gzip"));
    /// ```
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Compression::Zstd => cfg!(feature = "zstd"),
            Compression::Lz4 => cfg!(feature = "lz4"),
            Compression::Gzip | Compression::Deflate => cfg!(feature = "gzip"),
            Compression::Brotli => cfg!(feature = "brotli"),
        }
    }

    /// The cargo feature that brings it.
    ///
    /// ```
    /// assert_eq!(volary_remote::compression::Compression::Deflate.feature(), "gzip");
    /// ```
    #[must_use]
    pub fn feature(self) -> &'static str {
        match self {
            Compression::Deflate => "gzip",
            other => other.name(),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Makes bytes fewer.
trait Shrink: Send {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()>;
    /// Everything that was written can be read from what is in `out` then.
    fn flush(&mut self, out: &mut Vec<u8>) -> io::Result<()>;
}

/// Makes them what they were.
trait Grow: Send {
    /// Takes from the front of `from`, and fills `out` from its start; how far. 0 only if `from` is used up.
    fn read(&mut self, from: &mut &[u8], out: &mut [u8]) -> io::Result<usize>;
}

fn shrink(compression: Compression) -> io::Result<Box<dyn Shrink>> {
    match compression {
        #[cfg(feature = "zstd")]
        Compression::Zstd => Ok(Box::new(zstd::shrink()?)),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => Ok(Box::new(lz4::shrink())),
        #[cfg(feature = "gzip")]
        Compression::Gzip => Ok(Box::new(flate::gzip())),
        #[cfg(feature = "gzip")]
        Compression::Deflate => Ok(Box::new(flate::deflate())),
        #[cfg(feature = "brotli")]
        Compression::Brotli => Ok(Box::new(brotli::shrink())),
        #[allow(unreachable_patterns, reason = "with all features there is no other")]
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn grow(compression: Compression) -> io::Result<Box<dyn Grow>> {
    match compression {
        #[cfg(feature = "zstd")]
        Compression::Zstd => Ok(Box::new(zstd::grow()?)),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => Ok(Box::new(lz4::grow())),
        #[cfg(feature = "gzip")]
        Compression::Gzip => Ok(Box::new(flate::gunzip())),
        #[cfg(feature = "gzip")]
        Compression::Deflate => Ok(Box::new(flate::inflate())),
        #[cfg(feature = "brotli")]
        Compression::Brotli => Ok(Box::new(brotli::grow())),
        #[allow(unreachable_patterns, reason = "with all features there is no other")]
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Lets `fill` write behind what is in `out`; it says how far it came.
#[cfg(any(feature = "zstd", feature = "gzip"))]
fn append(out: &mut Vec<u8>, fill: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
    const ROOM: usize = 16 << 10;
    let start = out.len();
    out.resize(start + ROOM, 0);
    let filled = fill(&mut out[start..]);
    out.truncate(start + filled.as_ref().map_or(0, |filled| *filled));
    filled.map(drop)
}

/// No sender of ours ends its stream: the connection ends instead.
#[cfg(any(feature = "lz4", feature = "gzip", feature = "brotli"))]
fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the stream was ended")
}

/// The decoder takes nothing and gives nothing.
#[cfg(any(feature = "zstd", feature = "gzip", feature = "brotli"))]
fn stuck() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the stream cannot be read on")
}
