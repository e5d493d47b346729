//! L22 and S14: actors that let go of their state, and come back with the next message.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    ActorPassivated, ActorWoken, AskError, DeadLetter, Eviction, Passivation, Props, SpawnError, SystemBuilder,
    Terminated,
};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Counts what it was told in this incarnation.
struct Session {
    log: Log,
    count: u64,
    refuse: Arc<AtomicBool>,
    hang: Arc<AtomicBool>,
}

#[derive(Message)]
#[message(reply = u64)]
struct Later(u64);

#[actor]
impl Session {
    async fn started(&mut self) -> Result<(), Fault> {
        if self.refuse.load(Ordering::SeqCst) {
            return Err(Fault::msg("not today"));
        }
        self.log.push("started");
        Ok(())
    }
    async fn stopping(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.hang.load(Ordering::SeqCst) {
            ctx.sleep(HOUR).await;
        }
        Ok(())
    }
    async fn stopped(&mut self) -> Result<(), Fault> {
        self.log.push(format!("stopped at {}", self.count));
        Ok(())
    }
    fn add(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn work(&mut self, time: Duration, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(time);
        ctx.spawn(sleep);
    }
    fn request(&mut self, other: ActorRef<Session>, time: Duration, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&other, Nap { time }).then(|_: &mut Session, _, _| ())?;
        Ok(())
    }
    #[handles]
    fn later(&mut self, later: Later, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        if self.count == 0 {
            return Err(ctx.stash(later).map_err(Fault::from)?.into());
        }
        Ok(later.0)
    }
    fn open(&mut self, ctx: &mut Context<Self>) -> usize {
        self.count += 1;
        ctx.unstash_all()
    }
    async fn child(&mut self, ctx: &mut Context<Self>) -> Result<ActorRef<Session>, Fault> {
        let child = session(&self.log);
        ctx.spawn_child(child).await.or_fault()
    }
    fn tick(&mut self, ctx: &mut Context<Self>) {
        ctx.set_interval("tick", MS, AddTick);
    }
    #[handles]
    fn add_tick(&mut self, _: AddTick) {
        self.log.push("tick");
    }
    fn awake(&mut self, keep: bool, ctx: &mut Context<Self>) -> bool {
        if keep {
            ctx.pause_passivation()
        } else {
            ctx.resume_passivation()
        }
    }
    fn doze(&mut self, ctx: &mut Context<Self>) {
        ctx.passivate();
    }
    fn weigh(&mut self, bytes: u64, ctx: &mut Context<Self>) {
        ctx.set_heap_bytes(bytes);
    }
}

#[derive(Message, Clone)]
struct AddTick;

fn session(log: &Log) -> impl Fn() -> Session + Send + Sync + use<> {
    session_with(log, &Arc::default(), &Arc::default())
}

fn session_with(
    log: &Log,
    refuse: &Arc<AtomicBool>,
    hang: &Arc<AtomicBool>,
) -> impl Fn() -> Session + Send + Sync + use<> {
    let (log, refuse, hang) = (log.clone(), refuse.clone(), hang.clone());
    move || Session {
        log: log.clone(),
        count: 0,
        refuse: refuse.clone(),
        hang: hang.clone(),
    }
}

fn after(idle: Duration) -> Props {
    Props::new().passivation(Passivation::after(idle))
}

#[test]
fn l22_an_idle_actor_lets_go_of_its_state_and_comes_back_with_a_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (slept, woke) = (
            system.events().subscribe::<ActorPassivated>(),
            system.events().subscribe::<ActorWoken>(),
        );
        let log = Log::new();
        let actor = system
            .spawn(session(&log))
            .named("s")
            .props(after(2 * HOUR))
            .await
            .unwrap();
        assert_eq!(actor.ask(Add).await.unwrap(), 1);
        assert_eq!(actor.ask(Add).await.unwrap(), 2);
        system.sleep(2 * HOUR - 10 * MS).await;
        assert!(!actor.status().asleep);
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        assert!(actor.is_alive());
        assert_eq!(log.all(), ["started", "stopped at 2"]);
        assert_eq!(slept.try_next().unwrap().unwrap().path, actor.path());
        assert!(woke.try_next().is_none());

        assert_eq!(
            actor.ask(Add).await.unwrap(),
            1,
            "a new incarnation, at the same address"
        );
        assert!(!actor.status().asleep);
        assert_eq!(woke.try_next().unwrap().unwrap().id, actor.id());
        system.sleep(3 * HOUR).await;
        assert!(actor.status().asleep, "and again");
        let metrics = system.metrics();
        assert_eq!((metrics.passivated, metrics.woken, metrics.dead_letters), (2, 1, 0));
        assert_eq!(metrics.timers, 0, "nothing is left on the wheel for it");
        system.stop().await.unwrap();
        assert_eq!(log.count("started"), 2);
        assert_eq!(log.len(), 4, "`stopped` ran once for each incarnation");
    });
}

