//! The simulated network as a pure model: what becomes of a packet, given the links and the chances.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::choice::Random;
use super::trace::NodeNumber;

/// What a link between two nodes does to packets, in one direction.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
/// # fn main() { Sim::new(3).run(|sim| async move {
/// # let (a, b) = (sim.node("a"), sim.node("b"));
/// let bad = Link::default()
///     .latency(Duration::from_millis(1)..=Duration::from_millis(80))
///     .loss(0.05)
///     .duplication(0.01)
///     .reordering(0.1);
/// sim.set_link(&a, &b, bad);
/// assert!(arrive(&sim, &a, &b, 100).await < 100);
/// # }); }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Link {
    fastest: Duration,
    slowest: Duration,
    loss: f64,
    duplication: f64,
    reordering: f64,
    /// Nanoseconds for each packet to get onto the wire.
    pace: Duration,
    /// Nanoseconds for each byte of a stream to get onto the wire.
    pace_of_bytes: u64,
}

impl Default for Link {
    /// Within a data centre: 100 µs to 1 ms, nothing lost.
    fn default() -> Self {
        Link {
            fastest: Duration::from_micros(100),
            slowest: Duration::from_millis(1),
            loss: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            pace: Duration::ZERO,
            pace_of_bytes: 0,
        }
    }
}

impl Link {
    /// How long a packet takes: most are near the lower end, a few near the upper.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// let slow = Duration::from_millis(50);
    /// sim.set_link(&a, &b, Link::default().latency(slow..=slow));
    /// assert!(!reaches(&sim, &a, &b).await, "not that soon");
    /// # }); }
    /// ```
    pub fn latency(mut self, range: RangeInclusive<Duration>) -> Self {
        self.fastest = *range.start();
        self.slowest = (*range.end()).max(self.fastest);
        self
    }

    /// The part of packets that never arrives.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.set_link(&a, &b, Link::default().loss(0.5));
    /// assert!((1..100).contains(&arrive(&sim, &a, &b, 100).await));
    /// # }); }
    /// ```
    pub fn loss(mut self, part: f64) -> Self {
        self.loss = part.clamp(0.0, 1.0);
        self
    }

    /// The part of packets that arrives twice.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.set_link(&a, &b, Link::default().duplication(1.0));
    /// assert_eq!(arrive(&sim, &a, &b, 1).await, 2);
    /// # }); }
    /// ```
    pub fn duplication(mut self, part: f64) -> Self {
        self.duplication = part.clamp(0.0, 1.0);
        self
    }

    /// The part of packets that may overtake others; the rest keep their order.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::sim::Link;
    /// let link = Link::default().reordering(0.5);
    /// assert_ne!(link, Link::default());
    /// ```
    pub fn reordering(mut self, part: f64) -> Self {
        self.reordering = part.clamp(0.0, 1.0);
        self
    }

    /// A slow link: at most so many packets in a second; others queue up.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::sim::Link;
    /// let link = Link::default().packets_per_second(100);
    /// assert_ne!(link, Link::default());
    /// ```
    pub fn packets_per_second(mut self, packets: u32) -> Self {
        self.pace = Duration::from_secs(1) / packets.max(1);
        self
    }

    /// A slow link for byte streams: at most so many bytes in a second. Packets have their own rate.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::sim::Link;
    /// let link = Link::default().bytes_per_second(1_000);
    /// assert_ne!(link, Link::default());
    /// ```
    pub fn bytes_per_second(mut self, bytes: u32) -> Self {
        self.pace_of_bytes = 1_000_000_000 / u64::from(bytes.max(1));
        self
    }
}

/// After how long a piece of a stream that was lost is sent again, the first time and at the longest.
const FIRST_RETRANSMISSION: Duration = Duration::from_millis(200);
const LAST_RETRANSMISSION: Duration = Duration::from_secs(60);

impl Link {
    /// How long one packet takes on the wire.
    fn draw(&self, random: &mut Random) -> Duration {
        let spread = (self.slowest - self.fastest).as_nanos() as u64;
        // The least of two: short ones are more likely than long ones.
        let extra = random.below(spread + 1).min(random.below(spread + 1));
        self.fastest + Duration::from_nanos(extra)
    }
}

#[derive(Debug, Default)]
struct State {
    link: Option<Link>,
    cut: bool,
    /// When the last packet that keeps its order arrives.
    last: Duration,
    /// When the wire is free again.
    free: Duration,
}

/// All links. Everything that is not said of a pair holds for all.
#[derive(Debug, Default)]
pub(crate) struct Network {
    usual: Link,
    pairs: BTreeMap<(NodeNumber, NodeNumber), State>,
}

impl Network {
    pub(crate) fn set_usual(&mut self, link: Link) {
        self.usual = link;
    }

    pub(crate) fn set_link(&mut self, from: NodeNumber, to: NodeNumber, link: Link) {
        self.pairs.entry((from, to)).or_default().link = Some(link);
    }

    pub(crate) fn set_cut(&mut self, from: NodeNumber, to: NodeNumber, cut: bool) {
        self.pairs.entry((from, to)).or_default().cut = cut;
    }

