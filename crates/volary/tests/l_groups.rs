//! L25: process groups. Who is in, who hears of it, and what happens when everything happens at once.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::{Arc, Mutex};

use common::*;
use volary::groups::{Change, Group, GroupChanged, JoinError};
use volary::prelude::*;
use volary::routing::{ChangeError, RoundRobin, RouteeLost};
use volary::{Subscription, Takes};

#[derive(Clone, Message)]
#[message(reply = String)]
struct Ping;

struct Member(Log);

#[actor]
impl Member {
    #[handles]
    fn ping(&mut self, _: Ping, ctx: &mut Context<Self>) -> String {
        self.0.push(ctx.me().name());
        ctx.me().name()
    }
}

/// Another type that takes the same message.
struct Stranger(Log);

#[actor]
impl Stranger {
    #[handles]
    fn ping(&mut self, _: Ping, ctx: &mut Context<Self>) -> String {
        self.0.push(format!("strange {}", ctx.me().name()));
        ctx.me().name()
    }
}

async fn member(system: &ActorSystem, name: &str, log: &Log) -> ActorRef<Member> {
    let log = log.clone();
    system.spawn(move || Member(log.clone())).named(name).await.unwrap()
}

fn told(events: &Subscription<GroupChanged>) -> Vec<String> {
    std::iter::from_fn(|| events.try_next())
        .map(|event| {
            let event = event.unwrap();
            format!("{:?} {} {}", event.change, event.group, event.path.name())
        })
        .collect()
}

#[tokio::test]
async fn l25_actors_join_are_listed_and_leave() {
    let system = system().await;
    let log = Log::new();
    let events = system.events().subscribe::<GroupChanged>();
    let (a, b) = (member(&system, "a", &log).await, member(&system, "b", &log).await);
    let group = system.groups().of::<Member>("workers");
    assert!(group.is_empty() && system.groups().names().is_empty());
    assert!(group.join(&a).unwrap());
    assert!(!group.join(&a).unwrap(), "once is enough");
    assert!(group.join(&b).unwrap());
    assert_eq!(group.members(), [a.clone(), b.clone()]);
    assert_eq!(system.groups().names(), ["workers"]);
    assert_eq!(group.broadcast(Ping).sent, 2);
    let answers = group.ask_each(Ping).await;
    assert_eq!(
        answers
            .into_iter()
            .map(|(_, answer)| answer.unwrap())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert!(group.leave(&a) && !group.leave(&a));
    assert_eq!(group.members(), std::slice::from_ref(&b));
    b.stop();
    b.terminated().await;
    assert!(
        group.is_empty() && system.groups().names().is_empty(),
        "who ends leaves"
    );
    let ended = group.join(&b).unwrap_err();
    assert!(matches!(ended, JoinError::Ended { .. }), "{ended}");
    let told = told(&events);
    assert_eq!(
        told[..4],
        [
            "Joined workers a",
            "Joined workers b",
            "Left workers a",
            "Left workers b"
        ]
    );
    assert!(group.is_empty());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l25_groups_are_told_apart_by_scope_and_type() {
    let (here, there) = (system().await, builder("other").start().await.unwrap());
    let log = Log::new();
    let a = member(&here, "a", &log).await;
    let seen = log.clone();
    let s = here.spawn(move || Stranger(seen.clone())).named("s").await.unwrap();
    let scoped = here.groups().scope("tenant").of::<Member>("g");
    scoped.join(&a).unwrap();
    assert!(here.groups().of::<Member>("g").is_empty());
    assert!(here.groups().of::<Stranger>("g").is_empty());
    assert_eq!(
        (here.groups().names().len(), here.groups().scope("tenant").names()),
        (0, vec!["g".to_owned()])
    );

    // Whoever takes the message may be in one group, whatever else they are.
    let pings: Group<Takes<Ping>> = here.groups().of("pings");
    pings.join(&a.recipient().into()).unwrap();
    pings.join(&s.recipient().into()).unwrap();
    assert_eq!(pings.broadcast(Ping).sent, 2);
    eventually_async("both have it", || log.has("a") && log.has("strange s")).await;
    let router = here.router(RoundRobin, &pings).await.unwrap();
    assert_eq!(
        (router.ask(Ping).await.unwrap(), router.ask(Ping).await.unwrap()),
        ("a".into(), "s".into())
    );

    let elsewhere = there.groups().of::<Member>("g").join(&a).unwrap_err();
    assert!(matches!(elsewhere, JoinError::Elsewhere { .. }), "{elsewhere}");
    here.stop().await.unwrap();
    there.stop().await.unwrap();
}

/// Keeps its own view of a group, by what it is told.
struct Observer(Arc<Mutex<Vec<(Change, String)>>>);

#[actor]
impl Observer {
    #[handles]
    fn changed(&mut self, event: GroupChanged) {
        self.0
            .lock()
            .unwrap()
            .push((event.change, event.path.name().to_owned()));
    }
}

#[test]
fn l25_watchers_hear_every_change_in_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = seen.clone();
        // Its mailbox is tiny, and no bound applies.
        let observer = system
            .spawn(move || Observer(notes.clone()))
            .mailbox(MailboxKind::BoundedRefusing(1))
            .await
            .unwrap();
        let group = system.groups().of::<Member>("g");
        let other = system.groups().of::<Member>("other");
        group.watch(&observer.recipient());
        let a = member(&system, "a", &log).await;
        for _ in 0..5 {
            group.join(&a).unwrap();
            other.join(&a).unwrap();
            group.leave(&a);
        }
        group.join(&a).unwrap();
        a.stop();
        a.terminated().await;
        assert!(group.unwatch(&observer.recipient()) && !group.unwatch(&observer.recipient()));
        let b = member(&system, "b", &log).await;
        group.join(&b).unwrap();
        observer.drain();
        observer.terminated().await;
        let seen = seen.lock().unwrap().clone();
        let expected: Vec<_> = [Change::Joined, Change::Left]
            .into_iter()
            .cycle()
            .take(12)
            .map(|c| (c, "a".to_owned()))
            .collect();
        assert_eq!(seen, expected);
        system.stop().await.unwrap();
    });
}

