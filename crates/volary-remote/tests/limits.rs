//! R1, S20: how much a message may hold is set, and what is beyond is refused where it is sent. A peer that sends it
//! nevertheless loses its connection.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use common::stranger::{Stranger, envelope, note};
use common::*;
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::{Remote, RemoteOptions};
use volary_wire::native::{Chunk, Frame, Metadata, MetadataBuilder};

const SMALL: usize = 256 << 10;

fn small() -> RemoteOptions {
    options().max_frame(SMALL).max_message(SMALL)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_message_beyond_the_limit_is_refused_where_it_is_sent() {
    let one = Node::start("one", builder().options(small())).await;
    let other = Node::start("other", builder()).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    let bytes = vec![7; SMALL - 1_024];
    assert_eq!(
        soon("an echo", far.ask(Echo { bytes: bytes.clone() })).await.unwrap(),
        bytes
    );
    let bytes = vec![7; SMALL];
    let told = far.tell(Echo { bytes: bytes.clone() });
    assert!(matches!(told, Err(TellError::Unsendable(Echo { bytes: back })) if back == bytes));
    let asked = soon("an end", far.ask(Echo { bytes })).await;
    let why = asked.unwrap_err().to_string();
    assert!(why.contains("too large"), "{why}");
    assert_eq!(reading(&one).connections, 1);
    stop(one, other).await;
}

/// A peer that does not listen to what this node takes.
async fn deaf(node: &Node) -> Stranger {
    let peer = Stranger::enter(node, "127.0.0.1:9").await;
    eventually("that it is known", || reading(node).connected).await;
    peer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_message_beyond_the_limit_ends_the_connection_where_it_arrives() {
    let node = Node::start("one", builder().options(small())).await;
    node.desk("desk").await;
    let desk = node.address("desk").to_string();
    // As a whole, and in pieces: of both it is known from the first bytes.
    let mut peer = deaf(&node).await;
    let whole = envelope(&desk, 1, "test.Echo", vec![7; SMALL]);
    peer.say([Frame::Tell(whole)]).await;
    soon("the end", peer.hear_the_end()).await;
    eventually("it is counted", || reading(&node).breaches == 1).await;
    let mut peer = deaf(&node).await;
    let piece = Frame::Chunk(Chunk {
        transfer: 1,
        total: SMALL as u64 + 1,
        offset: 0,
        payload: vec![7; 100].into(),
    });
    peer.say([piece]).await;
    soon("the end", peer.hear_the_end()).await;
    eventually("it is counted", || reading(&node).breaches == 2).await;
    assert_eq!(reading(&node).received, 0);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_headers_beyond_the_limit_end_the_connection_where_they_arrive() {
    let node = Node::start("one", builder().options(options().max_headers(2))).await;
    node.desk("desk").await;
    let mut peer = deaf(&node).await;
    for (count, breaches) in [(2, 0), (3, 1)] {
        let header = |metadata: MetadataBuilder, number| metadata.header(&format!("word-{number}"), b"a");
        let metadata = (0..count).fold(Metadata::builder(), header).build();
        let mut envelope = note(&node.address("desk").to_string(), count, 1);
        envelope.metadata = Some(metadata);
        peer.say([Frame::Tell(envelope)]).await;
        eventually("it is counted", || {
            let reading = reading(&node);
            (reading.received, reading.breaches) == (1, breaches)
        })
        .await;
    }
    soon("the end", peer.hear_the_end()).await;
    node.system.stop().await.unwrap();
}

struct Cache<T> {
    value: Option<T>,
}

#[actor(kind = "cache", remote(Put, Get))]
impl<T: Clone + Send + 'static> Cache<T> {
    #[message(remote = "cache.Put", codec = json, derive(Serialize, Deserialize))]
    fn put(&mut self, value: T) {
        self.value = Some(value);
    }

    #[message(remote = "cache.Get", codec = json, derive(Serialize, Deserialize))]
    fn get(&mut self) -> Option<T> {
        self.value.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_two_instances_of_a_generic_actor_are_sent_to_and_started_under_their_names() {
    let builder = || {
        Remote::builder()
            .kind::<Cache<u64>>()
            .message_as::<Put<String>>("cache.PutText")
            .message_as::<Get<String>>("cache.GetText")
            .kind_as::<Cache<String>>("cache.text")
            .spawnable::<Cache<u64>>(|_| Ok(Cache { value: Some(7) }))
            .spawnable::<Cache<String>>(|_| Ok(Cache { value: None }))
    };
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder()).await;
    let there = one.remote.at(other.remote.node());
    let kinds = soon("kinds", there.spawnable_kinds()).await.unwrap();
    assert_eq!(kinds, ["cache", "cache.text"]);
    let numbers = soon("a start", there.spawn::<Cache<u64>>("numbers")).await.unwrap();
    let texts = soon("a start", there.spawn::<Cache<String>>("texts")).await.unwrap();
    texts.tell(Put { value: "a".to_owned() }).unwrap();
    assert_eq!(
        soon("a text", texts.ask(Get::<String>::new())).await.unwrap(),
        Some("a".to_owned())
    );
    assert_eq!(soon("a number", numbers.ask(Get::<u64>::new())).await.unwrap(), Some(7));
    stop(one, other).await;
}
