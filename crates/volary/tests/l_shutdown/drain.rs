//! Letting actors finish their work first.

use super::*;

/// Sends what it is given on, after a while.
struct Relay {
    next: ActorRef<Desk>,
}

#[actor]
impl Relay {
    async fn pass(&mut self, number: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.sleep(SECOND).await;
        self.next.tell(Note { number }).or_fault()
    }
}

/// Three messages at the door of one actor, each of them work for another.
async fn busy(env: &StoryEnv, drain: Duration, log: &Log) -> ActorSystem {
    let system = on(env).settings(|s| s.drain_timeout(drain)).start().await.unwrap();
    let desk = system.spawn(a_desk(log)).named("desk").await.unwrap();
    let relay = system.spawn(move || Relay { next: desk.clone() }).named("relay");
    let relay = relay.await.unwrap();
    for number in 1..=3 {
        relay.tell(Pass { number }).unwrap();
    }
    system
}

#[test]
fn l27_a_drain_lets_the_actors_finish_their_work_together() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, HOUR, &log).await;
        let before = env.now();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["started", "1", "2", "3", "stopping", "stopped", "dropped"]);
        assert_eq!(system.metrics().dead_letters, 0);
        let took = env.now().since(before);
        assert!(took < 4 * SECOND, "no longer than the work takes: {took:?}");
    });
}

#[test]
fn l27_without_a_drain_what_waits_becomes_dead_letters() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, Duration::ZERO, &log).await;
        system.stop().await.unwrap();
        assert!(!log.has("3"));
        assert!(system.metrics().dead_letters >= 2);
    });
}

#[test]
fn l27_a_drain_ends_at_its_timeout_and_names_who_still_had_work() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, 1500 * SECOND / 1000, &log).await;
        let error = system.stop().await.unwrap_err();
        let expected = StopProblem::NotDrained {
            count: 1,
            within: 1500 * SECOND / 1000,
            examples: vec!["/user/relay".to_owned()],
        };
        assert_eq!(error.problems(), [expected]);
        assert!(log.has("1") && log.has("stopped") && !log.has("3"));
    });
}

#[test]
fn l27_a_drain_does_not_wait_for_an_actor_that_is_held() {
    seeds(|env| async move {
        let system = on(&env).settings(|s| s.drain_timeout(HOUR)).start().await.unwrap();
        let desk = system
            .spawn(a_desk(&Log::new()))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        desk.tell(Crash).unwrap();
        desk.tell(Note { number: 1 }).unwrap();
        while !desk.status().suspended {
            system.sleep(Duration::from_millis(1)).await;
        }
        let before = env.now();
        system.stop().await.unwrap();
        assert!(env.now().since(before) < SECOND);
    });
}

/// Asks a desk of another system, and handles other messages meanwhile.
struct Client {
    desk: ActorRef<Desk>,
    log: Log,
}

#[actor]
impl Client {
    fn order(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let nap = Nap { time: SECOND };
        ctx.request(&self.desk, nap).then(|client: &mut Client, answer, _| {
            client.log.push(answer.is_ok());
            Ok(())
        })?;
        Ok(())
    }
}

#[test]
fn l27_a_drain_waits_for_the_answers_to_requests() {
    seeds(|env| async move {
        let log = Log::new();
        let other = simulated(&env).await;
        let desk = other.spawn(a_desk(&Log::new())).await.unwrap();
        let system = on(&env).settings(|s| s.drain_timeout(HOUR)).start().await.unwrap();
        let written = log.clone();
        let client = system.spawn(move || Client {
            desk: desk.clone(),
            log: written.clone(),
        });
        let client = client.reentrancy(Reentrancy::all()).await.unwrap();
        client.tell(Order).unwrap();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["true"]);
        other.stop().await.unwrap();
    });
}
