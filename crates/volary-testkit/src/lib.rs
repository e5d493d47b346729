//! Probes, virtual time and a deterministic simulator for Volary actors.
#![forbid(unsafe_code)]
