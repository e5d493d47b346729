//! T7: a tap on a running actor sees what it handles, and nothing is lost to it.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Input, Moment, Origin, Passage, Tap, What};

const MS: Duration = Duration::from_millis(1);

/// Takes notes of everything.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn push(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

impl Tap for Notes {
    fn input(&self, input: &Input<'_>) -> Passage {
        let content = match input.message() {
            Some(message) if message.is::<Large>() => message.downcast_ref::<Large>().unwrap().0[31],
            Some(message) if message.is::<Say>() => message.downcast_ref::<Say>().unwrap().0,
            _ => 0,
        };
        self.push(format!("{} {content} {:?}", short(input.type_name()), input.origin()));
        Passage::Handle
    }

    fn happens(&self, what: &What<'_>) {
        match what {
            What::Continues => {}
            What::Failed { .. } => self.push("failed".to_owned()),
            other => self.push(format!("{other:?}").to_lowercase()),
        }
    }
}

#[derive(Message, Clone)]
struct Say(u64);

/// Too large to travel inside the mailbox.
#[derive(Message)]
struct Large([u64; 32]);

#[derive(Message)]
struct Later;

struct Parrot {
    said: Vec<u64>,
    asleep: bool,
}

fn parrot() -> Parrot {
    Parrot {
        said: Vec::new(),
        asleep: false,
    }
}

fn whisper(parrot: &mut Parrot, say: Say, _: &mut Context<Parrot>) -> Result<(), Failure> {
    parrot.said.push(say.0 + 1_000);
    Ok(())
}

#[actor]
impl Parrot {
    #[handles]
    fn say(&mut self, say: Say) {
        self.said.push(say.0);
    }
    #[handles]
    fn large(&mut self, large: Large) {
        self.said.push(large.0[31]);
    }
    #[handles]
    fn later(&mut self, _: Later, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if self.asleep {
            return Err(ctx.stash(Later).map_err(Fault::from)?.into());
        }
        Ok(())
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.said.push(77);
    }
    fn sleep(&mut self, asleep: bool, ctx: &mut Context<Self>) {
        self.asleep = asleep;
        if !asleep {
            ctx.unstash_all();
        }
    }
    fn timers(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("once", MS, Say(5));
        ctx.set_timer("never", MS, Say(6));
    }
    fn cancel(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.cancel_timer("never")
    }
    fn watch(&mut self, who: ActorRef<Parrot>, ctx: &mut Context<Self>) {
        ctx.watch(&who);
    }
    fn unwatch(&mut self, who: ActorRef<Parrot>, ctx: &mut Context<Self>) {
        ctx.unwatch(&who);
    }
    fn whispers(&mut self, whispers: bool, ctx: &mut Context<Self>) {
        if whispers {
            ctx.becomes(whisper);
        } else {
            ctx.unbecome::<Say>();
        }
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn clocks(&mut self, ctx: &mut Context<Self>) -> (Moment, SystemTime, u64) {
        (ctx.now(), ctx.wall_clock(), ctx.random())
    }
    fn crash(&mut self) {
        panic!("on purpose");
    }
    fn said(&mut self) -> Vec<u64> {
        self.said.clone()
    }
}

#[test]
fn t7_a_tap_sees_every_way_in_and_the_message_itself() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for mailbox in [MailboxKind::Unbounded, MailboxKind::Bounded(4), MailboxKind::fair()] {
            let parrot = system.spawn(parrot).mailbox(mailbox).await.unwrap();
            let notes = Arc::new(Notes::default());
            let tapped = parrot.tap(notes.clone()).unwrap();
            parrot.ask(Say(1)).await.unwrap();
            parrot.ask(Large([2; 32])).await.unwrap();
            assert_eq!(notes.take(), ["Say 1 Sent", "Large 2 Sent"]);
            parrot.ask(Sleep { asleep: true }).await.unwrap();
            parrot.tell(Later).unwrap();
            parrot.ask(Sleep { asleep: false }).await.unwrap();
            parrot.ask(Timers).await.unwrap();
            assert_eq!(
                notes.take(),
                [
                    "Sleep 0 Sent",
                    "Later 0 Sent",
                    "Sleep 0 Sent",
                    "Later 0 Stash",
                    "Timers 0 Sent"
                ]
            );
            system.sleep(2 * MS).await;
            parrot.ask(Said).await.unwrap();
            let mut seen = notes.take();
            seen.sort();
            assert_eq!(seen, ["Said 0 Sent", "Say 5 Timer", "Say 6 Timer"]);
            drop(tapped);
            parrot.ask(Say(9)).await.unwrap();
            assert!(notes.take().is_empty());
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn t7_a_tap_does_not_see_what_is_not_handled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let watcher = system.spawn(parrot).await.unwrap();
        let (first, second) = (system.spawn(parrot).await.unwrap(), system.spawn(parrot).await.unwrap());
        for who in [&first, &second] {
            watcher.ask(Watch { who: who.clone() }).await.unwrap();
        }
        watcher.ask(Timers).await.unwrap();
        let notes = Arc::new(Notes::default());
        let _tapped = watcher.tap(notes.clone()).unwrap();
        // While it sleeps the timers go off and the others end; what it then finds is out of date in part.
        watcher.tell(Nap { time: 9 * MS }).unwrap();
        watcher.tell(Cancel).unwrap();
        watcher.tell(Unwatch { who: second.clone() }).unwrap();
        system.sleep(3 * MS).await;
        first.stop();
        first.terminated().await;
        second.stop();
        second.terminated().await;
        system.sleep(20 * MS).await;
        assert_eq!(
            watcher
                .ask(Said)
                .await
                .unwrap()
                .iter()
                .filter(|said| **said == 77)
                .count(),
            1,
            "one of the two was not watched any more"
        );
        let seen = notes.take();
        let count = |what: &str| seen.iter().filter(|seen| *seen == what).count();
        assert_eq!(count("Terminated 0 Sent"), 1, "{seen:?}");
        assert_eq!(count("Say 5 Timer"), 1, "{seen:?}");
        assert_eq!(count("Say 6 Timer"), 0, "{seen:?}");
        system.stop().await.unwrap();
    });
}

