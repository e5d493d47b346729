//! R1, S20: how much a message may hold is set, and what is beyond is refused where it is sent and ends the connection
//! where it arrives.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use common::*;
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{Baggage, RemoteError};
use volary_remote::{Remote, RemoteOptions};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_message_beyond_the_limit_ends_the_connection_where_it_arrives() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().options(small())).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    soon("a note", far.ask(Note { number: 1 })).await.unwrap();
    let asked = soon(
        "an end",
        far.ask(Echo {
            bytes: vec![7; 2 * SMALL],
        }),
    )
    .await;
    let unconfirmed =
        matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Unconfirmed { .. }));
    assert!(unconfirmed, "{asked:?}");
    eventually("it is counted", || reading(&other).breaches == 1).await;
    // And they go on with another connection.
    soon("a note", far.ask(Note { number: 2 }).timeout(PATIENCE))
        .await
        .unwrap();
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_headers_beyond_the_limit_end_the_connection_where_they_arrive() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().options(options().max_headers(2))).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    let with = async |count: usize| {
        let header = |baggage: Baggage, number| baggage.with_header(format!("word-{number}"), "a").unwrap();
        let baggage = (0..count).fold(Baggage::new(), header);
        soon("an end", baggage.around(async { far.ask(Note { number: 1 }).await })).await
    };
    assert_eq!(with(2).await.unwrap(), 1);
    assert!(with(3).await.is_err());
    eventually("it is counted", || reading(&other).breaches == 1).await;
    stop(one, other).await;
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
