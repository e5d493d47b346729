//! S20: what references in messages of others may make a node keep.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::stranger::{Stranger, envelope};
use common::*;
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::PeerEvent;
use volary_wire::native::{Frame, Outcome, Reply};

const MOST: usize = 200;

/// Keeps references, until it is told to let go.
struct Collector(Vec<Recipient<Note>>);

#[actor(kind = "test.Collector", remote(Collect, LetGo))]
impl Collector {
    #[message(remote = "test.Collect", codec = json, derive(Serialize, Deserialize))]
    fn collect(&mut self, more: Vec<Recipient<Note>>) -> usize {
        self.0.extend(more);
        self.0.len()
    }
    #[message(remote = "test.LetGo", codec = json, derive(Serialize, Deserialize))]
    fn let_go(&mut self) {
        self.0.clear();
    }
}

struct Caller {
    peer: Stranger,
    to: String,
    name: String,
    asked: u64,
}

impl Caller {
    async fn enter(node: &Node, name: &str) -> Self {
        Caller {
            peer: Stranger::enter(node, name).await,
            to: node.address("collector").to_string(),
            name: name.to_owned(),
            asked: 0,
        }
    }

    /// Asks, and hears what the end of that is.
    async fn ask(&mut self, type_name: &str, payload: String) -> Outcome {
        self.asked += 1;
        let correlation = self.asked;
        let mut envelope = envelope(&self.to, correlation, type_name, payload);
        envelope.codec = volary_wire::CodecId::JSON;
        self.peer.say([Frame::Ask { correlation, envelope }]).await;
        let answer = async {
            loop {
                match self.peer.hear().await {
                    Some(Frame::Reply(Reply {
                        correlation: of,
                        outcome,
                    })) if of == correlation => break outcome,
                    Some(_) => {}
                    None => panic!("it was not let go"),
                }
            }
        };
        soon("an answer", answer).await
    }

    /// Refers to these of its own actors.
    async fn collect(&mut self, numbers: std::ops::Range<usize>) -> Outcome {
        let one = |number| format!(r#""volary://stranger@{}/user/a{number}""#, self.name);
        let all: Vec<String> = numbers.map(one).collect();
        self.ask("test.Collect", format!(r#"{{"more":[{}]}}"#, all.join(",")))
            .await
    }
}

fn is_answered(outcome: &Outcome, count: usize) -> bool {
    matches!(outcome, Outcome::Ok { payload, .. } if payload[..] == *count.to_string().as_bytes())
}

fn is_refused(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ended { number: Outcome::REFUSED, text, .. }
        if text.as_str().contains("`references`") && text.as_str().contains(&MOST.to_string()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_references_to_more_actors_than_are_set_are_not_taken() {
    let options = options().references(MOST).silence(Duration::from_secs(3_600));
    let node = Node::start("one", builder().kind::<Collector>().options(options)).await;
    let events = node.system.events().subscribe::<PeerEvent>();
    node.system
        .spawn(|| Collector(Vec::new()))
        .named("collector")
        .await
        .unwrap();
    let mut one = Caller::enter(&node, "127.0.0.1:9").await;
    // Of one peer half of them, in one message or in several.
    let all = one.collect(0..MOST / 2 + 1).await;
    assert!(is_refused(&all), "{all:?}");
    let most = one.collect(0..MOST / 2).await;
    assert!(is_answered(&most, MOST / 2), "{most:?}");
    let more = one.collect(MOST / 2..MOST / 2 + 1).await;
    assert!(is_refused(&more), "{more:?}");
    let same = one.collect(0..2).await;
    assert!(is_answered(&same, MOST / 2 + 2), "they are known: {same:?}");
    // And of another as many as are free, in the same way.
    let mut other = Caller::enter(&node, "127.0.0.1:10").await;
    let some = other.collect(0..MOST / 4).await;
    assert!(is_answered(&some, MOST / 2 + 2 + MOST / 4), "{some:?}");
    let more = other.collect(MOST / 4..MOST / 4 + 1).await;
    assert!(is_refused(&more), "{more:?}");
    // It is said to whoever runs the node.
    let said = async {
        loop {
            if let PeerEvent::Refused { why, .. } = events.next().await.unwrap() {
                break why;
            }
        }
    };
    assert!(soon("it is said", said).await.contains("`references`"));
    // Where nobody refers to them any more there is room again.
    let gone = other.ask("test.LetGo", "null".to_owned()).await;
    assert!(matches!(gone, Outcome::Ok { .. }), "{gone:?}");
    let again = async {
        loop {
            let all = other.collect(100..100 + MOST / 2).await;
            if is_answered(&all, MOST / 2) {
                break;
            }
            assert!(is_refused(&all), "not all of them have gone: {all:?}");
        }
    };
    soon("room", again).await;
    node.system.stop().await.unwrap();
}
