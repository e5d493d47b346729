//! L12: every mailbox, ready-made or of one's own, under the same stories.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;
#[macro_use]
mod mailbox_conformance;

use std::sync::Mutex;

use mailbox_conformance::*;
use volary::{Letter, Mailbox, MailboxKind};

/// A mailbox of one's own: newest first, and full when the test says so.
struct Pile {
    letters: Mutex<Vec<Letter>>,
    capacity: usize,
}

impl Pile {
    fn of(capacity: usize) -> MailboxKind {
        MailboxKind::custom(move || Pile {
            letters: Mutex::default(),
            capacity,
        })
    }
}

impl Mailbox for Pile {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let mut letters = self.letters.lock().unwrap();
        if letters.len() == self.capacity {
            return Err(letter);
        }
        letters.push(letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.letters.lock().unwrap().pop()
    }
    fn len(&self) -> usize {
        self.letters.lock().unwrap().len()
    }
}

fn in_order(kind: MailboxKind, room: Room) -> Candidate {
    Candidate {
        kind,
        room,
        keeps: Keeps::All,
        order: oldest_of_each_first,
    }
}

fn by_weight(kind: MailboxKind, room: Room) -> Candidate {
    Candidate {
        kind,
        room,
        keeps: Keeps::None,
        order: weightiest_first,
    }
}

fn by_weight_then_age(kind: MailboxKind, room: Room) -> Candidate {
    Candidate {
        kind,
        room,
        keeps: Keeps::ThoseOfOneWeight,
        order: weightiest_oldest_first,
    }
}

fn in_turns(kind: MailboxKind, room: Room) -> Candidate {
    Candidate {
        kind,
        room,
        keeps: Keeps::All,
        order: round_robin,
    }
}

fn newest_first(kind: MailboxKind, room: Room) -> Candidate {
    Candidate {
        kind,
        room,
        keeps: Keeps::None,
        order: newest_of_each_first,
    }
}

conforms! {
    unbounded => in_order(MailboxKind::Unbounded, Room::ForEverything);
    segmented => in_order(MailboxKind::Segmented, Room::ForEverything);
    bounded => in_order(MailboxKind::Bounded(BACKLOG), Room::ThenSendWaits);
    bounded_refusing => in_order(MailboxKind::BoundedRefusing(BACKLOG), Room::ThenAllIsRefused);
    priority => by_weight(MailboxKind::priority(weight), Room::ForEverything);
    bounded_priority => by_weight(MailboxKind::priority(weight).bounded(BACKLOG), Room::ThenSendWaits);
    bounded_refusing_priority => by_weight(
        MailboxKind::priority(weight).bounded_refusing(BACKLOG),
        Room::ThenAllIsRefused,
    );
    stable_priority => by_weight_then_age(MailboxKind::stable_priority(weight), Room::ForEverything);
    bounded_stable_priority => by_weight_then_age(
        MailboxKind::stable_priority(weight).bounded(BACKLOG),
        Room::ThenSendWaits,
    );
    fair => in_turns(MailboxKind::fair(), Room::ForEverything);
    bounded_fair => in_turns(MailboxKind::fair().bounded(BACKLOG), Room::ThenSendWaits);
    own => newest_first(Pile::of(usize::MAX), Room::ForEverything);
    own_refusing => newest_first(Pile::of(BACKLOG), Room::ThenAllIsRefused);
}