#[test]
fn l22_activity_puts_it_off() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
        for number in 1..=20 {
            assert_eq!(actor.ask(Add).await.unwrap(), number);
            system.sleep(8 * MS).await;
        }
        system.sleep(10 * MS).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn s14_after_so_many_messages_the_rest_go_to_the_next_incarnation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after_messages(3));
        let actor = system.spawn(session(&log)).props(props).await.unwrap();
        for _ in 0..10 {
            actor.tell(Add).unwrap();
        }
        assert_eq!(
            actor.ask(Add).await.unwrap(),
            2,
            "the eleventh is the second of the fourth incarnation"
        );
        assert_eq!(log.count("stopped at 3"), 3);
        assert_eq!(log.count("started"), 4);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_an_actor_that_ends_instead_is_drained_and_its_watchers_hear() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after(10 * MS).ending());
        let actor = system.spawn(session(&log)).named("s").props(props).await.unwrap();
        let watcher = system.spawn(watcher(&log, &actor)).await.unwrap();
        watcher.ask(Look).await.unwrap();
        actor.terminated().await;
        system.sleep(MS).await;
        assert!(log.has("gone"), "{:?}", log.all());
        assert!(actor.tell(Add).is_err());
        system.spawn(session(&log)).named("s").await.unwrap();
        system.stop().await.unwrap();
    });
}

struct Watching(Log, ActorRef<Session>);

fn watcher(log: &Log, whom: &ActorRef<Session>) -> impl Fn() -> Watching + Send + Sync + use<> {
    let (log, whom) = (log.clone(), whom.clone());
    move || Watching(log.clone(), whom.clone())
}

#[actor]
impl Watching {
    fn look(&mut self, ctx: &mut Context<Self>) {
        ctx.watch(&self.1);
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.0.push("gone");
    }
}

#[test]
fn l22_an_actor_with_something_to_do_is_left_alone() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(session(&log)).await.unwrap();
        for what in 0..5 {
            let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
            let time = 100 * MS;
            match what {
                0 => actor.tell(Nap { time }).unwrap(),
                1 => actor.tell(Work { time }).unwrap(),
                2 => actor
                    .tell(Request {
                        other: other.clone(),
                        time,
                    })
                    .unwrap(),
                3 => actor.tell(Later(7)).unwrap(),
                _ => actor.ask(Child).await.unwrap().tell(Nap { time }).unwrap(),
            }
            system.sleep(95 * MS).await;
            assert!(!actor.status().asleep, "{what}");
            if what == 3 {
                assert_eq!(actor.ask(Open).await.unwrap(), 1);
            }
            system.sleep(30 * MS).await;
            assert!(actor.status().asleep, "{what}");
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_passivation_can_be_paused_and_asked_for() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
        assert!(actor.ask(Awake { keep: true }).await.unwrap());
        system.sleep(HOUR).await;
        assert!(!actor.status().asleep);
        assert!(actor.ask(Awake { keep: false }).await.unwrap());
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        actor.ask(Add).await.unwrap();
        assert!(actor.pause_passivation());
        system.sleep(HOUR).await;
        assert!(!actor.status().asleep);
        actor.resume_passivation();
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);

        let plain = system.spawn(session(&log)).await.unwrap();
        assert!(
            !plain.ask(Awake { keep: true }).await.unwrap(),
            "it never goes by itself"
        );
        plain.ask(Add).await.unwrap();
        plain.tell(Doze).unwrap();
        assert_eq!(plain.ask(Add).await.unwrap(), 1, "it goes when it is told to");
        plain.passivate();
        system.sleep(MS).await;
        assert!(plain.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_suspended_handler_ends_before_an_actor_that_was_told_to_go_goes() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).await.unwrap();
        actor.tell(Nap { time: 10 * MS }).unwrap();
        system.sleep(MS).await;
        actor.passivate();
        system.sleep(MS).await;
        assert!(!actor.status().asleep);
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_what_was_put_aside_and_timers_do_not_outlive_the_incarnation_wrongly() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).await.unwrap();
        actor.tell(Tick).unwrap();
        system.sleep(5 * MS).await;
        assert!(log.has("tick"));
        actor.passivate();
        system.sleep(MS).await;
        let ticks = log.count("tick");
        system.sleep(HOUR).await;
        assert_eq!(
            log.count("tick"),
            ticks,
            "timers end with the incarnation and wake nobody"
        );
        assert!(actor.status().asleep);

        let pending = actor.ask(Later(7)).timeout(HOUR);
        let (answer, ()) = futures_join(pending, async {
            system.sleep(MS).await;
            actor.passivate();
            system.sleep(MS).await;
            actor.ask(Open).await.unwrap();
        })
        .await;
        assert_eq!(answer.unwrap(), 7, "a message put aside goes to the next incarnation");
        system.stop().await.unwrap();
    });
}

