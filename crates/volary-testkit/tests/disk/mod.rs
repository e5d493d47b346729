//! A small log on a disk, in a careless and in a correct kind, for the tests of the simulated disk.

use std::io;
use std::path::Path;

use volary::{Disk, DiskFile, OpenMode};

const HOME: &str = "/data";
const LOG: &str = "/data/log";
const NEXT: &str = "/data/log.next";

/// When what was appended is written for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// Never: what the operating system does by itself must do.
    Careless,
    /// Before an append returns, the name of the file included.
    Synced,
}

/// Records of bytes, each with its length and a checksum in front.
pub(crate) struct Log {
    file: Box<dyn DiskFile>,
    care: Care,
    end: u64,
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

impl Log {
    /// Opens the log, and says which records it has. What comes after the first that is not whole is cut off.
    pub(crate) fn open(disk: &dyn Disk, care: Care) -> io::Result<(Log, Vec<Vec<u8>>)> {
        disk.create_dir(Path::new(HOME))?;
        let mut file = disk.open(Path::new(LOG), OpenMode::Create)?;
        let (mut records, mut end) = (Vec::new(), 0);
        while let Some(record) = read(&*file, end)? {
            end += 8 + record.len() as u64;
            records.push(record);
        }
        match care {
            Care::Careless => file.set_len(end)?,
            Care::Synced => file = copied(disk, &*file, end)?,
        }
        Ok((Log { file, care, end }, records))
    }

    /// Adds a record. After an error it may be there or not; open the log anew.
    pub(crate) fn append(&mut self, record: &[u8]) -> io::Result<()> {
        let mut bytes = (record.len() as u32).to_le_bytes().to_vec();
        bytes.extend(checksum(record).to_le_bytes());
        bytes.extend(record);
        self.file.write_at(self.end, &bytes)?;
        if self.care == Care::Synced {
            self.file.sync()?;
        }
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// The first part of a file as a new one in its place. What was read of the old one may be in memory alone, after a sync that
/// failed, and no later sync would write it.
fn copied(disk: &dyn Disk, file: &dyn DiskFile, end: u64) -> io::Result<Box<dyn DiskFile>> {
    let mut bytes = vec![0; end as usize];
    file.read_at(0, &mut bytes)?;
    let next = disk.open(Path::new(NEXT), OpenMode::Create)?;
    next.set_len(0)?;
    next.write_at(0, &bytes)?;
    next.sync()?;
    disk.rename(Path::new(NEXT), Path::new(LOG))?;
    disk.sync_dir(Path::new(HOME))?;
    disk.sync_dir(Path::new("/"))?;
    Ok(next)
}

fn read(file: &dyn DiskFile, at: u64) -> io::Result<Option<Vec<u8>>> {
    let mut head = [0; 8];
    if file.read_at(at, &mut head)? < head.len() {
        return Ok(None);
    }
    let [a, b, c, d, e, f, g, h] = head;
    let (length, sum) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    if length == 0 || u64::from(length) > file.len()? {
        return Ok(None); // a gap of zeros, or nonsense
    }
    let mut record = vec![0; length as usize];
    let whole = file.read_at(at + 8, &mut record)? == record.len() && checksum(&record) == sum;
    Ok(whole.then_some(record))
}
