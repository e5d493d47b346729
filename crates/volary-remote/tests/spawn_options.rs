//! R6: an actor that is started on another node has the options that it was given, each seen by what it does, in the
//! simulator. Beside each stands one without it.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::place::{MS, Place, options, until};
use common::{Desk, Log, Nap};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{Backoff, ChildrenPolicy, Dependency, Passivation, Reentrancy, RemoteError, Strategy, Supervision};
use volary_remote::Remote;
use volary_testkit::Sim;

const SECOND: Duration = Duration::from_secs(1);

struct Title(String);

impl Dependency for Title {
    const KIND: &'static str = "test.Title";
    fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        Ok(self.0.clone().into_bytes())
    }
    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        String::from_utf8(bytes.to_vec()).map(Title).or_fault()
    }
}

/// Counts what it does in one life.
struct Worker {
    done: u64,
    log: Log,
}

#[derive(Message, Serialize, Deserialize)]
#[message(reply = u64, remote = "test.Shelve", codec = postcard)]
struct Shelve;

#[actor(
    kind = "test.Worker",
    remote(Work, Entitled, Crash, Panic, Idle, Shelve, Inquire, Mark)
)]
impl Worker {
    #[message(remote = "test.Work", codec = postcard, derive(Debug, Serialize, Deserialize))]
    fn work(&mut self) -> u64 {
        self.done += 1;
        self.done
    }

    #[message(remote = "test.Entitled", codec = postcard, derive(Serialize, Deserialize))]
    fn entitled(&mut self, ctx: &mut Context<Self>) -> Option<String> {
        Some(ctx.dependency::<Title>()?.0.clone())
    }

    #[message(remote = "test.Crash", codec = postcard, derive(Serialize, Deserialize))]
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("on purpose"))
    }

    #[message(remote = "test.Panic", codec = postcard, derive(Serialize, Deserialize))]
    fn panic(&mut self) {
        panic!("on purpose")
    }

    #[message(remote = "test.Idle", codec = postcard, derive(Serialize, Deserialize))]
    async fn idle(&mut self, millis: u64, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(millis)).await;
    }

    /// Puts the message aside; answers with how many are aside if there is no room for it.
    #[handles]
    fn shelve(&mut self, shelve: Shelve, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        match ctx.stash(shelve) {
            Ok(aside) => Err(aside.into()),
            Err(_) => Ok(ctx.stashed() as u64),
        }
    }

    /// Begins to ask somebody who takes a second.
    #[message(remote = "test.Inquire", codec = postcard, derive(Serialize, Deserialize))]
    fn inquire(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let desk = ctx.system().lookup::<Desk>("/user/desk");
        let desk = desk.ok_or_else(|| Fault::msg("there is no desk"))?;
        let begun = ctx
            .request(&desk, Nap { millis: 1_000 })
            .then(|worker: &mut Worker, _, _| worker.log.push("answered"));
        self.log.push(if begun.is_ok() { "asked" } else { "refused" });
        Ok(())
    }

    #[message(remote = "test.Mark", codec = postcard, derive(Serialize, Deserialize))]
    fn mark(&mut self) {
        self.log.push("marked");
    }
}

/// Two nodes, on the second of which workers can be started.
struct Nodes {
    one: Place,
    other: Place,
    log: Log,
}

impl Nodes {
    async fn start(sim: &Sim) -> Self {
        let log = Log::default();
        let made = log.clone();
        let make = move |_: &volary_remote::Argument| {
            Ok(Worker {
                done: 0,
                log: made.clone(),
            })
        };
        let builder = || Remote::builder().options(options());
        let other = builder().dependency::<Title>().spawnable::<Worker>(make);
        Nodes {
            one: Place::start(sim, "one", builder().kind::<Worker>()).await,
            other: Place::start(sim, "other", other).await,
            log,
        }
    }

    async fn worker(&self, name: &str, props: Props) -> ActorRef<Worker> {
        let spawn = self.one.remote.spawn::<Worker>("other:1", name);
        spawn.props(props).await.unwrap()
    }

    async fn child(&self, parent: &str, name: &str, props: Props) -> ActorRef<Worker> {
        let there = self.one.remote.at("other:1");
        there.spawn_child::<Worker>(parent, name).props(props).await.unwrap()
    }

    /// The same actor where it lives.
    fn real(&self, name: &str) -> ActorRef<Worker> {
        self.other.system.lookup::<Worker>(&format!("/user/{name}")).unwrap()
    }
}

