//! The bound of a mailbox, and the queue of senders that wait for room in it.
//!
//! The reader does not tell senders about each place it frees, and senders do not look at how far it
//! is: both would fight for a cache line per message. Senders remember up to which record there is
//! room for certain, and look again only there. The reader looks for waiting senders every few
//! messages and whenever it pauses, and calls as many as there is room for.
//!
//! Senders wait in line: a newcomer does not pass those who wait, nobody else is called for a place
//! until who was called for it has come or left, and who finds it taken (a `tell` never waits) keeps its
//! place in the line.

use std::collections::VecDeque;
use std::task::Waker;

use super::log::sequence_distance;
use crate::dispatch::wake;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::*, fence};

/// The reader looks for waiting senders at least this often, in messages.
const LOOK_EVERY: u64 = 128; // the end of each turn comes before that, with the usual `throughput`

pub(crate) struct Bound {
    pub(crate) capacity: u64,
    /// Whether `send` waits for room, or is refused like `tell`.
    pub(crate) waits: bool,
    /// The mailbox has no rule but this.
    pub(crate) alone: bool,
    /// There is room for every record before this one. Never too far: readers only advance.
    until: AtomicU64,
    /// Somebody waits. Read by the reader, so that it takes the lock for a reason only.
    waiting: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    next_ticket: u64,
    /// In the order of their tickets.
    senders: VecDeque<(u64, Waker)>,
    /// How many were called and have not come yet; their places are theirs.
    called: u64,
}

impl Bound {
    pub(crate) fn new(capacity: u64, waits: bool) -> Self {
        Bound {
            capacity,
            waits,
            alone: true,
            until: AtomicU64::new(capacity),
            waiting: AtomicBool::new(false),
            queue: Mutex::new(Queue::default()),
        }
    }

    /// The mailbox has another rule, too.
    pub(crate) fn beside_others(mut self) -> Self {
        self.alone = false;
        self
    }

    /// Whether there is room for the record with this number, as far as senders know.
    #[inline]
    pub(crate) fn has_room(&self, number: u64) -> bool {
        sequence_distance(self.until.load(Relaxed), number) > 0
    }

    /// The reader has `taken` so many: now there is room for this many more.
    pub(crate) fn learn(&self, taken: u64) {
        self.until.store(taken.wrapping_add(self.capacity), Relaxed);
    }

    /// How many messages the reader may take before it looks for waiting senders.
    pub(crate) fn look_every(&self) -> u64 {
        (self.capacity / 8).clamp(1, LOOK_EVERY)
    }

    /// Whether a sender may try: a newcomer if nobody waits, and who has waited once it was called.
    #[inline]
    pub(crate) fn may_try(&self, ticket: Option<u64>) -> bool {
        match ticket {
            None => !self.waiting.load(Relaxed),
            Some(ticket) => self.queue.lock().place(ticket).is_err(),
        }
    }

    /// Takes a place among those who wait, or keeps that of `ticket`, even if it had been called and
    /// somebody else was faster. The caller then sees to it that room is not overlooked: [`made_room`].
    ///
    /// [`made_room`]: Bound::made_room
    pub(crate) fn wait(&self, ticket: Option<u64>, waker: &Waker) -> u64 {
        let waker = waker.clone();
        let mut queue = self.queue.lock();
        let again = ticket.is_some();
        let ticket = ticket.unwrap_or_else(|| {
            queue.next_ticket += 1;
            queue.next_ticket
        });
        let before = match queue.place(ticket) {
            Ok(place) => Some(std::mem::replace(&mut queue.senders[place].1, waker)),
            Err(place) => {
                queue.senders.insert(place, (ticket, waker));
                queue.called -= u64::from(again && queue.called > 0);
                None
            }
        };
        self.waiting.store(true, Relaxed);
        drop(queue);
        drop(before); // not under the lock: it is anybody's code
        // Pairs with the fence in `made_room`: either the reader sees the flag, or this sender's look
        // at the depth sees the room.
        fence(SeqCst);
        ticket
    }

    /// A sender does not wait any more, having sent or not. The caller then calls [`made_room`]: what it had may
    /// be somebody else's now.
    ///
    /// [`made_room`]: Bound::made_room
    pub(crate) fn leave(&self, ticket: u64) {
        let mut queue = self.queue.lock();
        let left = match queue.place(ticket) {
            Ok(place) => queue.senders.remove(place),
            Err(_) => {
                queue.called = queue.called.saturating_sub(1);
                None
            }
        };
        drop(queue);
        drop(left); // not under the lock: it is anybody's code
        fence(SeqCst);
    }

    /// There may be room: `depth` says how many messages wait. As many senders are called as there are places
    /// that nobody was called for yet; while the reader is busy, only once half of the mailbox is free.
    #[inline]
    pub(crate) fn made_room(&self, busy: bool, depth: impl FnOnce() -> u64) {
        fence(SeqCst);
        if self.waiting.load(Relaxed) {
            self.call_some(busy, depth);
        }
    }

