//! L25: corners of routers: budgets, crashes while draining, stale tables, askers that go.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::routing::*;
use volary::{Passivation, Router, TellError};

const MS: Duration = Duration::from_millis(1);

#[derive(Clone, Default)]
struct Count(Arc<AtomicU64>);

impl Count {
    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
    fn pool(&self, size: usize) -> Pool<Worker> {
        let count = self.clone();
        Pool::of(size, move || Worker(count.clone()))
    }
}

struct Worker(Count);

#[derive(Clone, Message)]
#[message(reply = u64)]
struct Job(Duration);

#[derive(Clone, Message)]
struct Crash;

#[actor]
impl Worker {
    #[handles]
    async fn job(&mut self, job: Job, ctx: &mut Context<Self>) -> u64 {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        if !job.0.is_zero() {
            ctx.sleep(job.0).await;
        }
        1
    }
    #[handles]
    fn crash(&mut self, _: Crash) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
}

#[test]
fn l25_a_routee_that_crashes_while_it_drains_still_finishes() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let count = Count::default();
        let router = system.router(RoundRobin, count.pool(2)).await.unwrap();
        for _ in 0..2 {
            assert_eq!(router.broadcast(Job(5 * MS)).sent, 2);
            assert_eq!(router.broadcast(Crash).sent, 2);
        }
        assert_eq!(router.broadcast(Job(MS)).sent, 2);
        assert_eq!(router.resize(1).await.unwrap(), 1);
        system.sleep(Duration::from_secs(60)).await;
        assert_eq!(count.get(), 6);
        assert_eq!(system.metrics().dead_letters, 0);
        assert_eq!(router.routees().len(), 1, "{:?}", router.routees());
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_routees_that_sleep_are_woken_by_mail_and_leave_when_told() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let count = Count::default();
        let sleepy = Props::new().passivation(Passivation::after(10 * MS));
        let router = system.router(RoundRobin, count.pool(4).props(sleepy)).await.unwrap();
        system.sleep(Duration::from_secs(1)).await;
        assert!(router.routees().iter().all(|routee| routee.status.asleep));
        (0..8).for_each(|_| router.tell(Job(MS)).unwrap());
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(count.get(), 8);
        assert_eq!(router.resize(2).await.unwrap(), 2);
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(router.routees().len(), 2, "{:?}", router.routees());
        router.drain();
        router.terminated().await;
        assert_eq!((router.lost(), system.metrics().dead_letters), (0, 0));
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_a_race_ends_when_its_asker_has_gone() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let count = Count::default();
        let router = system
            .router(TailChopping::every(20 * MS), count.pool(5))
            .await
            .unwrap();
        let address = router.actor_ref();
        {
            let mut ask = std::pin::pin!(address.ask(Job(Duration::from_secs(1))).into_future());
            let mut task = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(ask.as_mut().poll(&mut task).is_pending());
            system.sleep(10 * MS).await;
            assert_eq!(count.get(), 1);
        }
        system.sleep(Duration::from_secs(3)).await;
        assert_eq!(count.get(), 1, "nobody waits for what the others would say");
        system.stop().await.unwrap();
    });
}

type Change = Box<dyn FnOnce() + Send>;

/// Lets a test change the router while a message is being copied.
struct Slow(Arc<Mutex<Option<Change>>>);

impl Message for Slow {
    type Reply = ();
    type Rejection = std::convert::Infallible;
}

impl Clone for Slow {
    fn clone(&self) -> Self {
        let change = self.0.lock().unwrap().take();
        if let Some(change) = change {
            change();
        }
        Slow(self.0.clone())
    }
}

struct Sink(Count);
#[actor]
impl Sink {
    #[handles]
    fn slow(&mut self, _: Slow) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn l25_a_fan_out_looks_again_if_all_it_knew_have_gone() {
    within("the fan-out", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let handle = runtime.handle().clone();
        runtime.block_on(async move {
            let system = system().await;
            let count = Count::default();
            let factory = {
                let count = count.clone();
                move || Sink(count.clone())
            };
            let (one, two) = (
                system.spawn(factory.clone()).await.unwrap(),
                system.spawn(factory).await.unwrap(),
            );
            let router = system.router(FanOut, vec![one.clone()]).await.unwrap();
            let change = {
                let router = router.clone();
                move || {
                    std::thread::spawn(move || {
                        handle.block_on(async {
                            router.add(&two).await.unwrap();
                            router.remove(&one).await.unwrap();
                            one.stop();
                            one.terminated().await;
                        });
                    })
                    .join()
                    .unwrap();
                }
            };
            let slow = Slow(Arc::new(Mutex::new(Some(Box::new(change)))));
            let told = tokio::task::spawn_blocking(move || router.tell(slow).is_ok())
                .await
                .unwrap();
            assert!(told);
            eventually_async("the other has it", || count.get() == 1).await;
            system.stop().await.unwrap();
        });
    });
}

/// What became of every message that was sent.
#[derive(Default)]
struct Ends(Mutex<BTreeMap<String, u64>>);

impl Ends {
    fn add(&self, end: &str) {
        *self.0.lock().unwrap().entry(end.to_owned()).or_default() += 1;
    }
}

async fn send_some(router: Router<Worker, RoundRobin>, messages: u64, ends: Arc<Ends>) {
    let address = router.recipient::<Job>();
    let told = |told: Result<(), TellError<Job>>| match told {
        Ok(()) => "taken".to_owned(),
        Err(error) => format!("{error:?}").split('(').next().unwrap_or_default().to_owned(),
    };
    for n in 0..messages {
        let end = match n % 4 {
            0 | 1 => told(router.tell(Job(Duration::ZERO))),
            2 => told(address.tell(Job(Duration::ZERO))),
            _ => match router.ask(Job(Duration::ZERO)).timeout(60 * PATIENCE).await {
                Ok(_) => "taken".to_owned(),
                Err(error) => format!("ask {error:?}"),
            },
        };
        ends.add(&end);
    }
}

#[test]
fn l25_a_router_stopped_on_threads_accounts_for_every_message() {
    within("stopping on threads", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            for round in 0..20 {
                let system = system().await;
                let (count, ends) = (Count::default(), Arc::new(Ends::default()));
                let router = system.router(RoundRobin, count.pool(4)).await.unwrap();
                let senders: Vec<_> = (0..4)
                    .map(|_| tokio::spawn(send_some(router.clone(), 500, ends.clone())))
                    .collect();
                eventually_async("some work", || count.get() >= 50 * round).await;
                if round % 2 == 0 {
                    router.stop()
                } else {
                    router.kill()
                }
                soon("the stop", router.terminated()).await;
                for sender in senders {
                    sender.await.unwrap();
                }
                let metrics = system.metrics();
                let accounted = count.get() + metrics.dead_letters + metrics.refused;
                assert_eq!(
                    accounted,
                    2_000,
                    "round {round}: {} handled, {ends:?}, {metrics:?}",
                    count.get(),
                    ends = ends.0.lock().unwrap()
                );
                system.stop().await.unwrap();
            }
        });
    });
}

#[test]
fn l25_a_large_pool_with_a_ring_starts_and_shrinks_with_few_rings() {
    within("a large ring", || {
        block_on(async {
            let system = system().await;
            let count = Count::default();
            let router = system
                .router(
                    ConsistentHash::by(|job: &Job| HashKey::from(job.0.as_millis() as u64)),
                    count.pool(1_000),
                )
                .await
                .unwrap();
            router.resize(500).await.unwrap();
            assert_eq!(router.size(), 500);
            eventually_async("all have left", || router.routees().len() == 500).await;
            system.stop().await.unwrap();
        });
    });
}
