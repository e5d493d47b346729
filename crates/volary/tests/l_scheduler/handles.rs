//! Pausing, and names.

use super::*;

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