#[test]
fn r6_a_mailbox_that_is_bounded_refuses_what_is_beyond() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        for mailbox in [MailboxKind::Bounded(2), MailboxKind::BoundedRefusing(2)] {
            let name = format!("{mailbox:?}").replace(['(', ')'], "-");
            let bounded = nodes.worker(&name, Props::new().mailbox(mailbox)).await;
            let open = nodes.worker(&format!("beside-{name}"), Props::new()).await;
            let before = nodes.one.reading().busy;
            for worker in [&bounded, &open] {
                worker.tell(Idle { millis: 10_000 }).unwrap();
                sim.sleep(SECOND).await;
                for _ in 0..5 {
                    worker.tell(Work).unwrap();
                }
            }
            let refused = bounded.ask(Work).await;
            let is_busy = |error: &RemoteError| matches!(error, RemoteError::Busy { node } if node == "other:1");
            assert!(
                matches!(&refused, Err(AskError::Remote(error)) if is_busy(error)),
                "{refused:?}"
            );
            assert_eq!(open.ask(Work).timeout(20 * SECOND).await.unwrap(), 6);
            assert_eq!(bounded.ask(Work).await.unwrap(), 3, "two of five were taken");
            assert_eq!(nodes.one.reading().busy - before, 3);
        }
    });
}

#[test]
fn r6_no_more_is_put_aside_than_the_stash_holds() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let few = nodes.worker("few", Props::new().stash(3)).await;
        let many = nodes.worker("many", Props::new()).await;
        for worker in [&few, &many] {
            for _ in 0..3 {
                worker.tell(Shelve).unwrap();
            }
        }
        assert_eq!(few.ask(Shelve).await.unwrap(), 3, "no room for a fourth");
        let aside = many.ask(Shelve).timeout(SECOND).await;
        assert!(matches!(aside, Err(AskError::Timeout { .. })), "{aside:?}");
    });
}

#[test]
fn r6_requests_and_other_messages_are_as_its_reentrancy_says() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let ways: [(Props, &[&str]); 4] = [
            (Props::new(), &["asked", "asked", "marked", "answered", "answered"]),
            (
                Props::new().reentrancy(Reentrancy::all().at_most(1)),
                &["asked", "refused", "marked", "answered"],
            ),
            (
                Props::new().reentrancy(Reentrancy::hold_others()),
                &["asked", "answered", "asked", "answered", "marked"],
            ),
            (
                Props::new().reentrancy(Reentrancy::off()),
                &["refused", "refused", "marked"],
            ),
        ];
        for (number, (props, expected)) in ways.into_iter().enumerate() {
            let before = nodes.log.len();
            let worker = nodes.worker(&format!("worker-{number}"), props).await;
            worker.tell(Inquire).unwrap();
            worker.tell(Inquire).unwrap();
            worker.tell(Mark).unwrap();
            sim.sleep(4 * SECOND).await;
            assert_eq!(nodes.log.all()[before..], *expected);
        }
    });
}

#[test]
fn r6_it_is_passivated_when_it_was_said() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let after = |passivation| Props::new().passivation(passivation);
        let idle = nodes.worker("idle", after(Passivation::after(10 * SECOND))).await;
        let worn = nodes.worker("worn", after(Passivation::after_messages(2))).await;
        let ending = nodes.worker("ending", after(Passivation::after(10 * SECOND).ending()));
        let ending = ending.await;
        let awake = nodes.worker("awake", Props::new()).await;
        for worker in [&idle, &worn, &ending, &awake] {
            assert_eq!(worker.ask(Work).await.unwrap(), 1);
        }
        let is_asleep = |name| nodes.real(name).status().asleep;
        assert!(!is_asleep("idle") && !is_asleep("worn"));
        worn.tell(Work).unwrap();
        sim.sleep(5 * SECOND).await;
        assert!(is_asleep("worn") && !is_asleep("idle"));
        assert!(nodes.real("ending").is_alive());
        sim.sleep(6 * SECOND).await;
        assert!(is_asleep("idle") && !is_asleep("awake"));
        assert!(nodes.other.system.lookup::<Worker>("/user/ending").is_none());
        // Who wakes has forgotten everything.
        assert_eq!(idle.ask(Work).await.unwrap(), 1);
        assert_eq!(worn.ask(Work).await.unwrap(), 1);
        assert!(matches!(ending.ask(Work).await, Err(AskError::Stopped)));
        assert_eq!(awake.ask(Work).await.unwrap(), 2);
    });
}

