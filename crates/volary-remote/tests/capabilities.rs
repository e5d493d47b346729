//! R3: what a peer says it cannot do is not asked of it. A peer that puts no pieces together is sent whole frames.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use common::stranger::{Stranger, envelope, introduction};
use common::*;
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{DeadLetter, DeadReason, RemoteError};
use volary_remote::RemoteBuilder;
use volary_wire::native::{Capabilities, Capability, Frame, FrameKind, Outcome, RefuseReason, Text, Welcome};
use volary_wire::{Codec, Postcard};

const NAME: &str = "127.0.0.1:9";
/// Longer than a piece.
const LARGE: usize = 200_000;
/// Longer than a frame may be.
const TOO_LARGE: usize = 17 << 20;

/// A peer that says nothing of itself is heard out, however long what is large takes on a busy machine; and nothing is
/// written because a heartbeat was due.
fn in_pieces() -> RemoteBuilder {
    let options = options()
        .chunk_bytes(4_096)
        .heartbeat(2 * PATIENCE)
        .silence(3 * PATIENCE);
    builder().options(options)
}

/// Makes as many bytes as it is told to.
struct Mill;

#[actor(kind = "test.Mill", remote(Grind))]
impl Mill {
    #[message(remote = "test.Grind", codec = postcard, derive(Serialize, Deserialize))]
    fn grind(&mut self, bytes: usize) -> Vec<u8> {
        vec![7; bytes]
    }
}

/// A stranger that says it has these, and what it hears. A node that has something to say to it may be calling as well,
/// in vain; until it has noticed that, its own call counts.
async fn enter(node: &Node, names: &[&str]) -> (Stranger, Welcome) {
    let mut hello = introduction(NAME, 7);
    hello.capabilities = names.iter().map(|name| Text::from(*name)).collect();
    loop {
        let mut peer = Stranger::introduce(node, hello.clone()).await;
        match soon("an answer", peer.hear()).await {
            Some(Frame::Welcome(welcome)) => return (peer, welcome),
            Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Duplicate => {}
            other => panic!("{other:?}"),
        }
    }
}

fn far(node: &Node) -> ActorRef<Desk> {
    let address = format!("volary://stranger@{NAME}/user/desk").parse().unwrap();
    node.remote.actor(&address).unwrap()
}

/// The next frames until one of these kinds has come.
async fn hear_until(peer: &mut Stranger, last: &[FrameKind]) -> Vec<FrameKind> {
    let mut kinds = Vec::new();
    while !kinds.last().is_some_and(|kind| last.contains(kind)) {
        kinds.push(soon("a frame", peer.hear_news()).await.unwrap().kind());
    }
    kinds
}

