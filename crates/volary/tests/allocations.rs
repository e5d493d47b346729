//! What the hot paths allocate (nothing), and what a stopped system leaves behind (nothing).
//!
//! The allocator counts per thread, and the seeded environment runs everything on this one, so the
//! counts are exact. Each test has a thread of its own.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use volary::prelude::*;
use volary::{Moment, SeededEnv, Terminated};

struct Counting;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn note(made: u64, bytes: i64) {
    // Gone while the thread ends; nothing is measured then.
    let _ = MADE.try_with(|count| count.set(count.get() + made));
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: everything is left to the system's allocator; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Counter {
    sum: u64,
}

#[actor]
impl Counter {
    fn add(&mut self, by: u64) -> u64 {
        self.sum += by;
        self.sum
    }
    async fn add_softly(&mut self, by: u64) -> u64 {
        self.sum += by;
        self.sum
    }
    async fn add_later(&mut self, by: u64) -> u64 {
        let mut waited = false;
        std::future::poll_fn(|task| {
            if waited {
                return std::task::Poll::Ready(());
            }
            waited = true;
            task.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
        self.sum += by;
        self.sum
    }
}

/// Sends from inside a turn, as actors do: with a sender and a deadline.
struct Driver {
    target: ActorRef<Counter>,
}

#[actor]
impl Driver {
    fn tell_many(&mut self, count: u64) {
        for _ in 0..count {
            self.target.tell(Add { by: 1 }).unwrap();
        }
    }
    async fn ask_many(&mut self, count: u64) {
        for _ in 0..count {
            self.target.ask(Add { by: 1 }).await.unwrap();
        }
    }
    async fn ask_async(&mut self, count: u64) {
        for _ in 0..count {
            self.target.ask(AddSoftly { by: 1 }).await.unwrap();
        }
    }
    async fn ask_suspending(&mut self, count: u64) {
        for _ in 0..count {
            self.target.ask(AddLater { by: 1 }).await.unwrap();
        }
    }
}

/// The least that `work` allocates in one of many runs: pools and queues grow in the first ones, and
/// the seed makes some of the later ones reach a depth that was not seen before.
fn allocations<F: Future<Output = ()>>(work: impl Fn(ActorRef<Driver>) -> F) -> u64 {
    let env = SeededEnv::new(1);
    env.block_on(async {
        let builder = ActorSystem::builder("counted").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let target = system.spawn(|| Counter { sum: 0 }).await.unwrap();
        let driver = system.spawn(move || Driver { target: target.clone() }).await.unwrap();
        let mut least = u64::MAX;
        for _ in 0..20 {
            let before = MADE.get();
            work(driver.clone()).await;
            least = least.min(MADE.get() - before);
        }
        system.stop().await.unwrap();
        least
    })
}

/// The outer ask and the environment's own queue cost a little each time; a thousand messages more
/// must not cost more.
fn per_message<F: Future<Output = ()>>(work: impl Fn(ActorRef<Driver>, u64) -> F) -> u64 {
    let few = allocations(|driver| work(driver, 10));
    let many = allocations(|driver| work(driver, 1_010));
    many.saturating_sub(few)
}

#[test]
fn a_tell_allocates_nothing() {
    let made = per_message(|driver, count| async move {
        driver.ask(TellMany { count }).await.unwrap();
        driver.ask(AskMany { count: 1 }).await.unwrap(); // all of them are handled
    });
    assert_eq!(made, 0);
}

#[test]
fn an_ask_and_its_answer_allocate_nothing() {
    let made = per_message(|driver, count| async move { driver.ask(AskMany { count }).await.unwrap() });
    assert_eq!(made, 0);
}

#[test]
fn an_async_handler_that_does_not_suspend_allocates_nothing() {
    let made = per_message(|driver, count| async move { driver.ask(AskAsync { count }).await.unwrap() });
    assert_eq!(made, 0);
}

#[test]
fn a_handler_that_suspends_and_resumes_allocates_nothing() {
    let made = per_message(|driver, count| async move { driver.ask(AskSuspending { count }).await.unwrap() });
    assert_eq!(made, 0);
}

/// A message above the inline size costs its box, and that box alone.
#[test]
fn a_large_message_costs_one_allocation() {
    struct Sink;
    #[actor]
    impl Sink {
        fn swallow(&mut self, bytes: [u8; 512]) -> u8 {
            bytes[0]
        }
    }
    let env = SeededEnv::new(1);
    env.block_on(async {
        let builder = ActorSystem::builder("large").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let sink = system.spawn(|| Sink).await.unwrap();
        let large = least(|| sink.ask(Swallow { bytes: [7; 512] })).await;
        let counter = system.spawn(|| Counter { sum: 0 }).await.unwrap();
        let small = least(|| counter.ask(Add { by: 1 })).await;
        assert_eq!(large - small, 1);
        system.stop().await.unwrap();
    });
}

/// The least that one such ask allocates.
async fn least<'a, M: Message>(ask: impl Fn() -> volary::Ask<'a, M>) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..20 {
        let before = MADE.get();
        let answered = ask().await.is_ok();
        least = least.min(MADE.get() - before);
        assert!(answered);
    }
    least
}

