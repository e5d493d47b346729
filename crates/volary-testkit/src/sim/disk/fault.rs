//! What can be wrong with a disk.

use std::fmt;
use std::time::Duration;

/// A trouble of a [`SimDisk`](super::SimDisk), from [`suffer`](super::SimDisk::suffer) until
/// [`recover`](super::SimDisk::recover).
///
/// ```
/// use volary_testkit::sim::DiskFault;
/// assert_eq!(DiskFault::Full.to_string(), "is full");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskFault {
    /// Writes fail, after a part of them perhaps.
    WriteError,
    /// There is no room: files do not grow, and there are no new ones.
    Full,
    /// Syncs fail. What was not synced may be gone then, even if a later sync succeeds.
    SyncError,
    /// Each read has a bit wrong.
    BitRot,
    /// Each call takes so long. The node stands still meanwhile, from the end of its step on.
    Slow(Duration),
}

impl fmt::Display for DiskFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiskFault::WriteError => f.write_str("does not write"),
            DiskFault::Full => f.write_str("is full"),
            DiskFault::SyncError => f.write_str("does not sync"),
            DiskFault::BitRot => f.write_str("reads wrong bits"),
            DiskFault::Slow(time) => write!(f, "takes {time:?} for everything"),
        }
    }
}
