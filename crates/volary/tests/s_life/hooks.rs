//! S9: the order in which actors stop and their hooks run.

use super::*;

#[test]
fn s9_children_stop_before_their_parents_and_stopped_runs_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let root = system
            .spawn({
                let log = log.clone();
                move || Node {
                    log: log.clone(),
                    name: "r".to_owned(),
                }
            })
            .named("r")
            .await
            .unwrap();
        root.ask(Grow { depth: 2 }).await.unwrap();
        assert_eq!(system.actor_count(), 7);
        let leaf = system.lookup::<Node>("/user/r/n1/n0").unwrap();
        match env.random() % 4 {
            0 => root.stop(),
            1 => root.drain(),
            2 => root.kill(),
            _ => {
                let system = system.clone();
                let stop = system.stop();
                stop.await.unwrap();
            }
        }
        root.stop();
        root.terminated().await;
        assert!(!leaf.is_alive());
        for name in ["r", "r0", "r1", "r00", "r01", "r10", "r11"] {
            assert_eq!(log.count(&format!("stopped {name}")), 1, "{name}");
            if name.len() > 1 {
                let above = &name[..name.len() - 1];
                assert!(log.position(&format!("stopped {name}")) < log.position(&format!("stopped {above}")));
            }
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_hooks_run_in_their_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let events = Log::new();
        let (started, stopped) = (
            system.events().subscribe::<ActorStarted>(),
            system.events().subscribe::<ActorStopped>(),
        );
        let desk = system.spawn(a_desk(&events)).named("desk").await.unwrap();
        desk.ask(Note { number: 1 }).await.unwrap();
        desk.stop();
        desk.terminated().await;
        assert_eq!(events.all(), ["started", "1", "stopping", "stopped", "dropped"]);
        let mut paths = std::iter::from_fn(|| started.try_next()).map(|event| event.unwrap().path.to_string());
        assert!(paths.any(|path| path == "/user/desk"));
        assert_eq!(stopped.try_next().unwrap().unwrap().id, desk.id());
        system.stop().await.unwrap();
    });
}
