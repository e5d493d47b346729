//! R3: what keeps a connection, how one is made again, and what is said on it in how many words, in the simulator.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::BytesMut;
use common::place::{MS, Place, options, until};
use common::tap::Tap;
use common::{Desk, Note};
use volary::prelude::*;
use volary_remote::{Remote, RemoteOptions};
use volary_testkit::Sim;
use volary_wire::native::{Envelope, Frame, FrameWriter, Name};

#[test]
fn r3_a_connection_on_which_nobody_has_anything_to_say_stays() {
    Sim::check(20, |sim| async move {
        // It is given up after a silence of two seconds.
        let builder = || Remote::builder().options(options());
        let (one, here) = Place::tapped(&sim, "one", builder()).await;
        let (other, _) = Place::tapped(&sim, "other", builder()).await;
        let desk: ActorRef<Desk> = one.far("other", "desk");
        desk.ask(Note { number: 1 }).await.unwrap();
        sim.sleep(Duration::from_secs(60)).await;
        assert!(one.reading().connected && other.reading().connected);
        desk.ask(Note { number: 2 }).await.unwrap();
        assert_eq!((one.reading().connections, other.reading().connections), (1, 1));
        let said = here.said(0);
        let beats = said.iter().filter(|frame| matches!(frame, Frame::Heartbeat { .. }));
        assert!((100..=120).contains(&beats.count()), "one each half a second");
    });
}

#[test]
fn r3_attempts_to_connect_pause_for_twice_as_long_each_time() {
    static SHORTENED: AtomicUsize = AtomicUsize::new(0);
    Sim::check(20, |sim| async move {
        let builder = Remote::builder().options(RemoteOptions::new());
        let (one, tap) = Place::tapped(&sim, "one", builder).await;
        // It is there, but nobody listens.
        let _silent = sim.node("other");
        let desk: ActorRef<Desk> = one.far("other", "desk");
        desk.tell(Note { number: 1 }).unwrap();
        until(&sim, "five attempts", || tap.attempts().len() >= 5).await;
        let attempts = tap.attempts();
        let pauses = attempts.windows(2).map(|pair| pair[1].0.since(pair[0].1));
        for (pause, seconds) in pauses.zip([1, 2, 4, 8]) {
            // Up to a quarter is left to chance, so that not all come back at once to a node that was away.
            let most = Duration::from_secs(seconds);
            assert!(pause <= most + MS && pause >= most * 3 / 4, "{pause:?} of {most:?}");
            SHORTENED.fetch_add(usize::from(pause < most * 9 / 10), Relaxed);
        }
    });
    assert!(SHORTENED.load(Relaxed) > 0, "nothing was left to chance");
}

/// What stands in messages for the names of receiver, sender and type.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Called {
    InFull,
    ByNumber,
}

impl Called {
    fn of(name: &Name) -> Self {
        match name {
            Name::Id(_) => Called::ByNumber,
            Name::Text(_) => Called::InFull,
        }
    }
}

/// One thing said on a connection.
#[derive(Debug, PartialEq)]
enum Said {
    /// A number and the name that it stands for, without the uid of an actor.
    Definition(u32, String),
    Message {
        receiver: Called,
        sender: Option<Called>,
        type_name: Called,
    },
}

fn message(envelope: &Envelope) -> Said {
    Said::Message {
        receiver: Called::of(&envelope.receiver),
        sender: envelope.sender.as_ref().map(Called::of),
        type_name: Called::of(&envelope.type_name),
    }
}

/// Definitions and messages of a connection, with the length of each.
fn words(tap: &Tap, connection: usize) -> Vec<(Said, usize)> {
    let words = tap.said(connection).into_iter().filter_map(|frame| {
        let said = match &frame {
            Frame::Intern(intern) => {
                let name = intern.text.as_str().split('#').next().unwrap();
                Said::Definition(intern.id, name.to_owned())
            }
            Frame::Tell(envelope) | Frame::Ask { envelope, .. } => message(envelope),
            _ => return None,
        };
        let mut bytes = BytesMut::new();
        FrameWriter::new(&mut bytes).frame(&frame).unwrap();
        Some((said, bytes.len()))
    });
    words.collect()
}

/// Passes notes on, so that they have a sender.
struct Clerk(ActorRef<Desk>);

#[actor]
impl Clerk {
    async fn pass_on(&mut self, number: u64) -> Result<u64, Fault> {
        self.0.ask(Note { number }).await.or_fault()
    }
}

#[test]
fn r3_a_name_is_spelt_once_on_a_connection_and_called_by_a_number_from_then_on() {
    use Called::{ByNumber, InFull};
    let defined = |number, name: &str| Said::Definition(number, name.to_owned());
    Sim::check(20, |sim| async move {
        let builder = || Remote::builder().options(options());
        let (one, tap) = Place::tapped(&sim, "one", builder()).await;
        let (_other, _) = Place::tapped(&sim, "other", builder()).await;
        let desk: ActorRef<Desk> = one.far("other", "desk");
        let told = desk.clone();
        let clerk = one.system.spawn(move || Clerk(told.clone())).named("clerk");
        let clerk = clerk.await.unwrap();
        let (to, from) = ("volary://other@other:1/user/desk", "volary://one@one:1/user/clerk");
        let plain = |called| Said::Message {
            receiver: called,
            sender: None,
            type_name: called,
        };
        let sent = |called| Said::Message {
            receiver: called,
            sender: Some(called),
            type_name: called,
        };
        for connection in 0..3 {
            // The first is there before the connection, whose numbers it cannot have.
            for number in 0..3 {
                desk.ask(Note { number }).await.unwrap();
            }
            for number in 3..5 {
                clerk.ask(PassOn { number }).await.unwrap();
            }
            let (words, lengths): (Vec<Said>, Vec<usize>) = words(&tap, connection).into_iter().unzip();
            let expected = [
                plain(InFull),
                defined(1, to),
                defined(1, "test.Note"),
                plain(ByNumber),
                plain(ByNumber),
                defined(2, from),
                sent(ByNumber),
                sent(ByNumber),
            ];
            assert_eq!(words, expected);
            let names = to.len() + "test.Note".len();
            assert!(lengths[4] + names <= lengths[0], "{lengths:?}");
            sim.reset(&sim.node("one"), &sim.node("other"));
            until(&sim, "the end of it", || !one.reading().connected).await;
        }
    });
}
