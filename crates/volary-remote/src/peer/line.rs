//! Those who wait for room on the way to a peer, in the order in which they came.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::task::Waker;

use parking_lot::Mutex;
use volary_core::foreign::Room;

use super::Peer;

/// For how many messages there is room if one who waits is called. Most have more than one to send: were as many called as
/// there is room for, nearly all of them would find it taken by the first.
const ROOM_EACH: u64 = 256;
/// But so many are, if there is room: who was called need not come.
const FEWEST: u64 = 4;
/// With so many bytes to be written nobody is called: there is enough to do, and whoever writes calls them next.
const ENOUGH: usize = 32 << 10;

#[derive(Default)]
pub(super) struct Line {
    /// Somebody waits; read without the lock by whoever makes room.
    is_waiting: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    last: u64,
    /// In the order of their tickets.
    senders: VecDeque<(u64, Waker)>,
}

impl Queue {
    fn place(&self, ticket: u64) -> Result<usize, usize> {
        self.senders.binary_search_by_key(&ticket, |(ticket, _)| *ticket)
    }
}

impl Line {
    fn stand(&self, ticket: Option<u64>, waker: Waker) -> u64 {
        let mut queue = self.queue.lock();
        let ticket = ticket.unwrap_or_else(|| {
            queue.last += 1;
            queue.last
        });
        let before = match queue.place(ticket) {
            Ok(place) => Some(std::mem::replace(&mut queue.senders[place].1, waker)),
            Err(place) => {
                queue.senders.insert(place, (ticket, waker));
                None
            }
        };
        self.is_waiting.store(true, SeqCst);
        drop(queue);
        drop(before); // not under the lock: it is anybody's code
        ticket
    }

    /// True: it was not in the line any more, so it had been called.
    fn leave(&self, ticket: u64) -> bool {
        let mut queue = self.queue.lock();
        let left = queue.place(ticket).ok().and_then(|place| queue.senders.remove(place));
        drop(queue);
        left.is_none()
    }

    /// Calls the first so many.
    fn call(&self, count: u64) {
        let mut queue = self.queue.lock();
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(queue.senders.len());
        let called: Vec<_> = queue.senders.drain(..count).collect();
        self.is_waiting.store(!queue.senders.is_empty(), SeqCst);
        drop(queue);
        for (_, waker) in called {
            // Whose waker that is, nobody knows; the others are called all the same.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

impl Peer {
    /// There may be room: some of those who wait are called. Who finds it taken stays in line, and is called again when more
    /// is confirmed; who was called and does not wait any more has [the next](Room::leave) called.
    pub(crate) fn made_room(&self) {
        self.call_up_to(|room| room.div_ceil(ROOM_EACH).max(FEWEST));
    }

    fn call_up_to(&self, count: impl FnOnce(u64) -> u64) {
        if !self.line.is_waiting.load(SeqCst) {
            return;
        }
        let (room, quiet) = {
            let outbound = self.outbound.lock();
            if outbound.has_ready(ENOUGH) {
                return;
            }
            (outbound.room(), outbound.under_way() == 0)
        };
        // Where nothing will be confirmed nobody is called later.
        self.line.call(if quiet { room } else { count(room).min(room) });
    }

    /// Everybody who waits may look for themselves: an actor there has ended, or nothing goes there any more.
    pub(super) fn call_all(&self) {
        if self.line.is_waiting.load(SeqCst) {
            self.line.call(u64::MAX);
        }
    }
}

impl Room for Peer {
    fn may_try(&self, ticket: Option<u64>) -> bool {
        match ticket {
            None => !self.line.is_waiting.load(SeqCst),
            Some(ticket) => self.line.queue.lock().place(ticket).is_err(),
        }
    }

    fn wait(&self, ticket: Option<u64>, waker: &Waker) -> u64 {
        let ticket = self.line.stand(ticket, waker.clone());
        self.made_room();
        ticket
    }

    fn leave(&self, ticket: u64) {
        if self.line.leave(ticket) {
            self.call_up_to(|_| 1);
        }
    }
}
