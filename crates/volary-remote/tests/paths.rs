//! R5, S12: a reference that says where somebody lives, and not who, leads to whoever lives there, also when the node was lost or
//! started anew, unless somebody was told of an end. In the simulator.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::place::{MS, Place, options, until};
use common::{Desk, Log, Note, desk};
use volary::prelude::*;
use volary_core::RemoteError;
use volary_remote::{PeerReading, Remote};
use volary_testkit::Sim;

/// Hears of the ends of others.
struct Guard(Log);

#[actor]
impl Guard {
    fn look_after(&mut self, who: ActorRef<Desk>, ctx: &mut Context<Self>) {
        ctx.watch(&who);
    }
    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.0.push(format!("gone {}", gone.path()));
    }
}

async fn start(sim: &Sim, name: &str) -> Place {
    let options = options().lost_after(5_000 * MS);
    let place = Place::start(sim, name, Remote::builder().options(options)).await;
    place.system.spawn(desk(&place.log)).named("second").await.unwrap();
    place
}

/// Two nodes, and the guard of the first.
async fn nodes(sim: &Sim) -> (Place, Place, ActorRef<Guard>) {
    let (one, other) = (start(sim, "one").await, start(sim, "other").await);
    let log = one.log.clone();
    let guard = one.system.spawn(move || Guard(log.clone()));
    (one, other, guard.await.unwrap())
}

async fn start_anew(sim: &Sim) -> Place {
    sim.node("other").crash();
    sim.node("other").restart().await;
    start(sim, "other").await
}

/// A reference to the actor that lives there now, and no other.
async fn exact(one: &Place, who: &str) -> ActorRef<Desk> {
    let found = one.remote.lookup("other:1", &format!("/user/{who}")).await.unwrap();
    one.remote.actor(&found.unwrap()).unwrap()
}

/// Asks until there is an answer: the first ones may come before the connection, and to the last life.
async fn answered(sim: &Sim, desk: &ActorRef<Desk>) {
    let end = sim.now() + Duration::from_secs(20);
    while let Err(error) = desk.ask(Note { number: 2 }).await {
        assert!(
            matches!(error, AskError::Remote(_) | AskError::Timeout { .. }),
            "{error:?}"
        );
        assert!(sim.now() < end, "it leads nowhere: {error:?}");
        sim.sleep(10 * MS).await;
    }
}

async fn has_ended(desk: &ActorRef<Desk>) {
    assert!(!desk.is_alive());
    let asked = desk.ask(Note { number: 9 }).await;
    assert!(matches!(asked, Err(AskError::Stopped)), "{asked:?}");
}

/// Whatever was taken has come to its end, and has been counted once.
fn balanced(of: &PeerReading) -> bool {
    of.under_way == 0 && of.sent == of.confirmed + of.unconfirmed + of.unreachable + of.busy
}

#[test]
fn r5_a_path_leads_to_whoever_lives_there_when_the_node_was_started_anew() {
    Sim::check(30, |sim| async move {
        let (one, _other, _guard) = nodes(&sim).await;
        let path: ActorRef<Desk> = one.far("other", "desk");
        let exact = exact(&one, "desk").await;
        path.ask(Note { number: 1 }).await.unwrap();
        exact.ask(Note { number: 1 }).await.unwrap();
        for life in 1..=3 {
            let other = start_anew(&sim).await;
            answered(&sim, &path).await;
            assert_eq!(other.log.all(), ["2"], "with the same reference");
            assert_eq!((one.reading().quarantines, path.is_alive()), (life, true));
            has_ended(&exact).await;
        }
        until(&sim, "the books", || balanced(&one.reading())).await;
        drop(path);
        until(&sim, "that it is let go", || one.reading().known == 0).await;
    });
}

#[test]
fn r5_a_path_leads_to_whoever_lives_there_when_the_node_was_lost_and_is_there_again() {
    Sim::check(30, |sim| async move {
        let (one, other, _guard) = nodes(&sim).await;
        let path: ActorRef<Desk> = one.far("other", "desk");
        let exact = exact(&one, "desk").await;
        path.ask(Note { number: 1 }).await.unwrap();
        sim.partition(&[&sim.node("one")]);
        until(&sim, "the end of the connection", || !one.reading().connected).await;
        for lost in 1..=3 {
            path.tell(Note { number: 7 }).unwrap();
            until(&sim, "the loss", || one.reading().unreachable == lost).await;
        }
        let asked = path.ask(Note { number: 7 }).timeout(60_000 * MS).await;
        assert!(
            matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Unreachable { .. })),
            "{asked:?}"
        );
        has_ended(&exact).await;
        sim.heal();
        answered(&sim, &path).await;
        assert_eq!(other.log.all(), ["1", "2"], "what had waited is lost");
        assert_eq!(one.reading().quarantines, 0, "it is the same life");
        until(&sim, "the books", || balanced(&one.reading())).await;
    });
}

#[test]
fn s12_who_watches_a_path_hears_of_the_end_once_and_the_others_go_on() {
    Sim::check(30, |sim| async move {
        let (one, _other, guard) = nodes(&sim).await;
        let (watched, path): (ActorRef<Desk>, ActorRef<Desk>) = (one.far("other", "desk"), one.far("other", "second"));
        path.ask(Note { number: 1 }).await.unwrap();
        guard.ask(LookAfter { who: watched.clone() }).await.unwrap();
        sim.partition(&[&sim.node("one")]);
        until(&sim, "the loss", || one.log.len() == 1).await;
        has_ended(&watched).await;
        assert!(path.is_alive());
        // In this life nobody there speaks again, whatever the network does.
        sim.heal();
        let late = path.ask(Note { number: 3 }).timeout(3_000 * MS).await;
        assert!(late.is_err(), "{late:?}");
        let other = start_anew(&sim).await;
        answered(&sim, &path).await;
        has_ended(&watched).await;
        // One that has outlived all that can be watched from now on.
        guard.ask(LookAfter { who: path.clone() }).await.unwrap();
        let second = other.system.find(&"volary://other/user/second".parse().unwrap());
        second.unwrap().stop();
        until(&sim, "its end", || one.log.len() == 2).await;
        has_ended(&path).await;
        start_anew(&sim).await;
        sim.sleep(10_000 * MS).await;
        assert_eq!(one.log.all(), ["gone /user/desk", "gone /user/second"]);
    });
}

#[test]
fn s12_who_watches_a_path_between_two_lives_hears_of_the_end_of_the_next() {
    Sim::check(30, |sim| async move {
        let (one, _other, guard) = nodes(&sim).await;
        let path: ActorRef<Desk> = one.far("other", "desk");
        path.ask(Note { number: 1 }).await.unwrap();
        sim.node("other").crash();
        until(&sim, "the end of the connection", || !one.reading().connected).await;
        sim.sleep(6_000 * MS).await; // it is needed by nobody, and lost by nobody
        assert!(path.is_alive());
        sim.node("other").restart().await;
        let other = start(&sim, "other").await;
        answered(&sim, &path).await;
        guard.ask(LookAfter { who: path.clone() }).await.unwrap();
        sim.sleep(1_000 * MS).await;
        assert_eq!((one.log.len(), path.is_alive()), (0, true));
        other.system.stop().await.unwrap();
        until(&sim, "its end", || one.log.len() == 1).await;
        has_ended(&path).await;
    });
}
