//! The log of a member: on a disk that never fails and survives a crash of its node.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openraft::alias::{EntryOf, LogIdOf, VoteOf};
use openraft::storage::{IOFlushed, LogState, RaftLogStorage};
use openraft::{OptionalSend, RaftLogReader};

use crate::Types;

/// Cheap to clone: all clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    vote: Option<VoteOf<Types>>,
    purged: Option<LogIdOf<Types>>,
    entries: BTreeMap<u64, EntryOf<Types>>,
}

impl Log {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in it, one line for each entry.
    pub fn lines(&self) -> Vec<String> {
        let line = |entry: &EntryOf<Types>| format!("{} {:?}", entry.log_id, entry.payload);
        self.disk().entries.values().map(line).collect()
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<R>(&mut self, range: R) -> Result<Vec<EntryOf<Types>>, io::Error>
    where
        R: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        Ok(self
            .disk()
            .entries
            .range(range)
            .map(|(_, entry)| entry.clone())
            .collect())
    }

    async fn read_vote(&mut self) -> Result<Option<VoteOf<Types>>, io::Error> {
        Ok(self.disk().vote)
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Log;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, io::Error> {
        let disk = self.disk();
        let last = disk.entries.values().next_back().map(|entry| entry.log_id);
        Ok(LogState {
            last_purged_log_id: disk.purged,
            last_log_id: last.or(disk.purged),
        })
    }

    async fn get_log_reader(&mut self) -> Log {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &VoteOf<Types>) -> Result<(), io::Error> {
        self.disk().vote = Some(*vote);
        Ok(())
    }

    async fn append<I>(&mut self, entries: I, written: IOFlushed<Types>) -> Result<(), io::Error>
    where
        I: IntoIterator<Item = EntryOf<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let numbered = entries.into_iter().map(|entry| (entry.log_id.index, entry));
        self.disk().entries.extend(numbered);
        written.io_completed(Ok(()));
        Ok(())
    }

    async fn truncate_after(&mut self, last: Option<LogIdOf<Types>>) -> Result<(), io::Error> {
        let first_gone = last.map_or(0, |last| last.index + 1);
        self.disk().entries.split_off(&first_gone);
        Ok(())
    }

    async fn purge(&mut self, last: LogIdOf<Types>) -> Result<(), io::Error> {
        let mut disk = self.disk();
        disk.entries = disk.entries.split_off(&(last.index + 1));
        disk.purged = Some(last);
        Ok(())
    }
}
