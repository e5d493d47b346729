//! R1, R3: large answers travel in pieces like large messages, and what is too large harms nobody.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::fmt;
use std::time::Duration;

use common::*;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use volary::prelude::*;
use volary_core::{Baggage, MAX_HEADER_BYTES};
use volary_remote::{Argument, RemoteSpawnError};

/// Bytes that are written as one, which is quick.
struct Flour(Vec<u8>);

impl Serialize for Flour {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Flour {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Flour;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Flour, E> {
                Ok(Flour(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

/// Makes as many bytes as it is told to.
struct Mill {
    ground: usize,
}

#[actor(kind = "test.Mill", remote(Grind, Ground, Pour))]
impl Mill {
    #[message(remote = "test.Grind", codec = postcard, derive(Serialize, Deserialize))]
    fn grind(&mut self, bytes: usize) -> Flour {
        self.ground += bytes;
        Flour(vec![7; bytes])
    }

    #[message(remote = "test.Pour", codec = postcard, derive(Serialize, Deserialize))]
    fn pour(&mut self, flour: Flour) {
        self.ground += flour.0.len();
    }

    #[message(remote = "test.Ground", codec = postcard, derive(Serialize, Deserialize))]
    fn ground(&mut self) -> usize {
        self.ground
    }
}

async fn mills() -> (Node, Node, ActorRef<Mill>) {
    // What is large takes a slow machine its time.
    let options = || options().silence(Duration::from_secs(3_600));
    let make = || {
        builder()
            .options(options())
            .kind::<Mill>()
            .spawnable::<Mill>(|argument: &Argument| {
                Ok(Mill {
                    ground: argument.bytes().len(),
                })
            })
    };
    let one = Node::start("one", make()).await;
    let other = Node::start("other", make()).await;
    other.system.spawn(|| Mill { ground: 0 }).named("mill").await.unwrap();
    let far = one.remote.actor(&other.address("mill")).unwrap();
    (one, other, far)
}

async fn stop(one: Node, other: Node) {
    assert_eq!(one.remote.peers()[0].connections, 1);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_an_answer_may_be_as_large_as_a_message() {
    let (one, other, mill) = mills().await;
    // More than fits a frame, and others are answered meanwhile.
    let large = mill.ask(Grind { bytes: 20 << 20 }).timeout(PATIENCE);
    assert_eq!(soon("an answer", large).await.unwrap().0.len(), 20 << 20);
    let large = mill.ask(Grind { bytes: 1 << 20 }).timeout(PATIENCE);
    assert_eq!(soon("an answer", large).await.unwrap().0.len(), 1 << 20);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_what_is_too_large_is_refused_where_it_is_made() {
    let (one, other, mill) = mills().await;
    assert!(soon("an answer", mill.ask(Grind { bytes: 1 })).await.is_ok());
    let answer = soon("an end", mill.ask(Grind { bytes: 65 << 20 }).timeout(PATIENCE)).await;
    assert!(matches!(&answer, Err(AskError::Failed(fault)) if fault.to_string().contains("too large")));
    let message = mill.tell(Pour {
        flour: Flour(vec![7; 65 << 20]),
    });
    assert!(matches!(message, Err(TellError::Unsendable(_))));
    let spawn = one
        .remote
        .spawn::<Mill>(other.remote.node(), "second")
        .argument(vec![7; 65 << 20]);
    let spawned = soon("an end", spawn).await;
    assert!(matches!(spawned, Err(RemoteSpawnError::Operation(_))), "{spawned:?}");
    assert!(soon("an answer", mill.ask(Ground)).await.is_ok());
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_a_large_argument_travels() {
    let (one, other, _) = mills().await;
    let spawn = one
        .remote
        .spawn::<Mill>(other.remote.node(), "second")
        .argument(vec![7; 20 << 20]);
    let second = soon("a start", spawn).await.unwrap();
    assert_eq!(soon("an answer", second.ask(Ground)).await.unwrap(), 20 << 20);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_as_many_headers_travel_as_are_allowed_here() {
    let (one, other, mill) = mills().await;
    let mut baggage = Baggage::new();
    let mut left = MAX_HEADER_BYTES;
    for number in 0..64 {
        let name = format!("h{number}");
        let length = (left / (64 - number)).saturating_sub(name.len());
        left -= length + name.len();
        baggage = baggage.with_header(name, vec![7; length]).unwrap();
    }
    soon("an answer", baggage.around(async { mill.ask(Ground).await }))
        .await
        .unwrap();
    stop(one, other).await;
}
