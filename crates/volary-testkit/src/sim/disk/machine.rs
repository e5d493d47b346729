//! The disk of one machine as a pure model: files, names and faults, given the chances.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use volary::OpenMode;

use super::super::choice::Random;
use super::contents::{Contents, Fate};
use super::fault::DiskFault;
use super::names::{Entry, Names, absolute};

#[derive(Debug, Default)]
pub(crate) struct Machine {
    names: Names,
    files: BTreeMap<u64, Contents>,
    next: u64,
    faults: Faults,
}

#[derive(Debug, Default)]
struct Faults {
    write_error: bool,
    full: bool,
    sync_error: bool,
    rot: bool,
    slow: Option<Duration>,
}

/// What the timeline says of a disk after a crash.
pub(crate) type Losses = Vec<String>;

fn kind<T>(kind: io::ErrorKind) -> io::Result<T> {
    Err(kind.into())
}

/// What programs know as `EIO`, for which there is no kind of its own.
fn broken() -> io::Error {
    io::Error::other("input/output error of the simulated disk")
}

/// Files are kept in memory: one that is longer is refused before it takes all there is.
const LONGEST_FILE: u64 = 1 << 30;

fn in_memory(length: u64) -> io::Result<usize> {
    match usize::try_from(length) {
        Ok(fits) if length <= LONGEST_FILE => Ok(fits),
        _ => kind(io::ErrorKind::FileTooLarge),
    }
}

impl Machine {
    pub(super) fn suffer(&mut self, fault: DiskFault) {
        match fault {
            DiskFault::WriteError => self.faults.write_error = true,
            DiskFault::Full => self.faults.full = true,
            DiskFault::SyncError => self.faults.sync_error = true,
            DiskFault::BitRot => self.faults.rot = true,
            DiskFault::Slow(time) => self.faults.slow = Some(time),
        }
    }

    pub(super) fn recover(&mut self, fault: DiskFault) {
        match fault {
            DiskFault::WriteError => self.faults.write_error = false,
            DiskFault::Full => self.faults.full = false,
            DiskFault::SyncError => self.faults.sync_error = false,
            DiskFault::BitRot => self.faults.rot = false,
            DiskFault::Slow(_) => self.faults.slow = None,
        }
    }

    pub(super) fn recover_all(&mut self) {
        self.faults = Faults::default();
    }

    /// How long a call takes.
    pub(super) fn slowness(&self) -> Option<Duration> {
        self.faults.slow
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<u64> {
        let path = absolute(path);
        match (self.names.get(&path), mode) {
            (Some(Entry::Directory), _) => kind(io::ErrorKind::IsADirectory),
            (Some(Entry::File(_)), OpenMode::CreateNew) => kind(io::ErrorKind::AlreadyExists),
            (Some(Entry::File(file)), _) => Ok(file),
            (None, OpenMode::Existing) => self.missing(&path),
            (None, _) => {
                self.parent(&path)?;
                self.room()?;
                self.next += 1;
                self.files.insert(self.next, Contents::default());
                self.names.put(path, Entry::File(self.next));
                Ok(self.next)
            }
        }
    }

    fn parent(&self, path: &Path) -> io::Result<()> {
        if path.parent().is_some_and(|parent| self.names.has_directory(parent)) {
            Ok(())
        } else {
            self.missing(path)
        }
    }

    /// Why there is nothing at a path: a file may be in the way.
    fn missing<T>(&self, path: &Path) -> io::Result<T> {
        let mut above = path.ancestors().skip(1);
        if above.any(|above| matches!(self.names.get(above), Some(Entry::File(_)))) {
            kind(io::ErrorKind::NotADirectory)
        } else {
            kind(io::ErrorKind::NotFound)
        }
    }

    /// Whether there is room for something new.
    fn room(&self) -> io::Result<()> {
        if self.faults.full {
            kind(io::ErrorKind::StorageFull)
        } else {
            Ok(())
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (absolute(from), absolute(to));
        self.parent(&to)?;
        match (self.names.get(&from), self.names.get(&to)) {
            (Some(Entry::File(_)), Some(Entry::Directory)) => kind(io::ErrorKind::IsADirectory),
            (Some(Entry::File(file)), _) => {
                self.names.rename(from, to, Entry::File(file));
                Ok(())
            }
            (Some(Entry::Directory), _) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "directories of a simulated disk keep their names",
            )),
            (None, _) => self.missing(&from),
        }
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        match self.names.get(&path) {
            Some(Entry::File(file)) => {
                self.names.remove(path, Entry::File(file));
                Ok(())
            }
            Some(Entry::Directory) => kind(io::ErrorKind::IsADirectory),
            None => self.missing(&path),
        }
    }

