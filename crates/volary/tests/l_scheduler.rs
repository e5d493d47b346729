//! L21: the system's scheduler. Nearly everything in virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Env, Moment, Schedule, ScheduleError, ScheduleFailed, SeededEnv};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Message)]
struct Tick(u32);

/// Writes down what came, and when.
struct Clock {
    log: Log,
    began: Moment,
}

impl Clock {
    fn make(system: &ActorSystem, log: &Log) -> impl Fn() -> Clock + Send + Sync + Clone + use<> {
        let (log, began) = (log.clone(), system.now());
        move || Clock {
            log: log.clone(),
            began,
        }
    }
}

#[actor]
impl Clock {
    async fn dawdle(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    fn settle(&mut self) {}
    #[handles]
    fn tick(&mut self, tick: Tick, ctx: &mut Context<Self>) {
        let at = ctx.now().since(self.began).as_millis();
        self.log.push(format!("{}@{at}", tick.0));
    }
}

/// A story with a system and a clock.
fn clock_story<F: Future<Output = ()>>(story: impl Fn(ActorSystem, ActorRef<Clock>, Log) -> F + Copy + Send + 'static) {
    seeds(move |env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).named("clock").await.unwrap();
        story(system.clone(), clock, log).await;
        system.stop().await.unwrap();
        assert_eq!(system.scheduler().len(), 0);
    });
}

fn letters(subscription: &volary::Subscription<DeadLetter>) -> Vec<(DeadReason, String)> {
    let mut all = Vec::new();
    while let Some(Ok(letter)) = subscription.try_next() {
        all.push((letter.reason(), letter.receiver().to_string()));
    }
    all
}

#[test]
fn l21_once_goes_off_once_and_every_again_and_again() {
    clock_story(|system, clock, log| async move {
        let once = system.scheduler().once(250 * MS).tell(&clock, Tick(1)).unwrap();
        let every = system.scheduler().every(100 * MS).tell(&clock, Tick(2)).unwrap();
        assert_eq!(once.next().unwrap().since(system.now()), 250 * MS);
        assert_eq!((once.fired(), system.scheduler().len()), (0, 2));
        system.sleep(450 * MS).await;
        assert_eq!(log.all(), ["2@100", "2@200", "1@250", "2@300", "2@400"]);
        assert_eq!((once.fired(), every.fired()), (1, 4));
        assert_eq!((once.is_active(), once.next()), (false, None));
        assert!(every.is_active());
        assert_eq!(system.metrics().schedules, 1);
        assert!(!once.cancel());
        assert!(every.cancel());
        assert!(!every.cancel());
        assert_eq!(system.metrics().timers, 0);
        system.sleep(SECOND).await;
        assert_eq!(log.len(), 5);
    });
}

/// Times between the ticks of the wheel: a rate stays on its course, a delay adds up what each time is late.
#[test]
fn l21_a_fixed_rate_does_not_drift_and_a_fixed_delay_counts_from_the_sending() {
    clock_story(|system, clock, log| async move {
        let period = Duration::from_micros(10_400);
        let rate = system.scheduler().every(period).tell(&clock, Tick(1)).unwrap();
        let delay = system.scheduler().with_delay(period).tell(&clock, Tick(2)).unwrap();
        system.sleep(995 * MS).await;
        let nth = |who: &str, n: usize| {
            let all = log.all();
            let mine: Vec<_> = all.iter().filter(|entry| entry.starts_with(who)).cloned().collect();
            mine[n - 1].clone()
        };
        assert_eq!(nth("1@", 10), "1@104");
        assert_eq!(nth("2@", 10), "2@109");
        assert_eq!((rate.fired(), delay.fired()), (95, 90));
    });
}

#[test]
fn l21_a_start_of_its_own_and_so_many_times() {
    clock_story(|system, clock, log| async move {
        let scheduler = system.scheduler();
        let soon = scheduler.every(100 * MS).starting_after(10 * MS).at_most(3);
        let soon = soon.tell(&clock, Tick(1)).unwrap();
        let later = scheduler.with_delay(100 * MS).starting_after(150 * MS).at_most(1);
        later.tell(&clock, Tick(2)).unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["1@10", "1@110", "2@150", "1@210"]);
        assert_eq!((soon.fired(), soon.is_active(), scheduler.len()), (3, false, 0));
    });
}

