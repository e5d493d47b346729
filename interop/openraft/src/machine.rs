//! The state machine of a member: a list of all commands. It is gone with its node, and built anew from the log.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Stream, TryStreamExt};
use openraft::alias::{LogIdOf, SnapshotMetaOf, SnapshotOf, StoredMembershipOf};
use openraft::storage::{EntryResponder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend, RaftSnapshotBuilder};
use volary_testkit::sim;

use crate::Types;

/// Cheap to clone: all clones are the same machine.
#[derive(Debug, Clone, Default)]
pub struct Machine(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    applied: Option<LogIdOf<Types>>,
    membership: StoredMembershipOf<Types>,
    commands: Vec<String>,
}

impl Machine {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All commands so far.
    pub fn commands(&self) -> Vec<String> {
        self.state().commands.clone()
    }
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotData = ();
    type SnapshotBuilder = NoSnapshots;

    async fn applied_state(&mut self) -> Result<(Option<LogIdOf<Types>>, StoredMembershipOf<Types>), io::Error> {
        let state = self.state();
        Ok((state.applied, state.membership.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> Result<(), io::Error>
    where
        S: Stream<Item = Result<EntryResponder<Types>, io::Error>> + Unpin + OptionalSend,
    {
        while let Some((entry, responder)) = entries.try_next().await? {
            if let Some(node) = sim::current() {
                node.note(format!("applies {} {:?}", entry.log_id, entry.payload));
            }
            let count = {
                let mut state = self.state();
                state.applied = Some(entry.log_id);
                match entry.payload {
                    EntryPayload::Blank => {}
                    EntryPayload::Normal(command) => state.commands.push(command),
                    EntryPayload::Membership(members) => {
                        state.membership = StoredMembershipOf::<Types>::new(Some(entry.log_id), members);
                    }
                }
                state.commands.len()
            };
            if let Some(responder) = responder {
                responder.send(count.to_string());
            }
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> NoSnapshots {
        NoSnapshots
    }

    async fn install_snapshot(&mut self, _: &SnapshotMetaOf<Types>, (): ()) -> Result<(), io::Error> {
        Err(io::ErrorKind::Unsupported.into())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<SnapshotOf<Types, ()>>, io::Error> {
        Ok(None)
    }
}

/// The log is kept whole, so nobody needs one.
pub struct NoSnapshots;

impl RaftSnapshotBuilder<Types> for NoSnapshots {
    type SnapshotData = ();

    async fn build_snapshot(&mut self) -> Result<SnapshotOf<Types, ()>, io::Error> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
