//! A worker's own queue: a ring of 256 places, filled by its worker, emptied by it and by thieves.
//!
//! `head` packs two positions: where the owner takes from, and where a thief that is still copying
//! began. They differ only during a theft, and while they do the places between them are not
//! reused. `tail` is written by the owner alone. Positions run on and wrap; a place is a position
//! modulo the capacity.

use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

use super::fetch_early;
use crate::cell::Header;

#[cfg(not(volary_loom))]
pub(crate) const CAPACITY: usize = 256;
#[cfg(volary_loom)]
pub(crate) const CAPACITY: usize = 4;

const MASK: u32 = CAPACITY as u32 - 1;

/// Something that stands in a ready queue: a scheduled actor, which cannot end while it does.
pub(crate) type Ready = *const Header;

pub(crate) struct Ring {
    /// High half: where a running theft began. Low half: where the owner takes from.
    head: AtomicU64,
    /// Where the owner puts. Written by the owner only.
    tail: AtomicU32,
    places: Box<[AtomicPtr<Header>; CAPACITY]>,
}

fn pack(steal: u32, real: u32) -> u64 {
    u64::from(steal) << 32 | u64::from(real)
}

fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

/// Has the processor bring an actor nearer that will have its turn soon: where there are many, what is known of each has
/// gone from its caches since the last time.
#[inline]
fn fetch_actor_early(ready: Ready) {
    for line in 0..3 {
        fetch_early(ready.cast::<u8>().wrapping_add(64 * line));
    }
}

impl Ring {
    pub(crate) fn new() -> Self {
        let places: Vec<AtomicPtr<Header>> = (0..CAPACITY).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        let Ok(places) = places.into_boxed_slice().try_into() else {
            unreachable!("made with this very length")
        };
        Ring {
            head: AtomicU64::new(0),
            tail: AtomicU32::new(0),
            places,
        }
    }

    fn place(&self, position: u32) -> &AtomicPtr<Header> {
        &self.places[(position & MASK) as usize]
    }

    pub(crate) fn len(&self) -> usize {
        let (_, real) = unpack(self.head.load(Acquire));
        self.tail.load(Acquire).wrapping_sub(real) as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Owner: puts at the back. When the ring is full, half of it and the newcomer are handed to
    /// `overflow`, oldest first.
    pub(crate) fn push(&self, ready: Ready, overflow: impl FnOnce(&mut Vec<Ready>)) {
        let tail = self.tail.load(Relaxed);
        loop {
            let head = self.head.load(Acquire);
            let (steal, real) = unpack(head);
            if tail.wrapping_sub(steal) < CAPACITY as u32 {
                self.place(tail).store(ready.cast_mut(), Relaxed);
                self.tail.store(tail.wrapping_add(1), Release);
                return;
            }
            if steal != real {
                // A thief is emptying the ring right now: let the newcomer alone go round.
                return overflow(&mut vec![ready]);
            }
            let half = CAPACITY as u32 / 2;
            let next = real.wrapping_add(half);
            if self
                .head
                .compare_exchange(head, pack(next, next), AcqRel, Relaxed)
                .is_ok()
            {
                let mut out: Vec<Ready> = (0..half)
                    .map(|n| self.place(real.wrapping_add(n)).load(Relaxed).cast_const())
                    .collect();
                out.push(ready);
                return overflow(&mut out);
            }
        }
    }

    /// Owner: takes from the front.
    #[inline]
    pub(crate) fn pop(&self) -> Option<Ready> {
        let mut head = self.head.load(Acquire);
        loop {
            let (steal, real) = unpack(head);
            if real == self.tail.load(Relaxed) {
                return None;
            }
            let next_real = real.wrapping_add(1);
            let next = if steal == real {
                pack(next_real, next_real)
            } else {
                pack(steal, next_real)
            };
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                Ok(_) => {
                    fetch_actor_early(self.place(next_real).load(Relaxed));
                    return Some(self.place(real).load(Relaxed).cast_const());
                }
                Err(seen) => head = seen,
            }
        }
    }

    /// Thief: moves half of this ring into `into`, which is the thief's own, and returns one of them.
    pub(crate) fn steal_into(&self, into: &Ring) -> Option<Ready> {
        let tail = into.tail.load(Relaxed);
        let (steal, _) = unpack(into.head.load(Acquire));
        if tail.wrapping_sub(steal) > CAPACITY as u32 / 2 {
            return None; // no room: the thief has enough to do
        }
        let count = self.steal_places(into, tail)?;
        let last = tail.wrapping_add(count - 1);
        let ready = into.place(last).load(Relaxed).cast_const();
        if count > 1 {
            into.tail.store(last, Release);
        }
        Some(ready)
    }