#[test]
fn l21_a_time_of_the_wall_clock_is_met_and_one_that_has_passed_is_now() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        let hour = Duration::from_hours(1);
        let (then, before) = (env.wall() + hour, env.wall() - hour);
        let at = system.scheduler().at(then).tell(&clock, Tick(1)).unwrap();
        system.scheduler().at(before).tell(&clock, Tick(2)).unwrap();
        assert_eq!(at.next().unwrap().since(system.now()), hour);
        system.sleep(hour + SECOND).await;
        assert_eq!(log.all(), ["2@0", "1@3600000"]);
        assert_eq!(system.metrics().timers, 0);
        system.stop().await.unwrap();
    });
}

#[cfg(feature = "cron")]
mod cron {
    use super::*;
    use std::time::SystemTime;
    use volary::Cron;

    const HOUR: Duration = Duration::from_hours(1);
    const MINUTE: Duration = Duration::from_secs(60);

    fn ten_minutes() -> Cron {
        Cron::parse("*/10 * * * *").unwrap()
    }

    #[test]
    fn l21_cron_goes_by_the_seconds_and_by_the_clocks_of_a_zone() {
        clock_story(|system, clock, log| async move {
            let opens = Cron::parse("0 2 * * *").unwrap().in_zone("Europe/Berlin").unwrap();
            let opens = system.scheduler().cron(&opens).tell(&clock, Tick(1)).unwrap();
            let seconds = Cron::parse("*/20 * * * * *").unwrap();
            let seconds = system.scheduler().cron(&seconds).at_most(3);
            let seconds = seconds.tell(&clock, Tick(2)).unwrap();
            // Virtual time begins at midnight in UTC, when it is one o'clock in Berlin.
            system.sleep(HOUR + SECOND).await;
            let seen: Vec<String> = log.all().iter().map(|entry| to_the_second(entry)).collect();
            assert_eq!(seen, ["2@20000", "2@40000", "2@60000", "1@3600000"]);
            assert_eq!((seconds.is_active(), opens.fired()), (false, 1));
            let tomorrow = opens.next().unwrap().since(system.now());
            assert!(tomorrow > 23 * HOUR && tomorrow < 24 * HOUR, "{tomorrow:?}");
            assert_eq!(system.metrics().timers, 1, "one look at a time is pending");
        });
    }

    fn to_the_second(entry: &str) -> String {
        let (who, at) = entry.split_once('@').unwrap();
        // The story begins a nanosecond after midnight, and what is due at a second is sent at a tick.
        format!("{who}@{}", at.parse::<u64>().unwrap().div_ceil(1000) * 1000)
    }

    #[test]
    fn l21_a_cron_schedule_may_begin_later() {
        clock_story(|system, clock, log| async move {
            let schedule = system.scheduler().cron(&ten_minutes()).starting_after(25 * MINUTE);
            schedule.tell(&clock, Tick(1)).unwrap();
            system.sleep(40 * MINUTE + SECOND).await;
            let seen: Vec<String> = log.all().iter().map(|entry| to_the_second(entry)).collect();
            assert_eq!(seen, ["1@1800000", "1@2400000"]);
        });
    }

    /// Virtual time with a wall clock that somebody sets.
    #[derive(Clone)]
    struct SetByHand(SeededEnv, Arc<Mutex<(bool, Duration)>>);

    impl SetByHand {
        fn ahead(&self, by: Duration) {
            *self.1.lock().unwrap() = (true, by);
        }
        fn behind(&self, by: Duration) {
            *self.1.lock().unwrap() = (false, by);
        }
    }

