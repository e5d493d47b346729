//! R6: actors are started on other nodes, by the kinds that these allow.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::{Node, builder, options, soon};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{Arriving, Dependency, Dispatcher, Interceptor, Passivation, Supervision, Verdict};
use volary_remote::{OperationError, Remote, RemoteBuilder, RemoteSpawnError, Rights};

/// A dependency that travels.
#[derive(Debug, PartialEq)]
struct Prefix(String);

impl Dependency for Prefix {
    const KIND: &'static str = "test.Prefix";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.0.clone().into_bytes())
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        String::from_utf8(bytes.to_vec()).map(Prefix).or_fault()
    }
}

struct Worker {
    word: String,
    done: u64,
}

#[actor(kind = "test.Worker", remote(Work, Crash))]
impl Worker {
    #[message(remote = "test.Work", codec = postcard, derive(Serialize, Deserialize))]
    fn work(&mut self, ctx: &mut Context<Self>) -> (String, u64) {
        self.done += 1;
        let prefix = ctx.dependency::<Prefix>();
        let word = prefix.map_or_else(|| self.word.clone(), |prefix| format!("{}{}", prefix.0, self.word));
        (word, self.done)
    }

    #[message(remote = "test.Crash", codec = postcard, derive(Serialize, Deserialize))]
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("on purpose"))
    }
}

fn workers() -> RemoteBuilder {
    builder().dependency::<Prefix>().spawnable::<Worker>(|argument| {
        let word = std::str::from_utf8(argument.bytes()).or_fault()?;
        match word {
            "fail" => Err(Fault::msg("no such worker")),
            "panic" => panic!("no such worker"),
            word => Ok(Worker {
                word: word.to_owned(),
                done: 0,
            }),
        }
    })
}

async fn pair() -> (Node, Node) {
    let one = Node::start("one", builder().kind::<Worker>()).await;
    (one, Node::start("other", workers()).await)
}

