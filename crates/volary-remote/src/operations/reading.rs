//! What other nodes say of their actors and themselves.

use std::time::Duration;

use volary_core::{ActorStatus, Address, Metrics};

use super::message::{NodeMetricsAnswer, StatusAnswer};

/// What kind of actor somebody is; see [`RemoteNode::kind`](crate::RemoteNode::kind).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, _bank) = two_nodes().await?;
/// # let there = remote.at("10.0.0.7:4242");
/// let alice = there.kind("/user/alice").await?;
/// println!("{:?}, in Rust a {}", alice.kind, alice.actor_type);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorKind {
    /// What other nodes call it; `None` if it is not registered there.
    pub kind: Option<String>,
    /// The Rust type there.
    pub actor_type: String,
    /// What part it plays; see [`Props::role`](volary_core::Props::role).
    pub role: Option<String>,
}

/// Those who live below somebody; see [`RemoteNode::children`](crate::RemoteNode::children).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, _bank) = two_nodes().await?;
/// # let there = remote.at("10.0.0.7:4242");
/// let children = there.children("/user").await?;
/// println!("{} children, {} of them listed", children.total, children.addresses.len());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Children {
    /// At most 10,000 of them.
    pub addresses: Vec<Address>,
    /// How many there are.
    pub total: u64,
}

/// Figures of an actor; see [`RemoteNode::actor_metrics`](crate::RemoteNode::actor_metrics).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, _bank) = two_nodes().await?;
/// # let there = remote.at("10.0.0.7:4242");
/// println!("{} messages wait", there.actor_metrics("/user/alice").await?.waiting);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorMetrics {
    /// How many messages wait in its mailbox.
    pub waiting: u64,
    /// How many messages it has put aside.
    pub stashed: u64,
    /// How much its mailbox has given out so far.
    pub taken: u64,
    /// How many children it has.
    pub children: u64,
}

/// Figures of a node; see [`RemoteNode::metrics`](crate::RemoteNode::metrics).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, _bank) = two_nodes().await?;
/// # let there = remote.at("10.0.0.7:4242");
/// let bank = there.metrics().await?;
/// println!("{} has {} actors", bank.system, bank.metrics.actors);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// The name of its system.
    pub system: String,
    /// For how long it has been running.
    pub uptime: Duration,
    /// What it counts.
    pub metrics: Metrics,
    /// How many other nodes it knows.
    pub peers: u64,
}

impl NodeMetricsAnswer {
    pub(super) fn new(system: &str, uptime: Duration, metrics: &Metrics, peers: usize) -> Self {
        NodeMetricsAnswer {
            system: system.to_owned(),
            uptime_nanos: u64::try_from(uptime.as_nanos()).unwrap_or(u64::MAX),
            actors: metrics.actors as u64,
            dead_letters: metrics.dead_letters,
            refused: metrics.refused,
            late_replies: metrics.late_replies,
            faults: metrics.faults,
            restarts: metrics.restarts,
            slow_handlers: metrics.slow_handlers,
            unheard_rejections: metrics.unheard_rejections,
            high_water: metrics.high_water,
            passivated: metrics.passivated,
            woken: metrics.woken,
            routees_lost: metrics.routees_lost,
            timers: metrics.timers as u64,
            schedules: metrics.schedules as u64,
            lost_events: metrics.lost_events,
            mailbox_bytes: metrics.mailbox_bytes,
            peers: peers as u64,
        }
    }
}

impl From<NodeMetricsAnswer> for NodeMetrics {
    fn from(answer: NodeMetricsAnswer) -> Self {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let mut metrics = Metrics::default();
        metrics.actors = size(answer.actors);
        metrics.dead_letters = answer.dead_letters;
        metrics.refused = answer.refused;
        metrics.late_replies = answer.late_replies;
        metrics.faults = answer.faults;
        metrics.restarts = answer.restarts;
        metrics.slow_handlers = answer.slow_handlers;
        metrics.unheard_rejections = answer.unheard_rejections;
        metrics.high_water = answer.high_water;
        metrics.passivated = answer.passivated;
        metrics.woken = answer.woken;
        metrics.routees_lost = answer.routees_lost;
        metrics.timers = size(answer.timers);
        metrics.schedules = size(answer.schedules);
        metrics.lost_events = answer.lost_events;
        metrics.mailbox_bytes = answer.mailbox_bytes;
        NodeMetrics {
            system: answer.system,
            uptime: Duration::from_nanos(answer.uptime_nanos),
            metrics,
            peers: answer.peers,
        }
    }
}

impl From<ActorStatus> for StatusAnswer {
    fn from(status: ActorStatus) -> Self {
        StatusAnswer {
            running: status.running,
            busy: status.busy,
            stopping: status.stopping,
            suspended: status.suspended,
            asleep: status.asleep,
            ended: status.ended,
            slow: status.slow,
            system: status.system,
        }
    }
}

impl From<StatusAnswer> for ActorStatus {
    fn from(answer: StatusAnswer) -> Self {
        let mut status = ActorStatus::default();
        status.running = answer.running;
        status.busy = answer.busy;
        status.stopping = answer.stopping;
        status.suspended = answer.suspended;
        status.asleep = answer.asleep;
        status.ended = answer.ended;
        status.slow = answer.slow;
        status.system = answer.system;
        status
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    /// All of them differ, so that none can be taken for another or be missing.
    #[test]
    fn r6_every_figure_of_a_node_travels_as_itself_and_in_the_bytes_that_it_ever_did() {
        let mut metrics = Metrics::default();
        metrics.actors = 3;
        metrics.dead_letters = 4;
        metrics.refused = 5;
        metrics.late_replies = 6;
        metrics.faults = 7;
        metrics.restarts = 8;
        metrics.slow_handlers = 9;
        metrics.unheard_rejections = 10;
        metrics.high_water = 11;
        metrics.passivated = 12;
        metrics.woken = 13;
        metrics.routees_lost = 14;
        metrics.timers = 15;
        metrics.schedules = 16;
        metrics.lost_events = 17;
        metrics.mailbox_bytes = 18;
        let bytes = NodeMetricsAnswer::new("s", Duration::from_nanos(2), &metrics, 19).encode_to_vec();
        // The name has the tag 1; each of the others is its own tag, which needs two bytes from 16 on.
        let mut expected = b"\x0a\x01s".to_vec();
        for tag in 2..=19_u8 {
            match tag {
                ..16 => expected.extend([tag << 3, tag]),
                _ => expected.extend([0x80 | (tag << 3), 1, tag]),
            }
        }
        assert_eq!(bytes, expected);
        let read = NodeMetrics::from(NodeMetricsAnswer::decode(&bytes[..]).expect("it was just written"));
        let expected = NodeMetrics {
            system: "s".to_owned(),
            uptime: Duration::from_nanos(2),
            metrics,
            peers: 19,
        };
        assert_eq!(read, expected);
    }
}