    impl Env for SetByHand {
        fn now(&self) -> Moment {
            self.0.now()
        }
        fn wall(&self) -> SystemTime {
            match *self.1.lock().unwrap() {
                (true, by) => self.0.wall() + by,
                (false, by) => self.0.wall() - by,
            }
        }
        fn random(&self) -> u64 {
            self.0.random()
        }
        fn spawn(&self, task: volary::BoxTask) {
            self.0.spawn(task);
        }
        fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
            self.0.spawn_thread(name, body)
        }
        fn parallelism(&self) -> usize {
            self.0.parallelism()
        }
        fn tokio(&self) -> Option<tokio::runtime::Handle> {
            self.0.tokio()
        }
        fn is_simulated(&self) -> bool {
            true
        }
        fn number_system(&self) -> Option<u64> {
            self.0.number_system()
        }
        fn attach(&self, driver: std::sync::Weak<dyn volary::Driver>) -> std::io::Result<()> {
            self.0.attach(driver)
        }
        fn timer_changed(&self, next: Moment) {
            self.0.timer_changed(next);
        }
    }

    #[test]
    fn l21_cron_follows_a_wall_clock_that_is_set() {
        seeds(|env| async move {
            let hand = SetByHand(env.clone(), Arc::default());
            let system = builder("sim").environment(hand.clone()).start().await.unwrap();
            let log = Log::new();
            let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
            let often = system.scheduler().cron(&ten_minutes()).tell(&clock, Tick(1)).unwrap();
            let noon = system
                .scheduler()
                .at(env.wall() + 12 * HOUR)
                .tell(&clock, Tick(2))
                .unwrap();
            system.sleep(15 * MINUTE).await;
            assert_eq!(often.fired(), 1);
            // 0:15 becomes 0:55: one of those that were jumped over is sent, within a minute.
            hand.ahead(40 * MINUTE);
            system.sleep(61 * SECOND).await;
            assert_eq!(often.fired(), 2);
            system.sleep(5 * MINUTE).await;
            assert_eq!(often.fired(), 3, "one o'clock");
            // 1:01 becomes 0:41: 0:50 and 1:00 have been.
            hand.ahead(20 * MINUTE);
            system.sleep(25 * MINUTE).await;
            assert_eq!(often.fired(), 3);
            system.sleep(5 * MINUTE).await;
            assert_eq!(often.fired(), 4, "1:10");
            // 1:11 becomes 2:51, two days ago: the clock was wrong before.
            hand.behind(46 * HOUR);
            system.sleep(11 * MINUTE).await;
            assert_eq!(often.fired(), 5, "three o'clock, two days ago");
            assert_eq!(noon.fired(), 0);
            hand.ahead(12 * HOUR);
            system.sleep(61 * SECOND).await;
            assert_eq!(noon.fired(), 1);
            assert_eq!(system.metrics().timers, 1);
            system.stop().await.unwrap();
        });
    }

    #[test]
    fn l21_a_pause_leaves_out_what_the_calendar_says_meanwhile() {
        clock_story(|system, clock, log| async move {
            let often = system.scheduler().cron(&ten_minutes()).tell(&clock, Tick(1)).unwrap();
            let midnight = SystemTime::UNIX_EPOCH + Duration::from_secs(1_893_456_000);
            let single = system
                .scheduler()
                .at(midnight + 15 * MINUTE)
                .tell(&clock, Tick(2))
                .unwrap();
            assert!(often.pause() && single.pause());
            system.sleep(25 * MINUTE).await;
            assert_eq!(log.len(), 0);
            assert!(often.resume() && single.resume());
            system.sleep(10 * MINUTE).await;
            let seen: Vec<String> = log.all().iter().map(|entry| to_the_second(entry)).collect();
            assert_eq!(seen, ["2@1500000", "1@1800000"], "one at once, one at half past");
            assert_eq!(often.fired(), 1);
        });
    }
}

#[test]
fn l21_a_pause_keeps_what_was_left_of_the_time() {
    clock_story(|system, clock, log| async move {
        let once = system.scheduler().once(100 * MS).tell(&clock, Tick(1)).unwrap();
        let every = system.scheduler().every(100 * MS).tell(&clock, Tick(2)).unwrap();
        system.sleep(39 * MS).await;
        for schedule in [&once, &every] {
            assert!(!schedule.resume(), "it is not paused");
            assert!(schedule.pause());
            assert!(!schedule.pause(), "it is paused");
            assert!(schedule.is_paused() && schedule.is_active());
            assert_eq!(schedule.next(), None);
        }
        assert_eq!(system.metrics().timers, 0);
        system.sleep(459 * MS).await;
        assert_eq!((log.len(), system.scheduler().len()), (0, 2));
        assert!(once.resume() && every.resume());
        let left = every.next().unwrap().since(system.now());
        assert!(left > 59 * MS && left <= 61 * MS, "{left:?}");
        system.sleep(200 * MS).await;
        assert_eq!(log.all(), ["1@559", "2@559", "2@659"]);
        assert!(!once.pause() && !once.resume(), "it has ended");
        every.pause();
        assert!(every.cancel(), "a paused one can be cancelled");
    });
}

