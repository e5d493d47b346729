//! A mailbox in which nobody can crowd out the others.
//!
//! ```text
//!   turns    b ─ c ─ a         whose turn it is, front first: exactly those with mail
//!   lanes    a: 4 5 6 7        the letters of each, oldest first
//!            b: 2
//!            c: 1 3
//! ```

use std::collections::{BTreeMap, VecDeque};

use super::custom::{Letter, Mailbox};
use crate::reference::ActorId;
use crate::sync::Mutex;

/// One letter of each sender in turn, each sender's own letters in the order in which they were sent.
///
/// A sender that has mail waiting waits for at most one letter of each other sender. Everybody
/// outside of actors is one sender together. A sender without mail takes no memory; one that comes
/// back goes to the end of the line. Taking and giving a letter costs about `log n` comparisons of
/// ids, for `n` senders with mail.
///
/// Most users write [`MailboxKind::fair`](super::MailboxKind::fair). The type is there to build other
/// mailboxes on:
///
/// ```
/// use volary_core::{Fair, Mailbox};
/// let mailbox = Fair::new();
/// assert!(mailbox.is_empty() && mailbox.pop().is_none());
/// ```
#[derive(Debug, Default)]
pub struct Fair(Mutex<Lanes>);

/// Whoever is outside of actors is `None`.
type Sender = Option<ActorId>;

#[derive(Debug, Default)]
struct Lanes {
    turns: VecDeque<Sender>,
    /// None of them is empty.
    lanes: BTreeMap<Sender, VecDeque<Letter>>,
    letters: usize,
}

/// Fewer turns than these are not worth giving memory back for.
const FEW_TURNS: usize = 64;

impl Fair {
    /// An empty mailbox.
    ///
    /// ```
    /// use volary_core::{Fair, Mailbox};
    /// assert!(Fair::new().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Fair::default()
    }

    /// How many lanes there are, and room for how many turns.
    #[cfg(test)]
    pub(super) fn memory(&self) -> (usize, usize) {
        let mail = self.0.lock();
        (mail.lanes.len(), mail.turns.capacity())
    }
}

impl Mailbox for Fair {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let sender = letter.sender();
        let mut mail = self.0.lock();
        let lane = mail.lanes.entry(sender).or_default();
        let was_without_mail = lane.is_empty();
        lane.push_back(letter);
        if was_without_mail {
            mail.turns.push_back(sender);
        }
        mail.letters += 1;
        Ok(())
    }

    fn pop(&self) -> Option<Letter> {
        let mut mail = self.0.lock();
        let sender = mail.turns.pop_front()?;
        let lane = mail.lanes.get_mut(&sender)?;
        let letter = lane.pop_front();
        if lane.is_empty() {
            mail.lanes.remove(&sender);
            mail.forget_old_crowds();
        } else {
            mail.turns.push_back(sender);
        }
        mail.letters -= 1;
        letter
    }

    fn len(&self) -> usize {
        self.0.lock().letters
    }
}

impl Lanes {
    /// Gives back what a crowd of senders needed once it has gone.
    fn forget_old_crowds(&mut self) {
        if self.turns.capacity() > FEW_TURNS && self.turns.len() < self.turns.capacity() / 4 {
            self.turns.shrink_to(self.turns.capacity() / 2);
        }
    }
}
