//! Blocks that mailboxes have given back, kept at hand for the next one that grows.
//!
//! Each thread keeps a few, 64 KiB at most; what flows from the threads that read to the threads that
//! write goes through a shared shelf, in batches. The shelf holds 2 MiB at most, another one as much of large
//! blocks, and both are cleared as soon as nothing runs, so a burst does not hold its memory for ever.

use super::block::{Block, Fresh, LargeBlock};

#[cfg(not(any(volary_loom, volary_shuttle)))]
mod imp {
    use super::{Block, Fresh, LargeBlock};
    use std::cell::RefCell;

    const PER_THREAD: usize = 64;
    const BATCH: usize = 32;
    const SHELF: usize = 2048;
    const LARGE_SHELF: usize = 64;

    /// Boxes, because mailboxes link blocks by their address.
    type Blocks = Vec<Box<Block>>;

    thread_local! {
        static LOCAL: RefCell<Blocks> = const { RefCell::new(Vec::new()) };
    }
    static SHARED: parking_lot::Mutex<Blocks> = parking_lot::Mutex::new(Vec::new());
    /// Changed once in a thousand messages, so threads keep none to themselves.
    static LARGE: parking_lot::Mutex<Vec<Box<LargeBlock>>> = parking_lot::Mutex::new(Vec::new());

    pub(in super::super) fn take(large: bool) -> Fresh {
        if large {
            Fresh::Large(take_large())
        } else {
            Fresh::Small(take_small())
        }
    }

    pub(in super::super) fn give(region: Fresh) {
        match region {
            Fresh::Small(block) => give_small(block),
            Fresh::Large(block) => give_large(block),
        }
    }

    fn take_large() -> Box<LargeBlock> {
        let used = LARGE.lock().pop();
        used.map_or_else(LargeBlock::boxed, |mut block| {
            block.wipe();
            block
        })
    }

    fn give_large(block: Box<LargeBlock>) {
        let mut shelf = LARGE.lock();
        if shelf.len() < LARGE_SHELF {
            shelf.push(block);
        } else {
            drop(shelf);
            drop(block); // not under the lock
        }
    }

    fn take_small() -> Box<Block> {
        LOCAL
            .try_with(|local| {
                let mut local = local.borrow_mut();
                if local.is_empty() {
                    let mut shared = SHARED.lock();
                    let rest = shared.len().saturating_sub(BATCH);
                    local.extend(shared.drain(rest..));
                }
                local.pop()
            })
            .ok()
            .flatten()
            .map_or_else(Block::boxed, |mut block| {
                // Wiped by whoever writes to it next, all at once: the reader's core has its lines, and
                // fetching them one record at a time would stall the writer at each.
                block.wipe();
                block
            })
    }

    fn give_small(block: Box<Block>) {
        let _ = LOCAL.try_with(|local| {
            let mut local = local.borrow_mut();
            if local.len() >= PER_THREAD {
                let mut shared = SHARED.lock();
                let keep = local.len() - BATCH;
                if shared.len() < SHELF {
                    shared.extend(local.drain(keep..));
                } else {
                    local.truncate(keep);
                }
            }
            local.push(block);
        });
    }

    /// Clears the shelves, and what the calling thread keeps.
    pub(crate) fn trim() {
        let _ = LOCAL.try_with(|local| std::mem::take(&mut *local.borrow_mut()));
        let shelf = std::mem::take(&mut *SHARED.lock());
        let large = std::mem::take(&mut *LARGE.lock());
        drop((shelf, large)); // not under the locks
    }
}

// Models want every block to be a fresh one, so that nothing leaks from one execution to the next.
#[cfg(any(volary_loom, volary_shuttle))]
mod imp {
    use super::{Block, Fresh, LargeBlock};

    pub(in super::super) fn take(large: bool) -> Fresh {
        if large {
            Fresh::Large(LargeBlock::boxed())
        } else {
            Fresh::Small(Block::boxed())
        }
    }
    pub(in super::super) fn give(region: Fresh) {
        drop(region);
    }
    pub(crate) fn trim() {}
}

pub(crate) use imp::trim;
pub(super) use imp::{give, take};
