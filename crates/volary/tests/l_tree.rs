//! L3, L5, L7, L8: the system, names, addresses, lookup, sending by path, the tree.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;

use common::*;
use volary::prelude::*;
use volary::{Address, AnyRef, Recipient, SpawnError};

#[tokio::test]
async fn l8_names_follow_the_grammar() {
    let system = system().await;
    for good in ["a", "A9_.-", "0", "volary", &"n".repeat(255)] {
        let actor = system.spawn(a_desk(&Log::new())).named(good).await.unwrap();
        assert_eq!(actor.name(), good);
        assert_eq!(system.lookup::<Desk>(&format!("/user/{good}")), Some(actor));
    }
    for bad in [
        "",
        " ",
        "a b",
        "a/b",
        ".a",
        "-a",
        "_a",
        "$1",
        "ä",
        "a#1",
        "a\0",
        &"n".repeat(256),
        "volary-x",
        "volary-",
    ] {
        let error = system.spawn(a_desk(&Log::new())).named(bad).await.unwrap_err();
        assert!(
            matches!(&error, SpawnError::Name { name, .. } if name == bad),
            "{bad:?}: {error}"
        );
    }
    assert_eq!(system.actor_count(), 5);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l8_a_duplicate_sibling_is_refused_and_the_path_is_named() {
    let system = system().await;
    let first = system.spawn(a_desk(&Log::new())).named("alice").await.unwrap();
    let error = system.spawn(a_desk(&Log::new())).named("alice").await.unwrap_err();
    assert!(matches!(&error, SpawnError::Duplicate { path } if path.to_string() == "/user/alice"));
    assert!(error.to_string().contains("/user/alice"));
    assert!(matches!(
        system.spawn(a_desk(&Log::new())).named("alice").start(),
        Err(SpawnError::Duplicate { .. })
    ));
    assert_eq!(system.lookup::<Desk>("/user/alice"), Some(first));
    assert_eq!(system.actor_count(), 1, "nothing is left of the refused one");
    system.stop().await.unwrap();
}

/// Of many who want a name at once, one gets it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l8_a_name_is_given_once_even_in_a_race() {
    let system = system().await;
    for round in 0..100 {
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let system = system.clone();
                tokio::spawn(async move { system.spawn(a_desk(&Log::new())).named(format!("r{round}")).await })
            })
            .collect();
        let mut won = 0;
        for task in tasks {
            match soon("a spawn", task).await.unwrap() {
                Ok(_) => won += 1,
                Err(error) => assert!(matches!(error, SpawnError::Duplicate { .. }), "{error}"),
            }
        }
        assert_eq!(won, 1);
    }
    assert_eq!(system.actor_count(), 100);
    system.stop().await.unwrap();
}

struct Branch;

#[actor]
impl Branch {
    async fn sprout(&mut self, ctx: &mut Context<Self>, name: String) -> Option<ActorRef<Branch>> {
        ctx.spawn_child(|| Branch).named(name).await.ok()
    }
    async fn sprout_unnamed(&mut self, ctx: &mut Context<Self>) -> ActorRef<Branch> {
        ctx.spawn_child(|| Branch).await.unwrap()
    }
    fn twigs(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.children()
    }
    fn describe(&mut self, ctx: &mut Context<Self>) -> (String, bool) {
        (ctx.path().to_string(), ctx.me().id() == ctx.id())
    }
}

