//! S3, R7, R8: deadlines, clocks and lives of nodes, in the simulator.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::place::{MS, Place, options, until};
use common::{Desk, Echo, Log, Nap, Note};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::{DeadLetter, DeadReason};
use volary_remote::Remote;
use volary_testkit::Sim;
use volary_testkit::sim::{Clock, Link};

struct Guard(Log);

#[actor(kind = "test.Guard", remote(HowLong, Ponder))]
impl Guard {
    fn look_after(&mut self, who: ActorRef<Desk>, ctx: &mut Context<Self>) {
        ctx.watch(&who);
    }

    /// Notes how long what it does may take.
    #[message(remote = "test.HowLong", codec = postcard, derive(Serialize, Deserialize))]
    fn how_long(&mut self, ctx: &mut Context<Self>) {
        self.0
            .push(format!("{:?}", ctx.time_left().map(|left| left.as_secs_f64().ceil())));
    }

    /// Takes ten milliseconds.
    #[message(remote = "test.Ponder", codec = postcard, derive(Serialize, Deserialize))]
    async fn ponder(&mut self, ctx: &mut Context<Self>) {
        ctx.system().sleep(10 * MS).await;
        self.0.push("pondered".to_owned());
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.0.push(format!("gone {}", gone.path()));
    }
}

/// Passes the question on with a tell, under the deadline of whoever asked.
struct Clerk(ActorRef<Guard>);

#[actor]
impl Clerk {
    fn inquire(&mut self) {
        self.0.tell(HowLong).unwrap();
    }
}

async fn start(sim: &Sim, name: &str) -> Place {
    let options = options().lost_after(30_000 * MS);
    Place::start(sim, name, Remote::builder().kind::<Guard>().options(options)).await
}

async fn guard(place: &Place) -> ActorRef<Guard> {
    let log = place.log.clone();
    let guard = place.system.spawn(move || Guard(log.clone()));
    guard.named("guard").await.unwrap()
}

#[test]
fn s3_an_ask_that_waited_too_long_for_a_connection_is_not_handled() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let far: ActorRef<Desk> = one.far("other", "desk");
        let dead = one.system.events().subscribe::<DeadLetter>();
        sim.partition(&[&sim.node("one")]);
        let late = far.ask(Note { number: 1 }).timeout(1_000 * MS).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })), "{late:?}");
        far.tell(Note { number: 2 }).unwrap();
        sim.heal();
        assert_eq!(far.ask(Note { number: 3 }).timeout(20_000 * MS).await.unwrap(), 2);
        assert_eq!(other.log.all(), ["2", "3"]);
        assert_eq!(dead.next().await.unwrap().reason(), DeadReason::Expired);
        until(&sim, "the receipts", || one.reading().under_way == 0).await;
        let books = one.reading();
        assert_eq!((books.sent, books.confirmed, books.unreachable), (3, 2, 1), "{books:?}");
    });
}

#[test]
fn r7_the_time_that_is_left_travels_with_a_tell() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        guard(&other).await;
        let guard = one.far("other", "guard");
        let clerk = one.system.spawn(move || Clerk(guard.clone())).await.unwrap();
        clerk.ask(Inquire).timeout(7_000 * MS).await.unwrap();
        until(&sim, "the note", || other.log.len() == 1).await;
        assert_eq!(other.log.all(), ["Some(7.0)"]);
    });
}

#[test]
fn s3_the_time_that_a_message_waits_for_a_connection_counts() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        guard(&other).await;
        let (far, desk) = (one.far::<Guard>("other", "guard"), one.far::<Desk>("other", "desk"));
        let clerk = one.system.spawn({
            let far = far.clone();
            move || Clerk(far.clone())
        });
        let clerk = clerk.await.unwrap();
        sim.partition(&[&sim.node("one")]);
        clerk.ask(Inquire).timeout(7_000 * MS).await.unwrap();
        // As long as its asker waits, and not as long again when it has come.
        let asked = tokio::join!(desk.ask(Note { number: 1 }).timeout(3_000 * MS), async {
            sim.sleep(2_000 * MS).await;
            let near: ActorRef<Desk> = other.system.lookup("/user/desk").unwrap();
            near.tell(Nap { millis: 1_100 }).unwrap();
            sim.heal();
        });
        assert!(matches!(asked.0, Err(AskError::Timeout { .. })), "{:?}", asked.0);
        until(&sim, "the end of the nap", || other.log.len() >= 3).await;
        sim.sleep(1_000 * MS).await;
        let mut log = other.log.all();
        log.sort();
        assert_eq!(log, ["Some(5.0)", "napped", "napping"]);
    });
}

