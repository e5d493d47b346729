//! L25: pools that change: by order, by measure, by failure; and how a router ends.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::routing::*;
use volary::{ActorStopped, DeadLetter, Router};

const MS: Duration = Duration::from_millis(1);

/// What all workers of a test did.
#[derive(Clone, Default)]
struct Count {
    handled: Arc<AtomicU64>,
    born: Arc<AtomicU64>,
    sick: Arc<AtomicBool>,
}

struct Worker(Count);

#[derive(Clone, Message)]
#[message(reply = u64)]
struct Job(Duration);

#[derive(Clone, Message)]
struct Crash;

#[derive(Clone, Message)]
struct Quit;

#[actor]
impl Worker {
    fn started(&mut self) -> Result<(), Fault> {
        if self.0.sick.load(Ordering::SeqCst) {
            return Err(Fault::msg("sick"));
        }
        self.0.born.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    #[handles]
    async fn job(&mut self, job: Job, ctx: &mut Context<Self>) -> u64 {
        if !job.0.is_zero() {
            ctx.sleep(job.0).await;
        }
        self.0.handled.fetch_add(1, Ordering::SeqCst)
    }
    #[handles]
    fn crash(&mut self, _: Crash) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
    #[handles]
    fn quit(&mut self, _: Quit, ctx: &mut Context<Self>) {
        ctx.stop();
    }
}

impl Count {
    fn pool(&self, size: usize) -> Pool<Worker> {
        let count = self.clone();
        Pool::of(size, move || Worker(count.clone()))
    }
    fn handled(&self) -> u64 {
        self.handled.load(Ordering::SeqCst)
    }
    fn born(&self) -> u64 {
        self.born.load(Ordering::SeqCst)
    }
}

fn states<S: Routing>(router: &Router<Worker, S>) -> (usize, usize) {
    let routees = router.routees();
    let in_state = |state| routees.iter().filter(|r| r.state == state).count();
    (in_state(RouteeState::Active), in_state(RouteeState::Draining))
}

/// A task that tells and asks, by handle and by address, until it has sent so many.
async fn send_some(router: Router<Worker, RoundRobin>, messages: u64, refused: Arc<AtomicU64>) {
    let address = router.recipient::<Job>();
    for n in 0..messages {
        let ended = match n % 4 {
            0 => router.tell(Job(Duration::ZERO)).is_ok(),
            1 => router.tell(Job(MS)).is_ok(),
            2 => address.tell(Job(Duration::ZERO)).is_ok(),
            // Long enough for a busy machine: only a refusal is meant to be counted.
            _ => router.ask(Job(Duration::ZERO)).timeout(60 * PATIENCE).await.is_ok(),
        };
        if !ended {
            refused.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct Sender {
    router: Router<Worker, RoundRobin>,
    refused: Arc<AtomicU64>,
}

#[derive(Message)]
struct SendSome(u64);

#[actor]
impl Sender {
    #[handles]
    async fn send_some(&mut self, some: SendSome) {
        send_some(self.router.clone(), some.0, self.refused.clone()).await;
    }
}

#[test]
fn l25_resize_under_load_loses_nothing() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (count, refused) = (Count::default(), Arc::new(AtomicU64::new(0)));
        let router = system.router(RoundRobin, count.pool(4)).await.unwrap();
        let mut senders = Vec::new();
        for _ in 0..4 {
            let (router, refused) = (router.clone(), refused.clone());
            let sender = system.spawn(move || Sender {
                router: router.clone(),
                refused: refused.clone(),
            });
            senders.push(sender.await.unwrap());
        }
        for sender in &senders {
            sender.tell(SendSome(40)).unwrap();
        }
        for size in [1, 6, 2, 5, 1, 3] {
            assert_eq!(router.resize(size).await.unwrap(), size);
            assert_eq!(router.size(), size);
        }
        for sender in &senders {
            sender.drain();
            sender.terminated().await;
        }
        router.drain();
        router.terminated().await;
        assert_eq!(
            count.handled() + refused.load(Ordering::SeqCst),
            160,
            "every message once"
        );
        assert_eq!(refused.load(Ordering::SeqCst), 0, "there was always somebody");
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_resize_on_threads_loses_nothing() {
    within("resizing on threads", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let (count, refused) = (Count::default(), Arc::new(AtomicU64::new(0)));
            let router = system.router(RoundRobin, count.pool(4)).await.unwrap();
            let senders: Vec<_> = (0..4)
                .map(|_| tokio::spawn(send_some(router.clone(), 500, refused.clone())))
                .collect();
            let mut size = 4;
            while !senders.iter().all(|sender| sender.is_finished()) {
                size = size % 7 + 1;
                router.resize(size).await.unwrap();
                tokio::task::yield_now().await;
            }
            router.drain();
            soon("the drain", router.terminated()).await;
            assert_eq!((count.handled(), refused.load(Ordering::SeqCst)), (2_000, 0));
            assert_eq!(system.metrics().dead_letters, 0);
            system.stop().await.unwrap();
        });
    });
}

#[test]
fn l25_stopping_a_router_accounts_for_every_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (count, refused) = (Count::default(), Arc::new(AtomicU64::new(0)));
        let router = system.router(RoundRobin, count.pool(3)).await.unwrap();
        let sender = {
            let (router, refused) = (router.clone(), refused.clone());
            let sender = move || Sender {
                router: router.clone(),
                refused: refused.clone(),
            };
            system.spawn(sender).await.unwrap()
        };
        let letters = system.events().subscribe::<DeadLetter>();
        sender.tell(SendSome(100)).unwrap();
        router.ask(Job(MS)).await.unwrap();
        router.stop();
        router.terminated().await;
        sender.drain();
        sender.terminated().await;
        let metrics = system.metrics();
        assert_eq!(
            count.handled() + metrics.dead_letters + metrics.refused,
            101,
            "{} handled, {metrics:?}",
            count.handled()
        );
        let dead = std::iter::from_fn(|| letters.try_next()).count() as u64;
        assert_eq!(dead, metrics.dead_letters);
        assert!(refused.load(Ordering::SeqCst) >= metrics.refused);
        assert!(router.tell(Job(MS)).is_err() && !router.is_alive());
        assert_eq!(router.size(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_a_crash_restarts_replaces_or_drops() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let losses = system.events().subscribe::<RouteeLost>();
        let (kept, new, gone) = (Count::default(), Count::default(), Count::default());

        let router = system.router(RoundRobin, kept.pool(2)).await.unwrap();
        let before: Vec<_> = router.routees().iter().map(|r| r.id).collect();
        router.tell(Crash).unwrap();
        router.ask(Job(MS)).await.unwrap();
        router.ask(Job(MS)).await.unwrap();
        assert_eq!(
            router.routees().iter().map(|r| r.id).collect::<Vec<_>>(),
            before,
            "the same incarnations"
        );
        assert_eq!((kept.born(), router.lost()), (3, 0), "one of them anew");

        let pool = new.pool(2).on_failure(FailedRoutee::Replace);
        let router = system.router(RoundRobin, pool).named("r").await.unwrap();
        let before: Vec<_> = router.routees().iter().map(|r| r.id).collect();
        router.tell(Crash).unwrap();
        let lost = losses.next().await.unwrap();
        assert_eq!((lost.id, lost.loss, lost.left), (before[0], Loss::Replaced, 2));
        assert_eq!(
            (lost.router.to_string(), lost.path.to_string()),
            ("/user/r".into(), "/user/r/0".into())
        );
        assert_eq!((new.born(), router.lost(), router.size()), (3, 1, 2));
        router.broadcast(Quit).refused.is_empty().then_some(()).unwrap();
        for _ in 0..2 {
            assert_eq!(
                losses.next().await.unwrap().loss,
                Loss::Replaced,
                "whichever way it ended"
            );
        }
        assert_eq!((new.born(), router.lost(), router.size()), (5, 3, 2));

        let pool = gone.pool(2).on_failure(FailedRoutee::Drop);
        let router = system
            .router(RoundRobin, pool)
            .when_empty(WhenEmpty::Stop)
            .await
            .unwrap();
        router.tell(Crash).unwrap();
        let lost = losses.next().await.unwrap();
        assert_eq!((lost.loss, lost.left, router.size()), (Loss::Dropped, 1, 1));
        router.ask(Job(MS)).await.unwrap();
        router.tell(Crash).unwrap();
        router.terminated().await;
        assert_eq!((gone.born(), router.lost(), system.metrics().routees_lost), (2, 2, 5));
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_what_cannot_be_replaced_is_tried_again() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let losses = system.events().subscribe::<RouteeLost>();
        let count = Count::default();
        let pool = count.pool(2).on_failure(FailedRoutee::Replace);
        let router = system
            .router(RoundRobin, pool)
            .when_empty(WhenEmpty::Stop)
            .await
            .unwrap();
        count.sick.store(true, Ordering::SeqCst);
        let _ = router.broadcast(Crash);
        for _ in 0..2 {
            assert_eq!(losses.next().await.unwrap().loss, Loss::Delayed);
        }
        assert_eq!(router.size(), 0);
        assert!(router.tell(Job(MS)).is_err(), "given back meanwhile");
        count.sick.store(false, Ordering::SeqCst);
        system.sleep(10_000 * MS).await;
        assert_eq!(router.size(), 2);
        router.ask(Job(MS)).await.unwrap();
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_routees_that_die_at_once_are_not_replaced_without_end() {
    seeds(|env| async move {
        struct Mayfly(Arc<AtomicU64>);
        #[actor]
        impl Mayfly {
            fn started(&mut self, ctx: &mut Context<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
                ctx.stop();
            }
        }
        let system = simulated(&env).await;
        let born = Arc::new(AtomicU64::new(0));
        let counted = born.clone();
        let pool = Pool::of(1, move || Mayfly(counted.clone())).on_failure(FailedRoutee::Replace);
        let router = system.router(RoundRobin, pool).await;
        system.sleep(3_000 * MS).await;
        let born = born.load(Ordering::SeqCst);
        assert!(born < 50, "{born} in three seconds");
        drop(router);
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_elastic_grows_under_pressure_and_shrinks_by_draining() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let sizes = system.events().subscribe::<RouterResized>();
        let count = Count::default();
        let elastic = Elastic::between(2, 8)
            .pressure(5)
            .ramp_up(0.5)
            .backoff(0.5, 0.5)
            .every(100 * MS);
        let router = system.router(RoundRobin, count.pool(2).elastic(elastic)).await.unwrap();
        for _ in 0..40 {
            router.tell(Job(50 * MS)).unwrap();
        }
        system.sleep(50 * MS).await;
        assert_eq!(router.size(), 2, "not before it has measured");
        system.sleep(100 * MS).await;
        assert_eq!(router.size(), 3);
        // The newcomer has nothing to do, so nobody is in want of another.
        system.sleep(100 * MS).await;
        assert_eq!(router.size(), 3);
        for size in [5, 8] {
            for _ in 0..40 {
                router.tell(Job(50 * MS)).unwrap();
            }
            system.sleep(100 * MS).await;
            assert_eq!(router.size(), size);
        }
        for _ in 0..40 {
            router.tell(Job(50 * MS)).unwrap();
        }
        system.sleep(200 * MS).await;
        assert_eq!(router.size(), 8, "as far as it may");

        system.sleep(10_000 * MS).await;
        assert_eq!(count.handled(), 160, "nothing was lost on the way");
        assert_eq!(
            (states(&router), router.lost()),
            ((2, 0), 0),
            "back to the least, and nobody was lost"
        );
        let sizes: Vec<_> = std::iter::from_fn(|| sizes.try_next()).map(|s| s.unwrap().to).collect();
        assert!(sizes.starts_with(&[3, 5, 8]) && sizes.ends_with(&[4, 2]), "{sizes:?}");
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_a_routee_that_goes_finishes_and_is_listed_until_then() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let count = Count::default();
        let router = system.router(RoundRobin, count.pool(2)).await.unwrap();
        for _ in 0..4 {
            router.tell(Job(100 * MS)).unwrap();
        }
        router.resize(1).await.unwrap();
        assert_eq!(states(&router), (1, 1));
        // Its seat can be filled while it still drains.
        router.resize(2).await.unwrap();
        assert_eq!(states(&router), (2, 1));
        system.sleep(250 * MS).await;
        assert_eq!((states(&router), count.handled(), router.lost()), ((2, 0), 4, 0));
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_a_router_is_watched_and_takes_its_pool_with_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let ends = system.events().subscribe::<ActorStopped>();
        struct Owner(Log);
        #[derive(Message)]
        #[message(reply = Router<Worker, RoundRobin>)]
        struct Make(Count);
        #[actor]
        impl Owner {
            #[handles]
            async fn make(&mut self, make: Make, ctx: &mut Context<Self>) -> Result<Router<Worker, RoundRobin>, Fault> {
                let router = ctx.router(RoundRobin, make.0.pool(2)).named("pool").await.or_fault()?;
                ctx.watch(&router.actor_ref());
                Ok(router)
            }
            #[handles]
            fn gone(&mut self, gone: Terminated) {
                self.0.push(format!("gone {}", gone.path()));
            }
        }
        let seen = log.clone();
        let owner = system.spawn(move || Owner(seen.clone())).named("owner").await.unwrap();
        let router = owner.ask(Make(Count::default())).await.unwrap();
        assert_eq!(router.path().to_string(), "/user/owner/pool");
        router.stop();
        router.terminated().await;
        owner.drain();
        owner.terminated().await;
        assert_eq!(log.all(), ["gone /user/owner/pool"]);
        let order: Vec<_> = std::iter::from_fn(|| ends.try_next())
            .map(|e| e.unwrap().path.to_string())
            .collect();
        assert_eq!(order.len(), 4, "two routees, the router, its owner: {order:?}");
        assert_eq!(order[2], "/user/owner/pool", "after its routees");
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_given_routees_come_go_and_outlive_the_router() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let count = Count::default();
        let mut all = Vec::new();
        for _ in 0..3 {
            let count = count.clone();
            all.push(system.spawn(move || Worker(count.clone())).await.unwrap());
        }
        let router = system.router(RoundRobin, all[..2].to_vec()).await.unwrap();
        assert_eq!(router.add(&all[2]).await.unwrap(), 3);
        assert_eq!(router.add(&all[2]).await.unwrap(), 3, "once");
        assert_eq!(router.remove(&all[0]).await.unwrap(), 2);
        assert!(all[0].is_alive());
        let no = router.resize(7).await.unwrap_err();
        assert!(matches!(no, AskError::Rejected(ChangeError::NoPool)), "{no}");
        all[1].stop();
        all[1].terminated().await;
        for _ in 0..4 {
            router.ask(Job(MS)).await.unwrap();
        }
        assert_eq!((router.size(), router.lost()), (1, 1));
        router.kill();
        router.terminated().await;
        assert!(router.tell(Job(MS)).is_err(), "killed, it sends nobody anywhere");
        assert!(all[2].is_alive());
        system.stop().await.unwrap();
    });
}
