//! Models ready for use: what one copy of each thing would do.

pub use compare_and_set::{CompareAndSet, CompareAndSetOp, CompareAndSetReturn};
pub use counter::{Counter, CounterOp, CounterReturn};
pub use lease::{Lease, LeaseEpoch, LeaseOp, LeaseReturn, LeaseState};
pub use list::{List, ListOp, ListReturn};
pub use queue::{Queue, QueueOp, QueueReturn};
pub use register::{Register, RegisterOp, RegisterReturn};
pub use set::{Set, SetOp, SetReturn};

mod compare_and_set;
mod counter;
mod lease;
mod list;
mod queue;
mod register;
mod set;
