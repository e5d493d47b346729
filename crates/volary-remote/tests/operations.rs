//! R6: what one node can ask of another beside messages.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::{Passivation, Props, RemoteError};
use volary_remote::{OperationError, PeerEvent, Remote, RemoteNode, Rights};

fn at(one: &Node, other: &Node) -> RemoteNode {
    one.remote.at(other.remote.node())
}

async fn end(nodes: [&Node; 2]) {
    for node in nodes {
        node.system.stop().await.unwrap();
    }
}

/// Puts everything aside, and has a child.
struct Hoarder;

#[actor]
impl Hoarder {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.spawn_child(|| Hoarded).named("child").await.map(drop).or_fault()
    }
    fn hoard(&mut self, reply: ReplyTo<()>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.stash_with(Hoard, reply).map_err(|_| Fault::msg("full"))
    }
}

struct Hoarded;
#[actor]
impl Hoarded {}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_actor_elsewhere_is_inspected() {
    let (one, other) = pair().await;
    let real = other.desk("desk").await;
    let there = at(&one, &other);
    let address = other.remote.address_of(&real);
    // By path, by address without its uid, and by the one with it.
    assert_eq!(
        soon("path", there.lookup("/user/desk")).await.unwrap(),
        Some(address.clone())
    );
    let found = soon("address", there.lookup(other.address("desk"))).await.unwrap();
    assert_eq!(found, Some(address.clone()));
    assert!(soon("uid", there.lookup(&address)).await.unwrap().is_some());
    assert_eq!(soon("nobody", there.lookup("/user/nobody")).await.unwrap(), None);

    let kind = soon("kind", there.kind(&address)).await.unwrap();
    assert_eq!(kind.kind.as_deref(), Some("test.Desk"));
    assert!(kind.actor_type.ends_with("Desk"), "{kind:?}");
    assert_eq!(kind.role, None);
    let parent = soon("parent", there.parent(&address)).await.unwrap().unwrap();
    assert_eq!(parent.path().unwrap().as_str(), "/user");
    let children = soon("children", there.children("/user")).await.unwrap();
    assert_eq!((children.addresses, children.total), (vec![address.clone()], 1));
    let status = soon("status", there.status(&address)).await.unwrap();
    assert!(status.running && !status.ended && !status.system, "{status:?}");
    assert_eq!(soon("kinds", there.kinds()).await.unwrap(), ["test.Desk"]);

    let node = soon("node metrics", there.metrics()).await.unwrap();
    assert_eq!((node.system.as_str(), node.peers), ("other", 1));
    assert_eq!(node.metrics.actors, other.system.metrics().actors);
    assert!(node.uptime > Duration::ZERO);
    end([&one, &other]).await;
}

/// Has children, puts some mail aside, and leaves other waiting while it stays with one message.
struct Clerk;

