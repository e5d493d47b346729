//! R3, S3: asks that come in one piece, said by a peer that writes its frames by hand.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::stranger::{Stranger, envelope, note};
use common::stubborn::{LONG, Stubborn, Stubborns};
use common::*;
use volary::prelude::*;
use volary_wire::native::{Envelope, Frame, Metadata, Outcome, Reply};

/// Where the peer says it is.
const NAME: &str = "127.0.0.1:1";

struct Place {
    node: Node,
    one: ActorRef<Stubborn>,
    stubborns: Stubborns,
}

impl Place {
    /// A node with a desk and two that may be stubborn.
    async fn new() -> Self {
        let node = Node::start("node", builder().kind::<Stubborn>()).await;
        node.desk("desk").await;
        let stubborns = Stubborns::new();
        stubborns.spawn(&node, "two").await;
        let one = stubborns.spawn(&node, "one").await;
        Place { node, one, stubborns }
    }

    fn ask(&self, number: u64, who: &str, what: &str) -> Frame {
        let to = self.node.address(who).to_string();
        asked(envelope(&to, number, what, bytes::Bytes::new()))
    }

    fn note(&self, number: u64) -> Envelope {
        note(&self.node.address("desk").to_string(), number, number)
    }
}

/// An ask has the number of its message.
fn asked(envelope: Envelope) -> Frame {
    Frame::Ask {
        correlation: envelope.sequence,
        envelope,
    }
}

async fn next_reply(peer: &mut Stranger) -> Reply {
    soon("an answer", async {
        loop {
            match peer.hear_news().await {
                Some(Frame::Reply(reply)) => break reply,
                Some(Frame::Confirm(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r3_a_batch_that_is_not_read_at_once_is_read_on_behind_a_handler_that_does_not_end() {
    let place = Place::new().await;
    let mut peer = Stranger::enter(&place.node, NAME).await;
    let rest = (2..=1_000).map(|number| Frame::Tell(place.note(number)));
    let frames = std::iter::once(place.ask(1, "one", "test.Think")).chain(rest);
    peer.say(frames.chain([asked(place.note(1_001))])).await;
    assert_eq!(next_reply(&mut peer).await.correlation, 1_001);
    place.stubborns.begin().await;
    place.stubborns.go_on();
    assert_eq!(next_reply(&mut peer).await.correlation, 1);
    place.node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r3_an_ask_that_is_left_to_a_worker_does_not_wait_for_the_next_that_is_not() {
    let place = Place::new().await;
    let mut peer = Stranger::enter(&place.node, NAME).await;
    // It is known to take its time from now on, and left to the workers.
    peer.say([place.ask(1, "one", "test.Think")]).await;
    let one = &place.one;
    eventually("it is known to be slow", || one.status().slow).await;
    place.stubborns.go_on();
    assert_eq!(next_reply(&mut peer).await.correlation, 1);
    for round in 0..5 {
        let number = 2 + 2 * round;
        peer.say([
            place.ask(number, "one", "test.Quick"),
            place.ask(number + 1, "two", "test.Think"),
        ])
        .await;
        assert_eq!(next_reply(&mut peer).await.correlation, number);
        place.stubborns.begin().await;
        place.stubborns.go_on();
        assert_eq!(next_reply(&mut peer).await.correlation, number + 1);
    }
    place.node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn s3_the_time_of_an_ask_counts_from_its_arrival_and_not_from_its_turn() {
    let place = Place::new().await;
    let mut peer = Stranger::enter(&place.node, NAME).await;
    let mut late = place.note(2);
    late.metadata = Some(Metadata::builder().deadline(LONG / 3).build());
    let mut early = place.note(3);
    early.metadata = Some(Metadata::builder().deadline(PATIENCE).build());
    peer.say([place.ask(1, "one", "test.Compute"), asked(late), asked(early)])
        .await;
    let mut replies = Vec::new();
    for _ in 0..3 {
        replies.push(next_reply(&mut peer).await);
    }
    replies.sort_by_key(|reply| reply.correlation);
    let expired = |reply: &Reply| {
        matches!(
            reply.outcome,
            Outcome::Ended {
                number: Outcome::EXPIRED,
                ..
            }
        )
    };
    assert_eq!(
        replies.iter().map(expired).collect::<Vec<_>>(),
        [false, true, false],
        "{replies:?}"
    );
    assert_eq!(place.node.log.all(), ["3"]);
    place.node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn s3_an_ask_that_is_given_up_before_anybody_began_with_it_is_not_handled() {
    let place = Place::new().await;
    let mut peer = Stranger::enter(&place.node, NAME).await;
    peer.say([
        asked(place.note(1)),
        Frame::Cancel { correlation: 1 },
        asked(place.note(2)),
    ])
    .await;
    assert_eq!(next_reply(&mut peer).await.correlation, 2);
    assert_eq!(place.node.log.all(), ["2"]);
    place.node.system.stop().await.unwrap();
}