    /// The names in a directory, spelled as it was asked for.
    pub(super) fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let clean = absolute(directory);
        match self.names.get(&clean) {
            Some(Entry::Directory) => {
                let names = self.names.within(&clean).filter_map(|path| path.file_name());
                Ok(names.map(|name| directory.join(name)).collect())
            }
            Some(Entry::File(_)) => kind(io::ErrorKind::NotADirectory),
            None => self.missing(&clean),
        }
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        let mut above: Vec<PathBuf> = path.ancestors().map(Path::to_path_buf).collect();
        above.reverse();
        for directory in above {
            match self.names.get(&directory) {
                Some(Entry::Directory) => {}
                Some(Entry::File(_)) if directory == path => return kind(io::ErrorKind::AlreadyExists),
                Some(Entry::File(_)) => return kind(io::ErrorKind::NotADirectory),
                None => {
                    self.room()?;
                    self.names.put(directory, Entry::Directory);
                }
            }
        }
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let path = absolute(path);
        match self.names.get(&path) {
            Some(Entry::Directory) => {}
            Some(Entry::File(_)) => return kind(io::ErrorKind::NotADirectory),
            None => return self.missing(&path),
        }
        if self.faults.sync_error {
            return Err(broken());
        }
        self.names.sync(&path);
        Ok(())
    }

    fn file(&mut self, file: u64) -> io::Result<&mut Contents> {
        self.files.get_mut(&file).ok_or_else(broken)
    }

    pub(super) fn read(&mut self, file: u64, offset: u64, buffer: &mut [u8], random: &mut Random) -> io::Result<usize> {
        let rot = self.faults.rot;
        let live = &self.file(file)?.live;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(live.len());
        let count = buffer.len().min(live.len() - start);
        buffer[..count].copy_from_slice(&live[start..start + count]);
        if rot && count > 0 {
            buffer[random.below(count as u64) as usize] ^= 1 << random.below(8);
        }
        Ok(count)
    }

    pub(super) fn write(&mut self, file: u64, offset: u64, bytes: &[u8], random: &mut Random) -> io::Result<()> {
        let Faults { write_error, full, .. } = self.faults;
        let contents = self.file(file)?;
        let end = in_memory(offset.saturating_add(bytes.len() as u64))?;
        let (offset, grows) = (end - bytes.len(), end > contents.live.len());
        let failure = if write_error {
            Some(broken())
        } else if full && grows {
            Some(io::ErrorKind::StorageFull.into())
        } else {
            None
        };
        let Some(failure) = failure else {
            if !bytes.is_empty() {
                contents.write(offset, bytes);
            }
            return Ok(());
        };
        // A part may have been written before it was noticed.
        let part = random.below(bytes.len() as u64 + 1) as usize;
        let room = contents.live.len().saturating_sub(offset);
        let part = if write_error { part } else { part.min(room) };
        if part > 0 {
            contents.write(offset, &bytes[..part]);
        }
        Err(failure)
    }

    pub(super) fn length(&mut self, file: u64) -> io::Result<u64> {
        Ok(self.file(file)?.live.len() as u64)
    }

    pub(super) fn set_length(&mut self, file: u64, length: u64) -> io::Result<()> {
        let Faults { write_error, full, .. } = self.faults;
        let contents = self.file(file)?;
        let length = in_memory(length)?;
        if write_error {
            return Err(broken());
        }
        if full && length > contents.live.len() {
            return kind(io::ErrorKind::StorageFull);
        }
        contents.set_length(length);
        Ok(())
    }

    pub(super) fn sync(&mut self, file: u64, random: &mut Random) -> io::Result<()> {
        let fails = self.faults.sync_error;
        let contents = self.file(file)?;
        if fails {
            contents.fail_to_sync(random);
            return Err(broken());
        }
        contents.sync();
        Ok(())
    }

    /// The machine loses its power: what was not synced is lost, kept or torn.
    pub(crate) fn crash(&mut self, random: &mut Random) -> Losses {
        let mut losses = Vec::new();
        for (number, contents) in &mut self.files {
            let what = if contents.is_certain() {
                if !contents.forget_memory() {
                    continue;
                }
                "loses what a failed sync had left in memory alone of"
            } else {
                match contents.crash(random) {
                    Fate::Lost => "loses what was not synced of",
                    Fate::Kept => "keeps what was not synced of",
                    Fate::Torn => "keeps the beginning of what was not synced of",
                    Fate::Scattered => "keeps some sectors of what was not synced of",
                }
            };
            let name = self.names.name_of(*number);
            let name = name.map_or_else(|| "a removed file".to_owned(), |name| name.display().to_string());
            losses.push(format!("{what} {name}"));
        }
        let (forgotten, all) = self.names.crash(random);
        if all > 0 {
            losses.push(format!("forgets {forgotten} of {all} changes of names"));
        }
        self.files.retain(|number, _| self.names.knows(*number));
        losses
    }
}
