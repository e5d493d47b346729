//! S10: restarts and faults.

use super::*;

#[test]
fn s10_restart_keeps_mailbox_address_and_watchers() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let restarted = system.events().subscribe::<ActorRestarted>();
        let (log, seen) = (Log::new(), Log::new());
        let desk = system.spawn(a_desk(&log)).named("desk").await.unwrap();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        let address = desk.address();
        desk.tell(Note { number: 1 }).unwrap();
        let failing = desk.ask(Fail { code: 9 }).into_future();
        for number in 2..12 {
            desk.tell(Note { number }).unwrap();
        }
        match failing.await {
            Err(AskError::Failed(fault)) => {
                assert_eq!(fault.find::<Broken>(), Some(&Broken(9)), "the fault keeps its type")
            }
            other => panic!("{other:?}"),
        }
        // Ten notes since the restart: the state is new, the mailbox is not, the failing message is gone.
        assert_eq!(desk.ask(Note { number: 12 }).await.unwrap(), 11);
        assert_eq!(desk.address(), address);
        assert_eq!(system.lookup::<Desk>("/user/desk"), Some(desk.clone()));
        let numbers: Vec<_> = log.all().iter().filter_map(|e| e.parse::<u64>().ok()).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
        assert_eq!(log.count("started"), 2);
        assert_eq!(log.count("dropped"), 1);
        assert_eq!(restarted.try_next().unwrap().unwrap().id, desk.id());
        assert!(restarted.try_next().is_none());
        assert!(seen.is_empty(), "a restart is no end");
        desk.stop();
        desk.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(seen.all(), ["gone /user/desk"]);
        system.stop().await.unwrap();
    });
}

/// What ractor does not: one bad request among fifty fails one, and that one knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s10_one_bad_request_among_fifty_fails_alone() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let asks: Vec<_> = (0..50)
        .map(|number| {
            let desk = desk.clone();
            tokio::spawn(async move {
                if number == 11 {
                    desk.ask(Crash).await
                } else {
                    desk.ask(Note { number }).await
                }
            })
        })
        .collect();
    let mut failed = 0;
    for ask in asks {
        match soon("an ask", ask).await.unwrap() {
            Ok(_) => {}
            Err(AskError::Failed(fault)) => {
                assert!(fault.is_panic());
                failed += 1;
            }
            Err(other) => panic!("an innocent one heard {other}"),
        }
    }
    assert_eq!(failed, 1);
    system.stop().await.unwrap();
}

#[test]
fn s10_resume_keeps_the_state_and_stop_ends() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let failures = system.events().subscribe::<ActorFailed>();
        let log = Log::new();
        let factory = a_desk(&log);
        let steady = system.spawn(factory.clone()).on_fault(Directive::Resume).await.unwrap();
        steady.tell(Note { number: 1 }).unwrap();
        steady.tell(Crash).unwrap();
        assert_eq!(steady.ask(Note { number: 2 }).await.unwrap(), 2);
        let failed = failures.try_next().unwrap().unwrap();
        assert_eq!((failed.id, failed.directive), (steady.id(), Some(Directive::Resume)));
        let frail = system.spawn(factory).on_fault(Directive::Stop).await.unwrap();
        frail.tell(Fail { code: 1 }).unwrap();
        let behind = frail.ask(Note { number: 3 }).await;
        assert!(matches!(behind, Err(AskError::Stopped)), "{behind:?}");
        frail.terminated().await;
        let failed = failures.try_next().unwrap().unwrap();
        assert_eq!(failed.directive, Some(Directive::Stop));
        assert!(failed.fault.is::<Broken>());
        assert_eq!(system.metrics().faults, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_a_rejection_is_no_fault_even_when_told() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let unheard = system.events().subscribe::<volary::RejectionUnheard>();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).on_fault(Directive::Stop).await.unwrap();
        desk.tell(Refuse { code: 3 }).unwrap();
        assert!(matches!(
            desk.ask(Refuse { code: 4 }).await,
            Err(AskError::Rejected(Refused(4)))
        ));
        assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
        assert_eq!(system.metrics().faults, 0);
        assert_eq!(system.metrics().unheard_rejections, 1);
        assert_eq!(unheard.try_next().unwrap().unwrap().rejection, "Refused(3)");
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_a_restart_ends_children_tasks_and_kept_questions() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let keeper = system
            .spawn({
                let log = log.clone();
                move || Keeper {
                    log: log.clone(),
                    kept: None,
                }
            })
            .await
            .unwrap();
        keeper.ask(Settle).await.unwrap();
        let mut asking = keeper.ask(Keep).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(system.actor_count(), 2);
        keeper.restart();
        assert!(
            matches!(asking.await, Err(AskError::Stopped)),
            "a question kept in the old state"
        );
        assert_eq!(keeper.ask(Family).await.unwrap(), 0);
        assert_eq!(system.actor_count(), 1);
        system.sleep(Duration::from_millis(1)).await;
        assert!(log.has("task ended"), "{:?}", log.all());
        // A child of the same name can be had again.
        keeper.ask(Settle).await.unwrap();
        system.stop().await.unwrap();
    });
}

