//! T6: what stands in for parts of the runtime does as it is told.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::time::{Duration, SystemTime};

use volary::Env;
use volary::prelude::*;
use volary_testkit::{FakeClock, FakeMailbox, Probe, TestKit};

#[derive(Debug, Clone, PartialEq, Message)]
struct Ping(u32);

#[derive(Message)]
struct Other;

/// Tells the probe what it is told.
struct Desk {
    to: Recipient<Ping>,
}

#[actor]
impl Desk {
    #[handles]
    fn ping(&mut self, ping: Ping) {
        let _ = self.to.tell(ping);
    }
    #[handles]
    fn other(&mut self, _: Other) {}
}

/// A story with a mailbox, an actor that has it, and a probe that hears what the actor handles.
fn stories(story: impl AsyncFn(&FakeMailbox, ActorRef<Desk>, Probe<Ping>)) {
    for seed in 0..30 {
        let kit = TestKit::with(seed, |builder| builder);
        kit.run(async {
            let (mailbox, probe) = (FakeMailbox::new(), Probe::<Ping>::new(kit.system()).await);
            let to = probe.recipient();
            let desk = kit
                .system()
                .spawn(move || Desk { to: to.clone() })
                .mailbox(mailbox.kind());
            story(&mailbox, desk.await.unwrap(), probe).await;
        });
    }
}

#[test]
fn t6_a_fake_mailbox_writes_down_what_it_is_given() {
    stories(async |mailbox, desk, mut probe| {
        desk.tell(Ping(1)).unwrap();
        desk.tell(Other).unwrap();
        desk.tell(Ping(2)).unwrap();
        assert_eq!(mailbox.pushed(), ["Ping", "Other", "Ping"]);
        probe.expect_in_order([Ping(1), Ping(2)]).await;
        assert_eq!(
            (mailbox.refused(), format!("{mailbox:?}")),
            (0, "FakeMailbox(0 waiting, 3 pushed)".to_owned())
        );
    });
}

#[test]
fn t6_a_fake_mailbox_refuses_and_the_sender_hears_of_it() {
    stories(async |mailbox, desk, mut probe| {
        mailbox.refuse_next(2);
        assert!(matches!(desk.tell(Ping(1)), Err(TellError::Full(Ping(1)))));
        assert!(matches!(desk.ask(Ping(2)).await, Err(AskError::Full)));
        desk.tell(Ping(3)).unwrap();
        mailbox.refuse_if(|letter| letter.message::<Ping>().is_some_and(|ping| ping.0 % 2 == 0));
        desk.tell(Ping(4)).unwrap_err();
        desk.tell(Ping(5)).unwrap();
        probe.expect_in_order([Ping(3), Ping(5)]).await;
        probe.expect_none(Duration::from_secs(1)).await;
        assert_eq!((mailbox.refused(), mailbox.pushed().len()), (3, 5));
    });
}

#[test]
fn t6_a_fake_mailbox_reorders() {
    stories(async |mailbox, desk, mut probe| {
        mailbox.newest_first();
        (1..=3).for_each(|number| desk.tell(Ping(number)).unwrap());
        probe.expect_in_order([Ping(3), Ping(2), Ping(1)]).await;
        mailbox.choose(|waiting| {
            let largest = waiting
                .iter()
                .filter_map(|letter| letter.message::<Ping>())
                .map(|ping| ping.0)
                .max();
            let at = |letter: &volary::Letter| letter.message::<Ping>().map(|ping| ping.0) == largest;
            waiting.iter().position(at).unwrap()
        });
        [5, 9, 7]
            .into_iter()
            .for_each(|number| desk.tell(Ping(number)).unwrap());
        probe.expect_in_order([Ping(9), Ping(7), Ping(5)]).await;
        mailbox.choose(|_| usize::MAX); // means the newest
        [1, 2].into_iter().for_each(|number| desk.tell(Ping(number)).unwrap());
        probe.expect_in_order([Ping(2), Ping(1)]).await;
    });
}

#[test]
fn t6_a_fake_mailbox_panics_and_nobody_else_is_harmed() {
    stories(async |mailbox, desk, mut probe| {
        mailbox.panic_on_push();
        let _ = desk.tell(Ping(1)); // its letter is a dead one
        desk.tell(Ping(2)).unwrap();
        probe.expect(Ping(2)).await;
        mailbox.panic_on_pop();
        desk.tell(Ping(3)).unwrap();
        probe.expect(Ping(3)).await;
        let first = std::sync::atomic::AtomicBool::new(true);
        mailbox.choose(move |_| match first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            true => panic!("cannot decide"),
            false => 0,
        });
        desk.tell(Ping(4)).unwrap();
        desk.tell(Ping(5)).unwrap();
        probe.expect_in_order([Ping(4), Ping(5)]).await;
        assert_eq!(mailbox.pushed().len(), 5);
        assert_eq!(format!("{mailbox:?}"), "FakeMailbox(0 waiting, 5 pushed)");
        assert_eq!(desk.system().metrics().dead_letters, 1, "the one of the push");
    });
}

#[test]
fn t6_a_fake_clock_has_a_calendar_to_be_set_and_timers_that_do_not_care() {
    let clock = FakeClock::new(7);
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    clock.block_on(async {
        let system = ActorSystem::builder("test")
            .ignore_environment()
            .environment(clock.clone());
        let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
        assert_eq!(clock.wall().duration_since(at(1_893_456_000)).unwrap().as_secs(), 0);
        let before = system.now();
        clock.set_calendar(at(1_000));
        assert_eq!((clock.wall(), system.now()), (at(1_000), before));
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.wall(), at(1_005));
        clock.set_calendar(at(1));
        assert_eq!(clock.wall(), at(1));
        assert_eq!(system.now().since(before), Duration::from_secs(5), "never goes back");
        system.stop().await.unwrap();
    });
}
