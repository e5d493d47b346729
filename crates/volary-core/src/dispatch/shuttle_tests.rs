//! The whole dispatcher under shuttle: real workers, senders, askers and stoppers on threads whose
//! every interleaving is up to a random scheduler.

use std::convert::Infallible;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::SystemTime;

use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::{future, thread};

use super::gathered::Gathered;
use crate::env::{BoxTask, Driver, Env};
use crate::time::Moment;
use crate::*;

/// Tasks and threads of the model; a clock that stands still.
struct ShuttleEnv;

impl Env for ShuttleEnv {
    fn now(&self) -> Moment {
        Moment::from_nanos(1)
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
    fn random(&self) -> u64 {
        4
    }
    fn spawn(&self, task: BoxTask) {
        future::spawn(task);
    }
    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        None // its threads are not the standard library's, and no test here needs one
    }
    fn parallelism(&self) -> usize {
        2
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        None
    }
    fn attach(&self, _: std::sync::Weak<dyn Driver>) -> std::io::Result<()> {
        Ok(())
    }
    fn timer_changed(&self, _: Moment) {}
}

fn check(scenario: impl Fn() + Send + Sync + 'static) {
    let iterations = std::env::var("VOLARY_SHUTTLE_ITERATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2_000);
    shuttle::check_random(scenario, iterations);
}

fn system() -> ActorSystem {
    ActorSystem::builder("model")
        .environment(ShuttleEnv)
        .ignore_environment()
        .settings(|s| s.workers(2).log_config(false))
        .start_now()
        .unwrap()
}

#[derive(Default)]
struct Counts {
    handled: AtomicUsize,
    dropped: AtomicUsize,
    inside: AtomicUsize,
}

struct Token(Arc<Counts>);
impl Drop for Token {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
    }
}
impl Message for Token {
    type Reply = usize;
    type Rejection = Infallible;
}

/// Counts what it handles, and notices if two threads are in it.
struct Counter(Arc<Counts>);
impl Actor for Counter {}

impl Handler<Token> for Counter {
    async fn handle(&mut self, _: Token, _: &mut Context<Self>) -> Result<usize, Failure> {
        assert_eq!(self.0.inside.fetch_add(1, SeqCst), 0, "two threads in one actor");
        let handled = self.0.handled.fetch_add(1, SeqCst) + 1;
        self.0.inside.fetch_sub(1, SeqCst);
        Ok(handled)
    }
}

/// Suspends once in each handler.
struct Sleepy(Arc<Counts>);
impl Actor for Sleepy {}

impl Handler<Token> for Sleepy {
    async fn handle(&mut self, _: Token, _: &mut Context<Self>) -> Result<usize, Failure> {
        future::yield_now().await;
        Ok(self.0.handled.fetch_add(1, SeqCst) + 1)
    }
}

/// Tells everybody it knows, so that more are ready than the last-in slot holds.
struct Fan(Vec<ActorRef<Counter>>, Arc<Counts>);
impl Actor for Fan {}

impl Handler<Token> for Fan {
    async fn handle(&mut self, _: Token, _: &mut Context<Self>) -> Result<usize, Failure> {
        for counter in &self.0 {
            counter.tell(Token(self.1.clone())).unwrap();
        }
        Ok(0)
    }
}

/// Those who are displaced from the slot go to the ring or the young, and others steal them there.
#[test]
fn shuttle_many_who_are_ready_at_once_all_have_their_turns() {
    check(|| {
        let (system, drops) = (system(), Arc::new(Counts::default()));
        let counters: Vec<_> = (0..4)
            .map(|_| {
                let counts = Arc::new(Counts::default());
                system.spawn(move || Counter(counts.clone())).start().unwrap()
            })
            .collect();
        let fans: Vec<_> = (0..2)
            .map(|_| {
                let (counters, drops) = (counters.clone(), drops.clone());
                system
                    .spawn(move || Fan(counters.clone(), drops.clone()))
                    .start()
                    .unwrap()
            })
            .collect();
        let tell = |fan: &ActorRef<Fan>| {
            let (fan, drops) = (fan.clone(), drops.clone());
            thread::spawn(move || (0..2).for_each(|_| fan.tell(Token(drops.clone())).unwrap()))
        };
        let tellers: Vec<_> = fans.iter().map(tell).collect();
        tellers.into_iter().for_each(|teller| teller.join().unwrap());
        for fan in &fans {
            future::block_on(fan.ask(Token(drops.clone())).into_future()).unwrap();
        }
        for counter in &counters {
            // Two fans have told it three times each, and this is one more.
            let handled = future::block_on(counter.ask(Token(drops.clone())).into_future());
            assert_eq!(handled.unwrap(), 7);
        }
        future::block_on(system.stop()).unwrap();
        assert_eq!(drops.dropped.load(SeqCst), 6 + 4 * 7);
    });
}

