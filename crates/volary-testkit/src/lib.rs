//! Probes, virtual time and a deterministic simulator for Volary actors.
//!
//! [`Sim`] runs whole systems of actors under thousands of seeds: see [`sim`].
#![forbid(unsafe_code)]

pub mod sim;

pub use sim::Sim;
