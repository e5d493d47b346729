//! Schedules by the calendar.

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
struct SetByHand(StoryEnv, Arc<Mutex<(bool, Duration)>>);

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