async fn futures_join<A: std::future::IntoFuture, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (Box::pin(a.into_future()), Box::pin(b));
    let (mut left, mut right) = (None, None);
    std::future::poll_fn(|task| {
        if left.is_none()
            && let std::task::Poll::Ready(value) = a.as_mut().poll(task)
        {
            left = Some(value);
        }
        if right.is_none()
            && let std::task::Poll::Ready(value) = b.as_mut().poll(task)
        {
            right = Some(value);
        }
        match left.is_some() && right.is_some() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    (left.unwrap(), right.unwrap())
}

#[test]
fn s12_a_sleeping_actor_stops_drains_and_dies_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for how in 0..4 {
            let log = Log::new();
            let actor = system.spawn(session(&log)).await.unwrap();
            let watcher = system.spawn(watcher(&log, &actor)).await.unwrap();
            watcher.ask(Look).await.unwrap();
            actor.ask(Add).await.unwrap();
            actor.passivate();
            system.sleep(MS).await;
            assert!(actor.status().asleep);
            match how {
                0 => actor.stop(),
                1 => actor.kill(),
                2 => actor.drain(),
                _ => {
                    actor.tell(Add).unwrap();
                    actor.drain(); // what waits is handled first
                }
            }
            actor.terminated().await;
            system.sleep(MS).await;
            assert_eq!(log.count("gone"), 1);
            let lives = if how == 3 { 2 } else { 1 };
            assert_eq!(log.count("stopped at 1"), lives, "{how}: {:?}", log.all());
            assert!(!actor.is_alive());
            assert!(actor.tell(Add).is_err());
        }
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_stop_that_comes_while_it_falls_asleep_ends_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, hang) = (Log::new(), Arc::new(AtomicBool::new(true)));
        let actor = system.spawn(session_with(&log, &Arc::default(), &hang)).await.unwrap();
        actor.passivate();
        system.sleep(MS).await;
        assert!(!actor.status().asleep, "its hook hangs");
        actor.tell(Add).unwrap();
        actor.stop();
        actor.terminated().await;
        assert_eq!(log.all(), ["started", "stopped at 0"]);
        assert_eq!(system.metrics().dead_letters, 1);

        // Without the stop the hook is cut off, and the actor sleeps and wakes.
        let actor = system.spawn(session_with(&log, &Arc::default(), &hang)).await.unwrap();
        actor.passivate();
        let asked = actor.ask(Add).timeout(HOUR).await;
        assert_eq!(asked.unwrap(), 1);
        assert_eq!(system.metrics().woken, 1);
        hang.store(false, Ordering::SeqCst);
        system.stop().await.unwrap();
    });
}

