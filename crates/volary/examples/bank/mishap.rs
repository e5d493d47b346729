//! Faults on purpose: half of them errors that are returned, half panics. Supervision treats them alike.

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volary::prelude::*;

const INJECTED: &str = "injected by the demo";

static PER_MILLE: AtomicU64 = AtomicU64::new(0);
static SO_FAR: AtomicU64 = AtomicU64::new(0);

pub(crate) fn begin(per_mille: u64) {
    // Rust prints every panic, also those that are caught and supervised. Ours are expected; others still show.
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(INJECTED) {
            default(info);
        }
    }));
    PER_MILLE.store(per_mille, Relaxed);
}

/// Now and then, crashes whoever calls it.
pub(crate) fn strike(dice: u64) -> Result<(), Fault> {
    if dice % 1_000 >= PER_MILLE.load(Relaxed) {
        return Ok(());
    }
    SO_FAR.fetch_add(1, Relaxed);
    if dice % 2_000 < 1_000 {
        panic!("{INJECTED}");
    }
    Err(Fault::msg(INJECTED))
}

/// No more; says how many there were.
pub(crate) fn end() -> u64 {
    PER_MILLE.store(0, Relaxed);
    SO_FAR.load(Relaxed)
}
