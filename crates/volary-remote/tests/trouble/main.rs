//! R3, R8, S1, S2, S12: trouble between processes that are real: killed, stopped, cut off, slow, strange or hostile.
//!
//! ```text
//!   the test ── Home: a node, its guard ══ TCP, sometimes through a Proxy ══ Child: this binary once more
//!                                                                            (stdin: commands, stdout: what it did)
//! ```
//!
//! The child says each message that it handles before it handles the next, so that what it did is known even if it is
//! killed. [`books`] compares that with what the sender's side counts, and [`flat`] looks whether anything of the trouble
//! is kept. `cargo xtask sim remoting` looks for the same in the simulator.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test that meets an error fails; it is of the real world, and documents nothing"
)]

mod books;
mod child;
mod counter;
mod cutting;
mod flat;
mod home;
mod program;
mod proxy;
mod raw;
mod skewed;
mod writer;

mod cable;
#[cfg(feature = "tls")]
mod certificates;
mod clocks;
mod flood;
mod garbage;
mod half_open;
mod killed;
mod pause;
mod race;
mod reconnects;
mod references;
mod slow_reader;
mod strangers;
mod throttled;
mod versions;
