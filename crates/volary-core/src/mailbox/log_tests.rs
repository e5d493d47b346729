//! The log under loom (every interleaving of small cases), under Miri, and against a plain queue.

use super::super::block::First;
use super::*;

/// Records of the tests begin with a number in place of a pointer.
fn first(value: u64) -> First {
    ptr::without_provenance_mut(value as usize)
}

struct Free;
impl Growth for Free {
    fn may_grow(&self, _: u64, _: u64) -> bool {
        true
    }
    fn shrunk(&self, _: u64) {}
}

#[cfg(volary_loom)]
mod loom_model {
    use super::*;
    use crate::mailbox::Bound;
    use loom::sync::Arc;
    use loom::thread;

    const RECORD: usize = 2;

    fn push(log: &Log, value: u64) -> Result<(), Refusal> {
        let room = log.reserve(RECORD, None, &Free)?;
        room.write_second(value);
        // SAFETY: the second and last word was written above.
        unsafe { room.publish(first(value)) };
        Ok(())
    }

    /// Reads one record, checking that both words agree: what was published is what was written.
    fn pop(log: &Log) -> Option<u64> {
        // SAFETY: the model has one reader thread.
        match unsafe { log.peek(&Free) } {
            Peek::Record(first, place) => {
                let first = first.addr() as u64;
                // SAFETY: a record of two words, just peeked.
                let second = unsafe { (*place.add(1)).rest.with(|p| *p) };
                assert_eq!(first, second);
                // SAFETY: as above.
                unsafe { log.advance(RECORD) };
                Some(first)
            }
            Peek::Empty | Peek::Pending => None,
        }
    }

    #[test]
    fn loom_log_keeps_each_writers_order_and_loses_nothing() {
        loom::model(|| {
            let log = Arc::new(Log::new(false));
            let writer = {
                let log = log.clone();
                thread::spawn(move || {
                    push(&log, 10).unwrap();
                    push(&log, 11).unwrap();
                })
            };
            push(&log, 20).unwrap();
            let mut seen = Vec::new();
            while seen.len() < 3 {
                match pop(&log) {
                    Some(value) => seen.push(value),
                    None => thread::yield_now(),
                }
            }
            writer.join().unwrap();
            let at = |v| seen.iter().position(|s| *s == v).unwrap();
            assert!(at(10) < at(11));
            assert!(seen.contains(&20));
            assert!(!log.has_mail());
        });
    }

    /// One in which so many wait that the next block is a large one, met by two writers at once.
    #[test]
    fn loom_log_grows_by_a_large_block_and_returns() {
        loom::model(|| {
            let log = Arc::new(Log::new(false));
            for value in 10..13 {
                push(&log, value).unwrap();
            }
            let writer = {
                let log = log.clone();
                thread::spawn(move || push(&log, 20).unwrap())
            };
            push(&log, 13).unwrap();
            let mut seen = Vec::new();
            while seen.len() < 5 {
                match pop(&log) {
                    Some(value) => seen.push(value),
                    None => thread::yield_now(),
                }
            }
            writer.join().unwrap();
            seen.retain(|value| *value < 20);
            assert_eq!(seen, [10, 11, 12, 13]);
            // SAFETY: the one reader.
            unsafe { log.settle(&Free) };
            push(&log, 14).unwrap();
            assert_eq!(pop(&log), Some(14));
        });
    }

    #[test]
    fn loom_log_settles_against_a_writer() {
        loom::model(|| {
            let log = Arc::new(Log::new(false));
            push(&log, 5).unwrap();
            let writer = {
                let log = log.clone();
                thread::spawn(move || {
                    push(&log, 6).unwrap();
                    push(&log, 7).unwrap();
                })
            };
            let mut seen = Vec::new();
            while seen.len() < 3 {
                match pop(&log) {
                    Some(value) => seen.push(value),
                    None => thread::yield_now(),
                }
                // SAFETY: the one reader.
                unsafe { log.settle(&Free) };
            }
            writer.join().unwrap();
            assert_eq!(seen, [5, 6, 7]);
        });
    }

