//! S5 and S6: one thread at a time, and nobody starves.

use super::*;

/// Plain fields, no atomics: a second thread in here, or a write that is not seen, shows in the sum.
struct Tally {
    inside: Arc<AtomicBool>,
    sum: Cell<u64>,
    text: String,
}

#[actor]
impl Tally {
    fn add(&mut self) -> u64 {
        assert!(!self.inside.swap(true, Ordering::SeqCst), "two threads in one actor");
        self.sum.set(self.sum.get() + 1);
        self.text.push('x');
        assert_eq!(
            self.text.len() as u64,
            self.sum.get(),
            "a write of an earlier turn is not seen"
        );
        self.inside.store(false, Ordering::SeqCst);
        self.sum.get()
    }
    async fn add_slowly(&mut self) -> u64 {
        assert!(!self.inside.swap(true, Ordering::SeqCst), "two threads in one actor");
        let before = self.sum.get();
        self.inside.store(false, Ordering::SeqCst);
        tokio::task::yield_now().await;
        assert_eq!(self.sum.get(), before, "somebody ran while the handler was suspended");
        self.add()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s5_one_actor_never_runs_on_two_threads() {
    let system = system().await;
    let inside = Arc::new(AtomicBool::new(false));
    let tally = system
        .spawn(move || Tally {
            inside: inside.clone(),
            sum: Cell::new(0),
            text: String::new(),
        })
        .on_fault(Directive::Stop)
        .await
        .unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|n| {
            let tally = tally.clone();
            tokio::spawn(async move {
                for i in 0..300 {
                    match (n + i) % 3 {
                        0 => drop(tally.ask(Add).await.unwrap()),
                        1 => tally.tell(Add).unwrap(),
                        _ => drop(tally.ask(AddSlowly).await.unwrap()),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        soon("an asker", task).await.unwrap();
    }
    assert_eq!(tally.ask(Add).await.unwrap(), 16 * 300 + 1);
    system.stop().await.unwrap();
}

/// Keeps itself busy for ever.
struct Hog {
    turns: Arc<AtomicU64>,
}

#[actor]
impl Hog {
    fn spin(&mut self, ctx: &mut Context<Self>) {
        self.turns.fetch_add(1, Ordering::Relaxed);
        let _ = ctx.me().tell(Spin);
    }
}

/// Keeps each other busy for ever, through the last-in slot.
struct Player {
    other: Option<ActorRef<Player>>,
    balls: Arc<AtomicU64>,
}

#[actor]
impl Player {
    fn meet(&mut self, other: ActorRef<Player>) {
        self.other = Some(other);
    }
    fn ball(&mut self) {
        self.balls.fetch_add(1, Ordering::Relaxed);
        if let Some(other) = &self.other {
            let _ = other.tell(Ball);
        }
    }
}

/// Hogs and endless pairs on one thread; a third actor and a plain task still have their turn.
fn nobody_starves(runtime: tokio::runtime::Runtime) {
    within("fairness", move || {
        runtime.block_on(async {
            let system = system().await;
            let turns = Arc::new(AtomicU64::new(0));
            for _ in 0..4 {
                let turns = turns.clone();
                let hog = system.spawn(move || Hog { turns: turns.clone() }).await.unwrap();
                hog.tell(Spin).unwrap();
                hog.tell(Spin).unwrap();
            }
            let balls = Arc::new(AtomicU64::new(0));
            for _ in 0..4 {
                let factory = |balls: Arc<AtomicU64>| {
                    move || Player {
                        other: None,
                        balls: balls.clone(),
                    }
                };
                let one = system.spawn(factory(balls.clone())).await.unwrap();
                let two = system.spawn(factory(balls.clone())).await.unwrap();
                one.tell(Meet { other: two.clone() }).unwrap();
                two.tell(Meet { other: one.clone() }).unwrap();
                one.tell(Ball).unwrap();
            }
            let log = Log::new();
            let quiet = system.spawn(a_desk(&log)).await.unwrap();
            for number in 0..20 {
                let before = turns.load(Ordering::Relaxed) + balls.load(Ordering::Relaxed);
                quiet.tell(Note { number }).unwrap();
                eventually_async("the quiet one's turn", || log.has(&number.to_string())).await;
                let passed = turns.load(Ordering::Relaxed) + balls.load(Ordering::Relaxed) - before;
                // Twelve busy actors at 32 messages each, and the slack of one poll of a worker: far below this.
                assert!(passed < 200_000, "{passed} messages went before one of a ready actor");
            }
            let busy = turns.load(Ordering::Relaxed);
            eventually_async("the hogs go on", || turns.load(Ordering::Relaxed) > busy + 1_000).await;
            let busy = balls.load(Ordering::Relaxed);
            eventually_async("the pairs go on", || balls.load(Ordering::Relaxed) > busy + 1_000).await;
            soon("stop", system.stop()).await.unwrap();
        });
    });
}

#[test]
fn s6_nobody_starves_on_one_thread() {
    nobody_starves(
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap(),
    );
}

#[test]
fn s6_nobody_starves_on_two_threads() {
    nobody_starves(
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap(),
    );
}

#[test]
fn s6_the_budget_bounds_what_one_actor_may_do_before_another() {
    // On one worker of one thread: a backlog of thousands, and a ready actor behind it. It waits for a budget, not for all.
    within("fairness", || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("fair").settings(|s| s.throughput(8)).start().await.unwrap();
            let log = Log::new();
            let backlog = system.spawn(a_desk(&log)).await.unwrap();
            let ready = system.spawn(a_desk(&log)).await.unwrap();
            for _ in 0..5_000 {
                backlog.tell(Note { number: 1 }).unwrap();
            }
            ready.tell(Note { number: 2 }).unwrap();
            eventually_async("all", || log.len() == 5_003).await;
            assert!(log.position("2") < 50, "{} messages went first", log.position("2"));
            system.stop().await.unwrap();
        });
    });
}

#[tokio::test(flavor = "current_thread")]
async fn s6_an_asker_is_not_kept_by_the_backlog_of_whom_it_asks() {
    let system = system().await;
    let turns = Arc::new(AtomicU64::new(0));
    let hog = system
        .spawn({
            let turns = turns.clone();
            move || Hog { turns: turns.clone() }
        })
        .await
        .unwrap();
    hog.tell(Spin).unwrap();
    for _ in 0..50 {
        soon("an ask to a busy actor", hog.ask(Spin)).await.unwrap();
    }
    hog.kill();
    soon("the kill of a busy actor", hog.terminated()).await;
    system.stop().await.unwrap();
}

#[test]
fn s6_nobody_starves_under_any_seed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let turns = Arc::new(AtomicU64::new(0));
        for _ in 0..4 {
            let turns = turns.clone();
            let hog = system.spawn(move || Hog { turns: turns.clone() }).await.unwrap();
            hog.tell(Spin).unwrap();
        }
        let quiet = system.spawn(a_desk(&Log::new())).await.unwrap();
        for number in 0..20 {
            let before = turns.load(Ordering::Relaxed);
            quiet.ask(Note { number }).await.unwrap();
            let passed = turns.load(Ordering::Relaxed) - before;
            assert!(passed < 20_000, "{passed} messages went before one of a ready actor");
        }
        system.stop().await.unwrap();
    });
}
