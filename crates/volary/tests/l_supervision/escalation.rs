//! Faults that are handed up.

use super::*;

#[test]
fn l10_an_escalated_fault_keeps_its_source_and_the_parents_directive_decides() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let failures = system.events().subscribe::<ActorFailed>();
        // The parent resumes on `Disk`, which only the child's fault holds.
        let own = Supervision::new()
            .otherwise(Directive::Stop)
            .on::<Disk>(Directive::Resume);
        let (boss, staff) = a_boss(&system, &log, own, vec![("a", escalating())]).await;
        staff[0].ask(Work).await.unwrap();
        assert!(staff[0].ask(FailNetwork).await.is_err());
        assert_eq!(
            staff[0].ask(Work).await.unwrap(),
            2,
            "the parent resumed, and so did the child"
        );
        let mut seen = Vec::new();
        while let Some(Ok(failed)) = failures.try_next() {
            assert!(failed.fault.is::<Network>() && failed.fault.is::<Disk>());
            seen.push((
                failed.path.to_string(),
                failed.directive.unwrap(),
                failed.fault.to_string(),
            ));
        }
        assert_eq!(
            seen,
            [
                (
                    "/user/boss/a".to_owned(),
                    Directive::Escalate,
                    "network: disk".to_owned()
                ),
                (
                    "/user/boss".to_owned(),
                    Directive::Resume,
                    "/user/boss/a failed: network: disk".to_owned()
                ),
            ]
        );
        assert!(boss.is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_an_escalation_restarts_the_parent_and_its_children_with_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let staff = vec![("a", escalating()), ("b", restart())];
        let (boss, old) = a_boss(&system, &log, restart(), staff).await;
        assert!(old[0].ask(Panic).await.is_err());
        old[0].terminated().await;
        old[1].terminated().await;
        settle(&system).await;
        assert!(boss.is_alive());
        assert_eq!(log.count("boss started"), 2);
        let a: ActorRef<Worker> = system.lookup("/user/boss/a").unwrap();
        assert_eq!(a.ask(Work).await.unwrap(), 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_an_escalation_climbs_and_at_the_top_the_branch_is_stopped() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (boss, staff) = a_boss(&system, &log, escalating(), vec![("a", escalating())]).await;
        assert!(staff[0].ask(FailDisk).await.is_err());
        boss.terminated().await;
        assert!(!staff[0].is_alive());
        assert_eq!(log.all().last().unwrap(), "boss stopped");
        system.stop().await.unwrap();
    });
}

/// The parent's handler waits for something when the fault arrives: it is taken up afterwards.
#[test]
fn l10_an_escalation_waits_for_the_handler_of_the_parent() {
    struct Busy {
        log: Log,
    }
    #[actor]
    impl Busy {
        async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
            self.log.push("started".to_owned());
            let child = ctx.spawn_child(Worker::make("child", &self.log)).named("child");
            child.supervision(escalating()).await.or_fault()?;
            Ok(())
        }
        async fn wait_long(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
            let _ = gate.await;
            self.log.push("handler ended".to_owned());
        }
    }
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let made = log.clone();
        let busy = system
            .spawn(move || Busy { log: made.clone() })
            .named("busy")
            .await
            .unwrap();
        let child: ActorRef<Worker> = system.lookup("/user/busy/child").unwrap();
        let (open, gate) = gate();
        busy.tell(WaitLong { gate }).unwrap();
        settle(&system).await;
        assert!(child.ask(FailDisk).await.is_err());
        settle(&system).await;
        assert_eq!(log.count("started"), 1, "not while the handler waits");
        open.send(()).unwrap();
        settle(&system).await;
        let all: Vec<_> = log
            .all()
            .into_iter()
            .filter(|line| !line.starts_with("child"))
            .collect();
        assert_eq!(all, ["started", "handler ended", "started"]);
        system.stop().await.unwrap();
    });
}

/// Parent and child must not keep each other's memory after an escalation.
#[test]
fn l10_an_escalation_leaves_nothing_behind() {
    struct Marked {
        _mark: std::sync::Arc<()>,
        child: bool,
    }
    #[actor]
    impl Marked {
        async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
            if !self.child {
                let mark = self._mark.clone();
                let make = move || Marked {
                    _mark: mark.clone(),
                    child: true,
                };
                ctx.spawn_child(make)
                    .named("child")
                    .supervision(escalating())
                    .await
                    .or_fault()?;
            }
            Ok(())
        }
        fn blow_up(&mut self) -> Result<u64, Fault> {
            Err(Disk).or_fault()
        }
    }
    for directive in [
        Directive::Stop,
        Directive::Restart,
        Directive::Resume,
        Directive::Suspend,
    ] {
        seeds(move |env| async move {
            let mark = std::sync::Arc::new(());
            let system = simulated(&env).await;
            let own = mark.clone();
            let make = move || Marked {
                _mark: own.clone(),
                child: false,
            };
            let parent = system.spawn(make).named("parent").on_fault(directive).await.unwrap();
            let child: ActorRef<Marked> = system.lookup("/user/parent/child").unwrap();
            assert!(child.ask(BlowUp).await.is_err());
            settle(&system).await;
            system.stop().await.unwrap();
            assert!(!parent.is_alive() && !child.is_alive() && !child.status().suspended);
            drop((parent, child, system));
            drop(env);
            assert_eq!(std::sync::Arc::strong_count(&mark), 1, "{directive:?}");
        });
    }
}

/// Two children escalate at once: the parent restarts for the first, which ends both. What the second
/// handed up belongs to the past, and must not crash the new incarnation.
#[test]
fn l10_a_fault_of_a_child_that_is_gone_does_not_crash_the_next_incarnation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let staff = vec![("a", escalating()), ("b", escalating())];
        let (boss, old) = a_boss(&system, &log, restart(), staff).await;
        old[0].tell(FailDisk).unwrap();
        old[1].tell(FailDisk).unwrap();
        old[0].terminated().await;
        old[1].terminated().await;
        system.sleep(10 * MS).await;
        assert_eq!(log.count("boss started"), 2, "{:?}", log.all());
        assert!(boss.is_alive());
        system.stop().await.unwrap();
    });
}