/// As what two peers send is read: those whom one delivery wakes are queued together, beside a sender that tells one by one.
#[test]
fn shuttle_those_whom_one_delivery_wakes_all_have_their_turns() {
    check(|| {
        let (system, drops) = (system(), Arc::new(Counts::default()));
        let counters: Vec<_> = (0..3)
            .map(|_| {
                let counts = Arc::new(Counts::default());
                system.spawn(move || Counter(counts.clone())).start().unwrap()
            })
            .collect();
        let tell_all = |gathers: bool| {
            let (system, counters, drops) = (system.clone(), counters.clone(), drops.clone());
            thread::spawn(move || {
                let tell_all = || counters.iter().for_each(|one| one.tell(Token(drops.clone())).unwrap());
                if gathers {
                    Gathered::within(system.core.default_pool(), tell_all);
                } else {
                    tell_all();
                }
            })
        };
        let tellers = [true, true, false].map(tell_all);
        tellers.into_iter().for_each(|teller| teller.join().unwrap());
        // Nobody asks them, which would run them: what was told is to wake workers by itself.
        while drops.dropped.load(SeqCst) < 9 {
            thread::yield_now();
        }
        future::block_on(system.stop()).unwrap();
        assert_eq!(drops.dropped.load(SeqCst), 9);
    });
}

#[test]
fn shuttle_nothing_is_lost_and_nobody_runs_twice() {
    check(|| {
        let system = system();
        let counts = Arc::new(Counts::default());
        let inner = counts.clone();
        let actor = system.spawn(move || Counter(inner.clone())).start().unwrap();
        let senders: Vec<_> = (0..2)
            .map(|_| {
                let (actor, counts) = (actor.clone(), counts.clone());
                thread::spawn(move || {
                    for _ in 0..3 {
                        actor.tell(Token(counts.clone())).unwrap();
                    }
                })
            })
            .collect();
        let asked = future::block_on(actor.ask(Token(counts.clone())).into_future()).unwrap();
        assert!(asked >= 1);
        for sender in senders {
            sender.join().unwrap();
        }
        // One more ask comes behind everything that was sent.
        assert_eq!(
            future::block_on(actor.ask(Token(counts.clone())).into_future()).unwrap(),
            8
        );
        assert_eq!(counts.dropped.load(SeqCst), 8);
        future::block_on(system.stop()).unwrap();
    });
}

#[test]
fn shuttle_suspended_handlers_are_always_resumed() {
    check(|| {
        let system = system();
        let counts = Arc::new(Counts::default());
        let inner = counts.clone();
        let actor = system.spawn(move || Sleepy(inner.clone())).start().unwrap();
        let other = {
            let (actor, counts) = (actor.clone(), counts.clone());
            thread::spawn(move || future::block_on(actor.ask(Token(counts)).into_future()).unwrap())
        };
        let mine = future::block_on(actor.ask(Token(counts.clone())).into_future()).unwrap();
        let theirs = other.join().unwrap();
        assert_eq!(mine + theirs, 3);
        future::block_on(system.stop()).unwrap();
    });
}

#[test]
fn shuttle_stop_races_with_senders_and_every_message_ends_once() {
    check(|| {
        let system = system();
        let counts = Arc::new(Counts::default());
        let inner = counts.clone();
        let actor = system.spawn(move || Counter(inner.clone())).start().unwrap();
        let sender = {
            let (actor, counts) = (actor.clone(), counts.clone());
            thread::spawn(move || (0..4).filter(|_| actor.tell(Token(counts.clone())).is_ok()).count())
        };
        actor.stop();
        future::block_on(actor.terminated());
        let accepted = sender.join().unwrap();
        let dead = system.metrics().dead_letters as usize;
        assert_eq!(
            counts.handled.load(SeqCst) + dead,
            accepted,
            "accepted = handled + dead letters"
        );
        assert_eq!(counts.dropped.load(SeqCst), 4, "each message is dropped exactly once");
        future::block_on(system.stop()).unwrap();
    });
}

#[test]
fn shuttle_kill_and_drain_race_with_a_suspended_handler() {
    check(|| {
        let system = system();
        let counts = Arc::new(Counts::default());
        let inner = counts.clone();
        let actor = system.spawn(move || Sleepy(inner.clone())).start().unwrap();
        let asker = {
            let (actor, counts) = (actor.clone(), counts.clone());
            thread::spawn(move || future::block_on(actor.ask(Token(counts)).into_future()).is_ok())
        };
        let drainer = {
            let actor = actor.clone();
            thread::spawn(move || actor.drain())
        };
        actor.kill();
        future::block_on(actor.terminated());
        let answered = asker.join().unwrap();
        drainer.join().unwrap();
        assert_eq!(counts.handled.load(SeqCst), usize::from(answered));
        assert_eq!(counts.dropped.load(SeqCst), 1);
        future::block_on(system.stop()).unwrap();
        assert_eq!(system.actor_count(), 0);
    });
}
