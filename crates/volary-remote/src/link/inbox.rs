//! The mailbox of an actor here, as the peer sees it: how many of its messages wait in there, and how much room they
//! take of what the node has for all peers.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use volary_core::foreign::{Receipt, Receipts, Received};

use super::Link;
use crate::peer::{Apart, Settled};

/// How many settled messages are worth telling the peer at once.
const WORTH_SAYING: u64 = 64;

/// A receipt carries one number: that of the message in its low bits, and above them how much room it takes, in units.
const NUMBER_BITS: u32 = 46;
pub(crate) const UNIT: usize = 256;
const MOST_UNITS: u64 = (1 << (64 - NUMBER_BITS)) - 1;

/// A message that takes more than this is said to have left at once, since its room is missed; and so is an ask, which should
/// not be open when it is answered; and every one, if an actor may have so few waiting that those which have left and were
/// not said to would matter.
const MISSED_UNITS: u64 = 4;
const FEW_WAITING: u64 = 256;

/// The highest number that a message may have. A million messages a second for two years come to that.
pub(super) const LAST_NUMBER: u64 = (1 << NUMBER_BITS) - 1;

thread_local! {
    /// The message that this thread delivers, as its link and number.
    static DELIVERING: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// A message that is being delivered by this thread. One that leaves its mailbox meanwhile was refused there, or had no
/// more than a moment to wait: whoever delivers it knows which, and says so before it is confirmed.
pub(super) struct Delivering(());

impl Delivering {
    pub(super) fn begin(link: &Link, sequence: u64) -> Self {
        DELIVERING.set((std::ptr::from_ref(link).addr(), sequence));
        Delivering(())
    }

    /// Whether it has left its mailbox.
    pub(super) fn has_left(self) -> bool {
        DELIVERING.get().1 == 0
    }
}

impl Drop for Delivering {
    fn drop(&mut self) {
        DELIVERING.set((0, 0));
    }
}

/// How many messages of a connection wait in mailboxes here, all of them together.
#[derive(Default)]
pub(super) struct Waiting {
    /// How many were let in, and how many had left when it was looked last. Written by whoever reads.
    admitted: Apart<(AtomicU64, AtomicU64)>,
    /// How many have left. Written under the lock of what has left the mailboxes of the link.
    left: Apart<AtomicU64>,
}

impl Waiting {
    /// By what was known when it was looked last: that line is not fetched from others for every message.
    #[inline]
    fn at_most(&self) -> u64 {
        let (admitted, left) = &*self.admitted;
        admitted.load(Relaxed) - left.load(Relaxed)
    }

    fn now(&self) -> u64 {
        self.admitted.1.store(self.left.load(Relaxed), Relaxed);
        self.at_most()
    }

    #[inline]
    fn one_more(&self) {
        let admitted = &self.admitted.0;
        admitted.store(admitted.load(Relaxed) + 1, Relaxed);
    }

    #[inline]
    fn left(&self, count: u64) {
        self.left.store(self.left.load(Relaxed) + count, Relaxed);
    }
}

pub(super) struct Inbox {
    link: Arc<Link>,
    /// Messages that were let in, and how many of them had left when it was looked last. Written by whoever reads.
    admitted: Apart<(AtomicU64, AtomicU64)>,
    /// How many have left. Written under the lock of what has left the mailboxes of the link.
    left: Apart<AtomicU64>,
}

impl Inbox {
    pub(super) fn new(link: Arc<Link>) -> Arc<Self> {
        Arc::new(Inbox {
            link,
            admitted: Apart::default(),
            left: Apart::default(),
        })
    }

    /// The receipt of the message of this number and length; `None` if too many wait already, or too much. For one
    /// reader at a time.
    #[inline]
    pub(super) fn admit(
        &self,
        receipts: &Receipts,
        sequence: u64,
        mut length: usize,
        is_asked: bool,
    ) -> Option<Receipt> {
        // Memory that is needed for receipts counts: a peer that has a name of its own for every message would have it for
        // nothing.
        if receipts.is_spent() {
            length += UNIT;
        }
        let peer = &self.link.peer;
        let (admitted, left) = &*self.admitted;
        let number = admitted.load(Relaxed);
        let (share, waiting) = (self.link.share, &self.link.waiting);
        if number - left.load(Relaxed) >= share.limit(waiting.at_most()) {
            left.store(self.left.load(Relaxed), Relaxed);
            if number - left.load(Relaxed) >= share.limit(waiting.now()) {
                return None;
            }
        }
        let units = (length.div_ceil(UNIT) as u64).max(1);
        if !peer.inflow.may_have(units) {
            return None;
        }
        let units = units.min(MOST_UNITS);
        if !peer.inflow.charge(units) && !self.charge_again(units) {
            return None;
        }
        admitted.store(number + 1, Relaxed);
        waiting.one_more();
        let receipt = receipts.next(units << NUMBER_BITS | sequence);
        let is_missed = is_asked || units > MISSED_UNITS || share.most() < FEW_WAITING;
        Some(if is_missed { receipt.promptly() } else { receipt })
    }

    /// There is no room, unless some is to be given back.
    #[cold]
    fn charge_again(&self, units: u64) -> bool {
        self.link.leaving.lock().settle_up(&self.link);
        self.link.peer.inflow.charge(units)
    }
}

impl Received for Inbox {
    fn received(&self, ticket: u64) {
        self.all_received(&[ticket]);
    }

    fn all_received(&self, tickets: &[u64]) {
        let (link, number) = DELIVERING.get();
        let delivering = if link == Arc::as_ptr(&self.link).addr() {
            number
        } else {
            0
        };
        let unsaid = {
            let leaving = &mut *self.link.leaving.lock();
            self.left.store(self.left.load(Relaxed) + tickets.len() as u64, Relaxed);
            self.link.waiting.left(tickets.len() as u64);
            leaving.give_back(&self.link, tickets.iter().map(|ticket| ticket >> NUMBER_BITS).sum());
            let before = leaving.settled.unsaid();
            let number = |ticket: &u64| ticket & LAST_NUMBER;
            for run in tickets.chunk_by(|one, next| number(one) + 1 == number(next)) {
                let (first, last) = (number(&run[0]), number(&run[run.len() - 1]));
                if (first..=last).contains(&delivering) {
                    DELIVERING.set((0, 0)); // and whoever delivers it goes on from there
                    (first..delivering)
                        .chain(delivering + 1..=last)
                        .for_each(|number| leaving.settled.settle(number));
                } else {
                    leaving.settled.settle_run(first..=last);
                }
            }
            before..leaving.settled.unsaid()
        };
        self.link.say_soon(unsaid);
    }
}

/// What has left the mailboxes of this node, of what came on a link. Every message locks it once.
#[derive(Default)]
pub(super) struct Leaving {
    pub(super) settled: Settled,
    /// Room that was taken and is to be given back, which is done for a few messages at a time.
    owed: u64,
    /// How much of it is worth that.
    worth: u64,
}

impl Leaving {
    /// A message takes no more room. While there is a connection the rest is given back when the peer hears of it.
    #[inline]
    fn give_back(&mut self, link: &Link, units: u64) {
        self.owed += units;
        if self.owed >= self.worth || link.closing().is_closed() {
            self.settle_up(link);
        }
    }

    /// Nothing is owed.
    pub(super) fn settle_up(&mut self, link: &Link) {
        if self.owed > 0 {
            link.peer.inflow.discharge(std::mem::take(&mut self.owed));
            self.worth = link.peer.inflow.step();
        }
    }
}

impl Link {
    /// A message has left its mailbox, or never got there.
    pub(super) fn settle(&self, sequence: u64) {
        let unsaid = {
            let settled = &mut self.leaving.lock().settled;
            let before = settled.unsaid();
            settled.settle(sequence);
            before..settled.unsaid()
        };
        self.say_soon(unsaid);
    }

    /// The first wakes the writer, which says it with whatever else there is; then only many do.
    #[inline]
    fn say_soon(&self, unsaid: Range<u64>) {
        let is_first = unsaid.start == 0 && !unsaid.is_empty();
        if is_first || unsaid.start / WORTH_SAYING != unsaid.end / WORTH_SAYING {
            self.peer.to_write.notify_one();
        }
    }
}
