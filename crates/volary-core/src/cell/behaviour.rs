//! Behaviours that stand in for handlers: a stack for each type of message, in the actor's links.
//!
//! Only the actor itself changes them, in its own turn. While there are any, the log is marked, and the turn
//! looks here before it hands over a message; an actor that never switches pays for a look at that mark.

use std::any::TypeId;

use super::Extras;
use super::header::Header;
use super::serve::Course;
use super::typed::behaviour_table;
use crate::actor::{Actor, Behaviour, Message, Passage};
use crate::env::What;
use crate::mailbox::{BELL, Incoming, RecordKind, RunFn};
use crate::reference::ActorId;

/// What to run in the place of the handler.
pub(crate) struct BehaviourTable {
    pub(super) run: RunFn,
    /// The same for messages that come from a timer.
    pub(super) run_timed: RunFn,
}

impl Header {
    pub(crate) fn becomes<A, M, Shape>(&self, behaviour: impl Behaviour<A, M, Shape>, stacked: bool)
    where
        A: Actor,
        M: Message,
        Shape: 'static,
    {
        let table = behaviour_table(behaviour);
        self.with_links(|links| {
            let stack = links.behaviours.entry(TypeId::of::<M>()).or_default();
            if !stacked {
                stack.pop();
            }
            stack.push(table);
        });
        self.log.set_layered(true);
    }

    pub(crate) fn unbecome<M: Message>(&self, all: bool) -> bool {
        let message = TypeId::of::<M>();
        let Some(extras) = self.extras_if_any() else {
            return false;
        };
        {
            let links = &mut *extras.links.lock();
            let Some(stack) = links.behaviours.get_mut(&message) else {
                return false;
            };
            stack.pop();
            if all || stack.is_empty() {
                links.behaviours.remove(&message);
            }
        }
        self.mark_layers();
        true
    }

    pub(crate) fn unbecome_all(&self) {
        if !self.log.is_layered() {
            return;
        }
        if let Some(extras) = self.extras_if_any() {
            extras.links.lock().behaviours.clear();
        }
        self.mark_layers();
    }

    pub(crate) fn behaviours<M: Message>(&self) -> usize {
        let stack = |extras: &Extras| Some(extras.links.lock().behaviours.get(&TypeId::of::<M>())?.len());
        self.extras_if_any().and_then(stack).unwrap_or(0)
    }

    /// Who handles this message now; shown to whoever looks. `returned`: the actor had put it aside.
    #[cold]
    pub(crate) fn behaviour_for(&self, incoming: &Incoming, returned: bool) -> Course {
        let table = incoming.table;
        if !std::ptr::eq(table, &BELL) && table.kind != RecordKind::Parcel {
            let handles = What::Handles {
                message: (table.name)(),
                sender: ActorId::from_raw(incoming.envelope.sender),
            };
            self.system().show(self, handles);
            if self.show_tap(incoming, returned) == Passage::Discard {
                return Course::PassOver;
            }
        }
        let find = |extras: &Extras| extras.links.lock().behaviours.get(&(table.message)())?.last().copied();
        let found = self.extras_if_any().and_then(find);
        Course::Run(match found {
            Some(behaviour) if table.kind == RecordKind::Timer => behaviour.run_timed,
            Some(behaviour) => behaviour.run,
            None => table.run,
        })
    }
}