#[test]
fn l21_names_are_unique_and_find_their_schedules() {
    clock_story(|system, clock, _| async move {
        let scheduler = system.scheduler();
        let pulse = scheduler.every(SECOND).named("pulse").tell(&clock, Tick(1)).unwrap();
        let unnamed = scheduler.once(SECOND).tell(&clock, Tick(2)).unwrap();
        let last = scheduler.once(2 * SECOND).named("last").tell(&clock, Tick(3)).unwrap();
        let refused = scheduler.once(SECOND).named("pulse").tell(&clock, Tick(4)).unwrap_err();
        assert_eq!(
            refused,
            ScheduleError::Duplicate {
                name: "pulse".to_owned()
            }
        );
        assert_eq!(refused.to_string(), "a schedule named \"pulse\" exists already");
        assert_eq!(scheduler.list(), [pulse.clone(), unnamed, last]);
        assert!(scheduler.list().is_sorted_by_key(Schedule::id));
        assert_eq!(scheduler.get("pulse"), Some(pulse.clone()));
        assert_eq!(scheduler.get("nobody"), None);
        assert!(scheduler.cancel("pulse") && !pulse.is_active());
        assert!(!scheduler.cancel("pulse"));
        system.sleep(3 * SECOND).await;
        assert!(scheduler.is_empty());
        // All have ended, so the names are free.
        for name in ["pulse", "last"] {
            assert_eq!(scheduler.get(name), None);
            scheduler.once(SECOND).named(name).tell(&clock, Tick(5)).unwrap();
        }
    });
}

#[test]
fn l21_the_end_of_an_actor_ends_its_schedules_with_one_dead_letter_each() {
    clock_story(|system, clock, log| async move {
        let dead = system.events().subscribe::<DeadLetter>();
        let scheduler = system.scheduler();
        let other = system.spawn(Clock::make(&system, &log)).named("other").await.unwrap();
        let once = scheduler.once(SECOND).tell(&clock, Tick(1)).unwrap();
        let every = scheduler.every(100 * MS).named("every").tell(&clock, Tick(2)).unwrap();
        let paused = scheduler.every(100 * MS).tell(clock.recipient(), Tick(3)).unwrap();
        let kept = scheduler.once(500 * MS).tell(&other, Tick(4)).unwrap();
        paused.pause();
        system.sleep(250 * MS).await;
        clock.restart();
        clock.ask(Settle).await.unwrap();
        assert!(once.is_active() && every.is_active(), "a restart is no end");
        clock.stop();
        clock.terminated().await;
        assert!(![once, every, paused].iter().any(Schedule::is_active));
        assert_eq!(scheduler.list(), std::slice::from_ref(&kept));
        assert_eq!(system.metrics().timers, 1);
        let stopped = (DeadReason::Stopped, "/user/clock".to_owned());
        assert_eq!(letters(&dead), vec![stopped.clone(); 3]);
        // For one that has ended already it is the same.
        let late = scheduler.every(SECOND).tell(&clock, Tick(5)).unwrap();
        assert!(!late.is_active());
        assert_eq!(letters(&dead), [stopped]);
        system.sleep(SECOND).await;
        assert_eq!(letters(&dead), []);
        assert_eq!((kept.fired(), log.len()), (1, 3));
        assert_eq!(system.metrics().schedules, 0);
    });
}

/// The mailbox is closed and the actor is still there: the copy is the letter that says so.
#[test]
fn l21_an_actor_that_drains_ends_a_schedule_with_one_dead_letter() {
    clock_story(|system, clock, _| async move {
        let dead = system.events().subscribe::<DeadLetter>();
        let every = system.scheduler().every(100 * MS).tell(&clock, Tick(1)).unwrap();
        let (open, gate) = gate();
        clock.tell(Dawdle { gate }).unwrap();
        clock.drain();
        system.sleep(350 * MS).await;
        assert!(!every.is_active());
        open.send(()).unwrap();
        clock.terminated().await;
        assert_eq!(letters(&dead), [(DeadReason::Stopped, "/user/clock".to_owned())]);
    });
}