/// Leaves much for others to clean up.
struct Messy {
    heard: u32,
}

#[actor]
impl Messy {
    async fn settle(&mut self, ctx: &mut Context<Self>) {
        for stays in [true, false] {
            let child = ctx.spawn_child(|| Counter { sum: 0 }).await.unwrap();
            ctx.watch(&child);
            child.tell(Add { by: 1 }).unwrap();
            if !stays {
                child.stop();
            }
        }
        ctx.set_timer("soon", std::time::Duration::from_millis(1), Crash { fault: None });
        ctx.set_timer("never", std::time::Duration::from_hours(1), Crash { fault: None });
    }
    fn crash(&mut self, fault: Option<Fault>) -> Result<u32, Fault> {
        fault.map_or(Ok(self.heard), Err)
    }
    async fn hang(&mut self, kept: Vec<u8>) {
        std::future::pending::<()>().await;
        drop(kept);
    }
    #[handles]
    fn terminated(&mut self, _: Terminated) {
        self.heard += 1;
    }
}

/// One that has crashed, and hangs with mail behind it when it ends, by whichever way.
async fn make_a_mess(system: &ActorSystem, end: Option<fn(&ActorRef<Messy>)>) {
    let messy = system.spawn(|| Messy { heard: 0 }).await.unwrap();
    messy.ask(Settle).await.unwrap();
    system.sleep(std::time::Duration::from_millis(2)).await;
    assert_eq!(messy.ask(Crash { fault: None }).await.unwrap(), 1, "of its child");
    let fault = Some(Fault::msg("on purpose"));
    assert!(messy.ask(Crash { fault }).await.is_err());
    messy.ask(Settle).await.unwrap();
    messy.tell(Hang { kept: vec![0; 1_000] }).unwrap();
    system.sleep(std::time::Duration::from_millis(2)).await;
    for _ in 0..50 {
        messy.tell(Hang { kept: vec![0; 100] }).unwrap();
    }
    if let Some(end) = end {
        end(&messy);
        messy.terminated().await;
    }
}

/// A whole life: actors, children, watches, asks, crashes, dead letters, timers, and some in the middle of all that when the system
/// stops.
async fn live(system: &ActorSystem) {
    let began: Moment = system.now();
    let events = system.events().subscribe::<volary::DeadLetter>();
    for end in [None, Some(ActorRef::stop as fn(&_)), Some(ActorRef::kill)] {
        make_a_mess(system, end).await;
    }
    assert!(events.try_next().is_some(), "the mail of those who ended");
    for name in 0..50 {
        let counter = system
            .spawn(|| Counter { sum: 0 })
            .named(format!("counter-{name}"))
            .await
            .unwrap();
        for _ in 0..100 {
            counter.tell(Add { by: 1 }).unwrap();
        }
        counter.ask(AddLater { by: 1 }).await.unwrap();
        if name % 2 == 0 {
            counter.stop();
            counter.tell(Add { by: 1 }).ok();
            counter.terminated().await;
        }
    }
    system.sleep(std::time::Duration::from_secs(1)).await;
    assert!(system.now() > began);
    drop(events);
}

