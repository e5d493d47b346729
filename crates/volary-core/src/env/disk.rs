//! What a log and a store of snapshots need of a disk, behind a trait, so that a simulator can tear and lose what was not
//! synced.
//!
//! The functions block. A log gathers what many actors want written and syncs it once, on the blocking dispatcher; there a
//! future for every read would be an allocation and a wake-up and no gain, since files have no readiness to wait for. In
//! simulation nothing blocks.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Files and directories.
///
/// All functions block; call them on the blocking dispatcher. What was written is certain to be there after a crash only when
/// [`DiskFile::sync`] has returned without an error; that a file was created, renamed or removed, only when
/// [`Disk::sync_dir`] of its directory has.
///
/// ```
/// use std::path::Path;
/// use volary_core::{ActorSystem, OpenMode};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = std::env::temp_dir().join(format!("volary-disk-{}", std::process::id()));
/// let system = ActorSystem::builder("store").start_now()?;
/// let disk = system.disk();
/// disk.create_dir(&directory)?;
/// let log = disk.open(&directory.join("log"), OpenMode::Create)?;
/// log.append(b"first")?;
/// log.sync()?;
/// disk.sync_dir(&directory)?;
/// assert_eq!(log.len()?, 5);
/// # disk.remove(&directory.join("log"))?;
/// # std::fs::remove_dir(&directory)?;
/// # volary_core::run(async { system.stop().await.map_err(std::io::Error::other) })?;
/// # Ok(())
/// # }
/// ```
pub trait Disk: Send + Sync + 'static {
    /// Opens a file for reading and writing.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) without the file, or without its directory;
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) for [`OpenMode::CreateNew`].
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name, at once and instead of the file that had it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) without the file or the directory it should go to.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) without it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// What is in a directory, in the order of the names.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) without it.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes a directory, and those above it; nothing if it is there.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a file has the name.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes certain that the names in a directory survive a crash.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) without it, [`NotADirectory`](io::ErrorKind::NotADirectory) if a file has the
    /// name; any other means that nothing is certain.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// An open file.
///
/// ```
/// use volary_core::{ActorSystem, DiskFile, OpenMode};
///
/// fn last_byte(file: &dyn DiskFile) -> std::io::Result<Option<u8>> {
///     let mut byte = [0];
///     let Some(at) = file.len()?.checked_sub(1) else { return Ok(None) };
///     let read = file.read_at(at, &mut byte)?;
///     Ok((read == 1).then_some(byte[0]))
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("volary-disk-file-{}", std::process::id()));
/// # let system = ActorSystem::builder("store").start_now()?;
/// let file = system.disk().open(&path, OpenMode::Create)?;
/// assert_eq!(last_byte(&*file)?, None);
/// file.append(b"abc")?;
/// assert_eq!(last_byte(&*file)?, Some(b'c'));
/// # system.disk().remove(&path)?;
/// # volary_core::run(async { system.stop().await.map_err(std::io::Error::other) })?;
/// # Ok(()) }
/// ```
#[expect(
    clippy::len_without_is_empty,
    reason = "asking for the length can fail, and nobody asks for less"
)]
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Reads from a place on, and says how much; nothing at or beyond the end. Less than there is room for only at the end.
    ///
    /// # Errors
    /// If the disk does not read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of it from a place on; a gap before it becomes zeros.
    ///
    /// # Errors
    /// If the disk does not write, or is full ([`StorageFull`](io::ErrorKind::StorageFull)); a part may be written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes all of it at the end, and says where that was. One at a time: two who append to a file at once need a lock.
    ///
    /// # Errors
    /// As for [`write_at`](DiskFile::write_at).
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let end = self.len()?;
        self.write_at(end, bytes)?;
        Ok(end)
    }

    /// How long it is.
    ///
    /// # Errors
    /// If the disk does not say.
    fn len(&self) -> io::Result<u64>;

    /// Cuts it off, or makes it longer with zeros.
    ///
    /// # Errors
    /// As for [`write_at`](DiskFile::write_at).
    fn set_len(&self, length: u64) -> io::Result<()>;

    /// Makes certain that what was written survives a crash.
    ///
    /// # Errors
    /// Then nothing that was written since the last sync is certain, not even after a later sync that succeeds: write it
    /// again, elsewhere.
    fn sync(&self) -> io::Result<()>;
}

/// What [`Disk::open`] does about files that are there and files that are not.
///
/// ```
/// use volary_core::OpenMode;
/// assert_ne!(OpenMode::Create, OpenMode::CreateNew);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenMode {
    /// It must be there.
    Existing,
    /// It is made if it is not there.
    Create,
    /// It must not be there.
    CreateNew,
}

/// The disk of an environment that has none.
pub(super) struct NoDisk;

fn none<T>() -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this environment has no disk; the simulator of the testkit has one",
    ))
}

impl Disk for NoDisk {
    fn open(&self, _: &Path, _: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        none()
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        none()
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        none()
    }

    fn list(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        none()
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        none()
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        none()
    }
}
