//! The bound of a mailbox, and the queue of senders that wait for room in it.
//!
//! The reader does not tell senders about each place it frees, and senders do not look at how far it
//! is: both would fight for a cache line per message. Senders remember up to which record there is
//! room for certain, and look again only there. The reader looks for waiting senders every few
//! messages and whenever it pauses, and wakes as many as there is room for once half of it is free.

use std::collections::VecDeque;
use std::task::Waker;

use super::log::sequence_distance;
use crate::dispatch::wake;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::*, fence};

/// The reader looks for waiting senders at least this often, in messages.
const LOOK_EVERY: u64 = 32;

pub(crate) struct Bound {
    pub(crate) capacity: u64,
    /// Whether `send` waits for room, or is refused like `tell`.
    pub(crate) waits: bool,
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
    /// How many were woken last, and how far the reader was then.
    woken: u64,
    woken_at: u64,
}

impl Bound {
    pub(crate) fn new(capacity: u64, waits: bool) -> Self {
        Bound {
            capacity,
            waits,
            until: AtomicU64::new(capacity),
            waiting: AtomicBool::new(false),
            queue: Mutex::new(Queue::default()),
        }
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
        (self.capacity / 4).clamp(1, LOOK_EVERY)
    }

    /// Leaves a waker to be called when there is room, in the place of `ticket` if that still
    /// waits. The caller looks once more afterwards.
    pub(crate) fn wait(&self, ticket: Option<u64>, waker: &Waker) -> u64 {
        let mut queue = self.queue.lock();
        let place = ticket.and_then(|ticket| queue.place(ticket));
        let ticket = match (ticket, place) {
            (Some(ticket), Some(place)) => {
                queue.senders[place].1.clone_from(waker);
                ticket
            }
            _ => {
                let ticket = queue.next_ticket;
                queue.next_ticket += 1;
                queue.senders.push_back((ticket, waker.clone()));
                ticket
            }
        };
        self.waiting.store(true, Relaxed);
        drop(queue);
        // Pairs with the fence in `made_room`: either the reader sees the flag, or the sender's
        // second look sees the room.
        fence(SeqCst);
        ticket
    }

    /// A sender does not wait any more. If it was woken and did not use its place, the next one
    /// may have it.
    pub(crate) fn leave(&self, ticket: u64, sent: bool) {
        let next = {
            let mut queue = self.queue.lock();
            match queue.place(ticket) {
                Some(place) => {
                    queue.senders.remove(place);
                    None
                }
                None if sent => None,
                None => queue.senders.pop_front(),
            }
        };
        if let Some((_, waker)) = next {
            wake(waker);
        }
    }

    /// The reader has taken messages and is at `taken`; `depth` says how many are left.
    #[inline]
    pub(crate) fn made_room(&self, taken: u64, depth: impl FnOnce() -> u64) {
        fence(SeqCst);
        if self.waiting.load(Relaxed) {
            self.wake_some(taken, depth());
        }
    }

    #[cold]
    fn wake_some(&self, taken: u64, depth: u64) {
        // Waking somebody for each place would have sender and reader take turns message by message.
        if depth > self.capacity / 2 {
            return;
        }
        let mut queue = self.queue.lock();
        let since = sequence_distance(taken, queue.woken_at);
        if depth > 0 && since >= 0 && (since as u64) < queue.woken {
            return; // those who were woken are still on their way
        }
        let room = (self.capacity - depth).min(queue.senders.len() as u64);
        queue.woken = room;
        queue.woken_at = taken;
        let woken: Vec<_> = queue.senders.drain(..room as usize).collect();
        if queue.senders.is_empty() {
            self.waiting.store(false, Relaxed);
        }
        drop(queue);
        woken.into_iter().for_each(|(_, waker)| wake(waker));
    }

    /// Lets everybody who waits try again: the mailbox is closed.
    pub(crate) fn wake_all(&self) {
        let senders = {
            let mut queue = self.queue.lock();
            self.waiting.store(false, Relaxed);
            std::mem::take(&mut queue.senders)
        };
        senders.into_iter().for_each(|(_, waker)| wake(waker));
    }
}

impl Queue {
    fn place(&self, ticket: u64) -> Option<usize> {
        self.senders.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()
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
                    bound.wait(None, &flag.into());
                    taken.load(Acquire) == 1
                })
            };
            taken.store(1, Release);
            bound.made_room(1, || 0);
            let saw_room = sender.join().unwrap();
            assert!(saw_room || flag.0.load(SeqCst), "the sender sleeps for ever");
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
                thread::spawn(move || bound.leave(first, false))
            };
            bound.made_room(1, || 0);
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
    fn as_many_are_woken_as_there_is_room_for() {
        let bound = Bound::new(4, true);
        let tickets: Vec<_> = (0..6).map(|_| bound.wait(None, Waker::noop())).collect();
        assert_eq!(
            bound.wait(Some(tickets[5]), Waker::noop()),
            tickets[5],
            "keeps its place"
        );
        let waiting = || bound.queue.lock().senders.len();
        bound.made_room(1, || 3);
        assert_eq!(waiting(), 6, "not before half of it is free");
        bound.made_room(2, || 2);
        assert_eq!(waiting(), 4);
        bound.made_room(3, || 1);
        assert_eq!(waiting(), 4, "the two that were woken have not come yet");
        bound.made_room(4, || 0);
        assert_eq!(waiting(), 0);
    }
}
