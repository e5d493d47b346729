//! Faults on purpose: half of them errors that are returned, half panics. Supervision treats them alike.

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volary::prelude::*;

const INJECTED: &str = "injected by the demo";

pub(crate) struct Mishaps {
    per_mille: AtomicU64,
    so_far: AtomicU64,
}

impl Mishaps {
    pub(crate) fn new(per_mille: u64) -> Self {
        // Rust prints every panic, also those that are caught and supervised. Ours are expected; others still show.
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() != Some(INJECTED) {
                default(info);
            }
        }));
        Mishaps { per_mille: AtomicU64::new(per_mille), so_far: AtomicU64::new(0) }
    }

    /// Now and then, crashes whoever calls it.
    pub(crate) fn strike(&self, dice: u64) -> Result<(), Fault> {
        if dice % 1_000 >= self.per_mille.load(Relaxed) {
            return Ok(());
        }
        self.so_far.fetch_add(1, Relaxed);
        if (dice / 1_000).is_multiple_of(2) {
            panic!("{INJECTED}");
        }
        Err(Fault::msg(INJECTED))
    }

    pub(crate) fn cease(&self) {
        self.per_mille.store(0, Relaxed);
    }

    pub(crate) fn so_far(&self) -> u64 {
        self.so_far.load(Relaxed)
    }
}
