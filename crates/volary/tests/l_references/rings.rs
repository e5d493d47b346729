//! L6: actors that wait for each other.

use std::future::poll_fn;

use super::*;

/// Asks whom it is told, in rings.
struct Asker {
    log: Log,
}

#[actor]
impl Asker {
    /// Asks the first of the list to ask the next.
    async fn pass(
        &mut self,
        ctx: &mut Context<Self>,
        to: Vec<ActorRef<Asker>>,
        pause: Duration,
    ) -> Result<String, Fault> {
        if !pause.is_zero() {
            ctx.sleep(pause).await;
        }
        let Some((next, rest)) = to.split_first() else {
            return Ok("end".to_owned());
        };
        match next
            .ask(Pass {
                to: rest.to_vec(),
                pause,
            })
            .timeout(Duration::from_secs(60))
            .await
        {
            Err(AskError::Cycle(cycle)) => {
                self.log.push(&cycle);
                Ok(format!("cycle of {}", cycle.members().join(" ")))
            }
            other => other.or_fault(),
        }
    }
    async fn pass_both(
        &mut self,
        one: ActorRef<Asker>,
        other: ActorRef<Desk>,
        gate: oneshot::Receiver<()>,
        me: ActorRef<Asker>,
    ) -> String {
        let (answer, _) = tokio::join!(
            one.ask(Pass {
                to: vec![me],
                pause: Duration::from_millis(1)
            })
            .timeout(Duration::from_secs(3))
            .into_future(),
            other.ask(Wait { gate }).timeout(Duration::from_secs(3)).into_future(),
        );
        answer.unwrap_or_else(|error| error.to_string())
    }
    /// Waits for many, and for the last one to ask this one.
    async fn pass_many(&mut self, many: Vec<ActorRef<Desk>>, last: ActorRef<Asker>, me: ActorRef<Asker>) -> String {
        let mut waiting = Vec::new();
        for desk in &many {
            let (keep, gate) = gate();
            waiting.push((keep, Box::pin(desk.ask(Wait { gate }).into_future())));
        }
        let (to, pause) = (vec![me], Duration::from_millis(1));
        let mut answer = Box::pin(last.ask(Pass { to, pause }).into_future());
        let answer = poll_fn(|task| {
            for (_, wait) in &mut waiting {
                assert!(wait.as_mut().poll(task).is_pending());
            }
            answer.as_mut().poll(task)
        });
        answer.await.unwrap_or_else(|error| error.to_string())
    }
    async fn by_task(&mut self, ctx: &mut Context<Self>) -> bool {
        let me = ctx.me();
        let (send, receive) = oneshot::channel();
        ctx.spawn(async move {
            let _ = send.send(me.ask(Hello).await.is_ok());
        });
        // The handler does not wait for the task: no ring.
        let log = self.log.clone();
        ctx.spawn(async move { log.push(receive.await.unwrap()) });
        true
    }
    fn hello(&mut self) {}
}

