//! What workloads between two processes have in common, whoever the contender is.
//!
//! The measuring process starts a second one, which serves, and speaks with it in two ways: through the contender, over
//! loopback, which is what is measured; and in lines over stdin and stdout (`serving`, `partner`), by which it learns where
//! to call and what the other side has used up. The programs are written once, over the trait `Remoting`.
//!
//! The allocator and the figures are here as well, because all binaries of the benchmark share them.

pub mod alloc;
pub mod case;
pub mod cpu;
pub mod histogram;
pub mod memory;
pub mod parcel;
pub mod partner;
pub mod programs;
pub mod record;
pub mod remoting;
pub mod serving;

pub use case::Case;
pub use record::Record;
pub use remoting::Remoting;
