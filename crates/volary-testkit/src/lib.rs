//! What tests of Volary actors need beyond the actors themselves.
//!
//! - A [`Probe`] is an actor that a test holds in its hands: see [`probe`].
//! - A [`TestKit`] is a system whose clock the test moves: see [`kit`].
//! - [`fake`] has what stands in for a mailbox or a clock.
//! - [`Sim`] runs whole systems of actors under thousands of seeds: see [`sim`].
//! - [`check`] judges what a test has recorded: was it linearizable, was there one owner at a time, is every message
//!   accounted for?
//! - [`Recorder`] keeps what comes into one actor of a running system, and [`Replay`] shows it to a fresh one under the
//!   debugger: see [`record`].
#![deny(unsafe_code)]

#[cfg(doctest)]
mod book;
pub mod check;
pub mod fake;
#[doc(hidden)]
pub mod interposed;
pub mod kit;
pub mod probe;
pub mod record;
pub mod sim;

pub use check::{Activations, Checker, History, Ledger, Model, Tally};
pub use fake::{FakeClock, FakeMailbox};
pub use kit::TestKit;
pub use probe::{MultiProbe, Probe};
pub use record::{Recorder, Replay};
pub use sim::Sim;
