//! R3, R6, R8: what the network and crashes may not break, in the simulator. `cargo xtask sim remoting` searches for
//! more of the kind.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use common::place::{MS, Place, options, until};
use common::{Desk, Echo, Log, Nap, Note, desk};
use serde::{Deserialize, Serialize, Serializer};
use volary::prelude::*;
use volary_remote::Remote;
use volary_testkit::Sim;
use volary_testkit::sim::{Check, Link};

/// What cannot be written.
#[derive(Deserialize)]
struct Thorn;

impl Serialize for Thorn {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it stings"))
    }
}

/// Hears of the ends of others.
struct Guard {
    log: Log,
}

#[actor(kind = "test.Guard", remote(Pain))]
impl Guard {
    fn look_after(&mut self, who: ActorRef<Desk>, ctx: &mut Context<Self>) {
        ctx.watch(&who);
    }

    #[message(remote = "test.Pain", codec = postcard, derive(Serialize, Deserialize))]
    fn pain(&mut self, thorn: Thorn) {
        let _ = thorn;
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}

/// Bytes that are as many on the wire, whatever was agreed.
fn incompressible(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let step = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(step).take(length).collect()
}

async fn start(sim: &Sim, name: &str) -> Place {
    let options = options().chunk_bytes(1_024).lost_after(5_000 * MS);
    Place::start(sim, name, Remote::builder().kind::<Guard>().options(options)).await
}

async fn guard(place: &Place) -> ActorRef<Guard> {
    let log = place.log.clone();
    let guard = place.system.spawn(move || Guard { log: log.clone() });
    guard.named("guard").await.unwrap()
}

#[test]
fn r8_a_large_message_that_is_still_on_its_way_is_not_confirmed_with_a_small_one() {
    Sim::check(50, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        sim.set_network(Link::default().bytes_per_second(20_000));
        let second = Log::default();
        other.system.spawn(desk(&second)).named("second").await.unwrap();
        let (large, small): (ActorRef<Desk>, ActorRef<Desk>) = (one.far("other", "desk"), one.far("other", "second"));
        small.ask(Note { number: 0 }).await.unwrap();
        // A new connection, whose first message is the large one.
        sim.reset(&sim.node("one"), &sim.node("other"));
        until(&sim, "the end of it", || !one.reading().connected).await;
        let bytes = incompressible(60_000);
        large.tell(Echo { bytes }).unwrap();
        small.tell(Note { number: 1 }).unwrap();
        until(&sim, "the small one", || second.len() == 2).await;
        sim.sleep(200 * MS).await;
        let reading = one.reading();
        assert_eq!(reading.under_way, 1, "{reading:?}");
    });
}

#[test]
fn r3_a_large_message_beside_small_ones_fills_its_window_where_the_way_is_long() {
    Sim::check(10, |sim| async move {
        let builder = || Remote::builder().options(options());
        let one = Place::start(&sim, "one", builder()).await;
        let other = Place::start(&sim, "other", builder()).await;
        let second = Log::default();
        other.system.spawn(desk(&second)).named("second").await.unwrap();
        let (large, small): (ActorRef<Desk>, ActorRef<Desk>) = (one.far("other", "desk"), one.far("other", "second"));
        small.ask(Note { number: 0 }).await.unwrap();
        sim.set_network(Link::default().latency(50 * MS..=50 * MS));
        let bytes = incompressible(2 << 20);
        large.tell(Echo { bytes }).unwrap();
        large.tell(Note { number: 1 }).unwrap();
        let began = sim.now();
        while other.log.len() < 1 {
            small.tell(Note { number: 2 }).unwrap();
            sim.sleep(10 * MS).await;
            assert!(sim.now() - began < 60_000 * MS, "it never arrives");
        }
        // Of 126 KiB for each way there and back, 17 of them; of a quarter, as is enough for a short way, 66.
        let took = sim.now() - began;
        assert!(took < 3_000 * MS, "{took:?}");
    });
}

#[test]
fn r3_a_message_that_cannot_be_written_does_no_harm_to_the_next() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        guard(&other).await;
        let desk: ActorRef<Desk> = one.far("other", "desk");
        desk.ask(Note { number: 1 }).await.unwrap();
        // The first word to this actor, and of this type: both would get a number.
        let guard: ActorRef<Guard> = one.far("other", "guard");
        assert!(guard.tell(Pain { thorn: Thorn }).is_err());
        desk.ask(Note { number: 2 }).await.unwrap();
        let refused = guard.tell(Pain { thorn: Thorn });
        assert!(refused.is_err());
        assert_eq!(one.reading().connections, 1);
        assert_eq!(other.log.all(), ["1", "2"]);
    });
}

#[test]
fn s12_watching_one_who_never_was_on_another_node_yields_its_end_once() {
    Sim::check(20, |sim| async move {
        let (one, _other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&one).await;
        let who = one.far("other", "nobody");
        guard.ask(LookAfter { who }).await.unwrap();
        until(&sim, "its end", || one.log.len() > 0).await;
        sim.sleep(6_000 * MS).await;
        assert_eq!(one.log.all(), ["gone /user/nobody"]);
    });
}