#[test]
fn s14_a_wake_up_that_fails_loses_nothing_in_silence() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let (log, refuse) = (Log::new(), Arc::new(AtomicBool::new(false)));
        let actor = system
            .spawn(session_with(&log, &refuse, &Arc::default()))
            .await
            .unwrap();
        actor.passivate();
        system.sleep(MS).await;
        refuse.store(true, Ordering::SeqCst);
        actor.tell(Add).unwrap();
        let answer = actor.ask(Add).await;
        assert!(matches!(answer, Err(AskError::Stopped)), "{answer:?}");
        actor.terminated().await;
        assert!(dead.try_next().is_some());
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_wrong_settings_are_named() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let text = |error: SpawnError| error.to_string();
        let log = Log::new();
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after(Duration::ZERO))
            .await;
        assert_eq!(
            text(wrong.unwrap_err()),
            "`passivation` cannot be after 0ns: a millisecond to ten years without messages"
        );
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after(Duration::MAX))
            .await;
        assert!(text(wrong.unwrap_err()).ends_with("a millisecond to ten years without messages"));
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after_messages(0))
            .await;
        assert_eq!(
            text(wrong.unwrap_err()),
            "`passivation` cannot be after 0 messages: at least one message"
        );
        system.stop().await.unwrap();
    });
    let start = |eviction| builder("x").eviction(eviction).start_now().unwrap_err().to_string();
    assert_eq!(
        start(Eviction::lru()),
        "eviction: limit is missing, allowed is `at_most`, `at_most_bytes` or both"
    );
    assert_eq!(
        start(Eviction::lfu().at_most(0)),
        "eviction: at_most is 0, allowed is at least one actor"
    );
    assert_eq!(
        start(Eviction::mru().at_most(5).percent(0)),
        "eviction: percent is 0, allowed is 1 to 100"
    );
    assert_eq!(
        start(Eviction::mru().at_most_bytes(5)),
        "eviction: at_most_bytes is 5, allowed is at least 1,024 bytes"
    );
}

fn evicting(env: &volary::SeededEnv, eviction: Eviction) -> SystemBuilder {
    builder("sim").environment(env.clone()).eviction(eviction)
}

async fn crowd(system: &ActorSystem, count: usize) -> Vec<ActorRef<Session>> {
    let log = Log::new();
    let mut all = Vec::new();
    for _ in 0..count {
        let props = Props::new().passivation(Passivation::on_demand());
        all.push(system.spawn(session(&log)).props(props).await.unwrap());
        system.sleep(MS).await;
    }
    all
}

fn asleep(actors: &[ActorRef<Session>]) -> Vec<usize> {
    (0..actors.len())
        .filter(|index| actors[*index].status().asleep)
        .collect()
}

#[test]
fn l22_the_order_says_who_is_evicted() {
    seeds(|env| async move {
        // The third is used most and last, the first is used least, the second longest ago.
        for (eviction, goes) in [(Eviction::lru(), 1), (Eviction::lfu(), 0), (Eviction::mru(), 2)] {
            let system = evicting(&env, eviction.at_most(3)).start().await.unwrap();
            let actors = crowd(&system, 3).await;
            for index in [1, 1, 0, 2, 2, 2] {
                system.sleep(MS).await;
                actors[index].ask(Add).await.unwrap();
            }
            assert!(asleep(&actors).is_empty());
            let log = Log::new();
            let never = system.spawn(session(&log)).await.unwrap();
            system.sleep(MS).await;
            assert_eq!(
                asleep(&actors),
                [0_usize; 0],
                "one that is never passivated does not count"
            );
            crowd(&system, 1).await;
            assert_eq!(asleep(&actors), [goes], "{eviction:?}");
            assert!(!never.status().asleep);
            system.stop().await.unwrap();
        }
    });
}