#[actor]
impl Clerk {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        for name in ["one", "two"] {
            ctx.spawn_child(|| Hoarded).named(name).await.or_fault()?;
        }
        Ok(())
    }
    fn put_aside(&mut self, reply: ReplyTo<()>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.stash_with(PutAside, reply).map_err(|_| Fault::msg("full"))
    }
    async fn stay(&mut self) {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_the_figures_of_an_actor_are_told_each_as_itself() {
    let (one, other) = pair().await;
    let clerk = other.system.spawn(|| Clerk).named("clerk").await.unwrap();
    (0..3).for_each(|_| clerk.tell(PutAside).unwrap());
    clerk.tell(Stay).unwrap();
    let here = || {
        let actors = other.system.actors();
        let clerk = actors
            .iter()
            .find(|actor| actor.path.as_str() == "/user/clerk")
            .unwrap();
        (clerk.taken, clerk.stashed)
    };
    eventually("it stays", || here() == (4, 3)).await;
    clerk.tell(PutAside).unwrap();
    let metrics = soon("metrics", at(&one, &other).actor_metrics("/user/clerk"))
        .await
        .unwrap();
    // No two alike, and none of them nothing.
    assert_eq!(
        (metrics.waiting, metrics.children, metrics.stashed, metrics.taken),
        (1, 2, 3, 4)
    );
    clerk.kill();
    end([&one, &other]).await;
}

#[derive(Debug)]
struct Ledger;
impl volary_core::Dependency for Ledger {
    const KIND: &'static str = "test.Ledger";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(Vec::new())
    }
    fn from_bytes(_: &[u8]) -> Result<Self, Fault> {
        Ok(Ledger)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_stash_dependencies_passivation_and_children_are_told() {
    let (one, other) = pair().await;
    let idle = Passivation::after(Duration::from_secs(3_600)).or_after_messages(1_000_000);
    let hoarder = other
        .system
        .spawn(|| Hoarder)
        .named("hoarder")
        .props(Props::new().dependency(Ledger).passivation(idle))
        .await
        .unwrap();
    for _ in 0..4 {
        hoarder.tell(Hoard).unwrap();
    }
    let there = at(&one, &other);
    eventually("all are put aside", || {
        other.system.actors().iter().any(|actor| actor.stashed == 4)
    })
    .await;
    assert_eq!(soon("stash", there.stash_size("/user/hoarder")).await.unwrap(), 4);
    assert_eq!(
        soon("given", there.dependencies("/user/hoarder")).await.unwrap(),
        ["test.Ledger"]
    );
    assert_eq!(soon("idle", there.passivation("/user/hoarder")).await.unwrap(), idle);
    let children = soon("children", there.children("/user/hoarder"))
        .await
        .unwrap()
        .addresses;
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].path().unwrap().as_str(), "/user/hoarder/child");
    // It is not registered there, which is said.
    assert_eq!(soon("kind", there.kind("/user/hoarder")).await.unwrap().kind, None);
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_actor_elsewhere_is_restarted_suspended_ones_reinstated_and_each_way_of_stopping_ends_it() {
    let (one, other) = pair().await;
    let there = at(&one, &other);
    let real = other.desk("desk").await;
    assert_eq!(real.ask(Note { number: 1 }).await.unwrap(), 1);
    assert_eq!(real.ask(Note { number: 1 }).await.unwrap(), 2);
    soon("restart", there.restart("/user/desk")).await.unwrap();
    assert_eq!(soon("anew", real.ask(Note { number: 1 })).await.unwrap(), 1);

    let held = other
        .system
        .spawn(desk(&other.log))
        .named("held")
        .on_fault(Directive::Suspend)
        .await
        .unwrap();
    assert!(held.ask(Fail { code: 1 }).await.is_err());
    let status = soon("status", there.status("/user/held")).await.unwrap();
    assert!(status.suspended && !status.running, "{status:?}");
    soon("reinstate", there.reinstate("/user/held")).await.unwrap();
    assert!(soon("it goes on", held.ask(Note { number: 1 })).await.is_ok());

    soon("stop", there.stop("/user/desk")).await.unwrap();
    soon("stopped", real.terminated()).await;
    let drained = other.desk("drained").await;
    soon("drain", there.drain("/user/drained")).await.unwrap();
    soon("drained", drained.terminated()).await;
    let killed = other.desk("killed").await;
    soon("kill", there.kill("/user/killed")).await.unwrap();
    soon("killed", killed.terminated()).await;

    let sleepy = other.system.spawn(desk(&other.log)).named("sleepy");
    sleepy.passivation(Passivation::on_demand()).await.unwrap();
    soon("passivate", there.passivate("/user/sleepy")).await.unwrap();
    loop {
        if soon("status", there.status("/user/sleepy")).await.unwrap().asleep {
            break;
        }
        tokio::task::yield_now().await;
    }
    let failed = soon("it cannot sleep", there.passivate("/user/held")).await;
    assert!(
        matches!(&failed, Err(OperationError::Failed { why, .. }) if why.contains("passivation")),
        "{failed:?}"
    );
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_what_cannot_be_done_says_why() {
    let (one, other) = pair().await;
    let there = at(&one, &other);
    let nobody = soon("nobody", there.stop("/user/nobody")).await;
    assert!(
        matches!(&nobody, Err(OperationError::Nobody { who, .. }) if who == "/user/nobody"),
        "{nobody:?}"
    );
    for who in ["no address", "/user/a b", "volary://"] {
        let bad = soon("bad", there.status(who)).await;
        assert!(matches!(&bad, Err(OperationError::BadRequest { .. })), "{who}: {bad:?}");
    }
    // The guardians are nobody else's to stop.
    for who in ["/", "/user", "/system"] {
        let forbidden = soon("forbidden", there.stop(who)).await;
        assert!(
            matches!(&forbidden, Err(OperationError::Forbidden { .. })),
            "{who}: {forbidden:?}"
        );
    }
    assert!(soon("it lives", there.metrics()).await.is_ok());
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_each_operation_needs_a_right() {
    let one = Node::start("one", builder()).await;
    let looks_on = builder().rights(|_| Rights::none().tell().watch().inspect());
    let other = Node::start("other", looks_on).await;
    let real = other.desk("desk").await;
    let there = at(&one, &other);
    assert!(soon("it may look", there.lookup("/user/desk")).await.unwrap().is_some());
    let forbidden = soon("not stop", there.stop("/user/desk")).await;
    assert!(
        matches!(&forbidden, Err(OperationError::Forbidden { operation: "stop", .. })),
        "{forbidden:?}"
    );
    // A reference has no answer to wait for; the refusal is seen over there.
    let events = other.system.events().subscribe::<PeerEvent>();
    one.far(&other, "desk").stop();
    let seen = soon("it is said", async {
        loop {
            if let PeerEvent::Refused { why, .. } = events.next().await.unwrap() {
                break why;
            }
        }
    })
    .await;
    assert!(seen.contains("stop") && seen.contains("Forbidden"), "{seen}");
    assert!(real.is_alive());
    // A rule that panics gives nothing.
    let careless = Node::start("careless", builder().rights(|_| panic!("no rule"))).await;
    let forbidden = soon("nothing", one.remote.at(careless.remote.node()).kinds()).await;
    assert!(
        matches!(&forbidden, Err(OperationError::Forbidden { .. })),
        "{forbidden:?}"
    );
    careless.system.stop().await.unwrap();
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_a_node_that_is_not_there_is_said_in_time() {
    let quick = options().operation_timeout(Duration::from_millis(200));
    let one = Node::start("one", Remote::builder().options(quick)).await;
    let gone = soon("gone", one.remote.at("127.0.0.1:9").kinds()).await;
    assert!(
        matches!(&gone, Err(OperationError::Remote(RemoteError::Unreachable { .. }))),
        "{gone:?}"
    );
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_addresses_with_and_without_host_lead_to_the_same_here_and_there() {
    let (one, other) = pair().await;
    let near = one.desk("desk").await;
    other.desk("desk").await;
    // Without a host, and with its own, it is the actor itself.
    let local = "volary://one/user/desk".parse().unwrap();
    assert_eq!(one.system.find(&local).unwrap().id(), near.id());
    assert_eq!(one.system.find(&one.address("desk")).unwrap().id(), near.id());
    // With that of another node it is the one there, by the same call.
    let far = one
        .system
        .recipient::<Note>(&other.address("desk").to_string())
        .unwrap();
    soon("told there", far.ask(Note { number: 7 })).await.unwrap();
    assert_eq!((one.log.len(), other.log.all()), (0, vec!["7".to_owned()]));
    // This node can be asked like any other.
    let itself = one.remote.at(one.remote.node());
    assert_eq!(
        itself.lookup("/user/desk").await.unwrap(),
        Some(one.remote.address_of(&near))
    );
    end([&one, &other]).await;
}
