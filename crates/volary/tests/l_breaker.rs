//! L24: calls through a circuit breaker on a system's clock, and what can be seen of it.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::panic::AssertUnwindSafe;
use std::task::Poll;
use std::time::Duration;

use common::*;
use volary::breaker::{CallError, Outcome, State};
use volary::prelude::*;
use volary::{BreakerChanged, BreakerOptions, CircuitBreaker, Subscription};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn options() -> BreakerOptions {
    BreakerOptions::default()
        .named("bank")
        .minimum_calls(2)
        .open_for(10 * SECOND)
        .trial_calls(2)
}

fn changes(events: &Subscription<BreakerChanged>) -> Vec<String> {
    std::iter::from_fn(|| events.try_next())
        .map(|change| {
            let change = change.unwrap();
            format!("{} {change}", change.transition.number)
        })
        .collect()
}

#[test]
fn l24_a_call_is_recorded_however_it_ends() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let breaker = CircuitBreaker::new(options().failure_percent(100).minimum_calls(50)).unwrap();
        assert_eq!(breaker.call(&system, async { Ok::<_, Broken>(7) }).await, Ok(7));
        let failed = breaker.call(&system, async { Err::<(), _>(Broken(1)) }).await;
        assert_eq!(failed, Err(CallError::Failed(Broken(1))));
        let excused = breaker.call(&system, async { Err::<(), _>(Broken(2)) });
        assert!(excused.judge(|_| Outcome::Ignored).await.is_err());
        let began = system.now();
        let silent = breaker.call(&system, std::future::pending::<Result<(), Broken>>());
        let late = silent.timeout(50 * MS).await;
        assert_eq!(late, Err(CallError::Timeout { after: 50 * MS }));
        assert!(system.now().since(began) >= 50 * MS);
        let counters = breaker.counters(system.now());
        let ends = (counters.succeeded, counters.failed, counters.ignored);
        assert_eq!(ends, (1, 2, 1));
        assert_eq!((counters.permitted, counters.in_flight), (4, 0));
        system.stop().await.unwrap();
    });
}

/// Slow is measured on the system's clock as well.
#[test]
fn l24_a_slow_call_is_slow_by_the_systems_clock() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let breaker = CircuitBreaker::new(options().slow_calls(100 * MS, 50)).unwrap();
        for time in [90 * MS, 100 * MS] {
            assert_eq!(breaker.state(system.now()), State::Closed);
            let sleep = system.sleep(time);
            let call = breaker.call(&system, async move {
                sleep.await;
                Ok::<_, Broken>(())
            });
            call.await.unwrap();
        }
        assert_eq!(breaker.state(system.now()), State::Open);
        assert_eq!(breaker.counters(system.now()).slow, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_changes_of_state_are_published_in_order_with_their_name() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let events = system.events().subscribe::<BreakerChanged>();
        let breaker = CircuitBreaker::new(options()).unwrap();
        let call = async |result: Result<(), Broken>| breaker.call(&system, async move { result }).await;
        let _ = call(Ok(())).await;
        assert_eq!(changes(&events), Vec::<String>::new());
        let _ = call(Err(Broken(1))).await;
        assert_eq!(changes(&events), ["1 circuit breaker bank: Closed -> Open"]);
        let refused = call(Ok(())).await;
        assert!(matches!(refused, Err(CallError::Refused(open)) if open.retry_at.is_some()));
        assert_eq!(changes(&events), Vec::<String>::new());
        system.sleep(10 * SECOND).await;
        let _ = call(Err(Broken(2))).await;
        assert_eq!(
            changes(&events),
            [
                "2 circuit breaker bank: Open -> HalfOpen",
                "3 circuit breaker bank: HalfOpen -> Open"
            ]
        );
        system.sleep(10 * SECOND).await;
        let _ = call(Ok(())).await;
        let _ = call(Ok(())).await;
        assert_eq!(
            changes(&events),
            [
                "4 circuit breaker bank: Open -> HalfOpen",
                "5 circuit breaker bank: HalfOpen -> Closed"
            ]
        );
        system.stop().await.unwrap();
    });
}

struct Watcher(Log);

#[actor]
impl Watcher {
    #[handles]
    fn changed(&mut self, change: BreakerChanged) {
        let opened = change.breaker.counters(change.transition.at).opened;
        self.0.push(format!("{change}, opened {opened}"));
    }
}

