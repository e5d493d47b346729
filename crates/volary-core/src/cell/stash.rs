//! Messages put aside: kept as letters in the actor's links until it wants them back.
//!
//! What it takes back is handled before anything in the mailbox, in the order in which it was put
//! aside. Only the actor itself does any of this, in its own turn.

use std::ptr::NonNull;

use super::header::Header;
use super::state::RETURNED;
use crate::actor::Message;
use crate::dispatch::{Host, Step, deliver_again};
use crate::events::DeadReason;
use crate::mailbox::{Envelope, Letter, MessageTable};
use crate::reference::ReplySlot;

/// How many messages an actor may put aside, unless its props say otherwise.
const CAPACITY: usize = 1_024;

impl Header {
    fn stash_capacity(&self) -> usize {
        self.extras_if_any().and_then(|extras| extras.stash).unwrap_or(CAPACITY)
    }

    /// Puts a message aside; the number under which its asker can be added.
    pub(crate) fn stash<M: Message>(
        &self,
        table: &'static MessageTable,
        mut envelope: Envelope,
        message: M,
    ) -> Result<u64, M> {
        let capacity = self.stash_capacity();
        if self.with_links(|links| links.stash.len()) >= capacity {
            envelope.drop_carried();
            return Err(message);
        }
        let letter = Letter::new(self.to_ref(), table, envelope, message);
        let number = letter.identity();
        self.with_links(|links| links.stash.push_back(letter));
        Ok(number)
    }

    /// Whoever asked waits for the message that was put aside. False: it is not there any more.
    pub(crate) fn attach(&self, number: u64, reply: NonNull<ReplySlot>) -> bool {
        self.with_links(|links| {
            // Nearly always the one that was put aside last.
            let mut letters = links.stash.iter_mut().rev().chain(&mut links.returned);
            match letters.find(|letter| letter.identity() == number) {
                Some(letter) => {
                    letter.set_reply(reply);
                    true
                }
                None => false,
            }
        })
    }

    pub(crate) fn stashed(&self) -> usize {
        self.extras_if_any().map_or(0, |extras| extras.links.lock().stash.len())
    }

    /// Takes back the oldest messages, `count` of them at most.
    pub(crate) fn unstash(&self, count: usize) -> usize {
        let Some(extras) = self.extras_if_any() else { return 0 };
        let count = {
            let links = &mut *extras.links.lock();
            let count = count.min(links.stash.len());
            links.returned.extend(links.stash.drain(..count));
            count
        };
        if count > 0 {
            self.set_noticed(RETURNED);
        }
        count
    }

    /// Handles the next message that was taken back.
    pub(crate) fn run_returned(&self, host: &Host) -> Step {
        let (letter, last) = self.with_links(|links| (links.returned.pop_front(), links.returned.is_empty()));
        if last {
            self.state.clear(RETURNED);
        }
        match letter {
            Some(letter) => letter.hand_over(|incoming| deliver_again::<true>(self, host, incoming, false)),
            None => Step::Done,
        }
    }

    /// The actor ends: what it had put aside is not handled any more.
    pub(crate) fn discard_stash(&self) {
        let Some(extras) = self.extras_if_any() else { return };
        let (returned, stash) = {
            let links = &mut *extras.links.lock();
            (std::mem::take(&mut links.returned), std::mem::take(&mut links.stash))
        };
        for letter in returned.into_iter().chain(stash) {
            letter.discard(self, DeadReason::Stopped);
        }
    }
}
