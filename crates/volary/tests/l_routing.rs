//! L25: routers. Who gets a message, and what the asker hears.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::routing::*;
use volary::{ActorFailed, DeadLetter, Router};

const MS: Duration = Duration::from_millis(1);

/// Says who it is, and can take its time.
struct Worker {
    log: Log,
    seen: u64,
}

#[derive(Clone, Message)]
#[message(reply = String)]
struct Job(u64);

/// Answered after this long, counted from its beginning.
#[derive(Clone, Message)]
#[message(reply = String)]
struct Slow(Duration);

#[derive(Clone, Message)]
#[message(reply = Option<Duration>)]
struct Left;

#[derive(Message)]
#[message(reply = u64)]
struct Seen;

#[derive(Clone, Message)]
#[message(reply = String)]
struct Fall;

#[actor]
impl Worker {
    fn started(&mut self, ctx: &mut Context<Self>) {
        self.log.push(format!("{} started", ctx.me().name()));
    }
    #[handles]
    fn job(&mut self, job: Job, ctx: &mut Context<Self>) -> String {
        self.seen += 1;
        self.log.push(format!("{} {}", ctx.me().name(), job.0));
        ctx.me().name()
    }
    #[handles]
    async fn slow(&mut self, slow: Slow, ctx: &mut Context<Self>) -> String {
        self.log.push(format!("{} begins", ctx.me().name()));
        ctx.sleep(slow.0).await;
        self.log.push(format!("{} ends", ctx.me().name()));
        ctx.me().name()
    }
    #[handles]
    fn left(&mut self, _: Left, ctx: &mut Context<Self>) -> Option<Duration> {
        ctx.time_left()
    }
    #[handles]
    fn seen(&mut self, _: Seen) -> u64 {
        self.seen
    }
    #[handles]
    fn fall(&mut self, _: Fall) -> Result<String, Fault> {
        Err(Fault::msg("fell"))
    }
}

fn workers(size: usize, log: &Log) -> Pool<Worker> {
    let log = log.clone();
    Pool::of(size, move || Worker {
        log: log.clone(),
        seen: 0,
    })
}

async fn tally<S: Answers<Job>>(router: &Router<Worker, S>, jobs: impl Iterator<Item = u64>) -> BTreeMap<String, u64> {
    let mut tally = BTreeMap::new();
    for job in jobs {
        *tally.entry(router.ask(Job(job)).await.unwrap()).or_default() += 1;
    }
    tally
}

#[tokio::test]
async fn l25_round_robin_gives_everybody_the_same() {
    let system = system().await;
    let router = system
        .router(RoundRobin, workers(4, &Log::new()))
        .named("w")
        .await
        .unwrap();
    let tally = tally(&router, 0..400).await;
    assert_eq!(tally.len(), 4);
    assert!(tally.values().all(|jobs| *jobs == 100), "{tally:?}");
    let paths: Vec<String> = router.routees().iter().map(|r| r.path.to_string()).collect();
    assert_eq!(paths, ["/user/w/0", "/user/w/1", "/user/w/2", "/user/w/3"]);
    system.stop().await.unwrap();
}

