//! S9: starts that succeed, fail and are retried.

use super::*;

#[test]
fn s9_started_completes_before_the_first_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let plan = Plan {
            fail_first: 2,
            how: How::ErrorLater,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .start()
            .unwrap();
        starter.tell(First).unwrap();
        assert_eq!(starter.ask(First).await.unwrap(), 3);
        assert_eq!(
            plan.log.all(),
            ["try 1", "try 2", "try 3", "started", "message", "message"]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_failed_start_is_retried_then_reported_and_leaves_nothing_behind() {
    for how in [How::Error, How::Panic, How::ErrorLater] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let stopped = system.events().subscribe::<ActorStarted>();
            let plan = Plan {
                fail_first: 100,
                how,
                ..Plan::default()
            };
            let factory = {
                let plan = plan.clone();
                move || Starter(plan.clone())
            };
            let error = system.spawn(factory.clone()).named("starter").await.unwrap_err();
            match &error {
                SpawnError::Start { path, attempts, fault } => {
                    assert_eq!(path.to_string(), "/user/starter");
                    assert_eq!(*attempts, 6, "one and five retries");
                    assert_eq!(fault.is_panic(), how == How::Panic);
                    assert_eq!(fault.find::<Broken>().is_some(), how != How::Panic);
                }
                other => panic!("{other:?}"),
            }
            assert!(error.to_string().contains("/user/starter"), "{error}");
            assert_eq!(plan.tries.load(Ordering::SeqCst), 6);
            assert_eq!(system.actor_count(), 0);
            assert!(system.actors().is_empty());
            assert!(system.lookup::<Starter>("/user/starter").is_none());
            assert!(!plan.log.has("stopped"), "what never started does not stop");
            while let Some(event) = stopped.try_next() {
                assert_ne!(event.unwrap().path.to_string(), "/user/starter", "it never started");
            }
            // The name is free again.
            plan.tries.store(100, Ordering::SeqCst);
            system.spawn(factory).named("starter").await.unwrap();
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn s9_a_start_that_takes_too_long_is_a_failed_attempt() {
    seeds(|env| async move {
        let system = builder("init")
            .environment(env.clone())
            .settings(|s| s.init_retries(2))
            .start()
            .await
            .unwrap();
        let plan = Plan {
            fail_first: 100,
            how: How::Hang,
            ..Plan::default()
        };
        let before = env.now();
        let error = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .await
            .unwrap_err();
        assert!(matches!(error, SpawnError::Start { attempts: 3, .. }), "{error:?}");
        let took = env.now().since(before);
        assert!(
            took >= Duration::from_secs(3) && took < Duration::from_millis(3_300),
            "{took:?}: three times a second"
        );
        assert_eq!(system.actor_count(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_start_that_hangs_once_succeeds_on_the_next_attempt() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let plan = Plan {
            fail_first: 1,
            how: How::Hang,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .await
            .unwrap();
        assert_eq!(starter.ask(First).await.unwrap(), 2);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn s9_a_factory_that_fails_or_panics_is_retried_and_reported() {
    let system = system().await;
    let tries = Arc::new(AtomicU32::new(0));
    let factory = {
        let tries = tries.clone();
        move || match tries.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Fault::new(Broken(0))),
            1 => panic!("factory"),
            _ => Ok(Desk::new(&Log::new())),
        }
    };
    let desk = system.spawn(factory).await.unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    let error = system.spawn(|| -> Desk { panic!("always") }).await.unwrap_err();
    match error {
        SpawnError::Start { attempts: 6, fault, .. } => {
            assert!(fault.is_panic() && fault.to_string().contains("always"))
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(system.actor_count(), 1);
    system.stop().await.unwrap();
}

/// Makes a child before it fails.
struct Parent {
    tries: Arc<AtomicU32>,
    log: Log,
}

#[actor]
impl Parent {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.spawn_child(move || Desk::new(&log))
            .named("child")
            .await
            .or_fault()?;
        if self.tries.fetch_add(1, Ordering::SeqCst) < 2 {
            return Err(Fault::msg("not yet"));
        }
        Ok(())
    }
    fn names(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.children()
    }
}

#[test]
fn s9_what_a_failed_attempt_began_does_not_stand_in_the_way_of_the_next() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (tries, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let parent = system
            .spawn({
                let (tries, log) = (tries.clone(), log.clone());
                move || Parent {
                    tries: tries.clone(),
                    log: log.clone(),
                }
            })
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parent.ask(Names).await.unwrap(), ["child"]);
        assert_eq!(log.count("started"), 3);
        assert_eq!(log.count("stopped"), 2, "the children of failed attempts have ended");
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_start_that_fails_for_good_takes_its_children_along() {
    seeds(|env| async move {
        let system = builder("init")
            .environment(env.clone())
            .settings(|s| s.init_retries(0))
            .start()
            .await
            .unwrap();
        let (tries, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let factory = {
            let (tries, log) = (tries.clone(), log.clone());
            move || Parent {
                tries: tries.clone(),
                log: log.clone(),
            }
        };
        system.spawn(factory).named("parent").await.unwrap_err();
        assert_eq!(
            system.actor_count(),
            0,
            "the spawner has heard of the failure, and somebody is left"
        );
        assert_eq!(log.all(), ["started", "stopping", "stopped", "dropped"]);
        system.stop().await.unwrap();
    });
}

/// A spawner that hears of a failure finds the name free, on threads too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s9_the_name_of_a_failed_start_is_free_when_the_spawner_hears_of_it() {
    let system = builder("init").settings(|s| s.init_retries(0)).start().await.unwrap();
    for _ in 0..500 {
        let error = system.spawn(|| Yielder).named("same").await.unwrap_err();
        assert!(matches!(error, SpawnError::Start { .. }), "{error}");
    }
    system.stop().await.unwrap();
}

struct Yielder;

#[actor]
impl Yielder {
    async fn started(&mut self) -> Result<(), Fault> {
        tokio::task::yield_now().await;
        Err(Fault::msg("no"))
    }
}

/// What can be made only once is not made again, and why it did not start is what its spawner hears.
#[tokio::test]
async fn s9_a_start_that_fails_of_what_is_made_once_says_why() {
    #[derive(Debug, thiserror::Error)]
    #[error("nobody calls")]
    struct Silent;

    struct Session;

    #[actor]
    impl Session {
        fn started(&mut self) -> Result<(), Fault> {
            Err(Silent).or_fault()
        }
    }

    let system = builder("once").start().await.unwrap();
    let failed = system.spawn(once(|| Session)).await.unwrap_err();
    let volary::SpawnError::Start { attempts, fault, .. } = failed else {
        panic!("{failed:?}")
    };
    assert!(fault.is::<Silent>(), "{fault}");
    assert_eq!(attempts, 1);
    let failed = system
        .spawn(once(|| Err::<Session, _>(Fault::new(Silent))))
        .await
        .unwrap_err();
    assert!(failed.to_string().contains("nobody calls"), "{failed}");
    system.stop().await.unwrap();
}