/// Asks for so many bytes back.
fn echo(node: &Node, bytes: usize) -> Frame {
    let mut payload = bytes::BytesMut::new();
    Postcard::encode(&Echo { bytes: vec![7; bytes] }, &mut payload).unwrap();
    Frame::Ask {
        correlation: 1,
        envelope: envelope(&node.address("desk").to_string(), 1, "test.Echo", payload.freeze()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_only_what_both_can_is_agreed_on_and_shown() {
    let node = Node::start("one", builder()).await;
    for (said, agreed) in [
        (vec!["telepathy", "chunks"], vec!["chunks"]),
        (vec!["telepathy"], vec![]),
        (vec![], vec![]),
    ] {
        let (_peer, welcome) = enter(&node, &said).await;
        let names: Vec<&str> = welcome.capabilities.iter().map(Text::as_str).collect();
        assert_eq!(names, agreed, "of {said:?}");
        eventually("that it is seen", || {
            let shown = reading(&node);
            shown.connected && shown.capabilities == Capabilities::of(&welcome.capabilities)
        })
        .await;
    }
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_two_nodes_agree_on_all_there_is() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    soon("an answer", one.far(&other, "desk").ask(Note { number: 1 }))
        .await
        .unwrap();
    for node in [&one, &other] {
        assert!(reading(node).capabilities.contains(Capability::Chunks));
    }
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_who_puts_no_pieces_together_gets_none() {
    let node = Node::start("one", in_pieces()).await;
    node.desk("desk").await;
    for (said, is_cut) in [(&["chunks"][..], true), (&[], false), (&["chunky"], false)] {
        let (mut peer, _) = enter(&node, said).await;
        eventually("a connection", || reading(&node).connected).await;
        // A message, and an answer.
        far(&node).tell(Echo { bytes: vec![7; LARGE] }).unwrap();
        let kinds = hear_until(&mut peer, &[FrameKind::Tell, FrameKind::Chunk]).await;
        assert_eq!(kinds.contains(&FrameKind::Chunk), is_cut, "{said:?}: {kinds:?}");
        drop(peer);
        eventually("the end", || !reading(&node).connected).await;
        let (mut peer, _) = enter(&node, said).await;
        peer.say([echo(&node, LARGE)]).await;
        let kinds = hear_until(&mut peer, &[FrameKind::Reply, FrameKind::Chunk]).await;
        assert_eq!(kinds.contains(&FrameKind::Chunk), is_cut, "{said:?}: {kinds:?}");
        drop(peer);
        eventually("the end", || !reading(&node).connected).await;
    }
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_has_waited_goes_as_whoever_comes_can_take_it() {
    let node = Node::start("one", in_pieces()).await;
    let dead = node.system.events().subscribe::<DeadLetter>();
    let far = far(&node);
    far.tell(Echo { bytes: vec![7; LARGE] }).unwrap();
    let asker = far.clone();
    let asked = tokio::spawn(async move {
        let bytes = vec![7; TOO_LARGE];
        asker.ask(Echo { bytes }).timeout(PATIENCE).await
    });
    eventually("that both wait", || reading(&node).under_way == 2).await;
    far.tell(Note { number: 1 }).unwrap();
    let (mut peer, _) = enter(&node, &[]).await;
    let kinds = hear_until(&mut peer, &[FrameKind::Tell]).await;
    assert!(!kinds.contains(&FrameKind::Chunk), "{kinds:?}");
    let kinds = hear_until(&mut peer, &[FrameKind::Tell]).await;
    assert!(!kinds.contains(&FrameKind::Chunk), "{kinds:?}");
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    assert_eq!(letter.reason(), DeadReason::Unsendable);
    let asked = soon("an end", asked).await.unwrap();
    assert!(
        matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::TooLarge { .. })),
        "{:?}",
        asked.map(|bytes| bytes.len())
    );
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_is_longer_than_a_frame_is_refused_where_no_pieces_are_taken() {
    let node = Node::start("one", in_pieces().kind::<Mill>()).await;
    let (mut peer, _) = enter(&node, &[]).await;
    eventually("a connection", || reading(&node).connected).await;
    let far = far(&node);
    let refused = far.tell(Echo {
        bytes: vec![7; TOO_LARGE],
    });
    assert_eq!(
        refused.map_err(|refused| refused.into_message().bytes.len()),
        Err(TOO_LARGE)
    );
    // What comes behind it is none the worse.
    far.tell(Note { number: 1 }).unwrap();
    assert_eq!(
        hear_until(&mut peer, &[FrameKind::Tell]).await.last(),
        Some(&FrameKind::Tell)
    );
    // And an answer that is too long is said to be.
    node.system.spawn(|| Mill).named("mill").await.unwrap();
    let mut payload = bytes::BytesMut::new();
    Postcard::encode(&Grind { bytes: TOO_LARGE }, &mut payload).unwrap();
    let envelope = envelope(&node.address("mill").to_string(), 1, "test.Grind", payload.freeze());
    let correlation = 1;
    peer.say([Frame::Ask { correlation, envelope }]).await;
    let answer = loop {
        if let Frame::Reply(reply) = soon("an answer", peer.hear_news()).await.unwrap() {
            break reply.outcome;
        }
    };
    let Outcome::Ended { number, text, .. } = answer else {
        panic!("it came")
    };
    assert_eq!(number, Outcome::FAILED);
    assert!(text.contains("too large") && text.contains("16777216"), "{text}");
    node.system.stop().await.unwrap();
}