fn ring_of(length: usize) {
    seeds(move |env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut ring = Vec::new();
        for n in 0..length {
            let log = log.clone();
            ring.push(
                system
                    .spawn(move || Asker { log: log.clone() })
                    .named(format!("a{n}"))
                    .await
                    .unwrap(),
            );
        }
        for pause in [Duration::ZERO, Duration::from_millis(1)] {
            let before = env.now();
            let mut to: Vec<_> = ring[1..].to_vec();
            to.push(ring[0].clone());
            let answer = ring[0]
                .ask(Pass { to, pause })
                .timeout(Duration::from_secs(60))
                .await
                .unwrap();
            assert!(answer.starts_with("cycle of"), "{answer}");
            for n in 0..length {
                assert!(answer.contains(&format!("/user/a{n}")), "{answer} does not name a{n}");
            }
            assert!(
                env.now().since(before) < Duration::from_secs(1),
                "found, not waited out"
            );
        }
        // Nobody is stuck, and what was asked in the ring was not executed later.
        for actor in &ring {
            actor.ask(Hello).await.unwrap();
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_an_actor_that_asks_itself_is_told() {
    ring_of(1);
}

#[test]
fn l6_a_ring_of_two_is_found_and_named() {
    ring_of(2);
}

#[test]
fn l6_a_ring_of_three_is_found_and_named() {
    ring_of(3);
}

#[test]
fn l6_a_ring_of_twelve_is_found_beyond_the_nesting_of_inline_turns() {
    ring_of(12);
}

#[test]
fn s3_the_longest_ring_that_is_looked_for_is_found() {
    ring_of(64);
}

#[test]
fn s3_a_ring_is_found_beside_a_hundred_others_who_are_waited_for() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, mut many) = (Log::new(), Vec::new());
        for _ in 0..100 {
            many.push(system.spawn(a_desk(&Log::new())).await.unwrap());
        }
        let asker = || {
            let log = log.clone();
            move || Asker { log: log.clone() }
        };
        let me = system.spawn(asker()).named("me").await.unwrap();
        let last = system.spawn(asker()).named("last").await.unwrap();
        let answer = me
            .ask(PassMany {
                many,
                last,
                me: me.clone(),
            })
            .await
            .unwrap();
        assert_eq!(answer, "cycle of /user/last /user/me");
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_a_longer_ring_is_left_to_the_deadline() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut ring = Vec::new();
        for _ in 0..65 {
            let log = log.clone();
            ring.push(system.spawn(move || Asker { log: log.clone() }).await.unwrap());
        }
        let mut to = ring[1..].to_vec();
        to.push(ring[0].clone());
        let (pause, limit) = (Duration::ZERO, Duration::from_secs(2));
        let before = env.now();
        let answer = ring[0].ask(Pass { to, pause }).timeout(limit).await;
        assert!(
            matches!(answer, Err(AskError::Timeout { .. } | AskError::Failed(_))),
            "{answer:?}"
        );
        let took = env.now().since(before);
        assert!(took >= limit && took < limit + Duration::from_millis(100), "{took:?}");
        assert!(log.is_empty(), "{:?}", log.all());
        // With the deadline everybody is free again.
        for actor in &ring {
            actor.ask(Hello).await.unwrap();
        }
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l6_a_ring_is_found_on_threads_and_when_both_close_it_at_once() {
    let system = system().await;
    for _ in 0..100 {
        let log = Log::new();
        let make = |log: &Log| {
            let log = log.clone();
            move || Asker { log: log.clone() }
        };
        let one = system.spawn(make(&log)).await.unwrap();
        let two = system.spawn(make(&log)).await.unwrap();
        let long = Duration::from_secs(60);
        let a = tokio::spawn({
            let (one, two) = (one.clone(), two.clone());
            async move {
                one.ask(Pass {
                    to: vec![two],
                    pause: Duration::ZERO,
                })
                .timeout(long)
                .await
            }
        });
        let b = tokio::spawn({
            let (one, two) = (one.clone(), two.clone());
            async move {
                two.ask(Pass {
                    to: vec![one],
                    pause: Duration::ZERO,
                })
                .timeout(long)
                .await
            }
        });
        for task in [a, b] {
            let answer = soon("one in a ring", task).await.unwrap().unwrap();
            assert!(answer == "end" || answer.starts_with("cycle of"), "{answer}");
        }
        one.kill();
        two.kill();
    }
    system.stop().await.unwrap();
}

#[test]
fn l6_a_ring_is_found_when_the_handler_waits_for_two_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let make = |log: &Log| {
            let log = log.clone();
            move || Asker { log: log.clone() }
        };
        let one = system.spawn(make(&log)).named("one").await.unwrap();
        let two = system.spawn(make(&log)).named("two").await.unwrap();
        let other = system.spawn(a_desk(&Log::new())).await.unwrap();
        let (_keep, gate) = gate();
        let before = env.now();
        let answer = one
            .ask(PassBoth {
                one: two.clone(),
                other: other.clone(),
                gate,
                me: one.clone(),
            })
            .timeout(Duration::from_secs(60))
            .await
            .unwrap();
        assert!(answer.starts_with("cycle of"), "{answer}");
        assert!(env.now().since(before) < Duration::from_secs(4));
        other.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_an_ask_from_a_task_of_the_actor_is_no_ring() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let asker = system
            .spawn({
                let log = log.clone();
                move || Asker { log: log.clone() }
            })
            .await
            .unwrap();
        assert!(asker.ask(ByTask).await.unwrap());
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["true"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_a_long_chain_of_asks_is_answered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut chain = Vec::new();
        for _ in 0..40 {
            let log = log.clone();
            chain.push(system.spawn(move || Asker { log: log.clone() }).await.unwrap());
        }
        let answer = chain[0]
            .ask(Pass {
                to: chain[1..].to_vec(),
                pause: Duration::ZERO,
            })
            .await
            .unwrap();
        assert_eq!(answer, "end");
        system.stop().await.unwrap();
    });
}