#[test]
fn l21_a_path_means_whoever_lives_there_at_the_time() {
    clock_story(|system, clock, log| async move {
        let dead = system.events().subscribe::<DeadLetter>();
        let every = system
            .scheduler()
            .every(100 * MS)
            .tell_path("/user/clock", Tick(1))
            .unwrap();
        system
            .scheduler()
            .once(50 * MS)
            .tell_path("/user/nobody", Tick(2))
            .unwrap();
        // This one is there, and takes no ticks.
        let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        system
            .scheduler()
            .once(50 * MS)
            .tell_path("/user/desk", Tick(2))
            .unwrap();
        system.sleep(150 * MS).await;
        let nobody = |path: &str| (DeadReason::Nobody, path.to_owned());
        let mut seen = letters(&dead);
        seen.sort_by_key(|(_, path)| path.clone());
        assert_eq!(seen, [nobody("/user/desk"), nobody("/user/nobody")]);
        clock.stop();
        clock.terminated().await;
        system.sleep(200 * MS).await;
        assert_eq!(letters(&dead), [nobody("/user/clock"), nobody("/user/clock")]);
        assert!(every.is_active());
        let next = system.spawn(Clock::make(&system, &log)).named("clock").await.unwrap();
        system.sleep(200 * MS).await;
        assert_eq!((log.len(), every.fired()), (3, 5));
        assert!(next.is_alive() && desk.is_alive());
        assert_eq!(letters(&dead), []);
    });
}

#[test]
fn l21_a_full_mailbox_refuses_a_copy_and_the_schedule_goes_on() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let dead = system.events().subscribe::<DeadLetter>();
        let clock = system.spawn(Clock::make(&system, &log)).named("clock");
        let clock = clock.mailbox(MailboxKind::Bounded(2)).await.unwrap();
        let (open, gate) = gate();
        clock.tell(Dawdle { gate }).unwrap();
        system.sleep(10 * MS).await;
        let every = system
            .scheduler()
            .every(100 * MS)
            .at_most(7)
            .tell(&clock, Tick(1))
            .unwrap();
        system.sleep(550 * MS).await;
        assert_eq!(letters(&dead), vec![(DeadReason::Full, "/user/clock".to_owned()); 3]);
        assert_eq!(system.metrics().dead_letters, 3);
        open.send(()).unwrap();
        system.sleep(SECOND).await;
        assert_eq!((every.fired(), log.len()), (7, 4));
        assert_eq!(letters(&dead), []);
        system.stop().await.unwrap();
    });
}

#[test]
fn l21_the_stop_of_the_system_ends_all_schedules() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let dead = system.events().subscribe::<DeadLetter>();
        let clock = system.spawn(Clock::make(&system, &log)).await.unwrap();
        let scheduler = system.scheduler();
        let schedules = [
            scheduler.once(SECOND).tell(&clock, Tick(1)).unwrap(),
            scheduler.every(SECOND).named("every").tell(&clock, Tick(2)).unwrap(),
            scheduler.every(SECOND).tell_path("/user/nobody", Tick(3)).unwrap(),
        ];
        schedules[1].pause();
        system.stop().await.unwrap();
        assert!(!schedules.iter().any(Schedule::is_active));
        assert!(!schedules[1].resume());
        assert_eq!((scheduler.len(), scheduler.get("every")), (0, None));
        assert_eq!((log.len(), letters(&dead)), (0, vec![]));
        assert_eq!(
            scheduler.once(SECOND).tell(&clock, Tick(4)),
            Err(ScheduleError::Stopping)
        );
        assert_eq!(system.metrics().timers, 0);
    });
}

struct Boss {
    clerk: ActorRef<Clerk>,
}

#[actor]
impl Boss {
    fn delegate(&mut self, ctx: &mut Context<Self>) {
        assert!(ctx.time_left().is_some(), "it was asked");
        ctx.system()
            .scheduler()
            .once(100 * MS)
            .tell(&self.clerk, Tick(1))
            .unwrap();
    }
}

struct Clerk {
    senders: Arc<Mutex<Vec<Option<volary::ActorId>>>>,
}

#[actor]
impl Clerk {
    #[handles]
    fn tick(&mut self, _: Tick, ctx: &mut Context<Self>) {
        assert_eq!(ctx.time_left(), None, "nobody waits for this");
        self.senders.lock().unwrap().push(ctx.sender());
    }
}

#[test]
fn l21_the_sender_is_the_actor_that_made_the_schedule() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let senders: Arc<Mutex<Vec<_>>> = Arc::default();
        let clerk = {
            let senders = senders.clone();
            let make = move || Clerk {
                senders: senders.clone(),
            };
            system.spawn(make).await.unwrap()
        };
        let boss = {
            let clerk = clerk.clone();
            system.spawn(move || Boss { clerk: clerk.clone() }).await.unwrap()
        };
        boss.ask(Delegate).await.unwrap();
        system.scheduler().once(200 * MS).tell(&clerk, Tick(2)).unwrap();
        system.sleep(SECOND).await;
        assert_eq!(*senders.lock().unwrap(), [Some(boss.id()), None]);
        system.stop().await.unwrap();
    });
}

