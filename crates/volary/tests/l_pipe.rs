//! L24: the result of a future as a message. Everything in virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::breaker::{Outcome, State, Window};
use volary::prelude::*;
use volary::{
    ActorFailed, BreakerOptions, CircuitBreaker, DeadLetter, DeadReason, Path, PipeError, Subscription, Task,
};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What a pipe sends.
#[derive(Debug, Message)]
struct Piped(String);

/// Sets off what it is told to, and writes down what arrives and from whom.
struct Caller {
    log: Log,
    task: Option<Task>,
}

type Plan = Box<dyn FnOnce(&mut Context<Caller>) -> Task + Send>;

#[actor]
impl Caller {
    fn make(log: &Log) -> impl Fn() -> Caller + Send + Sync + use<> {
        let log = log.clone();
        move || Caller {
            log: log.clone(),
            task: None,
        }
    }

    fn set_off(&mut self, plan: Plan, ctx: &mut Context<Self>) {
        self.task = Some(plan(ctx));
    }
    fn abort(&mut self) {
        self.task.take().unwrap().abort();
    }
    fn is_finished(&self) -> bool {
        self.task.as_ref().unwrap().is_finished()
    }
    async fn dawdle(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
        self.log.push("dawdled");
    }
    fn note(&mut self, text: &'static str) {
        self.log.push(text);
    }
    #[handles]
    fn arrived(&mut self, result: Piped, ctx: &mut Context<Self>) {
        let from = match ctx.sender() {
            Some(sender) if sender == ctx.id() => "self".to_owned(),
            Some(sender) => ctx.system().path_of(sender).unwrap().name().to_owned(),
            None => "outside".to_owned(),
        };
        self.log.push(format!("{} from {from}", result.0));
    }
}

fn message(outcome: Result<u32, PipeError<Broken>>) -> Piped {
    Piped(match outcome {
        Ok(number) => number.to_string(),
        Err(PipeError::Failed(error)) => format!("failed {error}"),
        Err(PipeError::Timeout { after }) => format!("timeout {after:?}"),
        Err(PipeError::Refused(_)) => "refused".to_owned(),
        Err(error) => error.to_string(),
    })
}

async fn set_off(caller: &ActorRef<Caller>, plan: impl FnOnce(&mut Context<Caller>) -> Task + Send + 'static) {
    caller.ask(SetOff { plan: Box::new(plan) }).await.unwrap();
}

fn after(
    system: &ActorSystem,
    time: Duration,
    result: Result<u32, Broken>,
) -> impl Future<Output = Result<u32, Broken>> + use<> {
    let sleep = system.sleep(time);
    async move {
        sleep.await;
        result
    }
}

fn reasons(letters: &Subscription<DeadLetter>) -> Vec<DeadReason> {
    std::iter::from_fn(|| letters.try_next())
        .map(|letter| letter.unwrap().reason())
        .collect()
}

fn faults(failed: &Subscription<ActorFailed>) -> Vec<String> {
    std::iter::from_fn(|| failed.try_next())
        .map(|failed| failed.unwrap().fault.to_string())
        .collect()
}

/// Opens at the first failure, for ten seconds; one trial call.
fn touchy() -> CircuitBreaker {
    let options = BreakerOptions::default()
        .named("touchy")
        .minimum_calls(1)
        .open_for(10 * SECOND)
        .trial_calls(1);
    CircuitBreaker::new(options).unwrap()
}

