//! The particulars of operations and their answers, as they travel. The messages are generated from the schema
//! `volary/remote/v1/operations.proto`.

use bytes::Bytes;
use prost::Message;

use super::Status;
pub(super) use super::generated::*;
use crate::trust::Right;

/// Why an actor was not started: the `reason` of a [`ProblemMessage`].
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Written down by hand: nodes that were built before the schema was must still be understood.
    #[test]
    fn a_spawn_travels_in_these_bytes() {
        let limit = LimitMessage {
            restarts: 3,
            window_nanos: 300,
        };
        let backoff = BackoffMessage {
            first_nanos: 1,
            longest_nanos: 2,
            jitter: 0.5,
            quiet_nanos: 4,
        };
        let supervision = SupervisionMessage {
            strategy: 1,
            on_panic: Some(0),
            otherwise: 2,
            limit: Some(limit),
            backoff: Some(backoff),
            children: 1,
        };
        let passivation = PassivationMessage {
            allowed: true,
            idle_nanos: Some(7),
            messages: Some(0),
            ends: true,
        };
        let dependency = DependencyMessage {
            kind: "d".to_owned(),
            bytes: Bytes::from_static(b"\xff"),
        };
        let props = PropsMessage {
            mailbox: 2,
            capacity: 300,
            dispatcher: 3,
            dispatcher_name: "io".to_owned(),
            on_fault: 4,
            supervision: Some(supervision),
            stash: Some(0),
            reentrancy: 2,
            in_flight: Some(9),
            passivation: Some(passivation),
            dependencies: vec![dependency],
            role: "r".to_owned(),
        };
        let request = SpawnRequest {
            kind: "k".to_owned(),
            name: "n".to_owned(),
            parent: "p".to_owned(),
            props: Some(props),
            argument: Bytes::from_static(b"\x01\x02"),
        };
        let bytes: &[u8] = b"\x0a\x01k\x12\x01n\x1a\x01p\x22\x4a\
            \x08\x02\x10\xac\x02\x18\x03\x22\x02io\x28\x04\
            \x32\x20\x08\x01\x10\x00\x18\x02\
            \x22\x05\x08\x03\x10\xac\x02\
            \x2a\x0f\x08\x01\x10\x02\x19\x00\x00\x00\x00\x00\x00\xe0\x3f\x20\x04\
            \x30\x01\
            \x38\x00\x40\x02\x48\x09\
            \x52\x08\x08\x01\x10\x07\x18\x00\x20\x01\
            \x5a\x06\x0a\x01d\x12\x01\xff\
            \x62\x01r\
            \x2a\x02\x01\x02";
        assert_eq!(write(&request)[..], *bytes);
        assert_eq!(SpawnRequest::decode(bytes), Ok(request));
    }

    #[test]
    fn a_problem_travels_in_these_bytes() {
        let (_, bytes) = spawn_problem(SpawnProblem::Taken, "x");
        assert_eq!(bytes[..], *b"\x0a\x01x\x10\x02");
        let (_, bytes) = no_right(Right::Spawn);
        assert!(bytes.ends_with(b"\x1a\x05spawn"), "{bytes:?}");
    }
}
