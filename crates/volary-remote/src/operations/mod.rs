//! Operations: what one node asks of another beside messages for its actors. Who is there, what is it doing, stop it,
//! start one.
//!
//! ```text
//!   RemoteNode ──▶ Waiting ──▶ Operation frame ══▶ serve ──▶ rights ──▶ inspect, control or spawn
//!                     ▲                                                        │
//!                     └─────────────── Answer frame ◀══════════════════════════┘
//! ```
//!
//! An operation has a name, and a small protobuf message for its particulars, so that nodes of different versions
//! understand each other: fields are added, never changed. The answer has a status; an operation that a node
//! does not know is answered as such.

mod argument;
mod error;
mod forbidden;
#[rustfmt::skip]
#[allow(clippy::all, missing_docs, unreachable_pub, reason = "it is as prost writes it")]
mod generated;
mod message;
mod node;
mod props;
mod reading;
mod serve;
mod spawn;
mod spawnable;
mod waiting;

use std::fmt;

pub use argument::Argument;
pub use error::{OperationError, RemoteSpawnError};
pub(crate) use forbidden::{forbid, heard};
pub(crate) use message::actor_request;
pub use node::RemoteNode;
pub use reading::{ActorKind, ActorMetrics, Children, NodeMetrics};
pub(crate) use serve::serve;
pub use spawn::RemoteSpawn;
pub(crate) use spawnable::Spawnables;
pub(crate) use waiting::Waiting;

use crate::trust::Right;

macro_rules! operations {
    ($($name:ident = $text:literal needs $right:ident),+ $(,)?) => {
        /// What can be asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum OperationName { $($name),+ }

        impl OperationName {
            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(OperationName::$name),)+
                    _ => None,
                }
            }

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(OperationName::$name => $text),+ }
            }

            /// What a peer needs for it.
            const fn right(self) -> Right {
                match self { $(OperationName::$name => Right::$right),+ }
            }
        }
    };
}

operations! {
    Lookup = "lookup" needs Inspect,
    Kinds = "kinds" needs Inspect,
    Kind = "kind" needs Inspect,
    Parent = "parent" needs Inspect,
    Children = "children" needs Inspect,
    Status = "status" needs Inspect,
    Stash = "stash" needs Inspect,
    Dependencies = "dependencies" needs Inspect,
    Passivation = "passivation" needs Inspect,
    ActorMetrics = "actor-metrics" needs Inspect,
    NodeMetrics = "node-metrics" needs Inspect,
    Stop = "stop" needs Control,
    Drain = "drain" needs Control,
    Kill = "kill" needs Control,
    Restart = "restart" needs Control,
    Reinstate = "reinstate" needs Control,
    Passivate = "passivate" needs Control,
    Spawn = "spawn" needs Spawn,
}

impl fmt::Display for OperationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What became of an operation, as its answer says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    Ok = 0,
    /// Nobody lives there.
    Nobody = 1,
    /// The node does not know the operation.
    Unknown = 2,
    /// The peer does not have the right.
    Forbidden = 3,
    /// The particulars make no sense.
    BadRequest = 4,
    /// It was tried, and did not work.
    Failed = 5,
}

impl Status {
    fn from_wire(number: u8) -> Option<Self> {
        let all = [
            Status::Ok,
            Status::Nobody,
            Status::Unknown,
            Status::Forbidden,
            Status::BadRequest,
            Status::Failed,
        ];
        all.into_iter().find(|status| *status as u8 == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of other versions know them by these.
    #[test]
    fn r6_operations_and_statuses_are_called_as_ever() {
        let names = "lookup kinds kind parent children status stash dependencies passivation actor-metrics node-metrics \
                     stop drain kill restart reinstate passivate spawn";
        for (number, name) in names.split_whitespace().enumerate() {
            let operation = OperationName::parse(name).unwrap_or_else(|| panic!("no {name}"));
            assert_eq!((operation as usize, operation.as_str()), (number, name));
        }
        assert_eq!(OperationName::Spawn as usize + 1, names.split_whitespace().count());
        let statuses = [
            Status::Ok,
            Status::Nobody,
            Status::Unknown,
            Status::Forbidden,
            Status::BadRequest,
            Status::Failed,
        ];
        for (number, status) in (0..).zip(statuses) {
            assert_eq!((status as u8, Status::from_wire(number)), (number, Some(status)));
        }
        assert_eq!(Status::from_wire(6), None);
        let rights = [
            (Right::Tell, "tell"),
            (Right::Watch, "watch"),
            (Right::Inspect, "inspect"),
            (Right::Control, "control"),
            (Right::Spawn, "spawn"),
            (Right::Relay, "relay"),
        ];
        for (right, name) in rights {
            assert_eq!(right.to_string(), name);
        }
    }
}
