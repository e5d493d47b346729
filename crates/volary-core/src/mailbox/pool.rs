//! Blocks that mailboxes have given back, kept at hand for the next one that grows.
//!
//! Each thread keeps a few, 64 KiB at most; what flows from the threads that read to the threads that
//! write goes through a shared shelf, in batches. The shelf holds 2 MiB at most and is cleared as soon
//! as nothing runs, so a burst does not hold its memory for ever.

use super::block::Block;

#[cfg(not(any(volary_loom, volary_shuttle)))]
mod imp {
    use super::Block;
    use std::cell::RefCell;

    const PER_THREAD: usize = 64;
    const BATCH: usize = 32;
    const SHELF: usize = 2048;

    /// Boxes, because mailboxes link blocks by their address.
    type Blocks = Vec<Box<Block>>;

    thread_local! {
        static LOCAL: RefCell<Blocks> = const { RefCell::new(Vec::new()) };
    }
    static SHARED: parking_lot::Mutex<Blocks> = parking_lot::Mutex::new(Vec::new());

    pub(crate) fn take() -> Box<Block> {
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

    pub(crate) fn give(block: Box<Block>) {
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

    /// Clears the shelf, and what the calling thread keeps.
    pub(crate) fn trim() {
        let _ = LOCAL.try_with(|local| std::mem::take(&mut *local.borrow_mut()));
        let shelf = std::mem::take(&mut *SHARED.lock());
        drop(shelf); // not under the lock
    }
}

// Models want every block to be a fresh one, so that nothing leaks from one execution to the next.
#[cfg(any(volary_loom, volary_shuttle))]
mod imp {
    use super::Block;

    pub(crate) fn take() -> Box<Block> {
        Block::boxed()
    }
    pub(crate) fn give(block: Box<Block>) {
        drop(block);
    }
    pub(crate) fn trim() {}
}

pub(crate) use imp::{give, take, trim};