#[test]
fn l24_the_result_comes_to_the_actor_itself_which_goes_on_meanwhile() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let (seven, broken) = (after(&system, 50 * MS, Ok(7)), after(&system, 60 * MS, Err(Broken(3))));
        set_off(&caller, |ctx| ctx.pipe(seven).to_self(message)).await;
        set_off(&caller, |ctx| ctx.pipe(broken).to_self(message)).await;
        caller.ask(Note { text: "meanwhile" }).await.unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["meanwhile", "7 from self", "failed broken 3 from self"]);
        assert!(caller.ask(IsFinished).await.unwrap());
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_the_result_goes_to_an_actor_or_a_recipient_from_the_one_who_piped() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&Log::new())).named("caller").await.unwrap();
        let other = system.spawn(Caller::make(&log)).await.unwrap();
        let (to, recipient) = (other.clone(), other.recipient::<Piped>());
        set_off(&caller, move |ctx| ctx.pipe(async { Ok(1) }).to(&to, message)).await;
        system.sleep(MS).await;
        set_off(&caller, move |ctx| ctx.pipe(async { Ok(2) }).to(&recipient, message)).await;
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["1 from caller", "2 from caller"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_path_is_looked_up_when_the_result_is_there() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (before, now) = (Log::new(), Log::new());
        let caller = system.spawn(Caller::make(&Log::new())).named("caller").await.unwrap();
        let old = system.spawn(Caller::make(&before)).named("till").await.unwrap();
        let (path, answer) = (old.path(), after(&system, SECOND, Ok(7)));
        set_off(&caller, move |ctx| ctx.pipe(answer).to_path(&path, message)).await;
        old.stop();
        old.terminated().await;
        let _new = system.spawn(Caller::make(&now)).named("till").await.unwrap();
        system.sleep(2 * SECOND).await;
        assert_eq!(before.all(), Vec::<String>::new());
        assert_eq!(now.all(), ["7 from caller"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_path_where_nobody_takes_it_makes_one_dead_letter() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let caller = system.spawn(Caller::make(&Log::new())).named("caller").await.unwrap();
        let deaf = system.spawn(a_desk(&Log::new())).named("deaf").await.unwrap();
        for (path, id) in [("/user/nobody", None), ("/user/deaf", Some(deaf.id()))] {
            let path: Path = path.parse().unwrap();
            let to = path.clone();
            set_off(&caller, move |ctx| ctx.pipe(async { Ok(7) }).to_path(&to, message)).await;
            let letter = letters.next().await.unwrap();
            assert_eq!(letter.reason(), DeadReason::Nobody);
            assert_eq!((letter.receiver(), letter.receiver_id()), (&path, id));
            assert_eq!(letter.sender(), Some(caller.id()));
            assert_eq!(letter.take::<Piped>().unwrap().0, "7");
        }
        system.sleep(SECOND).await;
        assert_eq!(system.metrics().dead_letters, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_full_mailbox_or_an_ended_actor_makes_one_dead_letter_each() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let caller = system.spawn(Caller::make(&Log::new())).await.unwrap();
        let small = MailboxKind::BoundedRefusing(1);
        let busy = system.spawn(Caller::make(&Log::new())).mailbox(small).await.unwrap();
        // What it pipes to itself finds no room either.
        let own = after(&system, 10 * MS, Ok(1));
        set_off(&busy, |ctx| ctx.pipe(own).to_self(message)).await;
        busy.tell(Dawdle { time: SECOND }).unwrap();
        system.sleep(MS).await;
        busy.tell(Note { text: "fills it" }).unwrap();
        let to = busy.clone();
        set_off(&caller, move |ctx| ctx.pipe(async { Ok(2) }).to(&to, message)).await;
        system.sleep(50 * MS).await;
        assert_eq!(reasons(&letters), [DeadReason::Full, DeadReason::Full]);
        busy.kill();
        busy.terminated().await;
        let _left_behind = reasons(&letters);
        let to = busy.clone();
        set_off(&caller, move |ctx| ctx.pipe(async { Ok(3) }).to(&to, message)).await;
        let letter = letters.next().await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Stopped);
        assert_eq!(
            (letter.receiver_id(), letter.sender()),
            (Some(busy.id()), Some(caller.id()))
        );
        assert_eq!(letter.take::<Piped>().unwrap().0, "3");
        system.sleep(SECOND).await;
        assert_eq!(reasons(&letters), []);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_future_that_takes_too_long_is_dropped_in_time() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let held = OnDrop(log.clone(), "dropped");
        let never = async move {
            let _held = held;
            std::future::pending().await
        };
        let in_time = after(&system, 40 * MS, Ok(7));
        set_off(&caller, |ctx| ctx.pipe(never).timeout(50 * MS).to_self(message)).await;
        set_off(&caller, |ctx| ctx.pipe(in_time).timeout(50 * MS).to_self(message)).await;
        system.sleep(45 * MS).await;
        assert_eq!(log.all(), ["7 from self"]);
        system.sleep(10 * MS).await;
        assert_eq!(log.all(), ["7 from self", "dropped", "timeout 50ms from self"]);
        system.sleep(MS).await;
        let timers = system.metrics().timers;
        system.sleep(SECOND).await;
        assert_eq!(system.metrics().timers, timers, "no timer of a pipe is left");
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_breaker_that_refuses_never_lets_the_future_be_polled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let breaker = touchy();
        let _ = breaker.trip(system.now());
        let (by, polled) = (breaker.clone(), log.clone());
        let future = async move {
            polled.push("polled");
            Ok(7)
        };
        set_off(&caller, move |ctx| ctx.pipe(future).breaker(&by).to_self(message)).await;
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["refused from self"]);
        assert_eq!(breaker.counters(system.now()).refused, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_the_fallback_stands_in_for_every_kind_of_failure() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let open = touchy();
        let _ = open.trip(system.now());
        let stand_in = |error: PipeError<Broken>| match error {
            PipeError::Failed(Broken(code)) => code,
            PipeError::Timeout { .. } => 1000,
            PipeError::Refused(_) => 2000,
            PipeError::Panicked(_) => 3000,
            _ => 0,
        };
        let failing = async { Err(Broken(500)) };
        set_off(&caller, move |ctx| {
            ctx.pipe(failing).fallback(stand_in).to_self(message)
        })
        .await;
        system.sleep(MS).await;
        let never = std::future::pending();
        set_off(&caller, move |ctx| {
            ctx.pipe(never).timeout(MS).fallback(stand_in).to_self(message)
        })
        .await;
        system.sleep(5 * MS).await;
        set_off(&caller, move |ctx| {
            ctx.pipe(async { Ok(1) })
                .breaker(&open)
                .fallback(stand_in)
                .to_self(message)
        })
        .await;
        system.sleep(MS).await;
        let panicking = async { panic!("as told") };
        set_off(&caller, move |ctx| {
            ctx.pipe(panicking).fallback(stand_in).to_self(message)
        })
        .await;
        system.sleep(MS).await;
        set_off(&caller, move |ctx| {
            ctx.pipe(async { Ok(4000) }).fallback(stand_in).to_self(message)
        })
        .await;
        system.sleep(SECOND).await;
        let expected = [500, 1000, 2000, 3000, 4000].map(|number| format!("{number} from self"));
        assert_eq!(log.all(), expected);
        system.stop().await.unwrap();
    });
}

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop");
        }
    }
}

