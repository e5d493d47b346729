//! Faults that nobody asked for: drawn from the seed, so that a failing run can be made smaller by leaving some out.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::choice::Random;
use super::clock::Clock;
use super::disk::DiskFault;
use super::node::Node;
use super::stream::HalfClose;
use super::world::World;

/// What kinds of trouble a run may get into, how much of it and when.
///
/// Give it to [`Sim::chaos`](super::Sim::chaos). All trouble ends at the end of its time: links are healed, nodes are up, so
/// that a scenario can check what must be true then.
///
/// ```
/// use std::time::Duration;
/// use volary_testkit::sim::Chaos;
///
/// let chaos = Chaos::within(Duration::from_secs(10)).crashes(0..=2).partitions(0..=3).pauses(0..=2);
/// # let _ = chaos;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Chaos {
    time: Duration,
    crashes: RangeInclusive<u32>,
    partitions: RangeInclusive<u32>,
    one_way_cuts: RangeInclusive<u32>,
    pauses: RangeInclusive<u32>,
    drifts: RangeInclusive<u32>,
    resets: RangeInclusive<u32>,
    half_closes: RangeInclusive<u32>,
    disk_faults: RangeInclusive<u32>,
    bit_rot: RangeInclusive<u32>,
    longest: Duration,
}

impl Chaos {
    /// Trouble from now on, for so long. Say what kinds; by itself there are none.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5));
    /// ```
    pub fn within(time: Duration) -> Self {
        Chaos {
            time,
            crashes: 0..=0,
            partitions: 0..=0,
            one_way_cuts: 0..=0,
            pauses: 0..=0,
            drifts: 0..=0,
            resets: 0..=0,
            half_closes: 0..=0,
            disk_faults: 0..=0,
            bit_rot: 0..=0,
            longest: time / 3,
        }
    }

    /// Nodes that crash, and start again later.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let boots = Arc::<AtomicU32>::default();
    /// # let counted = boots.clone();
    /// # sim.node("a").boot(move |_| { counted.fetch_add(1, SeqCst); async {} }).await;
    /// sim.chaos(&Chaos::within(Duration::from_secs(5)).crashes(1..=1));
    /// sim.sleep(Duration::from_secs(6)).await;
    /// # assert_eq!(boots.load(SeqCst), 2); // it has crashed once, and was started again
    /// # }); }
    /// ```
    pub fn crashes(mut self, count: RangeInclusive<u32>) -> Self {
        self.crashes = count;
        self
    }

    /// Times when some nodes cannot reach the others.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).partitions(1..=3);
    /// ```
    pub fn partitions(mut self, count: RangeInclusive<u32>) -> Self {
        self.partitions = count;
        self
    }

    /// Times when one node does not reach another, but hears it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).one_way_cuts(1..=3);
    /// ```
    pub fn one_way_cuts(mut self, count: RangeInclusive<u32>) -> Self {
        self.one_way_cuts = count;
        self
    }

    /// Nodes that stand still for a while.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).pauses(1..=3);
    /// ```
    pub fn pauses(mut self, count: RangeInclusive<u32>) -> Self {
        self.pauses = count;
        self
    }

    /// Clocks that begin to go wrong, by up to a thousandth.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).clock_drifts(1..=3);
    /// ```
    pub fn clock_drifts(mut self, count: RangeInclusive<u32>) -> Self {
        self.drifts = count;
        self
    }

    /// Moments when all connections between two nodes are reset.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).resets(1..=3);
    /// ```
    pub fn resets(mut self, count: RangeInclusive<u32>) -> Self {
        self.resets = count;
        self
    }

    /// Moments when one direction of all connections between two nodes ends, or is silent from then on, while the other
    /// lives; see [`HalfClose`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).half_closes(1..=3);
    /// ```
    pub fn half_closes(mut self, count: RangeInclusive<u32>) -> Self {
        self.half_closes = count;
        self
    }

    /// Times when the disk of a node does not write, is full, does not sync, or is slow. Never bit rot.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).disk_faults(1..=3);
    /// ```
    pub fn disk_faults(mut self, count: RangeInclusive<u32>) -> Self {
        self.disk_faults = count;
        self
    }

    /// Times when the disk of a node reads other bits than were written.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let _ = volary_testkit::sim::Chaos::within(Duration::from_secs(5)).bit_rot(1..=3);
    /// ```
    pub fn bit_rot(mut self, count: RangeInclusive<u32>) -> Self {
        self.bit_rot = count;
        self
    }