#[test]
fn l25_random_is_even_and_the_seeds() {
    let run = |seed| {
        let env = volary::SeededEnv::new(seed);
        env.clone().block_on(async move {
            let system = simulated(&env).await;
            let log = Log::new();
            let router = system.router(Random, workers(4, &log)).await.unwrap();
            let tally = tally(&router, 0..4_000).await;
            assert!(tally.values().all(|jobs| (850..1_150).contains(jobs)), "{tally:?}");
            system.stop().await.unwrap();
            log.all()
        })
    };
    let (one, same, other) = (run(1), run(1), run(2));
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn l25_smallest_mailbox_passes_over_the_busy() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let router = system.router(SmallestMailbox, workers(3, &log)).await.unwrap();
        let busy = system.lookup::<Worker>(&router.routees()[0].path.to_string()).unwrap();
        for _ in 0..5 {
            busy.tell(Slow(3_600 * MS * 1_000)).unwrap();
        }
        for job in 0..20 {
            assert_ne!(router.ask(Job(job)).await.unwrap(), "0");
        }
        let seen: Vec<u64> = (1..3)
            .map(|n| {
                log.all()
                    .iter()
                    .filter(|l| l.starts_with(&format!("{n} ")) && !l.ends_with("started"))
                    .count() as u64
            })
            .collect();
        assert!(
            seen.iter().all(|jobs| *jobs >= 5),
            "those who are idle take turns: {seen:?}"
        );
        router.kill();
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l25_fan_out_reaches_everybody_and_all_answer() {
    let system = system().await;
    let log = Log::new();
    let router = system.router(FanOut, workers(3, &log)).await.unwrap();
    router.tell(Job(7)).unwrap();
    let answers = router.ask_each(Job(8)).await;
    let names: Vec<String> = answers.into_iter().map(|(_, answer)| answer.unwrap()).collect();
    assert_eq!(names, ["0", "1", "2"]);
    for name in ["0", "1", "2"] {
        assert_eq!(
            (log.count(&format!("{name} 7")), log.count(&format!("{name} 8"))),
            (1, 1)
        );
    }
    // Through its address everybody handles it, and the first of them answers.
    assert_eq!(router.recipient::<Job>().ask(Job(9)).await.unwrap(), "0");
    eventually_async("all have it", || (0..3).all(|n| log.has(&format!("{n} 9")))).await;
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l25_consistent_hash_keeps_keys_and_moves_few() {
    let system = system().await;
    let pool = workers(8, &Log::new());
    let router = system
        .router(ConsistentHash::by(|job: &Job| job.0), pool)
        .await
        .unwrap();
    let mut homes = Vec::new();
    for key in 0..2_000 {
        let home = router.ask(Job(key)).await.unwrap();
        assert_eq!(router.ask(Job(key)).await.unwrap(), home, "a key has one home");
        homes.push(home);
    }
    let mut sizes = BTreeMap::<&str, u32>::new();
    homes.iter().for_each(|home| *sizes.entry(home).or_default() += 1);
    assert_eq!(sizes.len(), 8);
    assert!(sizes.values().all(|keys| (125..400).contains(keys)), "{sizes:?}");

    router.resize(9).await.unwrap();
    let mut moved = 0;
    for key in 0..2_000 {
        let home = router.ask(Job(key)).await.unwrap();
        if home != homes[key as usize] {
            assert!(home.starts_with('8'), "keys move to the newcomer only, not to {home}");
            moved += 1;
        }
    }
    assert!((100..400).contains(&moved), "about a ninth of 2000, not {moved}");

    router.resize(8).await.unwrap();
    for key in 0..2_000 {
        assert_eq!(router.ask(Job(key)).await.unwrap(), homes[key as usize]);
    }
    system.stop().await.unwrap();
}

#[test]
fn l25_the_hash_never_changes() {
    // FNV-1a of "a" is af63dc4c8601ec8c; the rest is SplitMix64's finaliser.
    let places = [
        HashKey::of("a"),
        HashKey::of(""),
        HashKey::from(1_u64),
        HashKey::from(-1_i64),
    ]
    .map(HashKey::hash);
    assert_eq!(
        places,
        [
            0x02c0_bdbf_4814_20f8,
            0xf52a_15e9_a9b5_e89b,
            0x5692_161d_100b_05e5,
            0xb4d0_55fc_f2cb_bd7b
        ]
    );
}

#[test]
fn l25_a_full_owner_keeps_its_keys_and_a_dead_one_does_not() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let pool = workers(2, &log).props(Props::new().mailbox(MailboxKind::BoundedRefusing(2)));
        let router = system.router(ConsistentHash::by(|_: &Job| 5_u64), pool).await.unwrap();
        let owner = router.ask(Job(0)).await.unwrap();
        let path = router
            .routees()
            .iter()
            .find(|r| r.path.name() == owner)
            .unwrap()
            .path
            .to_string();
        let owner = system.lookup::<Worker>(&path).unwrap();
        owner.tell(Slow(3_600_000 * MS)).unwrap();
        system.sleep(MS).await; // it is in hand
        let refused = (1..=9).find_map(|job| router.tell(Job(job)).err()).unwrap();
        assert!(refused.is_full(), "not the other one's: {refused:?}");
        owner.kill();
        owner.terminated().await;
        router.tell(Job(100)).unwrap();
        let heir = router.ask(Job(101)).await.unwrap();
        assert_ne!(heir, owner.name());
        assert!(log.has(&format!("{heir} 100")));
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_scatter_gather_takes_the_first_and_cancels_the_rest() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let letters = system.events().subscribe::<DeadLetter>();
        let router = system.router(ScatterGather, workers(3, &log)).await.unwrap();
        let all: Vec<_> = router
            .routees()
            .iter()
            .map(|r| system.lookup::<Worker>(&r.path.to_string()).unwrap())
            .collect();
        // Two are busy for an hour, so they cannot have begun when the third has answered.
        all[0].tell(Slow(3_600_000 * MS)).unwrap();
        all[1].tell(Slow(3_600_000 * MS)).unwrap();
        assert_eq!(router.ask(Job(1)).await.unwrap(), "2");
        system.sleep(3_700_000 * MS).await;
        system.sleep(3_700_000 * MS).await;
        let handled: Vec<String> = log.all().into_iter().filter(|l| l.ends_with(" 1")).collect();
        assert_eq!(handled, ["2 1"], "those who had not begun never do");
        let abandoned =
            std::iter::from_fn(|| letters.try_next()).filter(|l| l.as_ref().is_ok_and(|l| l.take::<Job>().is_some()));
        assert_eq!(abandoned.count(), 2, "and nothing is lost in silence");
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_scatter_gather_fails_only_when_all_fail() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let router = system.router(ScatterGather, workers(3, &Log::new())).await.unwrap();
        let failed = router.ask(Fall).await.unwrap_err();
        assert!(matches!(failed, AskError::Failed(_)), "{failed}");
        let all: Vec<_> = router
            .routees()
            .iter()
            .map(|r| system.lookup::<Worker>(&r.path.to_string()).unwrap())
            .collect();
        all[0].kill();
        all[1].kill();
        assert_eq!(router.ask(Job(1)).await.unwrap(), "2");
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_tail_chopping_asks_one_after_the_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let router = system
            .router(TailChopping::every(20 * MS), workers(3, &log))
            .await
            .unwrap();
        let began = system.now();
        let first = router.ask(Slow(50 * MS)).await.unwrap();
        assert_eq!(
            system.now().since(began).as_millis(),
            50,
            "the first of them is the first to answer"
        );
        let begins: Vec<String> = log.all().into_iter().filter(|l| l.ends_with("begins")).collect();
        let order: Vec<u64> = begins.iter().map(|l| l[..1].parse().unwrap()).collect();
        let start: u64 = first.parse().unwrap();
        assert_eq!(
            order,
            [start, (start + 1) % 3, (start + 2) % 3],
            "20 ms apart, in order"
        );

        // A quick answer leaves the others alone.
        system.sleep(1_000 * MS).await;
        let before = log.len();
        router.ask(Job(1)).await.unwrap();
        assert_eq!(log.len(), before + 1);
        router.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_tail_chopping_goes_on_at_once_after_a_failure_and_ends_in_time() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let router = system
            .router(TailChopping::every(20 * MS), workers(3, &Log::new()))
            .await
            .unwrap();
        let began = system.now();
        assert!(matches!(router.ask(Fall).await, Err(AskError::Failed(_))));
        assert!(system.now().since(began) < MS, "nobody waits for one that has failed");
        let began = system.now();
        let late = router.ask(Slow(3_600_000 * MS)).timeout(50 * MS).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })), "{late:?}");
        assert_eq!(system.now().since(began).as_millis(), 50, "for all of them together");
        router.kill();
        system.stop().await.unwrap();
    });
}

