//! One direction of a connection as a pure model: what is on its way, what has arrived, and who waits for either.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

/// So many bytes may be on their way or unread; a writer waits for the reader beyond that.
pub(super) const WINDOW: usize = 64 * 1024;

/// What travels through a pipe, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A wish to connect to a port.
    Open(u16),
    /// The answer to it.
    Welcome,
    /// The other answer.
    Refused,
    Bytes(Vec<u8>),
    /// Nothing more will come.
    End,
    /// The connection is no more.
    Reset,
}

/// One direction: from one end to the other.
#[derive(Default)]
pub(super) struct Pipe {
    /// What is on its way, each with the time of its arrival.
    way: VecDeque<(Duration, Item)>,
    /// Bytes on their way.
    flying: usize,
    /// The last arrival that was promised: nothing overtakes.
    last: Duration,
    /// When somebody will look whether something has arrived.
    pub(super) awaited: Option<Duration>,
    /// What comes is held up: the link is cut, or the receiver stands still.
    pub(super) stalled: bool,
    /// What comes never arrives, and nobody is told.
    pub(super) silent: bool,
    /// What has arrived and was not read.
    arrived: VecDeque<u8>,
    /// The end has been sent.
    pub(super) ended: bool,
    /// The end has arrived.
    pub(super) finished: bool,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

impl Pipe {
    /// Sends something that would arrive at `at`, or later if others are before it.
    pub(super) fn send(&mut self, at: Duration, item: Item) {
        self.last = self.last.max(at);
        if let Item::Bytes(bytes) = &item {
            self.flying += bytes.len();
        }
        self.way.push_back((self.last, item));
    }

    /// When the next thing arrives.
    pub(super) fn next_arrival(&self) -> Option<Duration> {
        self.way.front().map(|(at, _)| *at)
    }

    /// Takes what has arrived by `now`, one at a time.
    pub(super) fn take_arrived(&mut self, now: Duration) -> Option<Item> {
        if self.next_arrival().is_none_or(|at| at > now) {
            return None;
        }
        let (_, item) = self.way.pop_front()?;
        if let Item::Bytes(bytes) = &item {
            self.flying -= bytes.len();
        }
        Some(item)
    }

    /// What was held up arrives at `at` at the earliest.
    pub(super) fn delay_until(&mut self, at: Duration) {
        for (arrival, _) in &mut self.way {
            *arrival = at.max(*arrival);
        }
        self.last = self.last.max(at);
    }

    /// Forgets what is on its way, but for the first few.
    pub(super) fn cut_off(&mut self, kept: usize) {
        for (_, item) in self.way.drain(kept.min(self.way.len())..) {
            if let Item::Bytes(bytes) = item {
                self.flying -= bytes.len();
            }
        }
    }

    /// How many things are on their way.
    pub(super) fn under_way(&self) -> usize {
        self.way.len()
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.arrived.extend(bytes);
    }

    /// How many bytes a writer may add.
    pub(super) fn room(&self) -> usize {
        WINDOW.saturating_sub(self.flying + self.arrived.len())
    }

    pub(super) fn readable(&self) -> usize {
        self.arrived.len()
    }

    /// Reads so many bytes, which have arrived.
    pub(super) fn take(&mut self, count: usize, mut into: impl FnMut(&[u8])) {
        let (front, back) = self.arrived.as_slices();
        let first = count.min(front.len());
        into(&front[..first]);
        into(&back[..count - first]);
        self.arrived.drain(..count);
    }

    pub(super) fn discard(&mut self) {
        self.arrived.clear();
        self.cut_off(0);
    }

    /// Everybody who waits here.
    pub(super) fn waiting(&mut self) -> impl Iterator<Item = Waker> {
        self.reader.take().into_iter().chain(self.writer.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_overtakes_not_even_what_was_held_up() {
        let mut pipe = Pipe::default();
        pipe.send(5 * MS, Item::Bytes(vec![1]));
        pipe.send(2 * MS, Item::Bytes(vec![2]));
        assert_eq!(pipe.take_arrived(4 * MS), None);
        pipe.delay_until(9 * MS);
        pipe.send(7 * MS, Item::End);
        assert_eq!(pipe.take_arrived(8 * MS), None);
        assert_eq!(pipe.take_arrived(9 * MS), Some(Item::Bytes(vec![1])));
        assert_eq!(pipe.take_arrived(9 * MS), Some(Item::Bytes(vec![2])));
        assert_eq!(pipe.take_arrived(9 * MS), Some(Item::End));
    }

    #[test]
    fn bytes_that_nobody_reads_take_up_the_room() {
        let mut pipe = Pipe::default();
        pipe.send(MS, Item::Bytes(vec![0; WINDOW - 10]));
        assert_eq!(pipe.room(), 10);
        if let Some(Item::Bytes(bytes)) = pipe.take_arrived(MS) {
            pipe.put(&bytes);
        }
        assert_eq!(pipe.room(), 10);
        let mut read = 0;
        pipe.take(100, |bytes| read += bytes.len());
        assert_eq!(read, 100);
        assert_eq!(pipe.room(), 110);
    }
}
