//! S20, R3: a peer that asks for much and does not read the answers makes a node hold no more of them than is set; what it
//! has asked for waits, and is answered when it reads.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use common::stranger::{Stranger, envelope};
use common::*;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use volary::prelude::*;
use volary_remote::RemoteOptions;
use volary_wire::native::{Frame, Goodbye, GoodbyeReason, Intern, InternSpace, Name};

const NAME: &str = "127.0.0.1:9";
const OUTBOUND: usize = 4 << 20;

/// How many answers there are that were made and not written, and how many there ever were at a time.
#[derive(Clone, Default)]
struct Made(Arc<(AtomicUsize, AtomicUsize)>);

impl Made {
    fn now(&self) -> usize {
        self.0.0.load(SeqCst)
    }
    fn most(&self) -> usize {
        self.0.1.load(SeqCst)
    }
}

/// An answer of so many bytes.
struct Heap(Vec<u8>, Option<Made>);

impl Drop for Heap {
    fn drop(&mut self) {
        if let Some(made) = &self.1 {
            made.0.0.fetch_sub(1, SeqCst);
        }
    }
}

impl Serialize for Heap {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Heap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Heap;
            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Heap, E> {
                Ok(Heap(bytes.to_vec(), None))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

struct Quarry {
    made: Made,
    told: Log,
}

#[actor(kind = "test.Quarry", remote(Dig, Mark))]
impl Quarry {
    #[message(remote = "test.Dig", codec = postcard, derive(Serialize, Deserialize))]
    fn dig(&mut self, number: u64, bytes: usize) -> Heap {
        self.told.push(number);
        let now = self.made.0.0.fetch_add(1, SeqCst) + 1;
        self.made.0.1.fetch_max(now, SeqCst);
        Heap(vec![7; bytes], Some(self.made.clone()))
    }

    #[message(remote = "test.Mark", codec = postcard, derive(Serialize, Deserialize))]
    fn mark(&mut self, number: u64) {
        self.told.push(number);
    }
}

async fn quarry(name: &str, options: RemoteOptions) -> (Node, Made) {
    // What is not read for long ends nothing here.
    let options = options.silence(Duration::from_secs(3_600));
    let node = Node::start(name, builder().options(options).kind::<Quarry>()).await;
    let made = Made::default();
    let (made_here, told) = (made.clone(), node.log.clone());
    let quarry = move || Quarry {
        made: made_here.clone(),
        told: told.clone(),
    };
    node.system.spawn(quarry).named("quarry").await.unwrap();
    (node, made)
}

fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(0x80 | (number & 0x7f) as u8);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Every tenth is told, the others are asked for so many bytes.
fn message(to: &str, sequence: u64, bytes: usize) -> Frame {
    if sequence.is_multiple_of(10) {
        return Frame::Tell(envelope(to, sequence, "test.Mark", number(sequence)));
    }
    let payload = [number(sequence), number(bytes as u64)].concat();
    Frame::Ask {
        correlation: sequence,
        envelope: envelope(to, sequence, "test.Dig", payload),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_answers_that_a_peer_does_not_read_are_bounded_and_all_come_when_it_reads() {
    const COUNT: u64 = 3_000;
    const BYTES: usize = 60_000;
    let (node, made) = quarry("one", options().outbound_bytes(OUTBOUND)).await;
    let to = node.address("quarry").to_string();
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say((1..=COUNT).map(|sequence| message(&to, sequence, BYTES)))
        .await;
    eventually("all is read", || reading(&node).received == COUNT).await;
    // Half of what may wait, and the socket is full.
    eventually("the answers wait", || reading(&node).waiting_bytes >= OUTBOUND / 2).await;
    // What is said beside messages is heard, and answered behind no answer.
    let read = reading(&node).bytes_read;
    peer.say([Frame::Heartbeat { nonce: 1 << 40 }]).await;
    eventually("it is heard", || reading(&node).bytes_read > read).await;
    let waiting = reading(&node).waiting_bytes;
    assert!(waiting <= OUTBOUND / 2 + 2 * BYTES, "{waiting} bytes wait");
    let mut answered = 0;
    let mut heartbeat = false;
    soon("the answers", async {
        while answered < COUNT - COUNT / 10 {
            match peer.hear().await {
                Some(Frame::Reply(_)) => answered += 1,
                Some(Frame::HeartbeatReply { nonce }) => heartbeat |= nonce == 1 << 40,
                Some(Frame::Confirm(_) | Frame::Heartbeat { .. }) => {}
                other => panic!("{other:?}"),
            }
            let waiting = reading(&node).waiting_bytes + made.now() * BYTES;
            assert!(waiting <= 2 * OUTBOUND, "{waiting} bytes of answers");
        }
    })
    .await;
    assert!(heartbeat);
    // A mailbox and what leaves it: they are not written yet, but they are there.
    assert!(made.most() * BYTES <= OUTBOUND, "{} answers at a time", made.most());
    let expected: Vec<String> = (1..=COUNT).map(|sequence| sequence.to_string()).collect();
    assert_eq!(node.log.all(), expected, "in order, what was told among what was asked");
    let reading = reading(&node);
    assert_eq!((reading.refused, reading.breaches), (0, 0));
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_what_was_told_while_answers_wait_is_handled_although_the_peer_leaves() {
    const COUNT: u64 = 500;
    let (node, _) = quarry("one", options().outbound_bytes(1 << 20)).await;
    let to = node.address("quarry").to_string();
    let mut peer = Stranger::enter(&node, NAME).await;
    let intern = |text: &str| Intern {
        space: InternSpace::Address,
        id: 1,
        text: text.into(),
    };
    peer.say([Frame::Intern(intern(&to))]).await;
    peer.say((1..=COUNT).map(|sequence| {
        let mut frame = message("", sequence, 60_000);
        let (Frame::Tell(envelope) | Frame::Ask { envelope, .. }) = &mut frame else {
            unreachable!("it is a message")
        };
        envelope.receiver = Name::Id(1);
        frame
    }))
    .await;
    // The number means somebody else by the time that they go on.
    peer.say([Frame::Intern(intern("volary://one@127.0.0.1:1/user/other"))])
        .await;
    eventually("all is read", || reading(&node).received == COUNT).await;
    let reason = GoodbyeReason::Leaving;
    let text = "".into();
    peer.say([Frame::Goodbye(Goodbye { reason, text })]).await;
    // Nobody waits for an answer any more; what was told is handled.
    let told = || node.log.all().into_iter().filter(|number| number.ends_with('0'));
    eventually("all of it", || told().count() as u64 == COUNT / 10).await;
    assert!(told().eq((1..=COUNT / 10).map(|number| (10 * number).to_string())));
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_two_nodes_that_ask_each_other_for_more_than_may_wait_are_both_answered() {
    const COUNT: u64 = 150;
    const BYTES: usize = 200_000;
    let small = || options().outbound_bytes(1 << 20);
    let (one, _) = quarry("one", small()).await;
    let (other, _) = quarry("other", small()).await;
    let there: ActorRef<Quarry> = one.remote.actor(&other.address("quarry")).unwrap();
    let here: ActorRef<Quarry> = other.remote.actor(&one.address("quarry")).unwrap();
    soon("an answer", there.ask(Dig { number: 0, bytes: 1 })).await.unwrap();
    let ask = |to: &ActorRef<Quarry>, number| {
        let to = to.clone();
        tokio::spawn(async move { to.ask(Dig { number, bytes: BYTES }).timeout(PATIENCE).await })
    };
    let asks: Vec<_> = (0..COUNT)
        .flat_map(|number| [ask(&there, number), ask(&here, number)])
        .collect();
    for ask in asks {
        let answer = soon("an answer", ask).await.unwrap();
        assert_eq!(answer.unwrap().0.len(), BYTES);
    }
    assert_eq!(reading(&one).connections, 1);
    stop(one, other).await;
}