/// Asks a router while it serves a request.
struct Front<S: Routing>(Router<Worker, S>);

#[derive(Message)]
#[message(reply = Option<Duration>)]
struct Through;

impl<S: Routing> Actor for Front<S> {}

impl<S: Answers<Left>> Handler<Through> for Front<S> {
    async fn handle(&mut self, _: Through, ctx: &mut Context<Self>) -> Result<Option<Duration>, Failure> {
        let by_handle = self.0.ask(Left).timeout(3_600_000 * MS).await.unwrap();
        let by_address = self.0.recipient::<Left>().ask(Left).await.unwrap();
        assert!(by_handle <= ctx.time_left().or(by_handle) || by_handle.is_some());
        Ok(by_handle.max(by_address))
    }
}

#[test]
fn l25_asks_through_a_router_inherit_the_deadline() {
    seeds(|env| async move {
        async fn check<S: Answers<Left> + Clone>(system: &ActorSystem, strategy: S) {
            let router = system.router(strategy, workers(2, &Log::new())).await.unwrap();
            let front = system.spawn(move || Front(router.clone())).await.unwrap();
            let left = front.ask(Through).timeout(100 * MS).await.unwrap();
            assert!(left.is_some_and(|left| left <= 100 * MS), "{left:?}");
        }
        let system = simulated(&env).await;
        check(&system, RoundRobin).await;
        check(&system, ScatterGather).await;
        check(&system, TailChopping::every(MS)).await;
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_order_is_kept_for_each_sender_and_routee() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let router = system.router(RoundRobin, workers(3, &log)).await.unwrap();
        let address = router.recipient::<Job>();
        for job in 0..60 {
            router.tell(Job(job)).unwrap();
            address.tell(Job(1_000 + job)).unwrap();
        }
        router.drain();
        router.terminated().await;
        for worker in 0..3 {
            let jobs: Vec<u64> = log
                .all()
                .iter()
                .filter_map(|l| l.strip_prefix(&format!("{worker} "))?.parse().ok())
                .collect();
            let (by_address, direct): (Vec<u64>, Vec<u64>) = jobs.into_iter().partition(|job| *job >= 1_000);
            assert!(
                direct.is_sorted() && by_address.is_sorted(),
                "{direct:?} {by_address:?}"
            );
        }
        let all: BTreeSet<u64> = log
            .all()
            .iter()
            .filter_map(|l| l.split_once(' ')?.1.parse().ok())
            .collect();
        assert_eq!(all.len(), 120, "everything sent before a drain is handled");
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l25_the_address_keeps_sender_and_rejection() {
    let system = system().await;
    let log = Log::new();
    let desk = a_desk(&log);
    let router = system.router(RoundRobin, Pool::of(2, desk)).await.unwrap();
    assert_eq!(router.recipient::<Who>().ask(Who {}).await.unwrap(), None);
    let no = router.actor_ref().ask(Refuse { code: 3 }).await.unwrap_err();
    assert!(matches!(no, AskError::Rejected(Refused(3))));
    system.stop().await.unwrap();
}

#[test]
fn l25_a_router_without_routees_refuses_and_its_address_makes_dead_letters() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let router = system.router(RoundRobin, workers(0, &Log::new())).await.unwrap();
        assert_eq!(router.tell(Job(7)).unwrap_err().into_message().0, 7);
        assert_eq!(router.send(Job(8)).await.unwrap_err().into_message().0, 8);
        assert!(matches!(router.ask(Job(9)).await, Err(AskError::Stopped)));
        assert_eq!(system.metrics().refused, 3);
        assert!(letters.try_next().is_none());
        router.recipient::<Job>().tell(Job(10)).unwrap();
        assert!(matches!(
            router.recipient::<Job>().ask(Job(11)).await,
            Err(AskError::Stopped)
        ));
        let dead: Vec<u64> = std::iter::from_fn(|| letters.try_next())
            .map(|l| l.unwrap().take::<Job>().unwrap().0)
            .collect();
        assert_eq!(dead, [10, 11]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_full_routees_are_passed_over_and_send_waits() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let pool = workers(2, &log).props(Props::new().mailbox(MailboxKind::Bounded(1)));
        let router = system.router(RoundRobin, pool).await.unwrap();
        let one = system.lookup::<Worker>(&router.routees()[0].path.to_string()).unwrap();
        let two = system.lookup::<Worker>(&router.routees()[1].path.to_string()).unwrap();
        one.tell(Slow(100 * MS)).unwrap();
        two.tell(Slow(200 * MS)).unwrap();
        system.sleep(MS).await;
        router.tell(Job(1)).unwrap();
        router.tell(Job(2)).unwrap();
        assert!(router.tell(Job(3)).unwrap_err().is_full(), "both have one waiting");
        let began = system.now();
        router.send(Job(4)).await.unwrap();
        assert!(system.now().since(began) >= 98 * MS, "until there is room");
        router.drain();
        router.terminated().await;
        assert_eq!(log.all().iter().filter(|l| l.ends_with(" 4")).count(), 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l25_panics_of_keys_and_factories_harm_nobody() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let faults = system.events().subscribe::<ActorFailed>();
        let key = |job: &Job| if job.0 == 13 { panic!("unlucky") } else { job.0 };
        let router = system
            .router(ConsistentHash::by(key), workers(2, &Log::new()))
            .await
            .unwrap();
        let back = router.tell(Job(13)).unwrap_err();
        assert!(matches!(back, TellError::Unroutable(Job(13))), "{back:?}");
        assert!(matches!(router.ask(Job(13)).await, Err(AskError::Failed(_))));
        assert!(matches!(
            router.recipient::<Job>().ask(Job(13)).await,
            Err(AskError::Failed(_))
        ));
        router.recipient::<Job>().tell(Job(13)).unwrap();
        router.ask(Job(12)).await.unwrap();
        router.recipient::<Job>().ask(Job(12)).await.unwrap();
        let told = std::iter::from_fn(|| faults.try_next())
            .filter(|f| f.as_ref().unwrap().fault.is_panic())
            .count();
        assert_eq!(told, 4, "each is told as a fault of the router's");

        let fragile = Pool::of(2, || -> Worker { panic!("no worker today") });
        let error = system.router(RoundRobin, fragile).named("f").await.unwrap_err();
        assert!(error.to_string().contains("no worker today"), "{error}");
        assert!(system.lookup::<Worker>("/user/f/0").is_none());
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l25_elastic_nonsense_is_refused_by_name() {
    let system = system().await;
    let pool = workers(2, &Log::new()).elastic(Elastic::between(5, 2));
    let error = system.router(RoundRobin, pool).await.unwrap_err();
    assert!(error.to_string().contains("elastic"), "{error}");
    system.stop().await.unwrap();
}
