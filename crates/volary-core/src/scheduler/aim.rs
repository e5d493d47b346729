//! Whom a schedule sends to.

use std::any::TypeId;

use crate::actor::Message;
use crate::cell::CellRef;
use crate::mailbox::MessageTable;
use crate::system::SystemCore;
use crate::tree::Path;

pub(super) trait Aim: Send + Sync + 'static {
    /// Who it is just now.
    fn find<M: Message>(&self, core: &SystemCore) -> Found<'_>;

    /// The one incarnation that it is, by its id; 0 if it may be anybody.
    fn actor(&self) -> u64;
}

pub(super) enum Found<'a> {
    Receiver(CellRef, &'static MessageTable),
    /// It has ended. In the same breath it ends its schedules, this one included.
    Ended,
    Nobody(&'a Path),
}

/// One incarnation of one actor.
pub(super) struct ToActor {
    pub(super) id: u64,
    pub(super) table: &'static MessageTable,
}

impl Aim for ToActor {
    fn find<M: Message>(&self, core: &SystemCore) -> Found<'_> {
        match core.directory().get(self.id) {
            Some(cell) => Found::Receiver(cell, self.table),
            None => Found::Ended,
        }
    }

    fn actor(&self) -> u64 {
        self.id
    }
}

/// Whoever lives there at that time.
pub(super) struct ToPath(pub(super) Path);

impl Aim for ToPath {
    fn find<M: Message>(&self, core: &SystemCore) -> Found<'_> {
        let receiver = core.find(&self.0).and_then(|cell| {
            let table = (cell.table.accepts)(TypeId::of::<M>())?;
            Some((cell, table))
        });
        match receiver {
            Some((cell, table)) => Found::Receiver(cell, table),
            None => Found::Nobody(&self.0),
        }
    }

    fn actor(&self) -> u64 {
        0
    }
}
