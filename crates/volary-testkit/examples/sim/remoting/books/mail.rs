//! Each message between nodes, by its id: who sent it, and what became of it.

use volary::{Accepts, ActorRef, Message};
use volary_remote::Right;

use super::{Books, Paper};

/// What is known of a message.
pub(super) struct Fate {
    /// The life that sends it.
    from: usize,
    /// The node that it is for.
    to: usize,
    taken: bool,
    ended: Option<End>,
    /// Why it will not be handled, as its sender was told.
    never: Option<String>,
}

/// How it ended where it was sent to.
#[derive(Debug, Clone, Copy)]
enum End {
    Handled,
    Dead,
}

impl Paper {
    /// Tells somebody elsewhere something, and writes down whether it was taken.
    pub(in super::super) fn tell<T: Accepts<M>, M: Message>(&self, who: &ActorRef<T>, id: u64, message: M) {
        let told = who.tell(message);
        let mut books = self.open();
        match told {
            Ok(()) => books.taken(id),
            Err(_) => books.never(id, "it was given back".to_owned()),
        }
    }
}

impl Books {
    /// The id of a new message.
    pub(in super::super) fn write(&mut self, from: usize, to: usize) -> u64 {
        self.mail.push(Fate {
            from,
            to,
            taken: false,
            ended: None,
            never: None,
        });
        self.mail.len() as u64
    }

    /// The next number of a sender for a receiver.
    pub(in super::super) fn next_number(&mut self, from: &str, to: &str) -> u64 {
        let number = self.numbers.entry((from.to_owned(), to.to_owned())).or_default();
        *number += 1;
        *number
    }

    pub(super) fn taken(&mut self, id: u64) {
        let fate = &mut self.mail[id as usize - 1];
        fate.taken = true;
        self.lives[fate.from].taken[fate.to] += 1;
    }

    /// Its sender was told for certain that it will not be handled.
    pub(super) fn never(&mut self, id: u64, why: String) {
        let fate = &mut self.mail[id as usize - 1];
        if let Some(End::Handled) = fate.ended {
            self.wrong.push(format!("message {id} was handled, but {why}"));
        }
        fate.never = Some(why);
    }

    pub(super) fn was_handled(&self, id: u64) -> bool {
        matches!(self.mail[id as usize - 1].ended, Some(End::Handled))
    }

    /// A message is handled: for the first time, in order, where it was sent to, and by the right of who sent it.
    pub(in super::super) fn arrived(&mut self, life: usize, id: u64, from: &str, to: &str, number: u64) {
        self.ends(life, id, End::Handled);
        let key = (from.to_owned(), format!("{life} {to}"));
        let last = self.arrived.insert(key, number).unwrap_or(0);
        if last >= number {
            self.wrong(format!("{to}: {number} of {from} comes after {last}"));
        }
    }

    /// A message was in a mailbox, and is a dead letter.
    pub(super) fn died(&mut self, life: usize, id: u64) {
        self.ends(life, id, End::Dead);
    }

    fn ends(&mut self, at: usize, id: u64, end: End) {
        let (fate, life) = (&mut self.mail[id as usize - 1], &mut self.lives[at]);
        let mut wrong = |what: String| self.wrong.push(format!("message {id} is {end:?} in life {at}, {what}"));
        if let Some(before) = fate.ended.replace(end) {
            wrong(format!("but was {before:?} before"));
        }
        if fate.to != life.node || !fate.taken {
            wrong("but was not sent there".to_owned());
        }
        if let (Some(why), End::Handled) = (&fate.never, end) {
            wrong(format!("but {why}"));
        }
        let from = self.lives[fate.from].node;
        let life = &mut self.lives[at];
        if !life.rights[from].allows(Right::Tell) {
            self.wrong
                .push(format!("n{from} has no right to tell life {at} anything"));
        }
        match end {
            End::Handled => life.handled[from] += 1,
            End::Dead => life.dead[from] += 1,
        }
    }
}
