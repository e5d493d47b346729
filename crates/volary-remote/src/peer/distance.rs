//! How long the way to a peer is, by when it says to have read the pieces of large frames.

/// On a way that takes as long there and back, in nanoseconds, as much may be on its way as is allowed at all: half a gigabyte
/// a second by default. Where the way is shorter it is less in proportion, so that it is not faster and small frames wait less.
const LONG: u64 = 250_000;
/// But not less than this part: what is read and answered at once has some to do meanwhile.
const PART: usize = 4;

/// The way to a peer and back.
#[derive(Default)]
pub(super) struct Distance {
    /// How many bytes of pieces were written and read on this connection.
    written: u64,
    read: u64,
    /// The piece that is timed.
    timed: Option<Timed>,
    /// How long it took lately at the least, in nanoseconds. On a slow way that is as long as the pieces before it take, and so all
    /// that is allowed is soon on its way.
    shortest: Option<u64>,
}

struct Timed {
    /// How many bytes are read with it.
    end: u64,
    began: u64,
}

impl Distance {
    /// A piece is written.
    pub(super) fn wrote(&mut self, bytes: usize, clock: impl FnOnce() -> u64) {
        self.written += bytes as u64;
        let end = self.written;
        self.timed.get_or_insert_with(|| Timed { end, began: clock() });
    }

    /// The other side has read so many bytes.
    pub(super) fn read(&mut self, bytes: u64, clock: impl FnOnce() -> u64) {
        self.read = self.read.saturating_add(bytes);
        let Some(timed) = self.timed.take_if(|timed| timed.end <= self.read) else {
            return;
        };
        let took = clock().saturating_sub(timed.began);
        // Forgotten slowly: the way may have become longer.
        let most = self.shortest.map_or(took, |shortest| shortest + shortest / 32 + 1);
        self.shortest = Some(took.min(most));
    }

    /// How much of `window` is enough for the rate at which all of it is on a long way.
    pub(super) fn enough_of(&self, window: usize) -> usize {
        let shortest = self.shortest.unwrap_or(0).min(LONG);
        let in_proportion = u128::from(shortest) * window as u128 / u128::from(LONG);
        (in_proportion as usize).max(window / PART)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a kilobyte, each of which is read before the next.
    fn after(distance: &mut Distance, pieces: u64, nanos: u64) -> usize {
        for _ in 0..pieces {
            distance.wrote(1_000, || 5);
            distance.read(1_000, || 5 + nanos);
        }
        distance.enough_of(100_000)
    }

    #[test]
    fn r3_a_short_way_is_kept_busy_by_less() {
        let mut distance = Distance::default();
        assert_eq!(distance.enough_of(100_000), 25_000, "unknown");
        assert_eq!(after(&mut distance, 1, 150_000), 60_000);
        assert_eq!(after(&mut distance, 1, 50_000), 25_000);
        assert_eq!(after(&mut distance, 1, 50_000_000), 25_000, "it waited for something");
        assert_eq!(after(&mut distance, 200, 50_000_000), 100_000, "the way is longer now");
        assert_eq!(distance.enough_of(0), 0);
    }

    #[test]
    fn r3_one_piece_is_timed_until_it_is_read_as_a_whole() {
        let mut distance = Distance::default();
        distance.wrote(1_000, || 0);
        distance.wrote(1_000, || unreachable!("the first is timed"));
        distance.read(999, || unreachable!("a part"));
        distance.read(1, || 200_000);
        assert_eq!(distance.enough_of(100_000), 80_000);
        distance.read(u64::MAX, || unreachable!("nothing is timed"));
    }
}
