//! L21: timers of an actor, and its receive timeout. Everything in virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use volary::ReceiveTimeout;
use volary::prelude::*;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Message)]
struct Tick(u32);

struct Clock {
    log: Log,
    began: volary::Moment,
}

impl Clock {
    fn make(system: &ActorSystem, log: &Log) -> impl Fn() -> Clock + Send + Sync + use<> {
        let (log, began) = (log.clone(), system.now());
        move || Clock {
            log: log.clone(),
            began,
        }
    }
}

#[actor]
impl Clock {
    fn once(&mut self, name: &'static str, after: Duration, number: u32, ctx: &mut Context<Self>) {
        ctx.set_timer(name, after, Tick(number));
    }
    fn every(&mut self, name: &'static str, period: Duration, number: u32, ctx: &mut Context<Self>) {
        ctx.set_interval(name, period, Tick(number));
    }
    fn cancel(&mut self, name: &'static str, ctx: &mut Context<Self>) -> bool {
        ctx.cancel_timer(name)
    }
    fn names(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.timers()
    }
    fn idle_after(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.set_receive_timeout(time);
    }
    fn never_idle(&mut self, ctx: &mut Context<Self>) {
        ctx.cancel_receive_timeout();
    }
    fn poke(&mut self) {}
    async fn dawdle(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn crash(&mut self) -> u32 {
        panic!("on purpose")
    }
    #[handles]
    fn tick(&mut self, tick: Tick, ctx: &mut Context<Self>) {
        assert_eq!(
            ctx.sender(),
            Some(ctx.me().id()),
            "a timer's message comes from the actor itself"
        );
        let at = ctx.now().since(self.began).as_millis();
        self.log.push(format!("{}@{}", tick.0, at / 10));
    }
    #[handles]
    fn idle(&mut self, _: ReceiveTimeout, ctx: &mut Context<Self>) {
        let at = ctx.now().since(self.began).as_millis();
        self.log.push(format!("idle@{}", at / 10));
    }
}

#[test]
fn l21_a_timer_goes_off_once_and_an_interval_again_and_again() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock
            .ask(Once {
                name: "once",
                after: 250 * MS,
                number: 1,
            })
            .await
            .unwrap();
        clock
            .ask(Every {
                name: "every",
                period: 100 * MS,
                number: 2,
            })
            .await
            .unwrap();
        assert_eq!(clock.ask(Names).await.unwrap(), ["every", "once"]);
        system.sleep(450 * MS).await;
        assert_eq!(log.all(), ["2@10", "2@20", "1@25", "2@30", "2@40"]);
        assert_eq!(clock.ask(Names).await.unwrap(), ["every"]);
        assert!(clock.ask(Cancel { name: "every" }).await.unwrap());
        assert!(!clock.ask(Cancel { name: "every" }).await.unwrap());
        system.sleep(SECOND).await;
        assert_eq!(log.all().len(), 5);
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_a_timer_of_the_same_name_replaces_the_one_before() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        for number in 0..10 {
            clock
                .ask(Once {
                    name: "t",
                    after: 100 * MS,
                    number,
                })
                .await
                .unwrap();
            system.sleep(50 * MS).await;
        }
        system.sleep(SECOND).await;
        assert_eq!(log.all().len(), 1);
        assert!(log.all()[0].starts_with("9@"), "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

/// The message is in the mailbox already, behind a handler that waits; then the timer is cancelled.
#[test]
fn l21_a_message_that_waits_is_not_delivered_after_its_timer_was_cancelled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock
            .ask(Once {
                name: "t",
                after: 100 * MS,
                number: 1,
            })
            .await
            .unwrap();
        clock.tell(Dawdle { time: 90 * MS }).unwrap();
        clock.tell(Dawdle { time: 90 * MS }).unwrap();
        clock.tell(Cancel { name: "t" }).unwrap();
        // The tick stands behind the cancel in the mailbox, whichever way; it went off before.
        system.sleep(SECOND).await;
        assert_eq!(log.all(), Vec::<String>::new());
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_timers_end_with_their_incarnation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock
            .ask(Once {
                name: "once",
                after: 100 * MS,
                number: 1,
            })
            .await
            .unwrap();
        clock
            .ask(Every {
                name: "every",
                period: 30 * MS,
                number: 2,
            })
            .await
            .unwrap();
        clock.ask(IdleAfter { time: 200 * MS }).await.unwrap();
        // A tick waits behind the crash in the mailbox, and must not reach the next incarnation.
        clock.tell(Dawdle { time: 40 * MS }).unwrap();
        assert!(clock.ask(Crash).await.is_err());
        let before = log.all().len();
        assert_eq!(clock.ask(Names).await.unwrap(), Vec::<String>::new());
        system.sleep(SECOND).await;
        assert_eq!(log.all().len(), before, "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_an_interval_does_not_pile_up_behind_a_slow_handler() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock
            .ask(Every {
                name: "e",
                period: 10 * MS,
                number: 1,
            })
            .await
            .unwrap();
        clock.tell(Dawdle { time: SECOND }).unwrap();
        system.sleep(1_005 * MS).await;
        assert!(
            log.all().len() <= 2,
            "a hundred were missed, one waited: {:?}",
            log.all()
        );
        system.sleep(100 * MS).await;
        assert!(log.all().len() >= 10, "and then it goes on: {:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_a_receive_timeout_comes_when_nothing_else_does() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock.ask(IdleAfter { time: 100 * MS }).await.unwrap();
        for _ in 0..5 {
            system.sleep(60 * MS).await; // every message begins it anew
            clock.ask(Poke).await.unwrap();
        }
        assert_eq!(log.all(), Vec::<String>::new());
        system.sleep(150 * MS).await;
        assert_eq!(log.all(), ["idle@40"]);
        system.sleep(100 * MS).await;
        assert_eq!(log.all(), ["idle@40", "idle@50"], "and again");
        // A handler that waits for something is not idle.
        clock.ask(Dawdle { time: SECOND }).await.unwrap();
        assert_eq!(log.all().len(), 2);
        clock.ask(NeverIdle).await.unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all().len(), 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_timers_keep_no_actor_alive_and_cost_no_thread() {
    let held = Arc::new(());
    let weak = Arc::downgrade(&held);
    seeds_once(move |env| async move {
        struct Holder {
            _held: Arc<()>,
        }
        #[actor]
        impl Holder {
            fn wind_up(&mut self, ctx: &mut Context<Self>) {
                for number in 0..100 {
                    ctx.set_timer(format!("t{number}"), Duration::from_hours(1), Tick(number));
                }
            }
            #[handles]
            fn ticked(&mut self, _: Tick) {}
        }
        let system = simulated(&env).await;
        let held = Arc::new(std::sync::Mutex::new(Some(held)));
        let holder = system
            .spawn(move || Holder {
                _held: held.lock().unwrap().take().unwrap(),
            })
            .await
            .unwrap();
        holder.ask(WindUp).await.unwrap();
        assert_eq!(system.metrics().timers, 100);
        holder.stop();
        holder.terminated().await;
        assert_eq!(system.metrics().timers, 0);
        system.stop().await.unwrap();
    });
    assert_eq!(weak.strong_count(), 0);
}

fn seeds_once<F: Future<Output = ()>>(story: impl FnOnce(volary::SeededEnv) -> F) {
    let env = volary::SeededEnv::new(11);
    env.block_on(story(env.clone()));
}

/// On threads: timers set and cancelled all the time, and nobody is late for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_timers_work_on_threads() {
    let system = system().await;
    let log = Log::new();
    let clocks: Vec<_> = {
        let mut clocks = Vec::new();
        for _ in 0..20 {
            clocks.push(system.spawn(Clock::make(&system, &log)).await.unwrap());
        }
        clocks
    };
    for round in 0..50 {
        for clock in &clocks {
            let after = Duration::from_micros(300 * (round % 5));
            clock
                .ask(Once {
                    name: "t",
                    after,
                    number: 1,
                })
                .await
                .unwrap();
            if round % 7 == 0 {
                clock.ask(Cancel { name: "t" }).await.unwrap();
            }
        }
    }
    for clock in &clocks {
        clock
            .ask(Once {
                name: "last",
                after: MS,
                number: 7,
            })
            .await
            .unwrap();
    }
    eventually_async("all of the last ones", || {
        log.all().iter().filter(|line| line.starts_with("7@")).count() == 20
    })
    .await;
    soon("the stop", system.stop()).await.unwrap();
}

/// A message that panics when it is copied the second time, or when it is dropped.
#[derive(Message)]
struct Fragile {
    copies: Arc<std::sync::atomic::AtomicUsize>,
    drop_fails: bool,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        let copies = self.copies.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        assert!(copies != 1, "the second copy fails");
        Fragile {
            copies: self.copies.clone(),
            drop_fails: false,
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.drop_fails || std::thread::panicking(), "the drop fails");
    }
}

struct Keeper {
    handled: usize,
}

#[actor]
impl Keeper {
    fn wind(&mut self, drop_fails: bool, ctx: &mut Context<Self>) {
        let copies = Arc::default();
        ctx.set_interval("fragile", 100 * MS, Fragile { copies, drop_fails });
    }
    fn handled(&mut self) -> usize {
        self.handled
    }
    #[handles]
    fn fragile(&mut self, _: Fragile) {
        self.handled += 1;
    }
}

#[test]
fn s11_a_timer_whose_message_cannot_be_copied_goes_on_with_the_next() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let keeper = system.spawn(|| Keeper { handled: 0 }).await.unwrap();
        keeper.ask(Wind { drop_fails: false }).await.unwrap();
        system.sleep(550 * MS).await;
        assert_eq!(keeper.ask(Handled).await.unwrap(), 4, "five ticks, one of which failed");
        assert_eq!(system.metrics().faults, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn s11_a_timer_whose_message_panics_in_drop_is_contained() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let keeper = system.spawn(|| Keeper { handled: 0 }).await.unwrap();
        keeper.ask(Wind { drop_fails: true }).await.unwrap();
        keeper.restart(); // drops the timer and its message
        assert_eq!(keeper.ask(Handled).await.unwrap(), 0);
        keeper.ask(Wind { drop_fails: true }).await.unwrap();
        keeper.stop();
        keeper.terminated().await;
        assert_eq!(system.metrics().faults, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_a_timer_may_have_any_name_beside_the_receive_timeout() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        clock.ask(IdleAfter { time: 100 * MS }).await.unwrap();
        let name = "volary-receive-timeout";
        let after = 50 * MS;
        clock.ask(Once { name, after, number: 3 }).await.unwrap();
        assert_eq!(clock.ask(Names).await.unwrap(), [name]);
        system.sleep(200 * MS).await;
        assert_eq!(log.all(), ["3@5", "idle@15"]);
        system.stop().await.unwrap();
    });
}

/// An actor with few timers keeps them otherwise than one with many.
#[test]
fn l21_timers_are_found_by_name_however_many_there_are() {
    seeds(|env| async move {
        const NAMES: [&str; 20] = [
            "m", "c", "t", "a", "q", "g", "e", "o", "k", "s", "b", "i", "d", "r", "f", "n", "h", "p", "j", "l",
        ];
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        for round in 0..2 {
            let mut set = std::collections::BTreeSet::new();
            for (number, name) in (0..).zip(NAMES) {
                let after = 100 * MS;
                clock.ask(Once { name, after, number }).await.unwrap();
                set.insert(name);
                assert_eq!(
                    clock.ask(Names).await.unwrap(),
                    Vec::from_iter(set.iter().copied()),
                    "by name"
                );
            }
            for name in &NAMES[3..] {
                assert!(clock.ask(Cancel { name }).await.unwrap());
                assert!(!clock.ask(Cancel { name }).await.unwrap());
            }
            system.sleep(200 * MS).await;
            assert_eq!(log.len(), 3 * (round + 1), "the others went off");
            assert_eq!(clock.ask(Names).await.unwrap(), Vec::<String>::new());
        }
        system.stop().await.unwrap();
    });
}
