//! The contenders, one module each. A module's top comment says which calls,
//! mailboxes and runtime were chosen for that library and why they are the
//! fastest it documents.

pub mod actix;
pub mod bare;
pub mod clock;
pub mod coerce;
pub mod echo;
pub mod kameo;
pub mod queue;
pub mod ractor;
pub mod table;
pub mod tokio_mpsc;
pub mod volary;
