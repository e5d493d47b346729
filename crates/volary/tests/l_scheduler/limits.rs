//! What is refused, and what is not kept.

use super::*;

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