#[test]
fn t7_a_tap_comes_while_a_handler_waits_and_stays_through_a_restart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let parrot = system.spawn(parrot).await.unwrap();
        parrot.tell(Nap { time: 5 * MS }).unwrap();
        system.sleep(MS).await;
        let notes = Arc::new(Notes::default());
        let _tapped = parrot.tap(notes.clone()).unwrap();
        parrot.ask(Say(1)).await.unwrap();
        parrot.ask(Crash).await.unwrap_err();
        parrot.ask(Say(2)).await.unwrap();
        parrot.stop();
        parrot.terminated().await;
        let seen = notes.take();
        assert_eq!(
            seen,
            [
                "Say 1 Sent",
                "Crash 0 Sent",
                "failed",
                "restarted",
                "Say 2 Sent",
                "stopped"
            ]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn t7_a_tap_and_a_behaviour_do_not_disturb_each_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let parrot = system.spawn(parrot).await.unwrap();
        let notes = Arc::new(Notes::default());
        parrot.ask(Whispers { whispers: true }).await.unwrap();
        let tapped = parrot.tap(notes.clone()).unwrap();
        parrot.ask(Say(1)).await.unwrap();
        drop(tapped);
        parrot.ask(Say(2)).await.unwrap();
        let tapped = parrot.tap(notes.clone()).unwrap();
        parrot.ask(Whispers { whispers: false }).await.unwrap();
        parrot.ask(Say(3)).await.unwrap();
        assert_eq!(parrot.ask(Said).await.unwrap(), [1_001, 1_002, 3]);
        assert_eq!(
            notes.take(),
            ["Say 1 Sent", "Whispers 0 Sent", "Say 3 Sent", "Said 0 Sent"]
        );
        drop(tapped);
        system.stop().await.unwrap();
    });
}

#[test]
fn t7_a_tap_that_panics_costs_the_actor_nothing() {
    struct Clumsy;
    impl Tap for Clumsy {
        fn input(&self, _: &Input<'_>) -> Passage {
            panic!("on purpose");
        }
        fn now(&self, _: Moment) -> Moment {
            panic!("on purpose");
        }
        fn wall_clock(&self, _: SystemTime) -> SystemTime {
            panic!("on purpose");
        }
        fn random(&self, _: u64) -> u64 {
            panic!("on purpose");
        }
        fn happens(&self, _: &What<'_>) {
            panic!("on purpose");
        }
    }
    impl Drop for Clumsy {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    seeds(|env| async move {
        let system = simulated(&env).await;
        let parrot = system.spawn(parrot).await.unwrap();
        let tapped = parrot.tap(Arc::new(Clumsy)).unwrap();
        parrot.ask(Say(1)).await.unwrap();
        let (now, _, _) = parrot.ask(Clocks).await.unwrap();
        env.assert_same_time(now, system.now(), "the clock of the system");
        drop(tapped);
        parrot.ask(Say(2)).await.unwrap();
        assert_eq!(parrot.ask(Said).await.unwrap(), [1, 2], "not restarted");
        let _ = system.stop().await; // it says that hooks have failed
    });
}

#[test]
fn t7_what_a_tap_does_not_let_pass_is_one_dead_letter() {
    struct Gate;
    impl Tap for Gate {
        fn input(&self, input: &Input<'_>) -> Passage {
            match input.message().and_then(|message| message.downcast_ref::<Say>()) {
                Some(Say(13)) => Passage::Discard,
                Some(_) if input.origin() == Origin::Timer => Passage::Discard,
                _ => Passage::Handle,
            }
        }
        fn now(&self, _: Moment) -> Moment {
            Moment::ZERO + Duration::from_secs(7)
        }
        fn wall_clock(&self, _: SystemTime) -> SystemTime {
            SystemTime::UNIX_EPOCH
        }
        fn random(&self, _: u64) -> u64 {
            4
        }
    }
    seeds(|env| async move {
        let system = simulated(&env).await;
        let parrot = system.spawn(parrot).await.unwrap();
        let letters = system.events().subscribe::<DeadLetter>();
        let tapped = parrot.tap(Arc::new(Gate)).unwrap();
        assert!(matches!(parrot.ask(Say(13)).await, Err(AskError::NoReply)));
        parrot.ask(Say(14)).await.unwrap();
        parrot.ask(Timers).await.unwrap();
        system.sleep(3 * MS).await;
        let read = parrot.ask(Clocks).await.unwrap();
        assert_eq!(read, (Moment::ZERO + Duration::from_secs(7), SystemTime::UNIX_EPOCH, 4));
        drop(tapped);
        assert_ne!(parrot.ask(Clocks).await.unwrap().1, SystemTime::UNIX_EPOCH);
        assert_eq!(parrot.ask(Said).await.unwrap(), [14]);
        let letter = letters.next().await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Discarded);
        assert!(letters.try_next().is_none(), "messages of timers end with their timers");
        system.stop().await.unwrap();
    });
}
