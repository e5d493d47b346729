//! openraft inside the simulator.
//!
//! openraft asks a type for everything that a runtime gives: [`OnNode`] answers for the node whose code runs. Together
//! with a log and a state machine in memory and calls over the simulated network, a whole group runs from a seed:
//! see `tests/replay.rs`. It proves that such a library can be simulated; it is no store to build upon.

mod cluster;
mod log;
mod machine;
mod network;
mod runtime;
mod watch;

pub use cluster::Cluster;
pub use log::Log;
pub use machine::Machine;
pub use runtime::OnNode;

openraft::declare_raft_types!(
    /// Commands are texts, and the answer to one says how many there are.
    pub Types:
        D = String,
        R = String,
        AsyncRuntime = OnNode,
);

/// A member of a group.
pub type Raft = openraft::Raft<Types, Machine>;