    #[test]
    fn loom_log_close_is_a_clean_cut() {
        loom::model(|| {
            let log = Arc::new(Log::new(false));
            let writer = {
                let log = log.clone();
                thread::spawn(move || (2..4).filter(|v| push(&log, *v).is_ok()).count())
            };
            log.close();
            let accepted = writer.join().unwrap();
            let mut read = 0;
            while pop(&log).is_some() {
                read += 1;
            }
            assert_eq!(read, accepted, "what was accepted is read, what was refused is not");
            assert_eq!(push(&log, 9), Err(Refusal::Closed));
        });
    }

    /// Two give notice of something; the reader looks once. What it has not seen is still announced.
    #[test]
    fn loom_log_a_notice_is_seen_or_still_there() {
        loom::model(|| {
            let log = Arc::new(Log::new(false));
            let news = Arc::new(loom::sync::atomic::AtomicU32::new(0));
            let givers = [1, 2].map(|bit| {
                let (log, news) = (log.clone(), news.clone());
                thread::spawn(move || {
                    news.fetch_or(bit, Relaxed);
                    log.give_notice();
                })
            });
            let noticed = log.notices();
            let seen = news.load(Relaxed);
            for giver in givers {
                giver.join().unwrap();
            }
            assert!(seen == 3 || log.has_notice_since(noticed), "news that nobody looks at");
        });
    }

    #[test]
    fn loom_log_bound_is_never_exceeded() {
        loom::model(|| {
            let log = Arc::new(Log::new(true));
            let bound = Arc::new(Bound::new(1, false));
            let try_push = |log: &Log, bound: &Bound| {
                log.reserve(RECORD, Some(bound), &Free).map(|room| {
                    room.write_second(3);
                    // SAFETY: both words are written.
                    unsafe { room.publish(first(3)) };
                })
            };
            let writer = {
                let (log, bound) = (log.clone(), bound.clone());
                thread::spawn(move || try_push(&log, &bound).is_ok())
            };
            let mine = try_push(&log, &bound).is_ok();
            let theirs = writer.join().unwrap();
            assert!(mine ^ theirs, "a bound of one takes exactly one of two");
        });
    }
}

#[cfg(not(volary_loom))]
mod plain {
    use super::writing::DEEP;
    use super::*;
    use crate::mailbox::block::{BLOCK_WORDS, LARGE_BLOCKS, LARGE_WORDS};
    use std::collections::VecDeque;
    use std::sync::Arc;

    fn push(log: &Log, value: u64, words: usize) -> Result<(), Refusal> {
        let room = log.reserve(words, None, &Free)?;
        for n in 1..words {
            // SAFETY: within the reserved room.
            unsafe { room.as_ptr().add(n).write(value) };
        }
        // SAFETY: all words were written.
        unsafe { room.publish(first(value)) };
        Ok(())
    }

    fn pop(log: &Log, length: impl Fn(u64) -> usize) -> Option<u64> {
        // SAFETY: one reader per test.
        let Peek::Record(first, place) = (unsafe { log.peek(&Free) }) else {
            return None;
        };
        let first = first.addr() as u64;
        let words = length(first);
        for n in 1..words {
            // SAFETY: the record has that many words.
            assert_eq!(unsafe { place.add(n).cast::<u64>().read() }, first);
        }
        // SAFETY: as above.
        unsafe { log.advance(words) };
        Some(first)
    }

    fn length(value: u64) -> usize {
        2 + (value % 9) as usize
    }

    #[test]
    fn miri_log_agrees_with_a_queue() {
        let log = Log::new(false);
        let mut model = VecDeque::new();
        let mut next = 2_u64;
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let rounds = if cfg!(miri) { 300 } else { 20_000 };
        for _ in 0..rounds {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            match random % 5 {
                0..=2 => {
                    push(&log, next, length(next)).unwrap();
                    model.push_back(next);
                    next += 1;
                }
                3 => assert_eq!(pop(&log, length), model.pop_front()),
                _ => {
                    while let Some(value) = model.pop_front() {
                        assert_eq!(pop(&log, length), Some(value));
                    }
                    assert!(!log.has_mail());
                    // SAFETY: one reader.
                    unsafe { log.settle(&Free) };
                }
            }
            assert_eq!(log.depth(), model.len() as u64);
        }
        while pop(&log, length).is_some() {}
    }