#[test]
fn l22_the_busy_are_spared_and_the_limit_holds_again_later() {
    seeds(|env| async move {
        let system = evicting(&env, Eviction::lru().at_most(2)).start().await.unwrap();
        let actors = crowd(&system, 2).await;
        for actor in &actors {
            actor.tell(Work { time: 50 * MS }).unwrap();
        }
        system.sleep(MS).await;
        let more = crowd(&system, 2).await;
        assert_eq!(asleep(&actors), [0_usize; 0], "both have work");
        assert!(asleep(&more).len() <= 1);
        system.sleep(100 * MS).await;
        let last = crowd(&system, 1).await;
        let awake = actors
            .iter()
            .chain(&more)
            .chain(&last)
            .filter(|actor| !actor.status().asleep);
        assert_eq!(awake.count(), 2);
        for actor in actors.iter().chain(&more) {
            actor.ask(Add).await.unwrap(); // each of them comes back
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_eviction_can_count_bytes() {
    seeds(|env| async move {
        let system = evicting(&env, Eviction::lru().at_most_bytes(1 << 20))
            .start()
            .await
            .unwrap();
        let actors = crowd(&system, 5).await;
        for (index, actor) in actors.iter().enumerate() {
            actor.ask(Weigh { bytes: 200 << 10 }).await.unwrap();
            system.sleep(MS).await;
            assert_eq!(asleep(&actors), [0_usize; 0], "{index}");
        }
        actors[4].ask(Weigh { bytes: 500 << 10 }).await.unwrap();
        system.sleep(MS).await;
        assert_eq!(asleep(&actors), [0, 1]);
        actors[0].ask(Add).await.unwrap(); // woken, it is light again
        system.sleep(MS).await;
        assert_eq!(asleep(&actors), [1]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_large_crowd_is_kept_within_its_limit() {
    within("the crowd", || {
        let env = volary::SeededEnv::new(7);
        env.block_on(async {
            let system = evicting(&env, Eviction::lru().at_most(1_000)).start().await.unwrap();
            let log = Log::new();
            let mut all = Vec::new();
            for _ in 0..20_000 {
                let props = Props::new().passivation(Passivation::on_demand());
                all.push(system.spawn(session(&log)).props(props).await.unwrap());
            }
            system.sleep(MS).await;
            let awake = all.len() - asleep(&all).len();
            assert!((900..=1_000).contains(&awake), "{awake}");
            for actor in &all {
                assert_eq!(actor.ask(Add).await.unwrap(), 1);
            }
            system.stop().await.unwrap();
        });
    });
}

/// S14 under fire: whatever is accepted is handled by some incarnation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s14_no_message_is_lost_to_passivation_on_real_threads() {
    struct Counter(Arc<AtomicU64>, u64);
    #[actor]
    impl Counter {
        fn hit(&mut self) -> u64 {
            self.1 += 1;
            self.0.fetch_add(1, Ordering::SeqCst);
            self.1
        }
    }
    let system = builder("race")
        .eviction(Eviction::mru().at_most(2))
        .start()
        .await
        .unwrap();
    let total = Arc::new(AtomicU64::new(0));
    let mut actors = Vec::new();
    for _ in 0..8 {
        let total = total.clone();
        let props = Props::new().passivation(Passivation::after_messages(5));
        actors.push(
            system
                .spawn(move || Counter(total.clone(), 0))
                .props(props)
                .await
                .unwrap(),
        );
    }
    const EACH: u64 = 20_000;
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let actors = actors.clone();
            std::thread::spawn(move || {
                for number in 0..EACH {
                    let actor = &actors[(number + thread) as usize % actors.len()];
                    actor.tell(Hit).unwrap();
                    if number % 7 == 0 {
                        actor.passivate();
                    }
                }
            })
        })
        .collect();
    let mut asked = 0;
    for number in 0..2_000 {
        let answer = soon("an answer", actors[number % actors.len()].ask(Hit)).await.unwrap();
        assert!((1..=5).contains(&answer), "{answer} messages in one incarnation");
        asked += 1;
    }
    for thread in threads {
        tokio::task::spawn_blocking(move || thread.join().unwrap())
            .await
            .unwrap();
    }
    eventually_async("all are handled", || total.load(Ordering::SeqCst) == 3 * EACH + asked).await;
    assert_eq!(system.metrics().dead_letters, 0);
    assert!(system.metrics().woken > 1_000);
    system.stop().await.unwrap();
}

/// Counts how often nothing came for a while.
struct Quiet(u64);

#[actor]
impl Quiet {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_receive_timeout(10 * MS);
    }
    fn speak(&mut self) -> u64 {
        self.0
    }
    #[handles]
    fn idle(&mut self, _: volary::ReceiveTimeout) {
        self.0 += 1;
    }
}

#[test]
fn l22_a_receive_timeout_is_kept_by_an_actor_that_may_be_passivated() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::on_demand());
        let quiet = system.spawn(|| Quiet(0)).props(props).await.unwrap();
        for _ in 0..10 {
            system.sleep(8 * MS).await;
            assert_eq!(quiet.ask(Speak).await.unwrap(), 0, "each message puts it off");
        }
        system.sleep(25 * MS).await;
        assert_eq!(quiet.ask(Speak).await.unwrap(), 2);
        system.stop().await.unwrap();
    });
}
