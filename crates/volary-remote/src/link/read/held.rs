//! Messages that are kept before their mailboxes: asks whose answers there may be no room for, see
//! [`ahead`](super::super::ahead), and everything to the same actor behind them, so that the order of a pair survives. They
//! count as if they were in there. Other actors hear of theirs, and all that is said beside messages is heard.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use volary_core::foreign::Receipt;
use volary_core::{ActorId, AnyRef, Baggage, Moment};
use volary_wire::native::Frame;
use volary_wire::{CodecId, Route};

use super::deliver::Names;
use crate::link::inbox::Inbox;

/// How many bytes may wait behind messages that are kept, of what is no message. Then nothing more is read.
const MOST_BEHIND: usize = 1 << 20;
/// What such a frame takes beside its payload, or more.
const FRAME: usize = 512;

/// A message that was let in, and whose mailbox it is to be put into.
pub(super) struct Admitted {
    pub(super) sequence: u64,
    pub(super) correlation: Option<u64>,
    pub(super) route: Route,
    pub(super) sender: Option<ActorId>,
    pub(super) baggage: Option<Baggage>,
    /// How much time it has, from its arrival on.
    pub(super) left: Option<Duration>,
    /// When that was, if it is asked or kept.
    pub(super) arrived: Option<Moment>,
    pub(super) codec: CodecId,
    pub(super) payload: Bytes,
    pub(super) receipt: Receipt,
}

/// One that is kept, and what the peer calls it.
pub(super) struct Kept {
    number: u64,
    pub(super) message: Admitted,
    pub(super) names: Names,
}

struct Queue {
    actor: AnyRef,
    inbox: Arc<Inbox>,
    kept: VecDeque<Kept>,
}

#[derive(Default)]
pub(super) struct Held {
    queues: BTreeMap<ActorId, Queue>,
    /// The last that something was taken from. What is told and stands first in another has been let in.
    last: Option<ActorId>,
    /// How many there ever were.
    count: u64,
    /// What must not pass messages: behind the one of this number.
    behind: VecDeque<(u64, Frame)>,
    behind_bytes: usize,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Whether so much waits behind messages that nothing more is to be read.
    pub(super) fn is_full(&self) -> bool {
        self.behind_bytes > MOST_BEHIND
    }

    /// Keeps a message behind those to the same actor.
    pub(super) fn keep(&mut self, actor: &AnyRef, inbox: &Arc<Inbox>, mut message: Admitted, names: Names) {
        // A slice would keep the whole buffer that it came in.
        message.payload = Bytes::copy_from_slice(&message.payload);
        self.count += 1;
        let queue = self.queues.entry(actor.id()).or_insert_with(|| Queue {
            actor: actor.clone(),
            inbox: inbox.clone(),
            kept: VecDeque::new(),
        });
        queue.kept.push_back(Kept {
            number: self.count,
            message,
            names,
        });
        inbox.set_held(queue.kept.len() as u64);
    }

    /// Keeps what must not pass the messages that are there.
    pub(super) fn keep_behind(&mut self, frame: Frame) {
        self.behind_bytes += weight(&frame);
        self.behind.push_back((self.count, frame));
    }

    /// The next message, if it only waited for an ask that has gone on.
    pub(super) fn next_told(&mut self) -> Option<(AnyRef, Kept)> {
        let id = self.last?;
        let first = self.queues.get(&id)?.kept.front()?;
        first.message.correlation.is_none().then(|| self.take(id)).flatten()
    }

    /// The next ask whose mailbox has room; each actor has its turn.
    pub(super) fn next(&mut self, has_room: impl Fn(&Inbox) -> bool) -> Option<(AnyRef, Kept)> {
        let after = self.last.map_or(Unbounded, Excluded);
        let others = self.queues.range((after, Unbounded)).chain(&self.queues);
        let (id, _) = others.into_iter().find(|(_, queue)| has_room(&queue.inbox))?;
        self.take(*id)
    }

    fn take(&mut self, id: ActorId) -> Option<(AnyRef, Kept)> {
        self.last = Some(id);
        let queue = self.queues.get_mut(&id)?;
        let kept = queue.kept.pop_front()?;
        let actor = queue.actor.clone();
        queue.inbox.set_held(queue.kept.len() as u64);
        if queue.kept.is_empty() {
            self.queues.remove(&id);
        }
        Some((actor, kept))
    }

    /// What waited behind messages that have all gone on.
    pub(super) fn next_behind(&mut self) -> Option<Frame> {
        let (number, _) = self.behind.front()?;
        let first = self.queues.values().filter_map(|queue| queue.kept.front());
        if first
            .map(|kept| kept.number)
            .min()
            .is_some_and(|first| first <= *number)
        {
            return None;
        }
        let (_, frame) = self.behind.pop_front()?;
        self.behind_bytes -= weight(&frame);
        Some(frame)
    }
}

fn weight(frame: &Frame) -> usize {
    FRAME
        + match frame {
            Frame::Operation(operation) => operation.payload.len(),
            _ => 0,
        }
}
