//! The real disk: files of the operating system.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, DiskFile, OpenMode};

pub(super) struct OsDisk;

impl Disk for OsDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match mode {
            OpenMode::Existing => {}
            OpenMode::Create => drop(options.create(true).truncate(false)),
            OpenMode::CreateNew => drop(options.create_new(true)),
        }
        let file = options.open(path)?;
        Ok(Box::new(OsFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(directory)?;
        let mut paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<PathBuf>>>()?;
        paths.sort();
        Ok(paths)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let directory = File::open(path)?;
        // A file would be synced without a word, and its name would not.
        if !directory.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        directory.sync_all()
    }

    /// Directories cannot be opened as files there, and names are journaled with the files.
    #[cfg(not(unix))]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if std::fs::metadata(path)?.is_dir() {
            Ok(())
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }
}

#[derive(Debug)]
struct OsFile(File);

impl DiskFile for OsFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if i64::try_from(offset).is_err() {
            return Ok(0); // beyond the end of any file, which the operating system calls a wrong argument
        }
        let mut read = 0;
        while read < buffer.len() {
            match read_some(&self.0, offset + read as u64, &mut buffer[read..]) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match write_some(&self.0, offset + written as u64, &bytes[written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(unix)]
fn read_some(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_some(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_some(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(windows)]
fn write_some(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}
