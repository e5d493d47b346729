//! Messages whose copying or dropping fails or meddles.

use super::*;

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