#[test]
fn l24_a_panic_anywhere_is_contained_and_reported() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let failed = system.events().subscribe::<ActorFailed>();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let breaker = touchy();

        // In the future: it is the outcome, and a failure to the breaker.
        let by = breaker.clone();
        let panicking = async { panic!("in poll") };
        set_off(&caller, move |ctx| ctx.pipe(panicking).breaker(&by).to_self(message)).await;
        system.sleep(MS).await;
        assert_eq!(faults(&failed), ["panicked: in poll"]);
        assert_eq!(breaker.state(system.now()), State::Open);

        // In the drop of a future that has answered, or has not in time.
        let held = PanicsInDrop;
        let answering = std::future::poll_fn(move |_| {
            let _ = &held;
            std::task::Poll::Ready(Ok(2))
        });
        set_off(&caller, move |ctx| ctx.pipe(answering).to_self(message)).await;
        system.sleep(MS).await;
        let held = PanicsInDrop;
        let silent = std::future::poll_fn(move |_| {
            let _ = &held;
            std::task::Poll::Pending
        });
        set_off(&caller, move |ctx| ctx.pipe(silent).timeout(MS).to_self(message)).await;
        system.sleep(5 * MS).await;
        assert_eq!(faults(&failed), ["panicked: in drop", "panicked: in drop"]);

        // In the fallback: that is the outcome then.
        let failing = || async { Err(Broken(4)) };
        set_off(&caller, move |ctx| {
            ctx.pipe(failing()).fallback(|_| panic!("in fallback")).to_self(message)
        })
        .await;
        system.sleep(MS).await;
        assert_eq!(faults(&failed), ["panicked: in fallback"]);

        // In the judge: the error is a failure.
        let judged = touchy();
        let by = judged.clone();
        set_off(&caller, move |ctx| {
            let pipe = ctx.pipe(failing()).breaker(&by).judge(|_| panic!("in judge"));
            pipe.to_self(message)
        })
        .await;
        system.sleep(MS).await;
        assert_eq!(faults(&failed), ["panicked: in judge"]);
        assert_eq!(judged.counters(system.now()).failed, 1);

        // Where the message is made: there is none to send.
        set_off(&caller, |ctx| {
            ctx.pipe(async { Ok::<u32, Broken>(6) })
                .to_self(|_| -> Piped { panic!("in making") })
        })
        .await;
        system.sleep(MS).await;
        assert_eq!(faults(&failed), ["panicked: in making"]);

        // In the drop of what an aborted pipe still held.
        let held = PanicsInDrop;
        set_off(&caller, move |ctx| {
            ctx.pipe(std::future::pending()).to_self(move |outcome| {
                let _ = &held;
                message(outcome)
            })
        })
        .await;
        caller.ask(Abort).await.unwrap();
        system.sleep(MS).await;
        assert_eq!(faults(&failed), ["panicked: in drop"]);

        assert_eq!(
            log.all(),
            [
                "panicked: in poll from self",
                "2 from self",
                "timeout 1ms from self",
                "panicked: in fallback from self",
                "failed broken 4 from self"
            ]
        );
        caller.ask(Note { text: "alive" }).await.unwrap();
        system.stop().await.unwrap();
    });
}

