//! Times that make no sense where they are given at run time: nothing panics, and nothing happens too early.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;

#[derive(Message, Clone)]
struct Ping;

struct Patient {
    log: Log,
}

#[actor]
impl Patient {
    fn begin(&mut self, time: Duration, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.set_timer("once", time, Ping);
        ctx.set_interval("every", time, Ping);
        ctx.pipe(std::future::pending::<Result<(), Fault>>())
            .timeout(time)
            .to_self(|_| Ping);
        let me = ctx.me();
        ctx.request(&me, Later)
            .timeout(time)
            .then(|patient: &mut Patient, answer, _| patient.log.push(format!("{answer:?}")))?;
        Ok(())
    }
    fn later(&mut self) -> u32 {
        7
    }
    #[handles]
    fn ping(&mut self, _: Ping) {
        self.log.push("ping");
    }
}

fn patient(log: &Log) -> impl Fn() -> Patient + Send + Sync + use<> {
    let log = log.clone();
    move || Patient { log: log.clone() }
}

#[test]
fn s21_a_time_without_end_never_comes_and_overflows_nowhere() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(patient(&log)).await.unwrap();
        actor
            .ask(Begin { time: Duration::MAX })
            .timeout(Duration::MAX)
            .await
            .unwrap();
        let scheduler = system.scheduler();
        // A schedule says what it takes; a timer of an actor is simply never due.
        assert!(scheduler.once(Duration::MAX).tell(&actor, Ping).is_err());
        system.sleep(Duration::from_secs(1_000_000)).await;
        assert_eq!(log.all(), ["Ok(7)"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn s21_no_time_at_all_is_as_soon_as_possible() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(patient(&log)).await.unwrap();
        let began = actor.ask(Begin { time: Duration::ZERO }).await;
        began.unwrap();
        system.sleep(Duration::from_millis(10)).await;
        assert!(log.count("ping") >= 3, "{:?}", log.all());
        assert!(
            log.count("ping") < 30,
            "an interval of nothing is a millisecond: {:?}",
            log.all()
        );
        system.stop().await.unwrap();
    });
}
