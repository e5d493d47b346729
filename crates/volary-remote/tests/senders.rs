//! S1: whoever handles a message from another node can say who sent it, however long it took to come to its turn, in the
//! simulator.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::Log;
use common::place::{MS, Place, options, until};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::Remote;
use volary_testkit::Sim;

/// Writes down who speaks.
struct Witness(Log);

#[actor(kind = "senders.Witness", remote(See, Hold))]
impl Witness {
    #[message(remote = "senders.See", codec = postcard, derive(Serialize, Deserialize))]
    fn see(&mut self, ctx: &mut Context<Self>) -> Option<String> {
        let sender = ctx.sender()?;
        let (path, address) = (ctx.system().path_of(sender), ctx.system().address_of(sender));
        self.0.push(path.map_or("nobody".to_owned(), |path| path.to_string()));
        Some(address?.to_string())
    }

    /// Takes nothing else meanwhile.
    #[message(remote = "senders.Hold", codec = postcard, derive(Serialize, Deserialize))]
    async fn hold(&mut self, millis: u64, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(millis)).await;
    }
}

/// Speaks to it.
struct Speaker(ActorRef<Witness>);

#[actor]
impl Speaker {
    async fn ask(&mut self) -> Option<String> {
        self.0.ask(See).await.ok().flatten()
    }
    fn tell(&mut self) {
        let _ = self.0.tell(See);
    }
}

async fn start(sim: &Sim, name: &str) -> Place {
    let builder = Remote::builder().kind::<Witness>();
    let place = Place::start(sim, name, builder.options(options())).await;
    let log = place.log.clone();
    let witness = place.system.spawn(move || Witness(log.clone()));
    witness.named("witness").await.unwrap();
    place
}

async fn speaker(place: &Place) -> ActorRef<Speaker> {
    let to: ActorRef<Witness> = place.far("other", "witness");
    let speaker = place.system.spawn(move || Speaker(to.clone()));
    speaker.named("speaker").await.unwrap()
}

#[test]
fn s1_a_sender_is_known_after_heartbeats_as_it_was_before() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let speaker = speaker(&one).await;
        let first = speaker.ask(Ask).await.unwrap();
        assert!(
            first
                .as_deref()
                .is_some_and(|it| it.starts_with("volary://one@one:1/user/speaker#")),
            "{first:?}"
        );
        for told in 1..=3 {
            // Three heartbeats, at each of which those are let go of that nobody refers to.
            sim.sleep(1_600 * MS).await;
            assert_eq!(speaker.ask(Ask).await.unwrap(), first);
            // The second and third of them go the short way.
            speaker.tell(Tell).unwrap();
            until(&sim, "what was told", || other.log.len() == 1 + 2 * told).await;
        }
        assert_eq!(other.log.all(), ["/user/speaker"; 7]);
        assert_eq!((one.reading().connections, other.reading().known), (1, 1));
    });
}

#[test]
fn s1_a_message_that_waits_in_a_mailbox_for_heartbeats_has_its_sender_still() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let speaker = speaker(&one).await;
        // There is no connection yet, so that the first ones say who sent them in full.
        one.far::<Witness>("other", "witness")
            .tell(Hold { millis: 1_200 })
            .unwrap();
        (0..2).for_each(|_| speaker.tell(Tell).unwrap());
        until(&sim, "a connection", || one.reading().connected).await;
        (0..2).for_each(|_| speaker.tell(Tell).unwrap());
        sim.sleep(1_000 * MS).await;
        assert_eq!((other.log.len(), other.reading().received), (0, 5), "they wait");
        until(&sim, "all of them", || other.log.len() == 4).await;
        assert_eq!(other.log.all(), ["/user/speaker"; 4]);
    });
}

#[test]
fn r3_senders_are_let_go_of_when_their_connection_ends() {
    Sim::check(20, |sim| async move {
        let (one, other) = (start(&sim, "one").await, start(&sim, "other").await);
        let speaker = speaker(&one).await;
        (0..2).for_each(|_| speaker.tell(Tell).unwrap());
        until(&sim, "both", || other.log.len() == 2).await;
        speaker.ask(Ask).await.unwrap();
        assert_eq!(other.reading().known, 1);
        sim.node("one").crash();
        until(&sim, "the end of the connection", || !other.reading().connected).await;
        // Not when the peer is lost, which is much later.
        sim.sleep(100 * MS).await;
        assert_eq!(other.reading().known, 0);
    });
}
