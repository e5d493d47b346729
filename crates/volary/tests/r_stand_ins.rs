//! R3, R6: references to actors elsewhere, and what arrives from there, before there is any wire.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::foreign::{Arrival, Errand, Outlet, Parcel, PendingReply, Receipt, Received, StandIn, Undeliverable};
use volary::prelude::*;
use volary::{Address, Baggage, RemoteError};

const SECOND: Duration = Duration::from_secs(1);

protocol!(Notes { Note });

/// An outlet that keeps what it gets.
#[derive(Default)]
struct Shelf {
    errands: Mutex<Vec<Errand>>,
    told: Mutex<Vec<String>>,
    asked: Mutex<Vec<PendingReply>>,
    full: std::sync::atomic::AtomicBool,
}

impl Outlet for Shelf {
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        if self.full.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(Undeliverable::Full);
        }
        let Some(note) = parcel.message().downcast_ref::<Note>() else {
            return Err(Undeliverable::Unsendable);
        };
        if note.number == 13 {
            panic!("a broken outlet");
        }
        let word = parcel.baggage().header("word").unwrap_or(b"-");
        let line = format!(
            "{} {} {:?}",
            note.number,
            String::from_utf8_lossy(word),
            parcel.time_left()
        );
        self.told.lock().unwrap().push(line);
        self.asked.lock().unwrap().extend(parcel.take_reply());
        Ok(())
    }
    fn run(&self, errand: Errand) {
        self.errands.lock().unwrap().push(errand);
    }
}

fn far(system: &ActorSystem) -> (StandIn, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    let address: Address = "volary://far@10.0.0.7:4242/user/desk#2f".parse().unwrap();
    (system.stand_in(address, shelf.clone()).unwrap(), shelf)
}

#[test]
fn r6_a_reference_to_an_actor_elsewhere_is_like_every_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let before = system.actor_count();
        let (stand_in, shelf) = far(&system);
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        let notes: ActorRef<Notes> = stand_in.actor_ref();
        let recipient: Recipient<Note> = stand_in.recipient();
        assert_eq!(desk.path().to_string(), "/user/desk");
        assert_eq!(desk.name(), "desk");
        assert_eq!(desk.address().to_string(), "volary://far@10.0.0.7:4242/user/desk#2f");
        desk.tell(Note { number: 1 }).unwrap();
        notes.tell(Note { number: 2 }).unwrap();
        recipient.tell(Note { number: 3 }).unwrap();
        let baggage = Baggage::new().with_header("word", "sesame").unwrap();
        baggage.in_scope(|| desk.tell(Note { number: 4 })).unwrap();
        assert_eq!(
            *shelf.told.lock().unwrap(),
            ["1 - None", "2 - None", "3 - None", "4 sesame None"]
        );
        assert_eq!(system.actor_count(), before, "it is no actor of this system");
        assert!(desk.is_alive() && desk.stand_in().is_some());
        system.stop().await.unwrap();
    });
}

#[test]
fn r6_an_ask_elsewhere_ends_exactly_once_in_each_way() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (stand_in, shelf) = far(&system);
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        let answer = async |end: &dyn Fn(PendingReply)| {
            let ask = desk.ask(Note { number: 1 }).timeout(SECOND).into_future();
            let reply = shelf.asked.lock().unwrap().pop().unwrap();
            assert!(reply.is_wanted());
            end(reply);
            ask.await
        };
        let good = answer(&|reply| reply.for_message::<Note>().unwrap().send(42)).await;
        assert_eq!(good.unwrap(), 42);
        assert!(matches!(answer(&drop).await, Err(AskError::NoReply)));
        assert!(matches!(answer(&PendingReply::stopped).await, Err(AskError::Stopped)));
        assert!(matches!(answer(&PendingReply::full).await, Err(AskError::Full)));
        assert!(matches!(
            answer(&|r| r.fail(Fault::msg("there"))).await,
            Err(AskError::Failed(_))
        ));
        let lost = |reply: PendingReply| reply.lost(RemoteError::Unconfirmed { node: "far".to_owned() });
        let Err(AskError::Remote(error)) = answer(&lost).await else {
            panic!()
        };
        assert!(matches!(*error, RemoteError::Unconfirmed { .. }));
        let wrong = answer(&|reply| drop(reply.for_message::<Who>().unwrap_err())).await;
        assert!(matches!(wrong, Err(AskError::NoReply)));
        assert!(shelf.told.lock().unwrap().iter().all(|line| line == "1 - Some(1s)"));

        // Nobody answers, and the asker gives up: the reply is not wanted any more.
        let late = desk.ask(Note { number: 1 }).timeout(SECOND).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })), "{late:?}");
        let reply = shelf.asked.lock().unwrap().pop().unwrap();
        assert!(!reply.is_wanted());
        reply.for_message::<Note>().unwrap().send(1);
        assert_eq!(system.metrics().late_replies, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn r6_what_an_outlet_refuses_comes_back() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (stand_in, shelf) = far(&system);
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        let unsendable = desk.tell(Who).unwrap_err();
        assert!(matches!(unsendable, TellError::Unsendable(Who)));
        assert!(
            unsendable.to_string().contains("Who cannot be sent there"),
            "{unsendable}"
        );
        let Err(AskError::Remote(error)) = desk.ask(Who).await else {
            panic!()
        };
        assert!(matches!(*error, RemoteError::Unsendable { .. }));
        assert!(
            matches!(desk.tell(Note { number: 13 }), Err(TellError::Unsendable(_))),
            "a panic is contained"
        );
        shelf.full.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(matches!(
            desk.tell(Note { number: 1 }),
            Err(TellError::Full(Note { number: 1 }))
        ));
        assert!(matches!(desk.ask(Note { number: 1 }).await, Err(AskError::Full)));
        assert!(shelf.asked.lock().unwrap().is_empty());
        system.stop().await.unwrap();
    });
}

