//! Clocks: what time it is on a node.

use std::time::Duration;

use volary::Moment;

/// How the clock of a node goes, compared with that of the world.
///
/// ```
/// use std::time::Duration;
/// use volary_testkit::sim::Clock;
///
/// let fast = Clock::true_time().drifting(200).ahead(Duration::from_millis(30));
/// # let _ = fast;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Clock {
    /// Parts per million by which it is too fast.
    drift: i64,
    /// What the calendar shows too much, in nanoseconds.
    offset: i64,
}

impl Clock {
    /// A clock that is right.
    ///
    /// ```
    /// # use volary_testkit::sim::Clock;
    /// assert_eq!(Clock::true_time(), Clock::default());
    /// ```
    pub fn true_time() -> Self {
        Clock::default()
    }

    /// Goes too fast by so many parts per million, or too slowly if they are negative.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// a.set_clock(Clock::true_time().drifting(-500));
    /// # let (one, other) = (a.now(), b.now());
    /// sim.sleep(Duration::from_secs(1_000)).await;
    /// assert!(a.now().since(one) < b.now().since(other));
    /// # }); }
    /// ```
    pub fn drifting(mut self, parts_per_million: i64) -> Self {
        self.drift = parts_per_million.clamp(-500_000, 500_000);
        self
    }

    /// Its calendar is ahead by so much. The monotonic clock does not jump.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let wrong = volary_testkit::sim::Clock::true_time().ahead(Duration::from_secs(60));
    /// # let _ = wrong;
    /// ```
    pub fn ahead(mut self, time: Duration) -> Self {
        self.offset = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Its calendar is behind by so much.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let wrong = volary_testkit::sim::Clock::true_time().behind(Duration::from_secs(60));
    /// # let _ = wrong;
    /// ```
    pub fn behind(mut self, time: Duration) -> Self {
        self.offset = -i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        self
    }
}

/// The clock of a node under way: it may be changed, and never goes back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeClock {
    clock: Clock,
    /// When it was last changed, in world time and in its own.
    since: Duration,
    then: Duration,
}

const MILLION: i128 = 1_000_000;
const FIRST: Duration = Duration::from_nanos(1);

impl NodeClock {
    pub(crate) fn change(&mut self, now: Duration, clock: Clock) {
        self.then = self.local(now);
        self.since = now;
        self.clock = clock;
    }

    fn local(&self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.since).as_nanos() as i128;
        let passed = passed * (MILLION + i128::from(self.clock.drift)) / MILLION;
        self.then + Duration::from_nanos(passed as u64)
    }

    /// What the node's monotonic clock shows. It begins a nanosecond after zero, which means "never" in places.
    pub(crate) fn moment(&self, now: Duration) -> Moment {
        Moment::ZERO + FIRST + self.local(now)
    }

    /// When the world's clock will have come to what is `at` on the node's.
    pub(crate) fn world(&self, at: Moment) -> Duration {
        let local = at.since(Moment::ZERO + FIRST).as_nanos() as i128;
        let ahead = (local - self.then.as_nanos() as i128).max(0);
        let rate = MILLION + i128::from(self.clock.drift);
        // Rounded up: a timer never fires early.
        let world = (ahead * MILLION + rate - 1) / rate;
        self.since + Duration::from_nanos(u64::try_from(world).unwrap_or(u64::MAX / 4))
    }

    /// What the node's calendar shows, since the beginning of the run.
    pub(crate) fn calendar(&self, now: Duration) -> i128 {
        self.local(now).as_nanos() as i128 + i128::from(self.clock.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_drifting_clock_and_its_inverse_agree() {
        for drift in [-500_000, -300, 0, 17, 250_000] {
            let mut clock = NodeClock::default();
            clock.change(3 * SECOND, Clock::true_time().drifting(drift));
            for nanos in [3_000_000_000_u64, 3_000_000_001, 4_700_000_123, 90_000_000_000] {
                let world = Duration::from_nanos(nanos);
                let back = clock.world(clock.moment(world));
                assert!(back <= world + Duration::from_nanos(2) && back + Duration::from_nanos(2) >= world);
                assert!(clock.moment(back) >= clock.moment(world), "a timer never fires early");
            }
        }
    }

    #[test]
    fn a_changed_clock_does_not_go_back() {
        let mut clock = NodeClock::default();
        clock.change(SECOND, Clock::true_time().drifting(500_000));
        let before = clock.moment(10 * SECOND);
        clock.change(10 * SECOND, Clock::true_time().drifting(-500_000));
        assert_eq!(clock.moment(10 * SECOND), before);
        assert!(clock.moment(11 * SECOND) > before);
    }
}
