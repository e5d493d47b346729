//! Who gets the message, and what if nobody can.

use super::*;

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