    fn steal_places(&self, into: &Ring, to: u32) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        let (first, count) = loop {
            let (steal, real) = unpack(head);
            if steal != real {
                return None; // somebody else is stealing here
            }
            let available = self.tail.load(Acquire).wrapping_sub(real);
            let count = available - available / 2;
            if count == 0 {
                return None;
            }
            let next = pack(steal, real.wrapping_add(count));
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                Ok(_) => break (real, count),
                Err(seen) => head = seen,
            }
        };
        for n in 0..count {
            let ready = self.place(first.wrapping_add(n)).load(Relaxed);
            into.place(to.wrapping_add(n)).store(ready, Relaxed);
        }
        // The copy is done: let the owner have the places back.
        let mut head = self.head.load(Acquire);
        loop {
            let (_, real) = unpack(head);
            match self.head.compare_exchange(head, pack(real, real), AcqRel, Acquire) {
                Ok(_) => return Some(count),
                Err(seen) => head = seen,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(n: usize) -> Ready {
        std::ptr::without_provenance(n * 8)
    }

    fn number(ready: Ready) -> usize {
        ready.addr() / 8
    }

    #[cfg(volary_loom)]
    mod loom_model {
        use super::*;
        use loom::sync::Arc;
        use loom::thread;

        #[test]
        fn loom_ring_hands_each_item_to_exactly_one() {
            loom::model(|| {
                let ring = Arc::new(Ring::new());
                let thief = {
                    let ring = ring.clone();
                    thread::spawn(move || {
                        let own = Ring::new();
                        let mut got = Vec::new();
                        got.extend(ring.steal_into(&own).map(number));
                        while let Some(ready) = own.pop() {
                            got.push(number(ready));
                        }
                        got
                    })
                };
                let mut got = Vec::new();
                for n in 1..=2 {
                    ring.push(item(n), |more| got.extend(more.drain(..).map(number)));
                }
                got.extend(ring.pop().map(number));
                ring.push(item(3), |more| got.extend(more.drain(..).map(number)));
                while let Some(ready) = ring.pop() {
                    got.push(number(ready));
                }
                got.extend(thief.join().unwrap());
                got.sort_unstable();
                assert_eq!(got, [1, 2, 3]);
            });
        }

        /// Whoever takes an item sees what was written before it was put there: turns rest on that alone.
        #[test]
        fn loom_ring_hands_over_what_was_written_before() {
            loom::model(|| {
                let written = Arc::new([0; 2].map(|_| loom::cell::UnsafeCell::new(0)));
                let ring = Arc::new(Ring::new());
                // SAFETY: loom checks that nobody else is at it.
                let take = |written: &[loom::cell::UnsafeCell<usize>], n: usize| {
                    written[n - 1].with_mut(|value| unsafe { std::mem::replace(&mut *value, 0) })
                };
                let thief = {
                    let (ring, written) = (ring.clone(), written.clone());
                    thread::spawn(move || {
                        let own = Ring::new();
                        let stolen = ring.steal_into(&own).into_iter();
                        let all = stolen.chain(std::iter::from_fn(|| own.pop()));
                        all.map(number).for_each(|n| assert_eq!(take(&*written, n), n));
                    })
                };
                for n in 1..=2 {
                    // SAFETY: as above.
                    written[n - 1].with_mut(|value| unsafe { *value = n });
                    ring.push(item(n), |_| unreachable!("there is room"));
                }
                while let Some(ready) = ring.pop() {
                    let n = number(ready);
                    assert_eq!(take(&*written, n), n);
                }
                thief.join().unwrap();
            });
        }

        #[test]
        fn loom_ring_overflows_without_loss() {
            loom::model(|| {
                let ring = Arc::new(Ring::new());
                let thief = {
                    let ring = ring.clone();
                    thread::spawn(move || {
                        let own = Ring::new();
                        let first = ring.steal_into(&own).map(number);
                        first
                            .into_iter()
                            .chain(std::iter::from_fn(|| own.pop().map(number)))
                            .collect::<Vec<_>>()
                    })
                };
                let mut got = Vec::new();
                for n in 1..=CAPACITY + 1 {
                    ring.push(item(n), |more| got.extend(more.drain(..).map(number)));
                }
                while let Some(ready) = ring.pop() {
                    got.push(number(ready));
                }
                got.extend(thief.join().unwrap());
                got.sort_unstable();
                assert_eq!(got, (1..=CAPACITY + 1).collect::<Vec<_>>());
            });
        }
    }

    #[cfg(not(any(volary_loom, volary_shuttle)))]
    #[test]
    fn ring_is_first_in_first_out_and_overflows_the_oldest_half() {
        let ring = Ring::new();
        let mut spilled = Vec::new();
        for n in 1..=CAPACITY + 1 {
            ring.push(item(n), |more| spilled.extend(more.drain(..).map(number)));
        }
        let expected: Vec<usize> = (1..=CAPACITY / 2).chain([CAPACITY + 1]).collect();
        assert_eq!(spilled, expected);
        assert_eq!(ring.pop().map(number), Some(CAPACITY / 2 + 1));
    }

    #[cfg(not(any(volary_loom, volary_shuttle)))]
    #[test]
    fn a_thief_takes_half() {
        let (rich, poor) = (Ring::new(), Ring::new());
        for n in 1..=8 {
            rich.push(item(n), |_| unreachable!("there is room"));
        }
        let first = rich.steal_into(&poor).map(number);
        assert_eq!(first, Some(4));
        assert_eq!(poor.len(), 3);
        assert_eq!(rich.len(), 4);
    }
}