#[test]
fn l24_an_actor_hears_of_changes_and_can_look_at_the_breaker() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let watched = log.clone();
        let watcher = system.spawn(move || Watcher(watched.clone())).await.unwrap();
        system.events().subscribe_actor(&watcher.recipient::<BreakerChanged>());
        let breaker = CircuitBreaker::new(options().minimum_calls(1)).unwrap();
        let _ = breaker.call(&system, async { Err::<(), _>(Broken(1)) }).await;
        system.sleep(MS).await;
        assert_eq!(log.all(), ["circuit breaker bank: Closed -> Open, opened 1"]);
        system.stop().await.unwrap();
    });
}

/// Open, and over the time for which it is.
async fn ready_for_trials(env: &StoryEnv) -> (ActorSystem, CircuitBreaker) {
    let system = simulated(env).await;
    let breaker = CircuitBreaker::new(options()).unwrap();
    let _ = breaker.trip(system.now());
    system.sleep(10 * SECOND).await;
    (system, breaker)
}

#[test]
fn l24_a_call_that_is_dropped_gives_its_trial_place_back() {
    seeds(|env| async move {
        let (system, breaker) = ready_for_trials(&env).await;
        let pending = || Box::pin(breaker.call(&system, std::future::pending::<Result<(), Broken>>()));
        let bell = Bell::new();
        let (mut first, mut second, mut third) = (pending(), pending(), pending());
        let unpolled = pending();
        assert!(poll_with(&mut first, &bell).is_pending());
        assert!(poll_with(&mut second, &bell).is_pending());
        assert!(poll_with(&mut third, &bell).is_ready(), "two trial calls, no more");
        drop((first, unpolled));
        let mut fourth = pending();
        assert!(poll_with(&mut fourth, &bell).is_pending());
        assert!(poll_with(&mut pending(), &bell).is_ready());
        drop((second, fourth));
        let counters = breaker.counters(system.now());
        assert_eq!((counters.in_flight, counters.ignored), (0, 3));
        for _ in 0..2 {
            breaker.call(&system, async { Ok::<_, Broken>(()) }).await.unwrap();
        }
        assert_eq!(breaker.state(system.now()), State::Closed);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_call_that_panics_is_a_failure_and_the_panic_goes_on() {
    seeds(|env| async move {
        let (system, breaker) = ready_for_trials(&env).await;
        let bell = Bell::new();
        let mut in_poll = Box::pin(breaker.call(&system, async { panic!("as told") }));
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| -> Poll<Result<(), CallError<Broken>>> {
            poll_with(&mut in_poll, &bell)
        }));
        assert!(panicked.is_err());
        let counters = breaker.counters(system.now());
        assert_eq!((counters.failed, counters.ignored, counters.in_flight), (1, 0, 0));
        assert_eq!(
            breaker.state(system.now()),
            State::Open,
            "one of two trial calls is half"
        );
        drop(in_poll);
        assert_eq!(breaker.counters(system.now()).ignored, 0);
        system.stop().await.unwrap();
    });
}

/// Makes one call when it is told to.
struct Client {
    breaker: CircuitBreaker,
    log: Log,
}

#[actor]
impl Client {
    async fn call(&mut self, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(SECOND);
        let log = self.log.clone();
        let call = self.breaker.call(&ctx.system(), async move {
            log.push("through");
            sleep.await;
            Ok::<_, Broken>(())
        });
        if call.await.is_err() {
            self.log.push("refused");
        }
    }
}

#[test]
fn l24_half_open_lets_exactly_the_trial_calls_of_many_actors_through() {
    seeds(|env| async move {
        let (system, breaker) = ready_for_trials(&env).await;
        let events = system.events().subscribe::<BreakerChanged>();
        let log = Log::new();
        for _ in 0..10 {
            let (breaker, log) = (breaker.clone(), log.clone());
            let factory = move || Client {
                breaker: breaker.clone(),
                log: log.clone(),
            };
            system.spawn(factory).await.unwrap().tell(Call).unwrap();
        }
        system.sleep(500 * MS).await;
        assert_eq!((log.count("through"), log.count("refused")), (2, 8));
        system.sleep(SECOND).await;
        assert_eq!(breaker.state(system.now()), State::Closed);
        assert_eq!(changes(&events).len(), 2);
        system.stop().await.unwrap();
    });
}