#[test]
fn r6_errands_go_where_the_actor_lives() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (stand_in, shelf) = far(&system);
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        desk.stop();
        desk.drain();
        desk.kill();
        desk.restart();
        desk.reinstate();
        desk.passivate();
        let expected = [
            Errand::Stop,
            Errand::Drain,
            Errand::Kill,
            Errand::Restart,
            Errand::Reinstate,
            Errand::Passivate,
        ];
        assert_eq!(*shelf.errands.lock().unwrap(), expected);
        assert!(desk.is_alive());
        system.stop().await.unwrap();
    });
}

struct Watchman(Log);

#[actor]
impl Watchman {
    fn watch(&mut self, ctx: &mut Context<Self>, who: ActorRef<Desk>) {
        ctx.watch(&who);
    }
    fn unwatch(&mut self, ctx: &mut Context<Self>, who: ActorRef<Desk>) {
        ctx.unwatch(&who);
    }
    fn hear(&mut self, what: &'static str) {
        self.0.push(what);
    }
    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.0.push(gone.path());
    }
}

#[test]
fn r6_the_end_of_an_actor_elsewhere_is_heard_once_after_what_was_told_before() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (stand_in, shelf) = far(&system);
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        let made = log.clone();
        let watchman = system.spawn(move || Watchman(made.clone())).await.unwrap();
        watchman.ask(Watch { who: desk.clone() }).await.unwrap();
        watchman.ask(Unwatch { who: desk.clone() }).await.unwrap();
        watchman.ask(Watch { who: desk.clone() }).await.unwrap();
        assert_eq!(
            *shelf.errands.lock().unwrap(),
            [Errand::Watch, Errand::Unwatch, Errand::Watch]
        );
        watchman.tell(Hear { what: "the last word" }).unwrap();
        stand_in.end();
        desk.terminated().await;
        stand_in.end();
        watchman.ask(Hear { what: "afterwards" }).await.unwrap();
        assert_eq!(log.all(), ["the last word", "/user/desk", "afterwards"]);
        assert!(matches!(desk.tell(Note { number: 1 }), Err(TellError::Stopped(_))));
        assert!(matches!(desk.ask(Note { number: 1 }).await, Err(AskError::Stopped)));
        assert!(stand_in.has_ended());
        system.stop().await.unwrap();
    });
}

#[test]
fn r3_a_stand_in_that_nobody_refers_to_can_be_let_go() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (stand_in, shelf) = far(&system);
        assert!(stand_in.is_unused(1));
        let desk: ActorRef<Desk> = stand_in.actor_ref();
        assert!(!stand_in.is_unused(1));
        drop(desk);
        assert!(stand_in.is_unused(1));
        stand_in.end();
        while !stand_in.has_ended() {
            system.sleep(Duration::from_millis(1)).await;
        }
        drop(stand_in);
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(Arc::strong_count(&shelf), 1, "its cell is gone");
        system.stop().await.unwrap();
    });
}

#[derive(Default)]
struct Office(Mutex<Vec<u64>>);

impl Received for Office {
    fn received(&self, ticket: u64) {
        self.0.lock().unwrap().push(ticket);
    }
}

#[test]
fn r3_what_arrives_has_its_sender_deadline_and_baggage_and_a_receipt_when_it_is_taken() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (sender, _) = far(&system);
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let office = Arc::new(Office::default());
        let receipt = |ticket| Receipt::new(office.clone(), ticket);
        let (open, closed) = gate();
        Arrival::new(&system)
            .receipt(receipt(1))
            .deliver(|| desk.tell(Wait { gate: closed }))
            .unwrap();
        Arrival::new(&system)
            .receipt(receipt(2))
            .deliver(|| desk.tell(Note { number: 1 }))
            .unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(*office.0.lock().unwrap(), [1], "the second one waits");
        open.send(()).unwrap();
        let who = Arrival::new(&system)
            .from(Some(sender.id()))
            .receipt(receipt(3))
            .deliver(|| desk.ask(Who).into_future())
            .await;
        assert_eq!(who.unwrap(), Some(sender.id()));
        assert_eq!(*office.0.lock().unwrap(), [1, 2, 3]);
        let left = Arrival::new(&system)
            .from(Some(sender.id()))
            .time_left(SECOND)
            .deliver(|| desk.ask(TimeLeft).into_future())
            .await;
        assert!(left.unwrap().unwrap() <= SECOND);
        // One that is refused has left, too; one that nobody handles any more as well.
        let (_open, closed) = gate();
        desk.tell(Wait { gate: closed }).unwrap();
        let _ = Arrival::new(&system)
            .receipt(receipt(4))
            .deliver(|| desk.tell(Note { number: 2 }));
        desk.kill();
        desk.terminated().await;
        let refused = Arrival::new(&system)
            .receipt(receipt(5))
            .deliver(|| desk.tell(Note { number: 3 }));
        assert!(refused.is_err());
        assert_eq!(*office.0.lock().unwrap(), [1, 2, 3, 4, 5]);
        system.stop().await.unwrap();
    });
}
