//! Probes, virtual time and a deterministic simulator for Volary actors.
//!
//! [`Sim`] runs whole systems of actors under thousands of seeds: see [`sim`].
#![forbid(unsafe_code)]

pub mod sim;

pub use sim::Sim;

/// The chapter of the book about the simulator, so that its programs are run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/find-the-race.md")]
struct FindTheRace;