async fn end(nodes: [&Node; 2]) {
    for node in nodes {
        node.system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_actor_is_started_on_another_node_with_its_options() {
    let (one, other) = pair().await;
    let there = one.remote.at(other.remote.node());
    assert_eq!(soon("kinds", there.spawnable_kinds()).await.unwrap(), ["test.Worker"]);
    let idle = Passivation::after(Duration::from_secs(3_600));
    let props = Props::new()
        .supervision(Supervision::new().otherwise(Directive::Resume))
        .passivation(idle)
        .role("billing")
        .dependency(Prefix("good ".to_owned()));
    let spawn = one.remote.spawn::<Worker>(other.remote.node(), "worker");
    let worker = soon("it starts", spawn.props(props).argument("day")).await.unwrap();
    assert_eq!(
        soon("it works", worker.ask(Work)).await.unwrap(),
        ("good day".to_owned(), 1)
    );
    // It lives there, under the address that came back.
    let real = other.system.lookup::<Worker>("/user/worker").unwrap();
    assert_eq!(worker.address(), other.remote.address_of(&real));
    assert!(worker.address().uid().is_some());
    assert_eq!(one.system.lookup::<Worker>("/user/worker"), None);
    // Resume came along: its count outlives a crash.
    assert!(soon("it crashes", worker.ask(Crash)).await.is_err());
    assert_eq!(soon("it goes on", worker.ask(Work)).await.unwrap().1, 2);
    assert_eq!(there.passivation("/user/worker").await.unwrap(), idle);
    assert_eq!(there.dependencies("/user/worker").await.unwrap(), ["test.Prefix"]);
    let role = there.kind("/user/worker").await.unwrap().role;
    assert_eq!(role.as_deref(), Some("billing"));
    // Without a name the node finds one, and without options a crash restarts it.
    let nameless = soon("nameless", there.spawn::<Worker>("").argument("x")).await.unwrap();
    assert_eq!(soon("it works", nameless.ask(Work)).await.unwrap(), ("x".to_owned(), 1));
    assert!(soon("it crashes", nameless.ask(Crash)).await.is_err());
    assert_eq!(soon("anew", nameless.ask(Work)).await.unwrap(), ("x".to_owned(), 1));
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_a_child_is_started_below_an_actor_of_another_node() {
    let (one, other) = pair().await;
    let there = one.remote.at(other.remote.node());
    let parent = soon("parent", there.spawn::<Worker>("parent")).await.unwrap();
    let child = there.spawn_child::<Worker>(parent.address(), "child").argument("child");
    let child = soon("child", child).await.unwrap();
    assert_eq!(child.path().as_str(), "/user/parent/child");
    assert_eq!(soon("it works", child.ask(Work)).await.unwrap().0, "child");
    let children = there.children("/user/parent").await.unwrap().addresses;
    assert_eq!(children, [child.address()]);
    // It ends with its parent.
    parent.stop();
    soon("it ends", child.terminated()).await;
    let orphan = soon("no parent", there.spawn_child::<Worker>("/user/parent", "late")).await;
    assert!(
        matches!(&orphan, Err(RemoteSpawnError::Operation(OperationError::Nobody { .. }))),
        "{orphan:?}"
    );
    for outside in ["/system", "/"] {
        let forbidden = soon("not there", there.spawn_child::<Worker>(outside, "late")).await;
        assert!(
            matches!(
                &forbidden,
                Err(RemoteSpawnError::Operation(OperationError::Forbidden { .. }))
            ),
            "{forbidden:?}"
        );
    }
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_nobody_is_started_below_a_sleeping_actor_of_another_node() {
    let (one, other) = pair().await;
    let there = one.remote.at(other.remote.node());
    let parent = other.system.spawn(|| Worker {
        word: "parent".to_owned(),
        done: 0,
    });
    let parent = parent.named("parent").await.unwrap();
    parent.passivate();
    common::eventually("it sleeps", || parent.status().asleep).await;
    let child = soon("a child", there.spawn_child::<Worker>("/user/parent", "child")).await;
    assert!(
        matches!(&child, Err(RemoteSpawnError::Parent { why, .. }) if why.contains("asleep")),
        "{child:?}"
    );
    parent.ask(Work).await.unwrap();
    soon("it woke", there.spawn_child::<Worker>("/user/parent", "child"))
        .await
        .unwrap();
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_whatever_is_wrong_with_a_spawn_is_said_by_name() {
    let (one, other) = pair().await;
    let there = one.remote.at(other.remote.node());
    soon("first", there.spawn::<Worker>("worker")).await.unwrap();
    let taken = soon("taken", there.spawn::<Worker>("worker")).await;
    assert!(matches!(&taken, Err(RemoteSpawnError::Taken { .. })), "{taken:?}");
    let name = soon("name", there.spawn::<Worker>("a b")).await;
    assert!(matches!(&name, Err(RemoteSpawnError::Name { .. })), "{name:?}");
    for word in ["fail", "panic"] {
        let failed = soon("fails", there.spawn::<Worker>("failing").argument(word)).await;
        assert!(
            matches!(&failed, Err(RemoteSpawnError::Start { why, .. }) if why.contains("no such worker")),
            "{failed:?}"
        );
    }
    assert_eq!(there.lookup("/user/failing").await.unwrap(), None);
    // A kind that takes messages there is not one that can be started.
    let desk = soon("desk", there.spawn::<common::Desk>("desk")).await;
    assert!(
        matches!(&desk, Err(RemoteSpawnError::NotSpawnable { kind, why, .. }) if kind == "test.Desk" && why.contains("test.Worker")),
        "{desk:?}"
    );
    let nowhere = Props::new().dispatcher(Dispatcher::Named("nowhere".to_owned()));
    let options = soon("dispatcher", there.spawn::<Worker>("w").props(nowhere)).await;
    assert!(
        matches!(&options, Err(RemoteSpawnError::Options { why, .. }) if why.contains("nowhere")),
        "{options:?}"
    );
    struct Unheard;
    impl Dependency for Unheard {
        const KIND: &'static str = "test.Unheard";
        fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
            Ok(Vec::new())
        }
        fn from_bytes(_: &[u8]) -> Result<Self, Fault> {
            Ok(Unheard)
        }
    }
    let unheard = Props::new().dependency(Unheard);
    let options = soon("dependency", there.spawn::<Worker>("w").props(unheard)).await;
    assert!(
        matches!(&options, Err(RemoteSpawnError::Options { why, .. }) if why.contains("test.Unheard")),
        "{options:?}"
    );
    end([&one, &other]).await;
}

struct Watcher;
impl Interceptor for Watcher {
    fn receiving(&self, _: &Arriving<'_>) -> Verdict {
        Verdict::Pass
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_code_in_options_does_not_travel_and_nothing_is_sent() {
    let one = Node::start("one", builder().kind::<Worker>()).await;
    // Nobody lives there: the error comes before anything is sent.
    let there = one.remote.at("127.0.0.1:9");
    let code = [
        Props::new().intercept(Watcher),
        Props::new().mailbox(MailboxKind::priority(|_| 0)),
        Props::new().supervision(Supervision::new().on::<std::io::Error>(Directive::Stop)),
    ];
    for props in code {
        let error = soon("code", there.spawn::<Worker>("w").props(props)).await;
        assert!(matches!(&error, Err(RemoteSpawnError::Props(_))), "{error:?}");
    }
    assert_eq!(one.remote.peers(), []);
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_only_those_with_the_right_start_actors() {
    let one = Node::start("one", builder().kind::<Worker>()).await;
    let other = Node::start(
        "other",
        workers().rights(|_| Rights::none().tell().watch().inspect().control()),
    )
    .await;
    let forbidden = soon("forbidden", one.remote.spawn::<Worker>(other.remote.node(), "w")).await;
    assert!(
        matches!(
            &forbidden,
            Err(RemoteSpawnError::Operation(OperationError::Forbidden { .. }))
        ),
        "{forbidden:?}"
    );
    assert_eq!(other.system.actors(), []);
    end([&one, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s21_a_kind_that_is_spawnable_twice_is_refused_at_start() {
    let system = ActorSystem::builder("twice")
        .ignore_environment()
        .start()
        .await
        .unwrap();
    let make = |_: &volary_remote::Argument| {
        Ok(Worker {
            word: String::new(),
            done: 0,
        })
    };
    let builder = Remote::builder()
        .options(options())
        .spawnable::<Worker>(make)
        .spawnable::<Worker>(make);
    let error = builder.start(&system, "127.0.0.1:0").await.unwrap_err();
    assert!(error.to_string().contains("test.Worker"), "{error}");
    system.stop().await.unwrap();
}
