//! R3: the transport, seen as an actor.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use volary::prelude::*;
use volary_core::{Address, DeadLetter};
use volary_remote::{Connect, Peers, RemoteEnvelope, SendRemote, TransportActor, Undelivered};
use volary_wire::{CodecId, DeliverError};

async fn transport(node: &Node) -> ActorRef<TransportActor> {
    let remote = node.remote.clone();
    let spawn = node.system.spawn(move || TransportActor::new(remote.clone()));
    spawn.named("transport").await.unwrap()
}

/// A note as it is on the wire: one number, in as few bytes as postcard needs.
fn note(target: Address, number: u8) -> RemoteEnvelope {
    RemoteEnvelope {
        target,
        sender: None,
        type_name: "test.Note".to_owned(),
        codec: CodecId::POSTCARD,
        payload: vec![number].into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_the_transport_is_told_reaches_actors_here_and_elsewhere() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    other.desk("far").await;
    assert!(
        soon("begun", transport.ask(Connect(other.remote.node().to_owned())))
            .await
            .unwrap()
    );
    for number in 1..=100 {
        transport.tell(SendRemote(note(other.address("far"), number))).unwrap();
    }
    soon("sent", transport.ask(SendRemote(note(other.address("far"), 101))))
        .await
        .unwrap();
    soon("sent", transport.ask(SendRemote(note(one.address("near"), 7))))
        .await
        .unwrap();
    let all: Vec<String> = (1..=101).map(|n| n.to_string()).collect();
    eventually("all arrive, in order", || other.log.all() == all).await;
    eventually("and here too", || one.log.all() == ["7"]).await;
    let peers = soon("peers", transport.ask(Peers)).await.unwrap();
    assert_eq!((peers.len(), peers[0].sent), (1, 101));
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_references_in_what_the_transport_sends_lead_back() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    let near = one.desk("near").await;
    other.desk("far").await;
    let address = one.remote.address_of(&near).to_string();
    let length = u8::try_from(address.len()).unwrap();
    let mut tell = note(other.address("far"), 0);
    tell.type_name = "test.Tell".to_owned();
    tell.payload = [&[length][..], address.as_bytes(), &[42]].concat().into();
    soon("sent", transport.ask(SendRemote(tell))).await.unwrap();
    eventually("the note comes back", || one.log.all() == ["42"]).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_transport_says_whom_a_message_is_from() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    let letters = other.system.events().subscribe::<DeadLetter>();
    let mut envelope = note(other.address("nobody"), 1);
    envelope.sender = Some(one.address("near"));
    soon("sent", transport.ask(SendRemote(envelope))).await.unwrap();
    let letter = soon("a dead letter there", letters.next()).await.unwrap();
    assert!(letter.sender().is_some(), "{letter:?}");
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_cannot_be_sent_is_rejected_with_its_reason() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    let refused = async |envelope| match soon("an answer", transport.ask(SendRemote(envelope))).await {
        Err(AskError::Rejected(why)) => why,
        answer => panic!("{answer:?}"),
    };
    let far = || note(other.address("far"), 1);
    for target in [far().target, one.address("near")] {
        let mut unknown = note(target.clone(), 1);
        unknown.type_name = "test.Nope".to_owned();
        let why = refused(unknown).await;
        assert!(
            matches!(&why, Undelivered::Not(DeliverError::UnknownMessage { .. })),
            "{why}"
        );
        assert!(why.to_string().contains("test.No"), "{why}");
        let mut json = note(target.clone(), 1);
        json.codec = CodecId::JSON;
        let why = refused(json).await;
        assert!(matches!(&why, Undelivered::Not(DeliverError::Codec { .. })), "{why}");
        let mut empty = note(target, 1);
        empty.payload = Vec::new().into();
        let why = refused(empty).await;
        assert!(matches!(&why, Undelivered::Not(DeliverError::Decode(_))), "{why}");
    }
    let why = refused(note(one.address("nobody"), 1)).await;
    assert!(matches!(&why, Undelivered::Nobody { .. }), "{why}");
    for sender in [one.address("nobody"), other.address("far")] {
        let mut sent = far();
        sent.sender = Some(sender);
        let why = refused(sent).await;
        assert!(matches!(&why, Undelivered::Sender { .. }), "{why}");
    }
    let here = one.remote.node().to_owned();
    assert!(!soon("not to itself", transport.ask(Connect(here))).await.unwrap());
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}