/// A message that panics when it is copied the third time, or when the original is dropped.
#[derive(Message)]
struct Fragile {
    copies: Arc<AtomicUsize>,
    drop_fails: bool,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.copies.fetch_add(1, SeqCst) != 2, "the third copy fails");
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

fn fragile(drop_fails: bool) -> Fragile {
    Fragile {
        copies: Arc::default(),
        drop_fails,
    }
}

struct Keeper {
    log: Log,
}

#[actor]
impl Keeper {
    #[handles]
    fn fragile(&mut self, _: Fragile) {
        self.log.push("fragile");
    }
}

#[test]
fn s11_a_schedule_whose_message_cannot_be_copied_ends_and_says_so() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let failures = system.events().subscribe::<ScheduleFailed>();
        let keeper = {
            let log = log.clone();
            system.spawn(move || Keeper { log: log.clone() }).await.unwrap()
        };
        let scheduler = system.scheduler();
        let schedule = scheduler
            .every(100 * MS)
            .named("f")
            .tell(&keeper, fragile(false))
            .unwrap();
        system.sleep(SECOND).await;
        assert_eq!((log.len(), schedule.fired()), (2, 3));
        assert!(!schedule.is_active() && scheduler.is_empty());
        let failed = failures.try_next().unwrap().unwrap();
        assert_eq!((failed.id, failed.name.as_deref()), (schedule.id(), Some("f")));
        assert!(
            failed.fault.to_string().contains("the third copy fails"),
            "{}",
            failed.fault
        );
        assert!(failures.try_next().is_none());
        assert_eq!((system.metrics().faults, system.metrics().timers), (1, 0));
        assert!(keeper.is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn s11_a_scheduled_message_that_panics_when_it_is_dropped_harms_nobody() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let failures = system.events().subscribe::<ScheduleFailed>();
        let keeper = {
            let log = log.clone();
            system.spawn(move || Keeper { log: log.clone() }).await.unwrap()
        };
        let scheduler = system.scheduler();
        // By hand, by the copy that fails, and by the stop.
        scheduler.every(SECOND).named("f").tell(&keeper, fragile(true)).unwrap();
        assert!(scheduler.cancel("f"));
        scheduler.every(10 * MS).tell(&keeper, fragile(true)).unwrap();
        let other = scheduler.every(100 * MS).tell(&keeper, fragile(false)).unwrap();
        system.sleep(150 * MS).await;
        assert_eq!(other.fired(), 1);
        scheduler.once(SECOND).tell(&keeper, fragile(true)).unwrap();
        system.stop().await.unwrap();
        let mut faults = Vec::new();
        while let Some(Ok(failed)) = failures.try_next() {
            faults.push(failed.fault.to_string().contains("the drop fails"));
        }
        assert_eq!(faults, [true, false, true, true]);
    });
}

/// A message that uses its own schedule whenever it is copied.
#[derive(Message)]
struct Meddler {
    schedule: Arc<Mutex<Option<Schedule>>>,
    cancels: bool,
}

impl Clone for Meddler {
    fn clone(&self) -> Self {
        let schedule = self.schedule.lock().unwrap().clone().unwrap();
        assert!(schedule.is_active() && schedule.pause() && schedule.is_paused());
        assert!(schedule.resume() && !schedule.resume());
        if self.cancels {
            assert!(schedule.cancel());
        }
        Meddler {
            schedule: self.schedule.clone(),
            cancels: self.cancels,
        }
    }
}

struct Patience {
    log: Log,
}

#[actor]
impl Patience {
    #[handles]
    fn meddler(&mut self, _: Meddler) {
        self.log.push("copy");
    }
}

