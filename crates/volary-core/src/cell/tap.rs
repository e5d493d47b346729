//! The tap of an actor: whoever looks at its messages, in the actor's extras.
//!
//! It shares the mark of the behaviours: while there is a tap, the log is marked, and the turn looks here before it
//! hands over a message. The mark belongs to whoever runs the actor, so one that comes or goes is a control message:
//! the owner sets the mark before its next message.

use std::sync::Arc;

use super::header::Header;
use crate::actor::{Input, Origin, Passage, Tap};
use crate::dispatch::contain;
use crate::env::What;
use crate::mailbox::{Incoming, RecordKind};
use crate::reference::ActorId;

impl Header {
    /// Puts a tap on the actor. False: there is one already.
    pub(crate) fn put_tap(&self, tap: Arc<dyn Tap>) -> bool {
        {
            let mut place = self.extras().tap.lock();
            if place.is_some() {
                return false;
            }
            *place = Some(tap);
        }
        self.control(0);
        true
    }

    pub(crate) fn remove_tap(&self) -> Option<Arc<dyn Tap>> {
        let tap = self.extras_if_any()?.tap.lock().take();
        self.control(0);
        tap
    }

    fn tap(&self) -> Option<Arc<dyn Tap>> {
        self.extras_if_any()?.tap.lock().clone()
    }

    /// Sets the mark of the log anew. Called by the owner.
    pub(crate) fn mark_layers(&self) {
        let layered = self.system().is_observed()
            || self.is_layered_over()
            || self.tap().is_some()
            || self
                .extras_if_any()
                .is_some_and(|extras| !extras.links.lock().behaviours.is_empty());
        self.log.set_layered(layered);
    }

    /// Shows a message to the tap, if there is one and the message will be handled.
    pub(super) fn show_tap(&self, incoming: &Incoming, returned: bool) -> Passage {
        let Some(tap) = self.tap() else { return Passage::Handle };
        let table = incoming.table;
        let origin = match table.kind {
            RecordKind::Answer => Origin::Answer,
            _ if returned => Origin::Stash,
            RecordKind::Timer => Origin::Timer,
            RecordKind::Message | RecordKind::Parcel => Origin::Sent,
        };
        // SAFETY: the record was not taken yet.
        let message = unsafe { (table.view)(self, incoming) };
        if message.is_none() && origin != Origin::Answer {
            return Passage::Handle; // out of date: its `run` drops it
        }
        let system = self.system();
        let input = Input {
            message,
            type_name: (table.name)(),
            sender: ActorId::from_raw(incoming.envelope.sender),
            origin,
            at: system.now(),
            wall: system.env().wall(),
        };
        // Ours may be the last count of a tap that was just removed, so its drop is contained too.
        self.look(move || tap.input(&input)).unwrap_or(Passage::Handle)
    }

    /// What a handler gets that reads something of the world.
    #[cold]
    pub(crate) fn read_through<R: Copy>(&self, read: R, look: impl FnOnce(&dyn Tap, R) -> R) -> R {
        match self.tap() {
            Some(tap) => self.look(move || look(&*tap, read)).unwrap_or(read),
            None => read,
        }
    }

    /// Shows everything but messages to the tap.
    #[cold]
    pub(crate) fn tell_tap(&self, what: &What<'_>) {
        if matches!(what, What::Handles { .. }) {
            return;
        }
        if let Some(tap) = self.tap() {
            // Not reported as that of a hook: the report would be shown here again.
            if let Err(fault) = contain(move || tap.happens(what)) {
                tracing::warn!(actor = %self.path(), %fault, hook = "tap", "hook failed");
            }
        }
    }

    fn look<R>(&self, look: impl FnOnce() -> R) -> Option<R> {
        contain(look)
            .inspect_err(|fault| self.system().report_hook_fault(self, "tap", fault))
            .ok()
    }
}