/// Joins and leaves as it is told.
struct Restless(Group<Member>, ActorRef<Member>);

#[derive(Message)]
struct Fidget(u32);

#[actor]
impl Restless {
    #[handles]
    async fn fidget(&mut self, times: Fidget, ctx: &mut Context<Self>) {
        for _ in 0..times.0 {
            if ctx.random().is_multiple_of(2) {
                let _ = self.0.join(&self.1);
            } else {
                self.0.leave(&self.1);
            }
            ctx.sleep(std::time::Duration::from_millis(ctx.random() % 3)).await;
        }
    }
}

#[test]
fn l25_races_of_join_leave_and_stop_are_settled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let events = system.events().subscribe::<GroupChanged>();
        let group = system.groups().of::<Member>("g");
        let a = member(&system, "a", &log).await;
        let mut all = Vec::new();
        for _ in 0..3 {
            let (group, a) = (group.clone(), a.clone());
            all.push(system.spawn(move || Restless(group.clone(), a.clone())).await.unwrap());
        }
        for one in &all {
            one.tell(Fidget(10)).unwrap();
        }
        system.sleep(std::time::Duration::from_millis(5)).await;
        a.stop();
        a.terminated().await;
        assert!(group.is_empty(), "dead members are none");
        for one in &all {
            one.drain();
            one.terminated().await;
        }
        assert!(group.is_empty() && system.groups().names().is_empty());
        let changes: Vec<Change> = std::iter::from_fn(|| events.try_next())
            .map(|e| e.unwrap().change)
            .collect();
        let alternate = changes
            .iter()
            .enumerate()
            .all(|(n, change)| (*change == Change::Joined) == n.is_multiple_of(2));
        assert!(alternate && changes.len().is_multiple_of(2), "{changes:?}");
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_races_on_threads_leave_nobody_behind() {
    within("races on threads", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let log = Log::new();
            let group = system.groups().of::<Member>("g");
            for round in 0..300 {
                let a = member(&system, &format!("m{round}"), &log).await;
                let (joiner, leaver, joined, left) = (group.clone(), group.clone(), a.clone(), a.clone());
                let join = tokio::spawn(async move {
                    while joiner.join(&joined).is_ok() {
                        tokio::task::yield_now().await;
                    }
                });
                let leave = tokio::spawn(async move {
                    while left.is_alive() {
                        leaver.leave(&left);
                        tokio::task::yield_now().await;
                    }
                });
                tokio::task::yield_now().await;
                a.stop();
                soon("the end", a.terminated()).await;
                soon("the joiner", join).await.unwrap();
                soon("the leaver", leave).await.unwrap();
                assert!(group.is_empty(), "round {round}: {:?}", group.members());
            }
            system.stop().await.unwrap();
        });
    });
}

#[test]
fn l25_a_router_follows_a_group() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let losses = system.events().subscribe::<RouteeLost>();
        let group = system.groups().of::<Member>("g");
        let a = member(&system, "a", &log).await;
        group.join(&a).unwrap();
        let router = system.router(RoundRobin, &group).named("r").await.unwrap();
        assert_eq!(router.ask(Ping).await.unwrap(), "a");
        let b = member(&system, "b", &log).await;
        group.join(&b).unwrap();
        // An order behind the change: when it is answered, the change was seen.
        let no = router.resize(3).await.unwrap_err();
        assert!(matches!(no, AskError::Rejected(ChangeError::Group)), "{no}");
        assert_eq!(router.size(), 2);
        group.leave(&a);
        let _ = router.resize(3).await;
        assert_eq!((router.size(), router.ask(Ping).await.unwrap()), (1, "b".to_owned()));
        assert!(a.is_alive() && losses.try_next().is_none(), "who leaves is not lost");
        b.stop();
        b.terminated().await;
        let _ = router.resize(3).await;
        assert_eq!((router.size(), router.lost()), (0, 1));
        assert!(router.tell(Ping).is_err());
        group.join(&a).unwrap();
        let _ = router.resize(3).await;
        assert_eq!(router.ask(Ping).await.unwrap(), "a");
        router.stop();
        router.terminated().await;
        assert!(a.is_alive() && group.len() == 1);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l25_actors_join_from_within() {
    struct Joiner;
    #[derive(Message)]
    struct Go;
    #[actor]
    impl Joiner {
        fn started(&mut self, ctx: &mut Context<Self>) {
            assert_eq!(ctx.join("joiners").len(), 1);
        }
        #[handles]
        fn go(&mut self, _: Go, ctx: &mut Context<Self>) {
            assert!(ctx.leave("joiners"));
        }
    }
    let system = system().await;
    let joiner = system.spawn(|| Joiner).await.unwrap();
    let group = system.groups().of::<Joiner>("joiners");
    assert_eq!(group.members(), std::slice::from_ref(&joiner));
    joiner.ask(Go).await.unwrap();
    assert!(group.is_empty());
    joiner.restart();
    eventually_async("it joins again", || group.len() == 1).await;
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l25_a_system_that_stops_takes_its_groups_with_it() {
    let log = Log::new();
    let system = system().await;
    let group = system.groups().of::<Member>("g");
    for n in 0..10 {
        group.join(&member(&system, &format!("m{n}"), &log).await).unwrap();
    }
    system.stop().await.unwrap();
    assert!(group.is_empty());
}