#[test]
fn r8_a_node_whose_actors_were_said_to_be_lost_does_not_speak_again_in_this_life() {
    Sim::check(30, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&one).await;
        let (to_other, to_one): (ActorRef<Desk>, ActorRef<Desk>) = (one.far("other", "desk"), other.far("one", "desk"));
        guard.ask(LookAfter { who: to_other }).await.unwrap();
        to_one.ask(Note { number: 1 }).await.unwrap();
        sim.partition(&[&sim.node("one")]);
        until(&sim, "the loss", || one.log.len() == 2).await;
        assert_eq!(one.log.all(), ["1", "gone /user/desk"]);
        sim.heal();
        let late = to_one.ask(Note { number: 2 }).timeout(20_000 * MS).await;
        assert!(late.is_err(), "{late:?}");
        assert_eq!(one.log.len(), 2, "spoke after its end");
        sim.node("other").crash();
        sim.node("other").restart().await;
        let other = start(&sim, "other").await;
        let to_one: ActorRef<Desk> = other.far("one", "desk");
        to_one.ask(Note { number: 3 }).await.unwrap();
        assert_eq!(one.log.all(), ["1", "gone /user/desk", "3"]);
    });
}

#[test]
fn r3_nothing_is_lost_when_both_call_at_once() {
    static CROSSED: AtomicUsize = AtomicUsize::new(0);
    Sim::check(300, |sim| async move {
        let builder = || Remote::builder().options(options().lost_after(5_000 * MS));
        let (one, here) = Place::tapped(&sim, "one", builder()).await;
        let (other, there) = Place::tapped(&sim, "other", builder()).await;
        let (to_other, to_one): (ActorRef<Desk>, ActorRef<Desk>) = (one.far("other", "desk"), other.far("one", "desk"));
        sim.set_network(Link::default().latency(MS..=50 * MS));
        for number in 0..5 {
            to_other.tell(Note { number }).unwrap();
            sim.sleep(Duration::from_micros(sim.random() % 40_000)).await;
            to_one.tell(Note { number }).unwrap();
        }
        until(&sim, "all of them", || one.log.len() == 5 && other.log.len() == 5).await;
        until(&sim, "the receipts", || {
            one.reading().under_way + other.reading().under_way == 0
        })
        .await;
        assert_eq!((one.reading().confirmed, other.reading().confirmed), (5, 5));
        // One call is taken on both sides, and nothing stays open of the other.
        let open = || (sim.node("one").open_connections(), sim.node("other").open_connections());
        until(&sim, "an end of the other", || open() == (1, 1)).await;
        assert_eq!((one.reading().connections, other.reading().connections), (1, 1));
        let calls = [here, there].map(|tap| tap.attempts().len());
        CROSSED.fetch_add(usize::from(calls == [1, 1]), Relaxed);
    });
    // A single run that is looked at again need not be such a one.
    assert!(
        CROSSED.load(Relaxed) > 0 || std::env::var_os("VOLARY_SEED").is_some(),
        "calls never crossed"
    );
}

#[test]
fn r6_an_errand_waits_for_a_connection_as_a_message_does() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let guard = guard(&other).await;
        one.far::<Guard>("other", "guard").stop();
        let end = sim.now() + Duration::from_secs(10);
        until(&sim, "its end", || !guard.is_alive() || sim.now() >= end).await;
        assert!(!guard.is_alive());
    });
}

#[test]
fn r3_actors_that_nobody_refers_to_are_let_go_without_a_connection_as_well() {
    Sim::check(20, |sim| async move {
        let (one, _other) = (start(&sim, "one").await, start(&sim, "other").await);
        let desk: ActorRef<Desk> = one.far("other", "desk");
        desk.ask(Note { number: 1 }).await.unwrap();
        sim.node("other").crash();
        until(&sim, "the end of the connection", || !one.reading().connected).await;
        assert_eq!(one.reading().known, 1);
        drop(desk);
        until(&sim, "that it is let go", || one.reading().known == 0).await;
    });
}

#[test]
fn r3_the_same_seed_gives_the_same_run() {
    let twice = Check::new().seeds(20).twice_every(1).run(|sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let desk: ActorRef<Desk> = one.far("other", "desk");
        for number in 0..50 {
            let _ = desk.tell(Note { number });
            if number == 25 {
                sim.reset(&sim.node("one"), &sim.node("other"));
            }
            sim.sleep(MS).await;
        }
        until(&sim, "rest", || one.reading().under_way == 0).await;
        sim.note(format_args!("{:?} {:?}", one.reading(), other.log.all()));
    });
    assert!(twice.is_ok(), "{:?}", twice.err());
}

#[test]
fn r8_asks_are_open_until_they_are_answered_or_given_up() {
    Sim::check(20, |sim| async move {
        let (one, _other) = (start(&sim, "one").await, start(&sim, "other").await);
        let desk: ActorRef<Desk> = one.far("other", "desk");
        // The message has arrived and is confirmed; its answer is still to come.
        let asked = desk.clone();
        sim.node("one")
            .spawn(async move { assert!(asked.ask(Nap { millis: 1_000 }).await.is_ok()) });
        sim.sleep(500 * MS).await;
        assert_eq!((one.reading().under_way, one.reading().open_asks), (0, 1));
        sim.sleep(1_000 * MS).await;
        assert_eq!(one.reading().open_asks, 0);
        // Nobody waits for this one, which is noticed at a heartbeat.
        let given_up = desk.ask(Nap { millis: 60_000 }).timeout(100 * MS).await;
        assert!(given_up.is_err());
        sim.sleep(1_000 * MS).await;
        assert_eq!(one.reading().open_asks, 0);
    });
}