#[test]
fn r8_a_node_whose_clock_was_set_back_between_two_lives_is_spoken_to() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&one).await;
        guard
            .ask(LookAfter {
                who: one.far("other", "desk"),
            })
            .await
            .unwrap();
        let to_one: ActorRef<Desk> = other.far("one", "desk");
        to_one.ask(Note { number: 1 }).await.unwrap();
        sim.node("other").crash();
        sim.node("other")
            .set_clock(Clock::true_time().behind(Duration::from_secs(3_600)));
        sim.node("other").restart().await;
        let other = start(&sim, "other").await;
        let to_one: ActorRef<Desk> = other.far("one", "desk");
        to_one.ask(Note { number: 2 }).timeout(60_000 * MS).await.unwrap();
        // The end of the former life was heard, once.
        until(&sim, "the end", || one.log.len() == 3).await;
        let mut heard = one.log.all();
        heard.sort();
        assert_eq!(heard, ["1", "2", "gone /user/desk"]);
        let back: ActorRef<Desk> = one.far("other", "desk");
        assert_eq!(back.ask(Note { number: 3 }).await.unwrap(), 1);
    });
}

#[test]
fn s12_what_was_told_last_still_goes_out_when_a_node_stops() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let far: ActorRef<Desk> = one.far("other", "desk");
        far.ask(Note { number: 0 }).await.unwrap();
        sim.set_network(Link::default().bytes_per_second(100_000));
        let bytes = (0..20_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        far.tell(Echo { bytes }).unwrap();
        far.tell(Note { number: 1 }).unwrap();
        // It is being written when the node stops.
        sim.sleep(20 * MS).await;
        one.system.stop().await.unwrap();
        until(&sim, "the last", || other.log.len() == 2).await;
    });
}

#[test]
fn s12_who_watches_actors_of_a_node_that_stops_hears_at_once() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&one).await;
        let mut names: Vec<String> = (0..40).map(|n| format!("desk-{n}")).collect();
        for name in &names {
            let desk = common::desk(&other.log);
            other.system.spawn(desk).named(name.clone()).await.unwrap();
        }
        names.push("desk".to_owned());
        for name in &names {
            let who = one.far("other", name);
            guard.ask(LookAfter { who }).await.unwrap();
        }
        // Behind the watches, so that these have arrived.
        one.far::<Desk>("other", "desk").ask(Note { number: 1 }).await.unwrap();
        other.system.stop().await.unwrap();
        let stopped = sim.now();
        until(&sim, "the ends", || one.log.len() == names.len()).await;
        assert!(sim.now() - stopped < 5_000 * MS, "it takes no 30 s for it to be lost");
        let mut heard = one.log.all();
        heard.sort();
        heard.dedup();
        assert_eq!(heard.len(), names.len(), "each once: {heard:?}");
    });
}

/// The watch is on its way when the node says goodbye.
#[test]
fn s12_a_watch_that_crosses_a_goodbye_is_answered_by_it() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&one).await;
        let far: ActorRef<Desk> = one.far("other", "desk");
        far.ask(Note { number: 1 }).await.unwrap();
        sim.set_network(Link::default().latency(200 * MS..=200 * MS));
        let system = one.system.clone();
        sim.node("one").spawn(async move {
            system.sleep(100 * MS).await;
            guard.ask(LookAfter { who: far }).await.unwrap();
        });
        other.system.stop().await.unwrap();
        let stopped = sim.now();
        until(&sim, "the end", || one.log.len() == 1).await;
        assert!(sim.now() - stopped < 5_000 * MS, "it takes no 30 s for it to be lost");
    });
}

/// The handler ends while its node waits for it, and its actor and everything else right after it.
#[test]
fn s3_what_was_handled_when_its_node_stopped_is_answered() {
    Sim::check(100, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        guard(&other).await;
        let far: ActorRef<Guard> = one.far("other", "guard");
        far.ask(Ponder).await.unwrap();
        let system = other.system.clone();
        sim.node("other").spawn(async move {
            system.sleep(5 * MS).await;
            system.stop().await.unwrap();
        });
        let answer = far.ask(Ponder).await;
        assert_eq!(answer.is_ok(), other.log.len() == 2, "{answer:?}");
    });
}