/// No lock is held while a message is copied, and what happens to the schedule meanwhile counts.
#[test]
fn l21_a_schedule_may_be_used_while_its_message_is_copied() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let patience = {
            let log = log.clone();
            system.spawn(move || Patience { log: log.clone() }).await.unwrap()
        };
        for (cancels, copies) in [(false, 3), (true, 1)] {
            let held: Arc<Mutex<Option<Schedule>>> = Arc::default();
            let schedule = held.clone();
            let meddler = Meddler { schedule, cancels };
            let schedule = system.scheduler().every(100 * MS).tell(&patience, meddler).unwrap();
            *held.lock().unwrap() = Some(schedule.clone());
            let before = log.len();
            system.sleep(350 * MS).await;
            assert_eq!(log.len() - before, copies);
            assert_eq!(system.metrics().timers, usize::from(!cancels), "one timer, or none");
            assert_eq!(schedule.is_active(), !cancels);
            schedule.cancel();
            *held.lock().unwrap() = None;
        }
        assert_eq!((system.metrics().faults, system.scheduler().len()), (0, 0));
        system.stop().await.unwrap();
    });
}

#[test]
fn s21_what_makes_no_sense_is_refused_by_name() {
    clock_story(|system, clock, _| async move {
        let scheduler = system.scheduler();
        let century = Duration::from_secs(36_525 * 24 * 60 * 60);
        let beyond = century + SECOND;
        let told = |outcome: Result<Schedule, ScheduleError>| outcome.unwrap_err().to_string();
        let refused = |setting: &str, value: &str, allowed: &str| {
            format!("{setting}: the value `{value}` is refused: allowed is {allowed}")
        };
        let period = "1ms to 36525 days";
        assert_eq!(
            told(scheduler.every(Duration::ZERO).tell(&clock, Tick(1))),
            refused("every", "0ns", period)
        );
        assert_eq!(
            told(scheduler.with_delay(MS / 2).tell(&clock, Tick(1))),
            refused("with_delay", "500µs", period)
        );
        assert_eq!(
            told(scheduler.every(beyond).tell(&clock, Tick(1))),
            refused("every", "3155760001s", period)
        );
        let most = "at most 36525 days";
        assert_eq!(
            told(scheduler.once(beyond).tell(&clock, Tick(1))),
            refused("once", "3155760001s", most)
        );
        assert_eq!(
            told(scheduler.every(SECOND).starting_after(beyond).tell(&clock, Tick(1))),
            refused("starting_after", "3155760001s", most)
        );
        assert_eq!(
            told(scheduler.every(SECOND).at_most(0).tell(&clock, Tick(1))),
            refused("at_most", "0", "1 or more")
        );
        assert_eq!(
            told(scheduler.once(SECOND).named("").tell(&clock, Tick(1))),
            refused("named", "", "1 to 255 bytes")
        );
        let far = std::time::SystemTime::UNIX_EPOCH + 3 * century;
        assert!(told(scheduler.at(far).tell(&clock, Tick(1))).starts_with("at: the value `"));
        let no_path = told(scheduler.once(SECOND).tell_path("user/alice", Tick(1)));
        assert!(
            no_path.starts_with("cannot schedule a message for \"user/alice\": "),
            "{no_path}"
        );
        assert!(scheduler.is_empty());
        assert_eq!(system.metrics().timers, 0);
        // The limits themselves are fine.
        scheduler.once(century).tell(&clock, Tick(1)).unwrap();
        scheduler.every(MS).at_most(1).tell(&clock, Tick(1)).unwrap();
    });
}

#[test]
fn l21_an_actor_of_another_system_is_refused() {
    seeds(|env| async move {
        let (here, there) = (
            simulated(&env).await,
            builder("there").environment(env.clone()).start().await.unwrap(),
        );
        let stranger = there.spawn(Clock::make(&there, &Log::new())).await.unwrap();
        let refused = here.scheduler().once(SECOND).tell(&stranger, Tick(1)).unwrap_err();
        assert_eq!(
            refused,
            ScheduleError::OtherSystem {
                system: "there".to_owned()
            }
        );
        assert!(here.scheduler().is_empty());
        here.stop().await.unwrap();
        there.stop().await.unwrap();
    });
}

#[test]
fn l21_a_schedule_keeps_neither_the_actor_nor_its_memory_nor_the_system() {
    let held = Arc::new(());
    let factory = Arc::downgrade(&held);
    let env = SeededEnv::new(3);
    let schedule = env.block_on(async {
        let system = simulated(&env).await;
        let log = Log::new();
        let make = Clock::make(&system, &log);
        // The factory lies in the memory of the actor, and is dropped with it.
        let clock = system.spawn(move || (held.clone(), make()).1).await.unwrap();
        let schedule = system.scheduler().every(SECOND).tell(&clock, Tick(1)).unwrap();
        clock.stop();
        clock.terminated().await;
        drop(clock);
        system.sleep(MS).await;
        assert_eq!(factory.strong_count(), 0);
        let schedule_of_system = system.scheduler().every(SECOND).tell_path("/user/x", Tick(1)).unwrap();
        system.stop().await.unwrap();
        (schedule, schedule_of_system)
    });
    assert!(!schedule.0.is_active() && !schedule.1.cancel());
}