#[test]
fn a_stopped_system_leaves_no_memory_behind() {
    let cycle = || {
        let env = SeededEnv::new(5);
        env.block_on(async {
            let builder = ActorSystem::builder("leak").environment(env.clone());
            let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
            live(&system).await;
            system.stop().await.unwrap();
        });
        drop(env);
        LIVE_BYTES.get()
    };
    // What a thread keeps for good (its pools, lazily made tables) is there after the first ones.
    cycle();
    let settled = cycle();
    for _ in 0..5 {
        assert_eq!(cycle(), settled, "bytes are left behind by each system");
    }
}

/// The same on tokio, where the ask runs its target on the spot.
#[test]
fn an_ask_from_a_tokio_task_allocates_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let builder = ActorSystem::builder("inline").ignore_environment();
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let counter = system.spawn(|| Counter { sum: 0 }).await.unwrap();
        // Long enough for tokio to have made the task yield, too.
        for _ in 0..1_000 {
            counter.ask(Add { by: 1 }).await.unwrap();
        }
        let before = MADE.get();
        for _ in 0..1_000 {
            counter.ask(Add { by: 1 }).await.unwrap();
        }
        assert_eq!(MADE.get() - before, 0);
        system.stop().await.unwrap();
    });
}

/// Comes and goes, after everything that leaves a record somewhere.
struct Mayfly;

