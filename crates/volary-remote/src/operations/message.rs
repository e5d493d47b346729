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

    fn travels<M: Message + Default + PartialEq + std::fmt::Debug>(message: M, bytes: &[u8]) {
        assert_eq!(write(&message)[..], *bytes, "{message:?}");
        assert_eq!(M::decode(bytes), Ok(message));
    }

    #[test]
    fn r6_every_answer_travels_in_the_bytes_that_it_ever_did() {
        let text = |text: &str| text.to_owned();
        travels(ActorRequest { who: text("w") }, b"\x0a\x01w");
        travels(AddressAnswer { address: text("a") }, b"\x0a\x01a");
        let (kinds, spawnable) = (vec![text("k"), text("l")], vec![text("s")]);
        travels(KindsAnswer { kinds, spawnable }, b"\x0a\x01k\x0a\x01l\x12\x01s");
        let (kind, actor_type, role) = (text("k"), text("t"), text("r"));
        let answer = KindAnswer { kind, actor_type, role };
        travels(answer, b"\x0a\x01k\x12\x01t\x1a\x01r");
        let (addresses, total) = (vec![text("a"), text("b")], 300);
        travels(ChildrenAnswer { addresses, total }, b"\x0a\x01a\x0a\x01b\x10\xac\x02");
        travels(CountAnswer { count: 300 }, b"\x08\xac\x02");
        travels(
            NamesAnswer {
                names: vec![text("m"), text("n")],
            },
            b"\x0a\x01m\x0a\x01n",
        );
        let passivation = PassivationMessage {
            allowed: true,
            idle_nanos: Some(7),
            messages: Some(8),
            ends: true,
        };
        travels(passivation, b"\x08\x01\x10\x07\x18\x08\x20\x01");
        let metrics = ActorMetricsAnswer {
            waiting: 1,
            stashed: 2,
            taken: 300,
            children: 4,
        };
        travels(metrics, b"\x08\x01\x10\x02\x18\xac\x02\x20\x04");
    }

    /// Each of what a status says, alone.
    #[test]
    fn r6_a_status_travels_in_the_bytes_that_it_ever_did() {
        let said: [fn(&mut StatusAnswer) -> &mut bool; 8] = [
            |status| &mut status.running,
            |status| &mut status.busy,
            |status| &mut status.stopping,
            |status| &mut status.suspended,
            |status| &mut status.asleep,
            |status| &mut status.ended,
            |status| &mut status.slow,
            |status| &mut status.system,
        ];
        for (tag, said) in (1..).zip(said) {
            let mut status = StatusAnswer::default();
            *said(&mut status) = true;
            travels(status, &[tag << 3, 1]);
            // And what is made of it says the same.
            let read = volary_core::ActorStatus::from(status);
            assert_eq!(StatusAnswer::from(read), status);
        }
    }

    #[test]
    fn r6_why_an_actor_was_not_started_has_the_number_that_it_ever_had() {
        let problems = [
            SpawnProblem::Other,
            SpawnProblem::UnknownKind,
            SpawnProblem::Taken,
            SpawnProblem::Name,
            SpawnProblem::Start,
            SpawnProblem::Parent,
            SpawnProblem::Options,
        ];
        for (number, problem) in (0..).zip(problems) {
            assert_eq!((problem as u32, SpawnProblem::from_wire(number)), (number, problem));
        }
        assert_eq!(SpawnProblem::from_wire(7), SpawnProblem::Other);
    }

    #[test]
    fn a_problem_travels_in_these_bytes() {
        let (_, bytes) = spawn_problem(SpawnProblem::Taken, "x");
        assert_eq!(bytes[..], *b"\x0a\x01x\x10\x02");
        let (_, bytes) = no_right(Right::Spawn);
        assert!(bytes.ends_with(b"\x1a\x05spawn"), "{bytes:?}");
    }
}