#[test]
fn r6_a_fault_has_the_consequence_that_was_chosen() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let by = |directive| Props::new().on_fault(directive);
        let supervised = |supervision| Props::new().supervision(supervision);
        let resume = || Supervision::new().otherwise(Directive::Resume);
        // What the next message is answered with; none: it has ended.
        let ways = [
            (Props::new(), Some(1)),
            (by(Directive::Resume), Some(2)),
            (by(Directive::Stop), None),
            (supervised(resume()), Some(2)),
            (supervised(resume().on_panic(Directive::Stop)), Some(2)),
            (supervised(Supervision::new().otherwise(Directive::Stop)), None),
        ];
        for (number, (props, expected)) in ways.into_iter().enumerate() {
            let worker = nodes.worker(&format!("worker-{number}"), props).await;
            worker.ask(Work).await.unwrap();
            assert!(matches!(worker.ask(Crash).await, Err(AskError::Failed(_))));
            assert_eq!(worker.ask(Work).await.ok(), expected, "{number}");
        }
        let careful = nodes.worker("careful", supervised(resume().on_panic(Directive::Stop)));
        let careful = careful.await;
        assert!(careful.ask(Panic).await.is_err());
        assert!(matches!(careful.ask(Work).await, Err(AskError::Stopped)));
    });
}

#[test]
fn r6_restarts_are_limited_and_wait_as_was_said() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let supervised = |supervision| Props::new().supervision(supervision);
        let limited = supervised(Supervision::new().limit(1, 60 * SECOND));
        let limited = nodes.worker("limited", limited).await;
        let free = nodes.worker("free", Props::new()).await;
        for worker in [&limited, &free] {
            worker.tell(Crash).unwrap();
            worker.tell(Crash).unwrap();
        }
        assert_eq!(free.ask(Work).await.unwrap(), 1);
        assert!(!nodes.real("free").status().suspended);
        until(&sim, "a limit", || nodes.real("limited").status().suspended).await;

        let backoff = Backoff::new(5 * SECOND, 10 * SECOND).jitter(0.0);
        let slow = nodes.worker("slow", supervised(Supervision::new().backoff(backoff)));
        let slow = slow.await;
        for seconds in [5, 10] {
            slow.tell(Crash).unwrap();
            let began = sim.now();
            assert_eq!(slow.ask(Work).timeout(20 * SECOND).await.unwrap(), 1);
            let waited = sim.now() - began;
            let expected = seconds * SECOND;
            assert!(
                (expected - 100 * MS..expected + 500 * MS).contains(&waited),
                "{waited:?}"
            );
        }
    });
}

#[test]
fn r6_children_and_siblings_share_its_fate_as_was_said() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let supervised = |supervision| Props::new().supervision(supervision);
        for (policy, kept) in [(ChildrenPolicy::Keep, true), (ChildrenPolicy::Stop, false)] {
            let (name, path) = (format!("{policy:?}"), format!("/user/{policy:?}"));
            let parent = nodes.worker(&name, supervised(Supervision::new().children(policy)));
            let parent = parent.await;
            let child = nodes.child(&path, "child", Props::new()).await;
            child.ask(Work).await.unwrap();
            assert!(parent.ask(Crash).await.is_err());
            assert_eq!(child.ask(Work).await.ok(), kept.then_some(2));
        }
        // Who has begun anew when the second of three has crashed.
        let strategies = [
            (Strategy::OneForOne, [2, 1, 2]),
            (Strategy::OneForAll, [1, 1, 1]),
            (Strategy::RestForOne, [2, 1, 1]),
        ];
        for (strategy, expected) in strategies {
            let path = format!("/user/{strategy:?}");
            nodes.worker(&format!("{strategy:?}"), Props::new()).await;
            let mut siblings = Vec::new();
            for number in 0..3 {
                let props = supervised(Supervision::new().strategy(strategy));
                let sibling = nodes.child(&path, &format!("child-{number}"), props).await;
                sibling.ask(Work).await.unwrap();
                siblings.push(sibling);
            }
            assert!(siblings[1].ask(Crash).await.is_err());
            sim.sleep(SECOND).await;
            let mut done = Vec::new();
            for sibling in &siblings {
                done.push(sibling.ask(Work).await.unwrap());
            }
            assert_eq!(done, expected, "{strategy:?}");
        }
    });
}

#[test]
fn r6_it_has_the_dependencies_that_it_was_given() {
    Sim::check(10, |sim| async move {
        let nodes = Nodes::start(&sim).await;
        let clerk = nodes.worker("clerk", Props::new().dependency(Title("clerk".to_owned())));
        let clerk = clerk.await;
        assert_eq!(clerk.ask(Entitled).await.unwrap().as_deref(), Some("clerk"));
        // And has them still after a restart.
        assert!(clerk.ask(Crash).await.is_err());
        assert_eq!(clerk.ask(Entitled).await.unwrap().as_deref(), Some("clerk"));
        let nobody = nodes.worker("nobody", Props::new()).await;
        assert_eq!(nobody.ask(Entitled).await.unwrap(), None);
    });
}