#[actor]
impl Mayfly {
    fn live(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("dusk", std::time::Duration::from_secs(60), Dusk);
    }
    fn stumble(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
    #[handles]
    fn dusk(&mut self, _: Dusk) {}
}

#[derive(Message)]
struct Dusk;

struct Pond;

#[actor]
impl Pond {
    async fn hatch(&mut self, count: usize, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let supervision = volary::Supervision::new().limit(3, std::time::Duration::from_secs(10));
        let props = volary::Props::new().supervision(supervision);
        for _ in 0..count {
            let mayfly = ctx.spawn_child(|| Mayfly).props(props.clone()).await.or_fault()?;
            ctx.watch(&mayfly);
            mayfly.tell(Live).or_fault()?;
            mayfly.tell(Stumble).or_fault()?;
            mayfly.drain();
        }
        Ok(())
    }
    fn left(&mut self, ctx: &mut Context<Self>) -> usize {
        ctx.children().len()
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {}
}

#[test]
fn l10_a_million_children_come_and_go_and_memory_is_flat() {
    const AT_A_TIME: usize = 1_000;
    let env = SeededEnv::new(3);
    env.block_on(async {
        let system = ActorSystem::builder("pond")
            .ignore_environment()
            .environment(env.clone());
        let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
        let pond = system.spawn(|| Pond).await.unwrap();
        let live = || LIVE_BYTES.with(Cell::get);
        let mut before = 0;
        for round in 0..1_000_000 / AT_A_TIME {
            pond.ask(Hatch { count: AT_A_TIME }).await.unwrap();
            while pond.ask(Left).await.unwrap() > 0 {
                system.sleep(std::time::Duration::from_millis(1)).await;
            }
            if round == 10 {
                before = live(); // pools and tables have their size now
            }
        }
        let grown = live() - before;
        assert!(grown.abs() < 64 << 10, "{grown} bytes more after a million children");
        assert_eq!(system.metrics().restarts, 1_000_000);
        assert_eq!(system.metrics().timers, 0);
        system.stop().await.unwrap();
    });
}

#[derive(Clone, Message)]
struct Remind(u64);

struct Sleepyhead;

#[actor]
impl Sleepyhead {
    fn wind_up(&mut self, first: u64, count: u64, ctx: &mut Context<Self>) {
        for number in first..first + count {
            ctx.set_timer(format!("timer-{number:08}"), HOUR, Remind(number));
        }
    }
    fn wind_down(&mut self, first: u64, count: u64, ctx: &mut Context<Self>) {
        for number in first..first + count {
            assert!(ctx.cancel_timer(format!("timer-{number:08}")));
        }
    }
    #[handles]
    fn remind(&mut self, reminder: Remind) {
        unreachable!("reminder {} is an hour away", reminder.0);
    }
}

const HOUR: std::time::Duration = std::time::Duration::from_secs(60 * 60);
/// Enough of them for the last page of anything not to show.
const MANY: u64 = 100_000;

/// What `MANY` timers of some kind hold, in bytes each, and what is left when they have gone, in all.
fn bytes_held<F: Future<Output = ()>>(set: impl Fn(ActorSystem, ActorRef<Sleepyhead>) -> F) -> (i64, i64) {
    let env = SeededEnv::new(1);
    env.block_on(async {
        let builder = ActorSystem::builder("timers").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let actor = system.spawn(|| Sleepyhead).await.unwrap();
        actor.ask(WindUp { first: 0, count: 10 }).await.unwrap();
        actor.ask(WindDown { first: 0, count: 10 }).await.unwrap();
        let before = LIVE_BYTES.get();
        set(system.clone(), actor.clone()).await;
        let held = LIVE_BYTES.get() - before;
        assert_eq!(system.metrics().timers as u64, MANY);
        if system.scheduler().is_empty() {
            actor.ask(WindDown { first: 0, count: MANY }).await.unwrap();
        } else {
            for schedule in system.scheduler().list() {
                assert!(schedule.cancel());
            }
        }
        assert_eq!(system.metrics().timers, 0);
        let left = LIVE_BYTES.get() - before;
        system.stop().await.unwrap();
        (held / MANY as i64, left)
    })
}

/// A page of the wheel and one of the book are kept for the next, and what they are listed in.
const KEPT: i64 = 256 * 1024;

#[test]
fn l21_a_pending_schedule_is_a_few_hundred_bytes_and_leaves_nothing_behind() {
    let (each, left) = bytes_held(|system, actor| async move {
        for number in 0..MANY {
            system.scheduler().once(HOUR).tell(&actor, Remind(number)).unwrap();
        }
    });
    println!("{each} bytes for a pending schedule, {left} left behind by all");
    assert!(each <= 256, "{each} bytes");
    assert!(left <= KEPT, "{left} bytes");
}

#[test]
fn l21_a_timer_by_name_is_a_few_hundred_bytes_and_leaves_nothing_behind() {
    let (each, left) = bytes_held(|_, actor| async move {
        actor.ask(WindUp { first: 0, count: MANY }).await.unwrap();
    });
    println!("{each} bytes for a timer by name, {left} left behind by all");
    // Names that come in order fill half of the map; two copies of a name of fourteen bytes are in this.
    assert!(each <= 330, "{each} bytes");
    assert!(left <= KEPT, "{left} bytes");
}

/// Sessions and the like: many actors, each with a timer or two.
#[test]
fn l21_the_first_timer_of_an_actor_is_cheap_too() {
    const ACTORS: usize = 10_000;
    let env = SeededEnv::new(1);
    env.block_on(async {
        let builder = ActorSystem::builder("timers").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let mut sleepers = Vec::with_capacity(ACTORS);
        for _ in 0..ACTORS {
            sleepers.push(system.spawn(|| Sleepyhead).await.unwrap());
        }
        let mut held = LIVE_BYTES.get();
        for (timer, most) in [(0, 700), (1, 320)] {
            for sleeper in &sleepers {
                sleeper.ask(WindUp { first: timer, count: 1 }).await.unwrap();
            }
            let each = (LIVE_BYTES.get() - held) / ACTORS as i64;
            held = LIVE_BYTES.get();
            println!("{each} bytes for timer {timer} of an actor");
            assert!(each <= most, "{each} bytes");
        }
        system.stop().await.unwrap();
    });
}

/// Setting and cancelling again and again needs what one timer needs.
#[test]
fn l21_set_and_cancel_leaves_nothing_behind() {
    let env = SeededEnv::new(1);
    env.block_on(async {
        let builder = ActorSystem::builder("timers").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let actor = system.spawn(|| Sleepyhead).await.unwrap();
        let scheduler = system.scheduler();
        let mut settled = 0;
        for round in 0..10_000 {
            let once = scheduler.once(HOUR).tell(&actor, Remind(round)).unwrap();
            let every = scheduler
                .every(HOUR)
                .named("every")
                .tell(&actor, Remind(round))
                .unwrap();
            assert!(once.cancel() && every.cancel());
            drop((once, every));
            if round == 0 {
                settled = LIVE_BYTES.get();
            }
            assert_eq!(LIVE_BYTES.get(), settled, "in round {round}");
        }
        system.stop().await.unwrap();
    });
}