struct Counter {
    seen: Arc<Vec<AtomicUsize>>,
}

#[actor]
impl Counter {
    #[handles]
    fn tick(&mut self, tick: Tick) {
        self.seen[tick.0 as usize].fetch_add(1, SeqCst);
    }
}

/// On threads: schedules that go off, are cancelled and lose their actor all at once. Each ends in exactly one way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_every_schedule_is_handled_cancelled_or_a_dead_letter_on_threads_too() {
    const ROUNDS: u32 = 20;
    const EACH: u32 = 100;
    let system = system().await;
    let dead = Arc::new(Mutex::new(vec![0_usize; (ROUNDS * EACH) as usize]));
    let letters = system.events().subscribe::<DeadLetter>();
    let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..ROUNDS * EACH).map(|_| AtomicUsize::new(0)).collect());
    let mut cancelled = vec![0_usize; (ROUNDS * EACH) as usize];
    for round in 0..ROUNDS {
        let counter = {
            let seen = seen.clone();
            system.spawn(move || Counter { seen: seen.clone() }).await.unwrap()
        };
        let mut pending = Vec::new();
        for each in 0..EACH {
            let number = round * EACH + each;
            let after = Duration::from_micros(u64::from(number * 37 % 3_000));
            let schedule = system.scheduler().once(after).tell(&counter, Tick(number)).unwrap();
            pending.push((number as usize, schedule));
        }
        if round % 2 == 0 {
            counter.stop();
        }
        for (number, schedule) in pending.iter().filter(|(number, _)| number % 3 == 0) {
            schedule.pause();
            tokio::task::yield_now().await;
            if number % 2 == 0 {
                cancelled[*number] += usize::from(schedule.cancel());
            } else {
                schedule.resume();
            }
        }
        if round % 2 == 0 {
            counter.terminated().await;
        }
    }
    let scheduler = system.scheduler();
    eventually_async("the end of all schedules", || scheduler.is_empty()).await;
    let told = |number: usize| seen[number].load(SeqCst);
    eventually_async("all messages", || {
        let mut dead = dead.lock().unwrap();
        while let Some(Ok(letter)) = letters.try_next() {
            if let Some(Tick(number)) = letter.take::<Tick>() {
                dead[number as usize] += 1;
            }
        }
        (0..cancelled.len()).all(|number| told(number) + cancelled[number] + dead[number] > 0)
    })
    .await;
    let dead = dead.lock().unwrap().clone();
    for number in 0..cancelled.len() {
        assert_eq!(told(number) + cancelled[number] + dead[number], 1, "schedule {number}");
    }
    soon("the stop", system.stop()).await.unwrap();
    // The clock stands still now: a timer that was left would be left for ever. The stop's own may be on its way out.
    eventually_async("no timer is left", || system.metrics().timers == 0).await;
}

/// On threads: repeating ones that are paused and resumed while they send neither stop for good nor run twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_pausing_and_resuming_while_it_sends_leaves_one_timer() {
    let system = system().await;
    let seen: Arc<Vec<AtomicUsize>> = Arc::new(vec![AtomicUsize::new(0)]);
    let counter = {
        let seen = seen.clone();
        system.spawn(move || Counter { seen: seen.clone() }).await.unwrap()
    };
    let schedule = system.scheduler().every(MS).tell(&counter, Tick(0)).unwrap();
    for _ in 0..2_000 {
        schedule.pause();
        tokio::task::yield_now().await;
        schedule.resume();
    }
    let before = seen[0].load(SeqCst);
    eventually_async("it goes on", || seen[0].load(SeqCst) > before + 3).await;
    assert!(system.metrics().timers <= 1, "{}", system.metrics().timers);
    schedule.cancel();
    assert_eq!(system.metrics().timers, 0);
    eventually_async("what was sent has come", || {
        seen[0].load(SeqCst) as u64 == schedule.fired()
    })
    .await;
    soon("the stop", system.stop()).await.unwrap();
}
