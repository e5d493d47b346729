//! R5: what a peer may do, and who may be one.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::stranger::{Stranger, operation};
use common::*;
use volary::prelude::*;
use volary_core::RemoteError;
use volary_remote::transport::Memory;
use volary_remote::{OperationError, PeerEvent, RemoteBuilder, RemoteStartError, Right, Rights};
use volary_wire::native::{Frame, RefuseReason};

/// A node, and another that lets it do only this.
async fn pair_with(rights: Rights) -> (Node, Node) {
    nodes(builder().rights(move |_| rights)).await
}

async fn nodes(other: RemoteBuilder) -> (Node, Node) {
    let (one, other) = (Node::start("one", builder()).await, Node::start("other", other).await);
    other.desk("desk").await;
    (one, other)
}

/// Waits until `one` hears that it has no such right.
async fn forbidden(one: &Node, right: Right, act: impl FnOnce()) {
    let events = one.system.events().subscribe::<PeerEvent>();
    act();
    soon("it is forbidden", async {
        loop {
            if let PeerEvent::Forbidden { right: missing, .. } = events.next().await.unwrap() {
                assert_eq!(missing, right);
                break;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_who_may_not_tell_is_answered_and_counted() {
    let (one, other) = pair_with(Rights::all().without(Right::Tell)).await;
    let desk = one.far(&other, "desk");
    let asked = soon("a refusal", desk.ask(Note { number: 1 })).await;
    let Err(AskError::Remote(error)) = asked else {
        panic!("{asked:?}")
    };
    assert!(
        matches!(&*error, RemoteError::NotTaken { why, .. } if why.contains("no right to tell")),
        "{error}"
    );
    for number in 0..10 {
        desk.tell(Note { number }).unwrap();
    }
    eventually("all are settled", || reading(&one).under_way == 0).await;
    eventually("all are counted", || reading(&other).forbidden == 11).await;
    let there = reading(&other);
    assert_eq!((there.received, there.refused), (11, 11), "{there:?}");
    assert_eq!(other.log.len(), 0);
    // The other direction has rights of its own.
    one.desk("near").await;
    assert_eq!(
        soon("an answer", other.far(&one, "near").ask(Note { number: 1 }))
            .await
            .unwrap(),
        1
    );
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_who_may_not_stop_does_not() {
    let (one, other) = pair_with(Rights::all().without(Right::Control)).await;
    let desk = one.far(&other, "desk");
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    forbidden(&one, Right::Control, || {
        desk.stop();
        desk.kill();
        desk.restart();
        desk.drain();
    })
    .await;
    eventually("all are counted", || reading(&other).forbidden == 4).await;
    // Neither stopped nor begun anew: it still counts on.
    assert_eq!(soon("an answer", desk.ask(Note { number: 2 })).await.unwrap(), 2);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_who_may_not_inspect_hears_so() {
    let (one, other) = pair_with(Rights::all().without(Right::Inspect)).await;
    let address = other.address("desk").to_string();
    let lookup = one.remote.lookup(other.remote.node(), &address);
    let error = soon("a refusal", lookup).await.unwrap_err();
    assert!(
        matches!(&error, OperationError::Forbidden { why, .. } if why.contains("no right to inspect")),
        "{error}"
    );
    assert!(soon("a refusal", one.remote.kinds(other.remote.node())).await.is_err());
    assert_eq!(reading(&other).forbidden, 2);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_who_may_not_watch_hears_that_and_no_end() {
    let (one, other) = pair_with(Rights::all().without(Right::Watch)).await;
    let real = other.desk("watched").await;
    let desk = one.far(&other, "watched");
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    let mut end = Box::pin(desk.terminated());
    let events = one.system.events().subscribe::<PeerEvent>();
    let hear = async {
        while !matches!(events.next().await.unwrap(), PeerEvent::Forbidden { right, .. } if right == Right::Watch) {}
    };
    soon("it is forbidden", async {
        let mut hear = std::pin::pin!(hear);
        std::future::poll_fn(|task| {
            assert!(end.as_mut().poll(task).is_pending());
            hear.as_mut().poll(task)
        })
        .await;
    })
    .await;
    real.stop();
    soon("it stops", real.terminated()).await;
    let ended = soon("nobody", desk.ask(Note { number: 2 })).await;
    assert!(matches!(ended, Err(AskError::Stopped)), "{ended:?}");
    // What was written in order before the answer has come with it.
    soon("an answer", one.remote.kinds(other.remote.node())).await.unwrap();
    let heard = std::future::poll_fn(|task| std::task::Poll::Ready(end.as_mut().poll(task).is_ready())).await;
    assert!(!heard, "the end of an actor is not for it");
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_panic_gives_no_rights_and_goes_no_further() {
    let (one, other) = nodes(builder().rights(|_| panic!("undecided"))).await;
    let asked = soon("a refusal", one.far(&other, "desk").ask(Note { number: 1 })).await;
    assert!(matches!(asked, Err(AskError::Remote(_))), "{asked:?}");
    assert_eq!(other.log.len(), 0);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_by_default_plaintext_beyond_loopback_may_tell_and_not_stop() {
    let (one, other) = nodes(builder().plaintext_beyond_loopback()).await;
    let desk = one.far(&other, "desk");
    assert_eq!(soon("an answer", desk.ask(Note { number: 1 })).await.unwrap(), 1);
    forbidden(&one, Right::Control, || desk.stop()).await;
    assert_eq!(soon("an answer", desk.ask(Note { number: 2 })).await.unwrap(), 2);
    stop(one, other).await;
}

async fn why_not(node: &Node, address: &str) -> String {
    let events = node.system.events().subscribe::<PeerEvent>();
    let far: ActorRef<Desk> = node.remote.actor(&address.parse().unwrap()).unwrap();
    far.tell(Note { number: 1 }).unwrap();
    soon("no connection", async {
        loop {
            if let PeerEvent::NotConnected { why, .. } = events.next().await.unwrap() {
                break why;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_plaintext_is_not_sent_beyond_loopback_unless_asked_for() {
    let one = Node::start("one", builder()).await;
    let why = why_not(&one, "volary://other@192.0.2.1:4242/user/desk").await;
    assert!(why.contains("would not be encrypted"), "{why}");
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_only_those_on_the_list_are_spoken_with() {
    let (one, other) = nodes(builder().allow_peers(["127.0.0.1:1", "bank.internal"])).await;
    let why = why_not(&one, &other.address("desk").to_string()).await;
    assert!(why.contains("is not among those allowed"), "{why}");
    one.desk("near").await;
    let far: Option<ActorRef<Desk>> = other.remote.actor(&one.address("near"));
    assert!(far.is_none(), "its addresses lead nowhere");
    assert!(other.remote.peers().is_empty() && other.log.len() == 0);
    stop(one, other).await;

    let (one, other) = nodes(builder().allow_peers(["127.0.0.1"])).await;
    assert_eq!(
        soon("an answer", one.far(&other, "desk").ask(Note { number: 1 }))
            .await
            .unwrap(),
        1
    );
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_node_is_the_same_in_any_spelling_to_those_who_allow_it_and_ask_it() {
    let network = Memory::default();
    let start = |name: &str, host: &str, builder: RemoteBuilder| {
        let (name, host) = (name.to_owned(), host.to_owned());
        let builder = builder
            .transport(network.clone())
            .advertise(&host)
            .plaintext_beyond_loopback();
        async move { Node::start_at(&name, builder, &format!("{host}:7")).await }
    };
    let allowed = builder().allow_peers(["BANK.internal", "[0:0::7]:7"]);
    let shop = start("shop", "shop.internal", allowed).await;
    let bank = start("bank", "Bank.Internal", builder()).await;
    assert_eq!(bank.remote.node(), "bank.internal:7");
    shop.desk("desk").await;
    assert_eq!(
        soon("an answer", bank.far(&shop, "desk").ask(Note { number: 1 }))
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        soon("kinds", bank.remote.kinds("SHOP.internal:7")).await.unwrap(),
        ["test.Desk"]
    );
    assert_eq!(bank.remote.peers().len(), 1, "it is one");
    let v6 = "volary://v6@[::7]:7/user/desk".parse().unwrap();
    assert!(shop.remote.actor::<Desk>(&v6).is_some());
    stop(bank, shop).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s21_who_is_allowed_must_be_somebody() {
    let system = ActorSystem::builder("one").ignore_environment().start().await.unwrap();
    for nobody in ["", "a b", "10.0.0.256", "::1", "bank:0", "bank:x", "bank:65536"] {
        let builder = builder().allow_peers(["127.0.0.1", nobody]);
        let error = builder.start(&system, "127.0.0.1:0").await.unwrap_err();
        assert!(
            matches!(&error, RemoteStartError::Address { at, .. } if at == nobody),
            "{nobody:?}: {error}"
        );
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_caller_cannot_have_the_rights_of_another_by_its_spelling() {
    let asked = Log::default();
    let seen = asked.clone();
    let builder = builder().rights(move |peer| {
        seen.push(peer.host());
        match peer.host() {
            "thief.internal" => Rights::none(),
            _ => Rights::all(),
        }
    });
    let node = Node::start("one", builder).await;
    for spelling in ["Thief.internal:7", "thief.INTERNAL:7"] {
        let mut thief = Stranger::call(&node, spelling).await;
        let Some(Frame::Refuse(refuse)) = soon("an answer", thief.hear()).await else {
            panic!("{spelling} is taken")
        };
        assert_eq!(refuse.reason, RefuseReason::Forbidden);
    }
    let _thief = Stranger::enter(&node, "thief.internal:7").await;
    eventually("that it was asked", || asked.all() == ["thief.internal"]).await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_caller_that_stands_for_all_addresses_is_refused_and_counted() {
    let node = Node::start("one", builder()).await;
    let everywhere = ["0.0.0.0:7", "[::]:7", "[::ffff:0.0.0.0]:7"];
    for (at, name) in everywhere.into_iter().enumerate() {
        let mut caller = Stranger::call(&node, name).await;
        let Some(Frame::Refuse(refuse)) = soon("an answer", caller.hear()).await else {
            panic!("{name} is taken")
        };
        assert_eq!(refuse.reason, RefuseReason::Forbidden);
        let why = refuse.text.as_str();
        // However it is spelt: one that is not spelt as nodes are is none that can be reached.
        assert!(why.contains("all addresses of a machine") || at == 2, "{why}");
        eventually("that it is counted", || {
            node.remote.refused_connections() == at as u64 + 1
        })
        .await;
    }
    assert!(node.remote.peers().is_empty());
    let _named = Stranger::enter(&node, "127.0.0.1:7").await;
    node.system.stop().await.unwrap();
}

/// Each operation, and the right that it needs. Whoever changes a right, or adds an operation, says so here too.
const NEEDED: [(&str, Right); 18] = [
    ("lookup", Right::Inspect),
    ("kinds", Right::Inspect),
    ("kind", Right::Inspect),
    ("parent", Right::Inspect),
    ("children", Right::Inspect),
    ("status", Right::Inspect),
    ("stash", Right::Inspect),
    ("dependencies", Right::Inspect),
    ("passivation", Right::Inspect),
    ("actor-metrics", Right::Inspect),
    ("node-metrics", Right::Inspect),
    ("stop", Right::Control),
    ("drain", Right::Control),
    ("kill", Right::Control),
    ("restart", Right::Control),
    ("reinstate", Right::Control),
    ("passivate", Right::Control),
    ("spawn", Right::Spawn),
];

const RIGHTS: [Right; 6] = [
    Right::Tell,
    Right::Watch,
    Right::Inspect,
    Right::Control,
    Right::Spawn,
    Right::Relay,
];

/// What an answer says: the node does not know the operation, or the peer has no right to it.
const UNKNOWN: u8 = 2;
const FORBIDDEN: u8 = 3;

/// The names are not public, so they are read where they are given.
fn operations_of_the_source() -> Vec<&'static str> {
    let source = include_str!("../src/operations/mod.rs");
    let given = source
        .lines()
        .filter(|line| line.contains(" = \"") && line.contains(" needs "));
    given.map(|line| line.split('"').nth(1).unwrap()).collect()
}

#[test]
fn r5_the_table_of_rights_has_every_operation_and_every_right() {
    assert_eq!(operations_of_the_source(), NEEDED.map(|(name, _)| name));
    assert_eq!(format!("{:?}", Rights::all()), format!("{:?}", BTreeSet::from(RIGHTS)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_each_operation_is_forbidden_without_its_right_and_by_no_other() {
    for missing in RIGHTS {
        let node = Node::start("one", builder().rights(move |_| Rights::all().without(missing))).await;
        let mut peer = Stranger::enter(&node, "127.0.0.1:9").await;
        // Without particulars: what is allowed makes no sense then, but is looked at.
        let asked = NEEDED.iter().zip(1..);
        peer.say(asked.clone().map(|((name, _), number)| operation(number, name)))
            .await;
        let mut answers = BTreeMap::new();
        while answers.len() < NEEDED.len() {
            match soon("an answer", peer.hear_news()).await {
                Some(Frame::Answer(answer)) => {
                    let text = String::from_utf8_lossy(&answer.payload).into_owned();
                    assert!(answers.insert(answer.correlation, (answer.status, text)).is_none());
                }
                other => panic!("{other:?}"),
            }
        }
        for ((name, needed), number) in asked {
            let (status, text) = &answers[&number];
            assert_ne!(*status, UNKNOWN, "{name}");
            assert_eq!(
                *status == FORBIDDEN,
                *needed == missing,
                "{name} without {missing}: {text}"
            );
            if *needed == missing {
                assert!(text.contains(&format!("no right to {missing}")), "{name}: {text}");
            }
        }
        let forbidden = NEEDED.iter().filter(|(_, needed)| *needed == missing).count() as u64;
        assert_eq!(reading(&node).forbidden, forbidden, "without {missing}");
        node.system.stop().await.unwrap();
    }
}