/// Stopped, restarted or aborted: the future goes at once, nothing arrives, and the trial call's place is free again.
#[test]
fn l24_a_pipe_ends_with_its_actor_and_leaves_no_trial_call_behind() {
    for way in ["stop", "kill", "restart", "abort"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let log = Log::new();
            let caller = system.spawn(Caller::make(&log)).await.unwrap();
            let breaker = touchy();
            let _ = breaker.trip(system.now());
            system.sleep(10 * SECOND).await;
            let held = OnDrop(log.clone(), "dropped");
            let (by, answer) = (breaker.clone(), after(&system, SECOND, Ok(7)));
            let trial = async move {
                let _held = held;
                answer.await
            };
            set_off(&caller, move |ctx| ctx.pipe(trial).breaker(&by).to_self(message)).await;
            system.sleep(100 * MS).await;
            let counters = breaker.counters(system.now());
            assert_eq!((counters.permitted, counters.in_flight), (1, 1), "it is under way");
            assert!(breaker.try_acquire(system.now()).is_err());
            match way {
                "stop" => caller.stop(),
                "kill" => caller.kill(),
                "restart" => caller.restart(),
                _ => caller.ask(Abort).await.unwrap(),
            }
            system.sleep(MS).await;
            assert_eq!(log.all(), ["dropped"], "{way}");
            let counters = breaker.counters(system.now());
            assert_eq!((counters.in_flight, counters.ignored), (0, 1), "{way}");
            assert!(breaker.try_acquire(system.now()).is_ok(), "{way}");
            system.sleep(5 * SECOND).await;
            assert_eq!(log.all(), ["dropped"], "{way}");
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn l24_the_breaker_opens_and_closes_on_the_systems_clock() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let breaker = touchy();
        let call = async |result: Result<u32, Broken>| {
            let by = breaker.clone();
            set_off(&caller, move |ctx| {
                ctx.pipe(async move { result }).breaker(&by).to_self(message)
            })
            .await;
            system.sleep(MS).await;
            log.all().pop().unwrap()
        };
        assert_eq!(call(Err(Broken(1))).await, "failed broken 1 from self");
        assert_eq!(call(Ok(2)).await, "refused from self");
        assert_eq!(breaker.state(system.now()), State::Open);
        system.sleep(10 * SECOND).await;
        assert_eq!(breaker.state(system.now()), State::HalfOpen);
        assert_eq!(call(Ok(3)).await, "3 from self");
        assert_eq!(breaker.state(system.now()), State::Closed);
        let counters = breaker.counters(system.now());
        assert_eq!((counters.succeeded, counters.failed, counters.refused), (1, 1, 1));
        system.stop().await.unwrap();
    });
}