struct Keeper {
    log: Log,
    kept: Option<ReplyTo<u64>>,
}

#[actor]
impl Keeper {
    async fn settle(&mut self, ctx: &mut Context<Self>) {
        let log = Log::new();
        ctx.spawn_child(move || Desk::new(&log)).named("child").await.unwrap();
        let end = OnDrop(self.log.clone(), "task ended");
        ctx.spawn(async move {
            let _end = end;
            std::future::pending::<()>().await;
        });
    }
    fn keep(&mut self, reply: ReplyTo<u64>) {
        self.kept = Some(reply);
    }
    fn family(&mut self, ctx: &mut Context<Self>) -> usize {
        ctx.children().len()
    }
}

#[test]
fn s10_a_restart_that_fails_ends_the_actor_and_its_mail() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let seen = Log::new();
        let plan = Plan {
            fail_first: 0,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Fickle { plan: plan.clone() }
            })
            .named("x")
            .await
            .unwrap();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        watcher.ask(ObserveFickle { whom: starter.clone() }).await.unwrap();
        starter.tell(Explode).unwrap();
        let behind = starter.ask(Idle).await;
        assert!(matches!(behind, Err(AskError::Stopped)), "{behind:?}");
        starter.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(seen.all(), ["gone /user/x"]);
        assert_eq!(letters.try_next().unwrap().unwrap().receiver_id(), Some(starter.id()));
        assert!(system.lookup::<Fickle>("/user/x").is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_stopped_is_not_run_after_a_restart_that_failed_for_good() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let by_fault = env.random() % 2 == 0;
        let plan = Plan::default();
        let fickle = system
            .spawn({
                let plan = plan.clone();
                move || Fickle { plan: plan.clone() }
            })
            .await
            .unwrap();
        if by_fault {
            fickle.tell(Explode).unwrap();
        } else {
            fickle.restart();
        }
        fickle.terminated().await;
        assert_eq!(
            plan.tries.load(Ordering::SeqCst),
            1 + 6,
            "one start, six attempts at another"
        );
        assert!(plan.log.is_empty(), "{:?}", plan.log.all());
        // The hooks are not run late either; and where a start succeeded, they are run.
        let other = Plan::default();
        let steady = system
            .spawn({
                let plan = other.clone();
                move || Fickle { plan: plan.clone() }
            })
            .await
            .unwrap();
        steady.stop();
        steady.terminated().await;
        assert_eq!(other.log.all(), ["stopping", "stopped"]);
        system.stop().await.unwrap();
        assert!(plan.log.is_empty(), "{:?}", plan.log.all());
    });
}

/// Starts once.
struct Fickle {
    plan: Plan,
}

#[actor]
impl Fickle {
    fn started(&mut self) -> Result<(), Fault> {
        if self.plan.tries.fetch_add(1, Ordering::SeqCst) > 0 {
            Err(Fault::msg("once is enough"))
        } else {
            Ok(())
        }
    }
    fn stopping(&mut self) {
        self.plan.log.push("stopping");
    }
    fn stopped(&mut self) {
        self.plan.log.push("stopped");
    }
    fn explode(&mut self) {
        panic!("explode");
    }
    fn idle(&mut self) {}
}

struct Watcher {
    log: Log,
}

#[actor]
impl Watcher {
    fn observe(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.watch(&whom);
    }
    fn observe_fickle(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Fickle>) {
        ctx.watch(&whom);
    }
    #[handles]
    fn gone(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}
