//! The messages that were given to a connection, or wait for one, and are not confirmed yet.

use std::collections::VecDeque;

use volary_core::ActorId;
use volary_wire::native::Confirm;

/// Of a message that is on its way.
pub(super) struct Sent {
    pub(super) sequence: u64,
    pub(super) receiver: ActorId,
    pub(super) sender: Option<ActorId>,
    pub(super) type_name: &'static str,
    pub(super) bytes: u32,
    /// Of the ask, or 0.
    pub(super) correlation: u64,
    pub(super) settled: bool,
}

#[derive(Default)]
pub(super) struct Ledger {
    sent: VecDeque<Sent>,
    /// Of those, how many are not settled, and their bytes.
    under_way: u64,
    bytes: usize,
}

impl Ledger {
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, sent: Sent) {
        self.under_way += 1;
        self.bytes += sent.bytes as usize;
        self.sent.push_back(sent);
    }

    /// The peer says which messages have left their mailboxes; how many these are.
    pub(super) fn confirm(&mut self, confirm: &Confirm) -> u64 {
        let mut count = 0;
        for range in confirm.beyond() {
            // A peer may say anything; only what is on its way can be settled.
            let (Some(first), Some(last)) = (self.sent.front(), self.sent.back()) else {
                break;
            };
            let (from, to) = ((*range.start()).max(first.sequence), (*range.end()).min(last.sequence));
            for sequence in from..=to {
                count += u64::from(self.settle(sequence).is_some());
            }
        }
        while let Some(sent) = self.sent.front()
            && (sent.settled || sent.sequence <= confirm.up_to)
        {
            if !sent.settled {
                count += 1;
                self.under_way -= 1;
                self.bytes -= sent.bytes as usize;
            }
            self.sent.pop_front();
        }
        count
    }

    /// Takes one message out of the account, once.
    pub(super) fn settle(&mut self, sequence: u64) -> Option<&mut Sent> {
        let first = self.sent.front()?.sequence;
        let at = usize::try_from(sequence.checked_sub(first)?).ok()?;
        let sent = self.sent.get_mut(at)?;
        if std::mem::replace(&mut sent.settled, true) {
            return None;
        }
        self.under_way -= 1;
        self.bytes -= sent.bytes as usize;
        Some(sent)
    }

    /// Those to whom something is on its way.
    pub(super) fn receivers(&self) -> impl Iterator<Item = ActorId> {
        self.sent.iter().filter(|sent| !sent.settled).map(|sent| sent.receiver)
    }

    /// Everything that is not settled; nothing is on its way then.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Sent> + use<> {
        let Ledger { sent, .. } = std::mem::take(self);
        sent.into_iter().filter(|sent| !sent.settled)
    }
}
