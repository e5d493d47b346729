//! The ready-made orders against naive models of them, letter by letter.

use std::collections::BTreeMap;
use std::convert::Infallible;

use proptest::prelude::*;

use super::{Envelope, Fair, Letter, Mailbox, Priority, StablePriority};
use crate::cell::{CellRef, message_table};
use crate::{Actor, ActorId, ActorSystem, Context, Failure, Message, SeededEnv, SyncHandler};

struct Reader;
impl Actor for Reader {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    /// When it was pushed: no two are alike.
    moment: usize,
    /// 0 is outside of actors.
    sender: u64,
    urgency: u8,
}
impl Message for Note {
    type Reply = ();
    type Rejection = Infallible;
}
impl SyncHandler<Note> for Reader {
    fn handle(&mut self, _: Note, _: &mut Context<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

fn urgency(letter: &Letter) -> Option<u8> {
    letter.message::<Note>().map(|note| note.urgency)
}

fn letter(reader: &CellRef, note: Note) -> Letter {
    let envelope = Envelope {
        sender: note.sender,
        ..Envelope::OUTSIDE
    };
    let letter = Letter::new(reader.clone(), message_table::<Reader, Note>(), envelope, note);
    assert_eq!(letter.sender(), ActorId::from_raw(note.sender));
    letter
}

/// Letters need an actor that they are addressed to; here it never reads them.
#[expect(clippy::unwrap_used, reason = "a test")]
fn with_reader(body: impl FnOnce(&CellRef)) {
    let env = SeededEnv::new(7);
    env.block_on(async {
        let system = ActorSystem::builder("orders")
            .environment(env.clone())
            .settings(|s| s.log_config(false).dead_letter_log(0))
            .start()
            .await
            .unwrap();
        let reader = system.spawn(|| Reader).await.unwrap();
        body(reader.cell());
        system.stop().await.unwrap();
    });
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Push { sender: u64, urgency: u8 },
    Pop,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let push = (0..5_u64, 0..4_u8).prop_map(|(sender, urgency)| Op::Push { sender, urgency });
    prop::collection::vec(prop_oneof![3 => push, 2 => Just(Op::Pop)], 0..120)
}

/// Does all of it, then empties the mailbox. `next` says which of the waiting letters, oldest first,
/// must be popped now; it is told which one was.
fn agrees(mailbox: &impl Mailbox, ops: &[Op], mut next: impl FnMut(&[Note], usize, Note) -> Note) {
    let rest = ops.len();
    let ops = ops.iter().copied().chain((0..=rest).map(|_| Op::Pop));
    with_reader(|reader| {
        let mut waiting: Vec<Note> = Vec::new();
        for (moment, op) in ops.enumerate() {
            match op {
                Op::Push { sender, urgency } => {
                    let note = Note {
                        moment,
                        sender,
                        urgency,
                    };
                    assert!(mailbox.push(letter(reader, note)).is_ok());
                    waiting.push(note);
                }
                Op::Pop => {
                    let popped = mailbox.pop().and_then(Letter::into_message::<Note>);
                    assert_eq!(popped.is_some(), !waiting.is_empty());
                    if let Some(popped) = popped {
                        assert_eq!(popped, next(&waiting, moment, popped));
                        let place = waiting.iter().position(|note| *note == popped);
                        waiting.remove(place.expect("popped before, or never pushed"));
                    }
                }
            }
            assert_eq!(mailbox.len(), waiting.len());
        }
        assert!(mailbox.is_empty() && waiting.is_empty());
    });
}

fn most_urgent(waiting: &[Note]) -> Option<u8> {
    waiting.iter().map(|note| note.urgency).max()
}

proptest! {
    #[test]
    fn priority_agrees_with_a_search_for_the_most_urgent(ops in ops()) {
        agrees(&Priority::new(urgency), &ops, |waiting, _, popped| {
            assert_eq!(Some(popped.urgency), most_urgent(waiting));
            popped
        });
    }

    #[test]
    fn stable_priority_agrees_with_a_search_for_the_oldest_of_the_most_urgent(ops in ops()) {
        agrees(&StablePriority::new(urgency), &ops, |waiting, _, _| {
            let most = most_urgent(waiting);
            *waiting.iter().find(|note| Some(note.urgency) == most).unwrap()
        });
    }

    #[test]
    fn fair_agrees_with_a_search_for_the_sender_that_waits_longest(ops in ops()) {
        // The last turn of each sender that has had mail ever since.
        let mut last_turn = BTreeMap::new();
        agrees(&Fair::new(), &ops, |waiting, moment, _| {
            let waits_since = |note: &&Note| *last_turn.get(&note.sender).unwrap_or(&note.moment);
            // The first of those that wait equally long is the sender's oldest.
            let next = *waiting.iter().min_by_key(waits_since).unwrap();
            if waiting.iter().filter(|note| note.sender == next.sender).count() > 1 {
                last_turn.insert(next.sender, moment);
            } else {
                last_turn.remove(&next.sender);
            }
            next
        });
    }
}

#[test]
fn fair_keeps_no_memory_for_senders_without_mail() {
    with_reader(|reader| {
        let mailbox = Fair::new();
        for sender in 0..10_000 {
            let note = Note {
                moment: 0,
                sender,
                urgency: 0,
            };
            assert!(mailbox.push(letter(reader, note)).is_ok());
        }
        while let Some(letter) = mailbox.pop() {
            assert!(letter.into_message::<Note>().is_some());
        }
        let (lanes, turns) = mailbox.memory();
        assert_eq!(lanes, 0);
        assert!(turns < 128, "{turns}");
    });
}