#[tokio::test]
async fn l8_the_tree_is_what_was_spawned() {
    let system = system().await;
    let trunk = system.spawn(|| Branch).named("trunk").await.unwrap();
    let left = trunk
        .ask(Sprout {
            name: "left".to_owned(),
        })
        .await
        .unwrap()
        .unwrap();
    let deep = left
        .ask(Sprout {
            name: "left".to_owned(),
        })
        .await
        .unwrap()
        .unwrap();
    assert!(
        trunk
            .ask(Sprout {
                name: "left".to_owned()
            })
            .await
            .unwrap()
            .is_none(),
        "siblings differ"
    );
    let unnamed = trunk.ask(SproutUnnamed).await.unwrap();
    assert_eq!(deep.path().to_string(), "/user/trunk/left/left");
    assert_eq!(
        deep.ask(Describe).await.unwrap(),
        ("/user/trunk/left/left".to_owned(), true)
    );
    assert_eq!(trunk.ask(Twigs).await.unwrap(), ["left".to_owned(), unnamed.name()]);
    assert!(unnamed.name().starts_with('$'));
    assert_eq!(
        system.lookup::<Branch>(&unnamed.path().to_string()),
        Some(unnamed.clone())
    );
    let mut listed: Vec<_> = system.actors().iter().map(|info| info.path.to_string()).collect();
    listed.sort();
    let mut expected = vec![
        "/user/trunk".to_owned(),
        "/user/trunk/left".to_owned(),
        "/user/trunk/left/left".to_owned(),
    ];
    expected.push(unnamed.path().to_string());
    expected.sort();
    assert_eq!(listed, expected);
    assert!(
        system
            .actors()
            .iter()
            .all(|info| info.actor_type.ends_with("Branch") && info.waiting == 0)
    );
    left.stop();
    soon("the branch", left.terminated()).await;
    assert!(!deep.is_alive(), "a branch takes its twigs along");
    assert_eq!(
        trunk.ask(Twigs).await.unwrap(),
        [unnamed.name()],
        "a dead child is forgotten"
    );
    system.stop().await.unwrap();
}

/// kameo#394, #91: a parent forgets its dead children, and so does the system.
#[tokio::test]
async fn l8_churn_leaves_nothing_behind() {
    let system = system().await;
    let trunk = system.spawn(|| Branch).named("trunk").await.unwrap();
    let witness = std::sync::Arc::new(());
    for _ in 0..500 {
        let child = trunk.ask(SproutUnnamed).await.unwrap();
        child.stop();
        soon("a child", child.terminated()).await;
        let held = witness.clone();
        let other = system
            .spawn(move || {
                let _ = &held;
                Branch
            })
            .await
            .unwrap();
        other.stop();
        soon("a child", other.terminated()).await;
    }
    assert!(trunk.ask(Twigs).await.unwrap().is_empty());
    assert_eq!(system.actor_count(), 1);
    eventually_async("factories of the dead are dropped", || {
        std::sync::Arc::strong_count(&witness) == 1
    })
    .await;
    system.stop().await.unwrap();
}

/// More children than are kept in one row.
const A_LARGE_FAMILY: usize = 1_100;

