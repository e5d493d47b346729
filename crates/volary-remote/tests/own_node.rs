//! R6, Casty: an address with or without a host leads to whoever is there, here as well as elsewhere.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::{Address, RemoteError};
use volary_remote::{OperationError, RemoteSpawnError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_address_of_this_node_leads_to_the_actor_itself() {
    let one = Node::start("one", builder()).await;
    let desk = one.desk("desk").await;
    let here: Address = "volary://one/user/desk".parse().unwrap();
    for address in [one.address("desk"), one.remote.address_of(&desk), here] {
        let found: ActorRef<Desk> = one.remote.actor(&address).unwrap();
        assert_eq!(found, desk, "{address}");
        assert!(one.remote.recipient::<Note>(&address).is_some());
    }
    // A message that is no message for other nodes: nothing travels.
    assert_eq!(
        one.remote
            .actor::<Desk>(&one.address("desk"))
            .unwrap()
            .ask(Secret)
            .await
            .unwrap(),
        7
    );
    assert!(
        one.remote.actor::<Hoarder>(&one.address("desk")).is_none(),
        "of another type"
    );
    assert!(one.remote.actor::<Desk>(&one.address("nobody")).is_none());
    assert!(one.remote.peers().is_empty());
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_actor_of_a_third_node_is_reached_through_a_message() {
    let (one, other) = pair().await;
    let third = Node::start("third", builder()).await;
    other.desk("middle").await;
    third.desk("end").await;
    let (middle, end) = (one.far(&other, "middle"), one.far(&third, "end"));
    let to = end.recipient();
    assert!(
        soon("it is passed on", middle.ask(Tell { to, number: 42 }))
            .await
            .unwrap()
    );
    eventually("it arrives", || third.log.all() == ["42"]).await;
    for node in [one, other, third] {
        node.system.stop().await.unwrap();
    }
}

struct Slow;

#[actor(kind = "test.Slow", remote())]
impl Slow {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.sleep(Duration::from_secs(3_600)).await;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_operation_on_this_node_has_its_time_too() {
    let builder = builder()
        .spawnable::<Slow>(|_| Ok(Slow))
        .options(options().operation_timeout(Duration::from_millis(100)));
    let one = Node::start("one", builder).await;
    let started = soon("an end", one.remote.spawn::<Slow>(one.remote.node(), "slow")).await;
    assert!(
        matches!(
            &started,
            Err(RemoteSpawnError::Operation(OperationError::Remote(
                RemoteError::Unconfirmed { .. }
            )))
        ),
        "{started:?}"
    );
    one.system.stop().await.unwrap();
}
