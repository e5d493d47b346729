//! S7: handlers that wait.

use super::*;

#[test]
fn s7_while_a_handler_is_suspended_no_other_user_code_of_that_actor_runs() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(a_desk(&Log::new())).named("other").await.unwrap();
        let desk = system
            .spawn({
                let (log, other) = (log.clone(), other.clone());
                move || Patient {
                    log: log.clone(),
                    other: other.clone(),
                }
            })
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Suspend { gate }).unwrap();
        desk.tell(Mark).unwrap();
        other.stop();
        other.terminated().await; // its `Terminated` waits
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), ["suspended"], "something ran inside a suspended handler");
        open.send(()).unwrap();
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all()[..2], ["suspended", "resumed"]);
        assert!(log.has("mark") && log.has("terminated"));
        system.stop().await.unwrap();
    });
}

struct Patient {
    log: Log,
    other: ActorRef<Desk>,
}

#[actor]
impl Patient {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.watch(&self.other);
    }
    async fn suspend(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        self.log.push("suspended");
        let _ = gate.await;
        self.log.push("resumed");
    }
    fn mark(&mut self) {
        self.log.push("mark");
    }
    #[handles]
    fn terminated(&mut self, _: Terminated) {
        self.log.push("terminated");
    }
}

#[test]
fn s7_stop_waits_for_the_grace_then_drops_the_handler_and_its_asker_hears_stopped() {
    seeds(|env| async move {
        let system = builder("grace")
            .environment(env.clone())
            .settings(|s| {
                s.stop_grace(Duration::from_secs(2))
                    .ask_timeout(Duration::from_secs(60))
            })
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        let behind = desk.ask(Note { number: 1 }).into_future();
        system.sleep(Duration::from_secs(1)).await;
        let before = env.now();
        desk.stop();
        system.sleep(Duration::from_secs(1)).await;
        assert!(desk.is_alive() && !log.has("wait dropped"), "the grace is not over");
        assert!(
            desk.tell(Note { number: 2 }).is_err(),
            "an actor that stops takes no mail"
        );
        desk.stop(); // again: no new grace
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        let took = env.now().since(before);
        assert!(
            took >= Duration::from_secs(2) && took < Duration::from_millis(2_200),
            "{took:?}"
        );
        assert!(matches!(behind.await, Err(AskError::Stopped)));
        desk.terminated().await;
        assert_eq!(
            log.all(),
            ["started", "waiting", "wait dropped", "stopping", "stopped", "dropped"]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_a_handler_that_ends_within_the_grace_ends_well() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (open, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        desk.stop();
        system.sleep(Duration::from_secs(1)).await;
        open.send(()).unwrap();
        assert!(matches!(asking.await, Ok(true)));
        desk.terminated().await;
        assert_eq!(
            log.all(),
            [
                "started",
                "waiting",
                "waited",
                "wait dropped",
                "stopping",
                "stopped",
                "dropped"
            ]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_kill_drops_a_suspended_handler_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        desk.kill();
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        desk.terminated().await;
        env.assert_same_time(before, env.now(), "a kill waits for nothing");
        assert!(log.has("wait dropped"));
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_a_kill_overtakes_a_stop_that_waits() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.stop();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        desk.kill();
        desk.terminated().await;
        env.assert_same_time(before, env.now(), "a kill waits for nothing");
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_restart_waits_for_the_grace_then_drops_the_handler() {
    seeds(|env| async move {
        let system = builder("grace")
            .environment(env.clone())
            .settings(|s| {
                s.stop_grace(Duration::from_secs(2))
                    .ask_timeout(Duration::from_secs(60))
            })
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        desk.tell(Note { number: 1 }).unwrap();
        let before = env.now();
        for _ in 0..4 {
            desk.restart(); // again and again: the grace is one
            system.sleep(Duration::from_millis(700)).await;
        }
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        assert!(
            env.now().since(before) < Duration::from_secs(4),
            "{:?}",
            env.now().since(before)
        );
        desk.drain();
        desk.terminated().await;
        assert!(log.has("1"), "the mailbox stays");
        system.stop().await.unwrap();
    });
}