    #[test]
    fn miri_log_carries_records_between_threads() {
        let log = Arc::new(Log::new(false));
        let per_writer = if cfg!(miri) { 40 } else { 50_000 };
        let writers: Vec<_> = (0..2_u64)
            .map(|w| {
                let log = log.clone();
                std::thread::spawn(move || {
                    for n in 0..per_writer {
                        push(&log, 2 + n * 2 + w, 3).unwrap();
                    }
                })
            })
            .collect();
        let mut last = [None, None];
        let mut count = 0;
        while count < per_writer * 2 {
            if let Some(value) = pop(&log, |_| 3) {
                let w = (value % 2) as usize;
                assert!(last[w] < Some(value), "order of one writer is kept");
                last[w] = Some(value);
                count += 1;
            } else {
                // SAFETY: one reader.
                unsafe { log.settle(&Free) };
                std::thread::yield_now();
            }
        }
        for writer in writers {
            writer.join().unwrap();
        }
        assert!(!log.has_mail());
    }

    #[test]
    fn growth_that_is_refused_leaves_the_log_usable() {
        struct Never;
        impl Growth for Never {
            fn may_grow(&self, _: u64, _: u64) -> bool {
                false
            }
            fn shrunk(&self, _: u64) {
                unreachable!("nothing was granted")
            }
        }
        let log = Log::new(false);
        push(&log, 7, INLINE_WORDS).unwrap();
        assert!(matches!(log.reserve(3, None, &Never), Err(Refusal::Denied)));
        assert_eq!(pop(&log, |_| INLINE_WORDS), Some(7));
    }

    /// Grants up to so many blocks.
    struct Budget {
        left: std::cell::Cell<u64>,
        large: std::cell::Cell<u64>,
    }

    impl Budget {
        fn of(blocks: u64) -> Self {
            Budget {
                left: blocks.into(),
                large: 0.into(),
            }
        }
    }

    impl Growth for Budget {
        fn may_grow(&self, _: u64, blocks: u64) -> bool {
            let granted = self.left.get() >= blocks;
            if granted {
                self.left.set(self.left.get() - blocks);
                self.large.set(self.large.get() + u64::from(blocks == LARGE_BLOCKS));
            }
            granted
        }
        fn shrunk(&self, blocks: u64) {
            self.left.set(self.left.get() + blocks);
        }
    }

    /// Fills a log until it is refused or holds as many as wanted, and empties it again.
    fn fill_and_empty(log: &Log, wanted: u64, budget: &Budget) -> u64 {
        let mut held = 0;
        while held < wanted {
            match log.reserve(3, None, budget) {
                // SAFETY: room of three words, of which the others are already something.
                Ok(room) => unsafe { room.publish(first(held + 2)) },
                Err(refusal) => {
                    assert_eq!(refusal, Refusal::Denied);
                    break;
                }
            }
            held += 1;
        }
        for value in 0..held {
            // SAFETY: one reader, and records of three words.
            unsafe {
                let Peek::Record(found, _) = log.peek(budget) else {
                    panic!("{value} of {held} is missing")
                };
                assert_eq!(found, first(value + 2));
                log.advance(3);
            }
        }
        // SAFETY: one reader.
        unsafe { log.settle(budget) };
        assert!(!log.has_mail());
        held
    }

    #[test]
    fn miri_log_with_many_records_grows_by_large_blocks_and_gives_them_back() {
        let log = Log::new(false);
        let budget = Budget::of(10_000);
        let wanted = if cfg!(miri) { 2 * DEEP } else { 100_000 };
        for _ in 0..2 {
            assert_eq!(fill_and_empty(&log, wanted, &budget), wanted);
            assert_eq!(budget.left.get(), 10_000, "all is given back");
        }
        let per_large = (LARGE_WORDS / 3) as u64;
        let expected = 2 * (wanted - DEEP).div_ceil(per_large);
        assert!(
            (expected - 2..=expected).contains(&budget.large.get()),
            "{} of {expected}",
            budget.large.get()
        );
    }

    #[test]
    fn a_log_grows_by_small_blocks_where_there_is_no_room_for_a_large_one() {
        let log = Log::new(false);
        let blocks = DEEP / (BLOCK_WORDS / 3) as u64 + LARGE_BLOCKS;
        let budget = Budget::of(blocks);
        let held = fill_and_empty(&log, u64::MAX, &budget);
        // A little more than whole blocks: what is in the cell.
        assert!(
            held >= blocks * (BLOCK_WORDS / 3) as u64 - 1,
            "{held} in {blocks} blocks"
        );
        assert_eq!(budget.left.get(), blocks);
    }
}