    #[cold]
    fn call_some(&self, busy: bool, depth: impl FnOnce() -> u64) {
        let mut queue = self.queue.lock();
        // Read under the lock, so that whoever comes last has seen everything before it.
        let depth = depth();
        // Calling somebody for each place would have sender and reader take turns message by message.
        if busy && depth > self.capacity / 2 {
            return;
        }
        let room = self.capacity.saturating_sub(depth + queue.called);
        let count = room.min(queue.senders.len() as u64);
        queue.called += count;
        let called: Vec<_> = queue.senders.drain(..count as usize).collect();
        if queue.senders.is_empty() {
            self.waiting.store(false, Relaxed);
        }
        drop(queue);
        called.into_iter().for_each(|(_, waker)| wake(waker));
    }

    /// Lets everybody who waits try again: the mailbox is closed.
    pub(crate) fn call_all(&self) {
        let senders = {
            let mut queue = self.queue.lock();
            self.waiting.store(false, Relaxed);
            queue.called += queue.senders.len() as u64;
            std::mem::take(&mut queue.senders)
        };
        senders.into_iter().for_each(|(_, waker)| wake(waker));
    }
}

impl Queue {
    /// Where this ticket stands, or would stand.
    fn place(&self, ticket: u64) -> Result<usize, usize> {
        self.senders.binary_search_by_key(&ticket, |(ticket, _)| *ticket)
    }
}

#[cfg(all(test, volary_loom))]
mod loom_model {
    use std::sync::Arc as StdArc;
    use std::task::Wake;

    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: StdArc<Self>) {
            self.0.store(true, SeqCst);
        }
    }

    /// A mailbox of one place, taken; the reader frees it while a sender comes to wait.
    #[test]
    fn loom_bound_a_sender_that_waits_is_woken_or_sees_the_room() {
        loom::model(|| {
            let bound = Arc::new(Bound::new(1, true));
            let taken = Arc::new(AtomicU64::new(0));
            let flag = StdArc::new(Flag(AtomicBool::new(false)));
            let sender = {
                let (bound, taken, flag) = (bound.clone(), taken.clone(), flag.clone());
                thread::spawn(move || {
                    let ticket = bound.wait(None, &flag.into());
                    bound.made_room(false, || 1 - taken.load(SeqCst));
                    ticket
                })
            };
            taken.store(1, SeqCst);
            bound.made_room(false, || 0);
            let ticket = sender.join().unwrap();
            assert!(
                flag.0.load(SeqCst) && bound.may_try(Some(ticket)),
                "the sender sleeps for ever"
            );
        });
    }

    /// Two wait, one gives up just when there is room for one: the other one gets it.
    #[test]
    fn loom_bound_a_place_is_passed_on_by_a_sender_that_leaves() {
        loom::model(|| {
            let bound = Arc::new(Bound::new(1, true));
            let flags = [(); 2].map(|()| StdArc::new(Flag(AtomicBool::new(false))));
            let first = bound.wait(None, &flags[0].clone().into());
            bound.wait(None, &flags[1].clone().into());
            let quitter = {
                let bound = bound.clone();
                thread::spawn(move || {
                    bound.leave(first);
                    bound.made_room(false, || 0);
                })
            };
            bound.made_room(false, || 0);
            quitter.join().unwrap();
            assert!(flags[1].0.load(SeqCst), "the place was lost");
        });
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn room_is_learned_and_wraps_with_the_sequence() {
        let bound = Bound::new(4, false);
        assert!(bound.has_room(3) && !bound.has_room(4));
        bound.learn(2);
        assert!(bound.has_room(5) && !bound.has_room(6));
        let last = (1 << 40) - 1;
        bound.learn(last);
        assert!(bound.has_room(last) && bound.has_room(2) && !bound.has_room(3));
    }

    #[test]
    fn as_many_are_called_as_there_is_room_for_and_in_their_order() {
        let bound = Bound::new(4, true);
        assert!(bound.may_try(None), "nobody waits");
        let tickets: Vec<_> = (0..6).map(|_| bound.wait(None, Waker::noop())).collect();
        assert!(!bound.may_try(None), "a newcomer does not pass those who wait");
        assert_eq!(
            bound.wait(Some(tickets[5]), Waker::noop()),
            tickets[5],
            "keeps its place"
        );
        let waiting = || {
            bound
                .queue
                .lock()
                .senders
                .iter()
                .map(|(ticket, _)| *ticket)
                .collect::<Vec<_>>()
        };
        bound.made_room(true, || 3);
        assert_eq!(
            waiting(),
            tickets,
            "a busy reader calls nobody before half of it is free"
        );
        bound.made_room(true, || 2);
        assert_eq!(waiting(), tickets[2..]);
        bound.made_room(false, || 2);
        assert_eq!(waiting(), tickets[2..], "the two that were called have not come yet");
        bound.wait(Some(tickets[1]), Waker::noop());
        assert_eq!(waiting(), tickets[1..], "who was called in vain is first again");
        bound.made_room(false, || 2);
        assert_eq!(waiting(), tickets[2..], "and is called again");
        bound.leave(tickets[1]);
        bound.made_room(false, || 2);
        assert_eq!(waiting(), tickets[3..], "its place is passed on");
        bound.leave(tickets[0]);
        bound.leave(tickets[2]);
        bound.made_room(false, || 0);
        assert_eq!(waiting(), []);
        assert!(bound.may_try(None));
    }
}