/// Below a parent with few children and with many, which take them in in different ways.
#[tokio::test]
async fn l8_nothing_is_left_of_an_actor_that_is_refused() {
    let system = system().await;
    for children in [1, A_LARGE_FAMILY] {
        let parent = AnyRef::from(&system.spawn(|| Branch).await.unwrap());
        for number in 0..children {
            parent.spawn(|| Branch).named(format!("n{number}")).await.unwrap();
        }
        let witness = Arc::new(());
        let refused = async |name: Option<&str>| {
            let held = witness.clone();
            let spawn = parent.spawn(move || {
                let _ = &held;
                Branch
            });
            let spawn = match name {
                Some(name) => spawn.named(name),
                None => spawn,
            };
            let error = spawn.await.unwrap_err();
            assert_eq!(Arc::strong_count(&witness), 1, "{children}: {error}");
            error
        };
        assert!(matches!(refused(Some("n0")).await, SpawnError::Duplicate { .. }));
        parent.stop();
        soon("the parent", parent.terminated()).await;
        assert!(matches!(refused(Some("late")).await, SpawnError::Stopping { .. }));
        assert!(matches!(refused(None).await, SpawnError::Stopping { .. }));
    }
    assert_eq!(system.actor_count(), 0);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l3_spawning_below_a_stopped_parent_is_refused() {
    let system = system().await;
    system.stop().await.unwrap();
    let error = system.spawn(a_desk(&Log::new())).named("late").await.unwrap_err();
    assert!(matches!(error, SpawnError::Stopping { .. }), "{error}");
    assert!(matches!(
        system.spawn(a_desk(&Log::new())).start(),
        Err(SpawnError::Stopping { .. })
    ));
}

#[tokio::test]
async fn l3_two_systems_of_one_name_do_not_meet() {
    let (one, two) = (system().await, system().await);
    let alice = one.spawn(a_desk(&Log::new())).named("alice").await.unwrap();
    assert!(two.lookup::<Desk>("/user/alice").is_none());
    let other = two.spawn(a_desk(&Log::new())).named("alice").await.unwrap();
    assert_ne!(alice, other);
    one.stop().await.unwrap();
    assert_eq!(other.ask(Note { number: 1 }).await.unwrap(), 1);
    two.stop().await.unwrap();
}

#[tokio::test]
async fn l5_an_address_names_one_incarnation_and_reads_back() {
    let system = system().await;
    let first = system.spawn(a_desk(&Log::new())).named("alice").await.unwrap();
    let address = first.address();
    let text = address.to_string();
    assert!(text.starts_with("volary://test/user/alice#"), "{text}");
    assert_eq!(text.parse::<Address>().unwrap(), address);
    assert_eq!(first.to_string(), text);
    assert_eq!(address.system(), "test");
    assert!(system.recipient::<Note>(&text).is_some());
    first.stop();
    soon("the end", first.terminated()).await;
    eventually_async("the name", || system.lookup::<Desk>("/user/alice").is_none()).await;
    let second = system.spawn(a_desk(&Log::new())).named("alice").await.unwrap();
    assert_ne!(second.address(), address);
    assert_ne!(second, first);
    assert!(system.recipient::<Note>(&text).is_none(), "the uid is that of the dead");
    assert_eq!(
        system.recipient::<Note>("volary://test/user/alice").unwrap().id(),
        second.id()
    );
    assert!(
        first.tell(Note { number: 1 }).is_err(),
        "a reference is to one incarnation"
    );
    system.stop().await.unwrap();
}

#[test]
fn l5_the_four_forms_of_an_address_read_back() {
    for text in [
        "volary://sys/user/a",
        "volary://sys/user/a#7f",
        "volary://sys@host:7000/user/a#1",
        "volary://sys@[::1]:7000/user/a#1",
        "volary://sys/cluster/name",
        "volary://sys/grain/kind/id",
    ] {
        let address: Address = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(address.to_string(), text);
    }
    for text in [
        "",
        "volary://",
        "http://sys/user/a",
        "volary://sys",
        "volary://sys/user/a#",
        "volary://sys/user//a",
        "volary://s s/user/a",
    ] {
        assert!(text.parse::<Address>().is_err(), "{text:?} was taken");
    }
}

#[tokio::test]
async fn l7_a_message_finds_whoever_lives_at_a_path() {
    let system = system().await;
    let log = Log::new();
    let alice = system.spawn(a_desk(&log)).named("alice").await.unwrap();
    system.tell("/user/alice", Note { number: 1 }).unwrap();
    system.tell(&alice.address().to_string(), Note { number: 2 }).unwrap();
    let recipient: Recipient<Note> = system.recipient("/user/alice").unwrap();
    assert_eq!(recipient.ask(Note { number: 3 }).await.unwrap(), 3);
    assert_eq!(log.all(), ["started", "1", "2", "3"]);
    for nowhere in [
        "/user/bob",
        "/user/alice/x",
        "/alice",
        "alice",
        "",
        "/",
        "volary://other/user/alice",
        "volary://test@h:1/user/alice",
    ] {
        let back = system.tell(nowhere, Note { number: 9 }).unwrap_err();
        assert_eq!(back.into_message().number, 9, "{nowhere}");
        assert!(system.recipient::<Note>(nowhere).is_none(), "{nowhere}");
    }
    assert!(
        system.recipient::<Describe>("/user/alice").is_none(),
        "a desk does not take it"
    );
    assert!(system.lookup::<Branch>("/user/alice").is_none(), "a desk is no branch");
    assert_eq!(system.path_of(alice.id()), Some(alice.path()));
    alice.stop();
    soon("the end", alice.terminated()).await;
    assert_eq!(system.path_of(alice.id()), None);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l3_the_system_says_how_long_it_runs_and_what_it_is_set_to() {
    let system = builder("bank").settings(|s| s.throughput(64)).start().await.unwrap();
    assert_eq!(system.name(), "bank");
    assert_eq!(system.settings().throughput(), 64);
    let before = system.uptime();
    eventually_async("time passes", || system.uptime() > before).await;
    assert!(!system.is_stopping());
    system.stop().await.unwrap();
    assert!(system.is_stopping());
}