    /// The longest that one trouble lasts; a third of the time unless said otherwise.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::sim::Chaos;
    /// let _ = Chaos::within(Duration::from_secs(5)).pauses(1..=3).lasting(Duration::from_millis(100));
    /// ```
    pub fn lasting(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// Draws what will happen to these nodes.
    pub(crate) fn draw(&self, nodes: &[Node], random: &mut Random) -> Vec<Planned> {
        let mut plan = Vec::new();
        let kinds: [(&RangeInclusive<u32>, Draw); 9] = [
            (&self.crashes, |nodes, random| Trouble::Crash(one(nodes, random))),
            (&self.partitions, |nodes, random| {
                Trouble::Partition((0..nodes).filter(|_| random.chance(0.5)).collect())
            }),
            (&self.one_way_cuts, |nodes, random| {
                let from = one(nodes, random);
                Trouble::Cut(from, (from + 1 + one(nodes.saturating_sub(1), random)) % nodes)
            }),
            (&self.pauses, |nodes, random| Trouble::Pause(one(nodes, random))),
            (&self.drifts, |nodes, random| {
                Trouble::Drift(one(nodes, random), random.below(2_001) as i64 - 1_000)
            }),
            (&self.resets, |nodes, random| {
                let from = one(nodes, random);
                Trouble::Reset(from, (from + 1 + one(nodes.saturating_sub(1), random)) % nodes)
            }),
            (&self.disk_faults, |nodes, random| {
                let fault = match random.below(4) {
                    0 => DiskFault::WriteError,
                    1 => DiskFault::Full,
                    2 => DiskFault::SyncError,
                    _ => DiskFault::Slow(Duration::from_micros(1 + random.below(SLOWEST_DISK.as_micros() as u64))),
                };
                Trouble::Disk(one(nodes, random), fault)
            }),
            (&self.bit_rot, |nodes, random| {
                Trouble::Disk(one(nodes, random), DiskFault::BitRot)
            }),
            (&self.half_closes, |nodes, random| {
                let from = one(nodes, random);
                let to = (from + 1 + one(nodes.saturating_sub(1), random)) % nodes;
                let how = match random.below(2) {
                    0 => HalfClose::Ended,
                    _ => HalfClose::Silent,
                };
                Trouble::HalfClose(from, to, how)
            }),
        ];
        if nodes.is_empty() {
            return plan;
        }
        for (range, draw) in kinds {
            if *range.end() == 0 {
                continue; // a kind that nobody asked for does not change what becomes of the others
            }
            let spread = u64::from(range.end().saturating_sub(*range.start()));
            let count = u64::from(*range.start()) + random.below(spread + 1);
            for _ in 0..count {
                let trouble = draw(nodes.len(), random);
                let begin = Duration::from_nanos(random.below(self.time.as_nanos() as u64));
                let lasts = Duration::from_nanos(random.below(self.longest.as_nanos() as u64 + 1));
                let end = (begin + lasts).min(self.time);
                plan.push(Planned { begin, end, trouble });
            }
        }
        plan.sort_by_key(|planned| planned.begin);
        plan
    }
}

/// The longest that one call of a slow disk takes.
const SLOWEST_DISK: Duration = Duration::from_millis(50);

/// Draws one trouble for so many nodes.
type Draw = fn(usize, &mut Random) -> Trouble;

fn one(count: usize, random: &mut Random) -> usize {
    random.below(count as u64) as usize
}

/// A trouble that will come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    begin: Duration,
    end: Duration,
    trouble: Trouble,
}

/// Nodes by their place in the list of all.
#[derive(Debug, Clone, PartialEq)]
enum Trouble {
    Crash(usize),
    Partition(Vec<usize>),
    Cut(usize, usize),
    Pause(usize),
    Drift(usize, i64),
    Reset(usize, usize),
    HalfClose(usize, usize, HalfClose),
    Disk(usize, DiskFault),
}