    pub(crate) fn heal(&mut self) {
        self.pairs.values_mut().for_each(|state| state.cut = false);
    }

    pub(crate) fn is_cut(&self, from: NodeNumber, to: NodeNumber) -> bool {
        self.pairs.get(&(from, to)).is_some_and(|state| state.cut)
    }

    /// When a packet that is sent now arrives: never, once or twice.
    pub(crate) fn send(
        &mut self,
        now: Duration,
        from: NodeNumber,
        to: NodeNumber,
        random: &mut Random,
    ) -> Vec<Duration> {
        let Network { usual, pairs } = self;
        let state = pairs.entry((from, to)).or_default();
        let link = state.link.as_ref().unwrap_or(usual);
        if state.cut || random.chance(link.loss) {
            return Vec::new();
        }
        let copies = 1 + usize::from(random.chance(link.duplication));
        let mut arrivals = Vec::with_capacity(copies);
        for _ in 0..copies {
            state.free = state.free.max(now) + link.pace;
            let mut at = state.free + link.draw(random);
            if !random.chance(link.reordering) {
                at = at.max(state.last);
                state.last = at;
            }
            arrivals.push(at);
        }
        arrivals
    }

    /// When a piece of a stream that is sent now arrives. A stream is reliable: what a packet would suffer as loss it
    /// suffers as delay, since the piece is sent again after a while, and then after twice the while.
    pub(crate) fn deliver(
        &mut self,
        now: Duration,
        from: NodeNumber,
        to: NodeNumber,
        bytes: usize,
        random: &mut Random,
    ) -> Duration {
        let Network { usual, pairs } = self;
        let state = pairs.entry((from, to)).or_default();
        let link = state.link.as_ref().unwrap_or(usual);
        state.free = state.free.max(now) + link.pace + Duration::from_nanos(link.pace_of_bytes * bytes as u64);
        let mut at = state.free + link.draw(random);
        let mut patience = FIRST_RETRANSMISSION;
        while patience < LAST_RETRANSMISSION && random.chance(link.loss) {
            at += patience;
            patience *= 2;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeNumber = NodeNumber(0);
    const B: NodeNumber = NodeNumber(1);

    fn arrivals(link: Link, packets: usize) -> Vec<Vec<Duration>> {
        let mut network = Network::default();
        network.set_link(A, B, link);
        let mut random = Random::new(5, 2);
        (0..packets)
            .map(|packet| network.send(Duration::from_micros(packet as u64), A, B, &mut random))
            .collect()
    }

    #[test]
    fn packets_keep_their_order_unless_told_otherwise() {
        let flat: Vec<Duration> = arrivals(Link::default(), 1_000).concat();
        assert_eq!(flat.len(), 1_000);
        assert!(flat.is_sorted());
        let flat: Vec<Duration> = arrivals(Link::default().reordering(0.5), 1_000).concat();
        assert!(!flat.is_sorted());
    }

    #[test]
    fn loss_and_duplication_are_what_they_say() {
        let lost = arrivals(Link::default().loss(0.3), 2_000);
        let count = lost.iter().filter(|arrivals| arrivals.is_empty()).count();
        assert!((500..700).contains(&count), "{count}");
        let twice = arrivals(Link::default().duplication(0.3), 2_000);
        let count = twice.iter().filter(|arrivals| arrivals.len() == 2).count();
        assert!((500..700).contains(&count), "{count}");
    }

    #[test]
    fn a_cut_is_one_way_and_heals() {
        let mut network = Network::default();
        let mut random = Random::new(5, 2);
        network.set_cut(A, B, true);
        assert!(network.send(Duration::ZERO, A, B, &mut random).is_empty());
        assert_eq!(network.send(Duration::ZERO, B, A, &mut random).len(), 1);
        network.heal();
        assert_eq!(network.send(Duration::ZERO, A, B, &mut random).len(), 1);
    }

    #[test]
    fn what_is_lost_of_a_stream_comes_later() {
        let mut network = Network::default();
        let mut random = Random::new(5, 2);
        let slowest = |network: &mut Network, random: &mut Random| {
            let arrivals = (0..200).map(|_| network.deliver(Duration::ZERO, A, B, 100, random));
            arrivals.max().unwrap_or_default()
        };
        assert!(slowest(&mut network, &mut random) <= Duration::from_millis(1));
        network.set_link(A, B, Link::default().loss(0.5));
        assert!(
            slowest(&mut network, &mut random) >= Duration::from_millis(600),
            "lost twice at least"
        );
        network.set_link(A, B, Link::default().bytes_per_second(10_000));
        assert!(
            slowest(&mut network, &mut random) >= Duration::from_secs(2),
            "20,000 bytes"
        );
    }

    #[test]
    fn a_slow_link_queues() {
        let flat: Vec<Duration> = arrivals(Link::default().packets_per_second(10), 30).concat();
        assert!(flat.last().is_some_and(|last| *last >= Duration::from_secs(3)));
    }
}
