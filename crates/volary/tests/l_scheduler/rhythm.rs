//! When schedules go off.

use super::*;

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
    seeds_by_the_clock(|env| async move {
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