#[test]
fn l24_a_judge_says_which_errors_are_failures() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let breaker = touchy();
        let judge = |error: &Broken| match error.0 {
            404 => Outcome::Success,
            400 => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        for code in [404, 400, 500] {
            assert_eq!(breaker.state(system.now()), State::Closed);
            let by = breaker.clone();
            set_off(&caller, move |ctx| {
                let pipe = ctx.pipe(async move { Err(Broken(code)) }).breaker(&by);
                pipe.judge(judge).to_self(message)
            })
            .await;
            system.sleep(MS).await;
        }
        assert_eq!(breaker.state(system.now()), State::Open);
        let counters = breaker.counters(system.now());
        assert_eq!((counters.succeeded, counters.ignored, counters.failed), (1, 1, 1));
        assert_eq!(log.len(), 3, "the errors arrive as they are");
        system.stop().await.unwrap();
    });
}

/// What it asks inherits the time of the request that began it.
#[test]
fn l24_a_pipe_keeps_the_deadline_of_its_request() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let caller = system.spawn(Caller::make(&log)).await.unwrap();
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        let plan: Plan = Box::new(move |ctx| {
            ctx.pipe(async move { desk.ask(TimeLeft).await.map_err(|_| Broken(0)) })
                .to_self(|left| {
                    let left = left.ok().flatten().unwrap();
                    Piped(format!("{}", left <= 300 * MS && left > 100 * MS))
                })
        });
        caller.ask(SetOff { plan }).timeout(300 * MS).await.unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["true from self"]);
        system.stop().await.unwrap();
    });
}

/// On threads: as many results as calls, whatever they race with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l24_every_pipe_on_threads_ends_in_one_message() {
    let system = system().await;
    let log = Log::new();
    let caller = system.spawn(Caller::make(&log)).await.unwrap();
    let options = BreakerOptions::default()
        .window(Window::Calls(1_000))
        .minimum_calls(1_000);
    let breaker = CircuitBreaker::new(options).unwrap();
    for number in 0..500 {
        let by = breaker.clone();
        let plan: Plan = Box::new(move |ctx| {
            let future = async move {
                tokio::task::yield_now().await;
                if number % 2 == 0 {
                    Ok(number)
                } else {
                    Err(Broken(number))
                }
            };
            ctx.pipe(future).breaker(&by).timeout(PATIENCE).to_self(message)
        });
        caller.tell(SetOff { plan }).unwrap();
    }
    eventually_async("all results", || log.len() == 500).await;
    let counters = breaker.counters(system.now());
    assert_eq!((counters.succeeded, counters.failed, counters.in_flight), (250, 250, 0));
    system.stop().await.unwrap();
    assert_eq!(log.len(), 500);
}