impl Planned {
    pub(crate) fn in_words(&self, nodes: &[Node]) -> String {
        let name = |index: &usize| nodes[*index].name();
        let what = match &self.trouble {
            Trouble::Crash(node) => format!("{} is down", name(node)),
            Trouble::Partition(side) => {
                let side: Vec<String> = side.iter().map(name).collect();
                format!("{{{}}} cannot reach the others", side.join(", "))
            }
            Trouble::Cut(from, to) => format!("{} does not reach {}", name(from), name(to)),
            Trouble::Pause(node) => format!("{} stands still", name(node)),
            Trouble::Reset(one, other) => format!("connections of {} and {} are reset", name(one), name(other)),
            Trouble::HalfClose(from, to, how) => format!("{} to {} is {}", name(from), name(to), half(*how)),
            Trouble::Disk(node, fault) => format!("the disk of {} {fault}", name(node)),
            Trouble::Drift(node, drift) => format!("the clock of {} is off by {drift} ppm", name(node)),
        };
        format!("{} to {}: {what}", Seconds(self.begin), Seconds(self.end))
    }

    /// Puts the trouble, and its end, on the world's calendar.
    pub(crate) fn schedule(self, world: &World, nodes: &[Node]) {
        let (begin, end) = (self.begin, self.end);
        let (first, second) = (self.clone(), self);
        let (here, there) = (nodes.to_vec(), nodes.to_vec());
        world.after(begin, Box::new(move |_| first.begin(&here)));
        world.after(end, Box::new(move |_| second.end(&there)));
    }

    fn begin(&self, nodes: &[Node]) {
        match &self.trouble {
            Trouble::Crash(node) => nodes[*node].crash(),
            Trouble::Pause(node) => nodes[*node].pause(),
            Trouble::Drift(node, drift) => nodes[*node].set_clock(Clock::true_time().drifting(*drift)),
            Trouble::Partition(side) => set_partition(nodes, side, true),
            Trouble::Cut(from, to) => set_cut(&nodes[*from], &nodes[*to], true),
            Trouble::Reset(one, other) => reset(&nodes[*one], &nodes[*other]),
            Trouble::HalfClose(from, to, how) => half_close(&nodes[*from], &nodes[*to], *how),
            Trouble::Disk(node, fault) => nodes[*node].disk().suffer(*fault),
        }
    }

    fn end(&self, nodes: &[Node]) {
        match &self.trouble {
            Trouble::Crash(node) => {
                let node = nodes[*node].clone();
                let world = node.world.clone();
                world.spawn(None, Box::pin(async move { node.restart().await }));
            }
            Trouble::Pause(node) => nodes[*node].resume(),
            Trouble::Drift(node, _) => nodes[*node].set_clock(Clock::true_time()),
            Trouble::Partition(side) => set_partition(nodes, side, false),
            Trouble::Cut(from, to) => set_cut(&nodes[*from], &nodes[*to], false),
            Trouble::Reset(..) | Trouble::HalfClose(..) => {}
            Trouble::Disk(node, fault) => nodes[*node].disk().recover(*fault),
        }
    }
}

fn set_partition(nodes: &[Node], side: &[usize], cut: bool) {
    for one in side {
        for other in (0..nodes.len()).filter(|other| !side.contains(other)) {
            set_cut(&nodes[*one], &nodes[other], cut);
            set_cut(&nodes[other], &nodes[*one], cut);
        }
    }
}

/// Resets all connections between two nodes, at both ends.
pub(crate) fn reset(one: &Node, other: &Node) {
    let name = other.name();
    one.note(format_args!("loses its connections with {name}"));
    one.world.reset_streams(one.number, other.number);
}

fn half(how: HalfClose) -> &'static str {
    match how {
        HalfClose::Ended => "ended",
        HalfClose::Silent => "silent",
    }
}

/// Takes one direction of all connections between two nodes away.
pub(crate) fn half_close(from: &Node, to: &Node, how: HalfClose) {
    let (name, how_it_is) = (to.name(), half(how));
    from.note(format_args!("is {how_it_is} on its connections to {name}"));
    from.world.inner().half_close(from.number, to.number, how);
}

pub(crate) fn set_cut(from: &Node, to: &Node, cut: bool) {
    let inner = &mut *from.world.inner();
    if from.number == to.number || inner.network.is_cut(from.number, to.number) == cut {
        return;
    }
    inner.network.set_cut(from.number, to.number, cut);
    if !cut {
        inner.release_streams();
    }
    let (now, other) = (inner.now, inner.node_name(to.number).to_owned());
    let what = if cut { "does not reach" } else { "reaches again" };
    inner
        .trace
        .note(now, Some(from.number), None, format_args!("{what} {other}"));
}

/// A time as timelines show it.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12.6}", self.0.as_secs_f64())
    }
}
