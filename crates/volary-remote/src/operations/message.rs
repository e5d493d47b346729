//! The particulars of operations and their answers, as they travel. Fields are added at the end and never change their
//! number or meaning; a number of an enumeration that a node does not know is a bad request there.

use bytes::Bytes;
use prost::Message;

use super::Status;
use crate::trust::Right;

/// Of an operation on one actor.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ActorRequest {
    /// An address, or a path of the node that is asked.
    #[prost(string, tag = "1")]
    pub(super) who: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SpawnRequest {
    #[prost(string, tag = "1")]
    pub(super) kind: String,
    /// Empty: the node chooses one.
    #[prost(string, tag = "2")]
    pub(super) name: String,
    /// An address or path; empty: below `/user`.
    #[prost(string, tag = "3")]
    pub(super) parent: String,
    /// Missing: the defaults.
    #[prost(message, optional, tag = "4")]
    pub(super) props: Option<PropsMessage>,
    #[prost(bytes = "bytes", tag = "5")]
    pub(super) argument: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PropsMessage {
    /// 0 unbounded, 1 segmented, 2 bounded, 3 bounded and refusing.
    #[prost(uint32, tag = "1")]
    pub(super) mailbox: u32,
    #[prost(uint64, tag = "2")]
    pub(super) capacity: u64,
    /// 0 default, 1 blocking, 2 pinned, 3 named.
    #[prost(uint32, tag = "3")]
    pub(super) dispatcher: u32,
    #[prost(string, tag = "4")]
    pub(super) dispatcher_name: String,
    /// 0 restart, 1 resume, 2 stop, 3 suspend, 4 escalate; so everywhere below.
    #[prost(uint32, tag = "5")]
    pub(super) on_fault: u32,
    #[prost(message, optional, tag = "6")]
    pub(super) supervision: Option<SupervisionMessage>,
    #[prost(uint64, optional, tag = "7")]
    pub(super) stash: Option<u64>,
    /// 0 all, 1 off, 2 others are held.
    #[prost(uint32, tag = "8")]
    pub(super) reentrancy: u32,
    #[prost(uint64, optional, tag = "9")]
    pub(super) in_flight: Option<u64>,
    #[prost(message, optional, tag = "10")]
    pub(super) passivation: Option<PassivationMessage>,
    #[prost(message, repeated, tag = "11")]
    pub(super) dependencies: Vec<DependencyMessage>,
    /// Empty: none.
    #[prost(string, tag = "12")]
    pub(super) role: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SupervisionMessage {
    /// 0 one for one, 1 one for all, 2 rest for one.
    #[prost(uint32, tag = "1")]
    pub(super) strategy: u32,
    #[prost(uint32, optional, tag = "2")]
    pub(super) on_panic: Option<u32>,
    #[prost(uint32, tag = "3")]
    pub(super) otherwise: u32,
    #[prost(message, optional, tag = "4")]
    pub(super) limit: Option<LimitMessage>,
    #[prost(message, optional, tag = "5")]
    pub(super) backoff: Option<BackoffMessage>,
    /// 0 stop, 1 keep.
    #[prost(uint32, tag = "6")]
    pub(super) children: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LimitMessage {
    #[prost(uint32, tag = "1")]
    pub(super) restarts: u32,
    #[prost(uint64, tag = "2")]
    pub(super) window_nanos: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BackoffMessage {
    #[prost(uint64, tag = "1")]
    pub(super) first_nanos: u64,
    #[prost(uint64, tag = "2")]
    pub(super) longest_nanos: u64,
    #[prost(double, tag = "3")]
    pub(super) jitter: f64,
    #[prost(uint64, tag = "4")]
    pub(super) quiet_nanos: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PassivationMessage {
    #[prost(bool, tag = "1")]
    pub(super) allowed: bool,
    #[prost(uint64, optional, tag = "2")]
    pub(super) idle_nanos: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) messages: Option<u64>,
    #[prost(bool, tag = "4")]
    pub(super) ends: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DependencyMessage {
    #[prost(string, tag = "1")]
    pub(super) kind: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) bytes: Bytes,
}

/// The answer of everything that did not work.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProblemMessage {
    #[prost(string, tag = "1")]
    pub(super) text: String,
    /// Of a spawn: one of [`SpawnProblem`].
    #[prost(uint32, tag = "2")]
    pub(super) reason: u32,
    /// Of what is forbidden: the right that is missing, by its name.
    #[prost(string, tag = "3")]
    pub(super) right: String,
}

/// Why an actor was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum SpawnProblem {
    Other = 0,
    UnknownKind = 1,
    Taken = 2,
    Name = 3,
    Start = 4,
    Parent = 5,
    Options = 6,
}

impl SpawnProblem {
    pub(super) fn from_wire(number: u32) -> Self {
        let known = [
            SpawnProblem::UnknownKind,
            SpawnProblem::Taken,
            SpawnProblem::Name,
            SpawnProblem::Start,
            SpawnProblem::Parent,
            SpawnProblem::Options,
        ];
        let found = known.into_iter().find(|problem| *problem as u32 == number);
        found.unwrap_or(SpawnProblem::Other)
    }
}

/// The answer of a lookup, a spawn, and a question for the parent; empty: there is none.
#[derive(Clone, PartialEq, Message)]
pub(super) struct AddressAnswer {
    #[prost(string, tag = "1")]
    pub(super) address: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KindsAnswer {
    #[prost(string, repeated, tag = "1")]
    pub(super) kinds: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) spawnable: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KindAnswer {
    /// Empty: it is not registered there.
    #[prost(string, tag = "1")]
    pub(super) kind: String,
    #[prost(string, tag = "2")]
    pub(super) actor_type: String,
    /// Empty: it has none.
    #[prost(string, tag = "3")]
    pub(super) role: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ChildrenAnswer {
    #[prost(string, repeated, tag = "1")]
    pub(super) addresses: Vec<String>,
    #[prost(uint64, tag = "2")]
    pub(super) total: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StatusAnswer {
    #[prost(bool, tag = "1")]
    pub(super) running: bool,
    #[prost(bool, tag = "2")]
    pub(super) busy: bool,
    #[prost(bool, tag = "3")]
    pub(super) stopping: bool,
    #[prost(bool, tag = "4")]
    pub(super) suspended: bool,
    #[prost(bool, tag = "5")]
    pub(super) asleep: bool,
    #[prost(bool, tag = "6")]
    pub(super) ended: bool,
    #[prost(bool, tag = "7")]
    pub(super) slow: bool,
    #[prost(bool, tag = "8")]
    pub(super) system: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CountAnswer {
    #[prost(uint64, tag = "1")]
    pub(super) count: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NamesAnswer {
    #[prost(string, repeated, tag = "1")]
    pub(super) names: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ActorMetricsAnswer {
    #[prost(uint64, tag = "1")]
    pub(super) waiting: u64,
    #[prost(uint64, tag = "2")]
    pub(super) stashed: u64,
    #[prost(uint64, tag = "3")]
    pub(super) taken: u64,
    #[prost(uint64, tag = "4")]
    pub(super) children: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeMetricsAnswer {
    #[prost(string, tag = "1")]
    pub(super) system: String,
    #[prost(uint64, tag = "2")]
    pub(super) uptime_nanos: u64,
    #[prost(uint64, tag = "3")]
    pub(super) actors: u64,
    #[prost(uint64, tag = "4")]
    pub(super) dead_letters: u64,
    #[prost(uint64, tag = "5")]
    pub(super) refused: u64,
    #[prost(uint64, tag = "6")]
    pub(super) late_replies: u64,
    #[prost(uint64, tag = "7")]
    pub(super) faults: u64,
    #[prost(uint64, tag = "8")]
    pub(super) restarts: u64,
    #[prost(uint64, tag = "9")]
    pub(super) slow_handlers: u64,
    #[prost(uint64, tag = "10")]
    pub(super) unheard_rejections: u64,
    #[prost(uint64, tag = "11")]
    pub(super) high_water: u64,
    #[prost(uint64, tag = "12")]
    pub(super) passivated: u64,
    #[prost(uint64, tag = "13")]
    pub(super) woken: u64,
    #[prost(uint64, tag = "14")]
    pub(super) routees_lost: u64,
    #[prost(uint64, tag = "15")]
    pub(super) timers: u64,
    #[prost(uint64, tag = "16")]
    pub(super) schedules: u64,
    #[prost(uint64, tag = "17")]
    pub(super) lost_events: u64,
    #[prost(uint64, tag = "18")]
    pub(super) mailbox_bytes: u64,
    #[prost(uint64, tag = "19")]
    pub(super) peers: u64,
}

/// The particulars of an operation on one actor.
pub(crate) fn actor_request(who: &str) -> Bytes {
    write(&ActorRequest { who: who.to_owned() })
}

pub(super) fn write(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

/// What an operation comes to: a status, and what there is to say.
pub(super) type Told = (Status, Bytes);

pub(super) fn ok(message: &impl Message) -> Told {
    (Status::Ok, write(message))
}

pub(super) fn problem(status: Status, text: impl ToString) -> Told {
    let (text, reason) = (text.to_string(), SpawnProblem::Other as u32);
    let right = String::new();
    (status, write(&ProblemMessage { text, reason, right }))
}

pub(super) fn spawn_problem(problem: SpawnProblem, text: impl ToString) -> Told {
    let (text, reason) = (text.to_string(), problem as u32);
    let right = String::new();
    (Status::Failed, write(&ProblemMessage { text, reason, right }))
}

pub(super) fn no_right(right: Right) -> Told {
    let (text, reason) = (format!("no right to {right} was given"), SpawnProblem::Other as u32);
    let right = right.to_string();
    (Status::Forbidden, write(&ProblemMessage { text, reason, right }))
}
