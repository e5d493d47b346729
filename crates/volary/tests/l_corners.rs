//! Corners of the contract where sleep, requests, escalation and shutdown meet: each was once broken.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Directive, Eviction, MailboxKind, Passivation, Props, Reentrancy, Supervision};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// A parent that resumes whatever happens, with a child that hands its faults up.
struct Boss {
    log: Log,
    child: Option<ActorRef<Kid>>,
}

struct Kid {
    boss: ActorRef<Boss>,
    count: u64,
}

#[actor]
impl Boss {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let me = ctx.me();
        let kid = ctx
            .spawn_child(move || Kid {
                boss: me.clone(),
                count: 0,
            })
            .supervision(Supervision::new().otherwise(Directive::Escalate))
            .named("kid");
        self.child = Some(kid.await.or_fault()?);
        Ok(())
    }
    fn whose(&mut self) -> ActorRef<Kid> {
        self.child.clone().unwrap()
    }
    fn poke(&mut self) {
        self.log.push("poke");
    }
    /// Something that is not finished, so that the boss is not passivated.
    fn busy(&mut self, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(HOUR);
        ctx.spawn(sleep);
    }
    fn break_kid(&mut self) {
        self.child.as_ref().unwrap().tell(Snap).unwrap();
    }
    async fn through_kid(&mut self) -> bool {
        self.child.as_ref().unwrap().ask(Work).await.is_ok()
    }
}

#[actor]
impl Kid {
    fn work(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    fn snap(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("broken"))
    }
    fn reinstate_boss_and_break(&mut self) -> Result<(), Fault> {
        self.boss.reinstate();
        Err(Fault::msg("broken"))
    }
    fn drain_boss_and_break(&mut self) -> Result<(), Fault> {
        self.boss.drain();
        Err(Fault::msg("broken"))
    }
}

async fn a_boss(system: &ActorSystem, log: &Log, passivation: Passivation) -> (ActorRef<Boss>, ActorRef<Kid>) {
    let made = log.clone();
    let boss = system
        .spawn(move || Boss {
            log: made.clone(),
            child: None,
        })
        .props(Props::new().passivation(passivation))
        .supervision(Supervision::new().otherwise(Directive::Resume))
        .await
        .unwrap();
    let kid = boss.ask(Whose).await.unwrap();
    (boss, kid)
}

/// S10: an escalated fault is the parent's to decide. Somebody reinstates the (running) parent at the same time.
#[test]
fn s10_a_reinstate_of_a_running_parent_does_not_swallow_an_escalation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_boss, kid) = a_boss(&system, &Log::new(), Passivation::never()).await;
        kid.tell(ReinstateBossAndBreak).unwrap();
        system.sleep(SECOND).await;
        assert_eq!(
            kid.ask(Work).await.ok(),
            Some(1),
            "the parent resumes, so the child goes on"
        );
        system.stop().await.unwrap();
    });
}

/// S10 with passivation: the parent has handled enough messages but has a task, so it stays; its child escalates.
#[test]
fn s10_a_passivation_that_is_put_off_does_not_swallow_an_escalation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (boss, kid) = a_boss(&system, &Log::new(), Passivation::after_messages(1)).await;
        boss.pause_passivation();
        let kid_again = boss.ask(Whose).await.unwrap();
        let _ = kid;
        boss.ask(Busy).await.unwrap();
        boss.resume_passivation();
        boss.tell(BreakKid).unwrap();
        for _ in 0..5 {
            boss.tell(Poke).unwrap();
        }
        system.sleep(SECOND).await;
        assert!(kid_again.is_alive());
        assert_eq!(
            kid_again.ask(Work).await.ok(),
            Some(1),
            "the parent resumes, so the child goes on"
        );
        system.stop().await.unwrap();
    });
}

/// Counts, crashes, sleeps.
struct Cat {
    log: Log,
    count: u64,
    hang: Arc<AtomicBool>,
}

#[derive(Message)]
struct Aside(#[allow(dead_code, reason = "it is there to be carried")] u64);

#[derive(Message, Clone)]
struct Tick;

#[actor]
impl Cat {
    fn started(&mut self) {
        self.log.push("started");
    }
    async fn stopping(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.hang.load(Ordering::SeqCst) {
            ctx.sleep(SECOND).await;
        }
        Ok(())
    }
    fn stopped(&mut self) {
        self.log.push("stopped");
    }
    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    fn fall(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("fell"))
    }
    #[handles]
    fn aside(&mut self, aside: Aside, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if self.count == 0 {
            return Err(ctx.stash(aside).map_err(Fault::from)?.into());
        }
        ctx.passivate();
        Ok(())
    }
    fn open(&mut self, ctx: &mut Context<Self>) {
        self.count += 1;
        ctx.unstash_all();
    }
    async fn naps(&mut self, times: u32, ctx: &mut Context<Self>) -> u64 {
        for _ in 0..times {
            ctx.sleep(MS).await;
        }
        self.count += 1;
        self.count
    }
    fn tick_every(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.set_interval("tick", time, Tick);
    }
    #[handles]
    fn tick(&mut self, _: Tick) {}
    fn quiet_after(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.set_receive_timeout(time);
    }
    #[handles]
    fn quiet(&mut self, _: volary::ReceiveTimeout) {}
    /// Asks somebody, and is told to go before the answer is there.
    fn ask_and_doze(&mut self, other: ActorRef<Cat>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.request(&other, Naps { times: 10 })
            .then(move |_: &mut Cat, _, _| log.push("answered"))?;
        ctx.passivate();
        Ok(())
    }
}

fn cat(log: &Log) -> impl Fn() -> Cat + Send + Sync + use<> {
    hanging_cat(log, &Arc::default())
}

fn hanging_cat(log: &Log, hang: &Arc<AtomicBool>) -> impl Fn() -> Cat + Send + Sync + use<> {
    let (log, hang) = (log.clone(), hang.clone());
    move || Cat {
        log: log.clone(),
        count: 0,
        hang: hang.clone(),
    }
}

/// L22: an idle actor is passivated, also if its time was over while supervision held it.
#[test]
fn l22_an_actor_whose_idle_time_ended_while_it_was_held_is_passivated_after_it_was_reinstated() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(cat(&log))
            .props(Props::new().passivation(Passivation::after(SECOND)))
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(actor.ask(Fall).await.is_err());
        system.sleep(10 * SECOND).await;
        actor.reinstate();
        system.sleep(HOUR).await;
        assert!(
            actor.status().asleep,
            "an hour without a message, and a second was the limit"
        );
        system.stop().await.unwrap();
    });
}

/// L22: an actor that is held cannot go, so others must, if they are idle.
#[test]
fn l22_an_eviction_does_not_count_on_an_actor_that_is_held() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(2))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::on_demand());
        let held = system
            .spawn(cat(&log))
            .props(props())
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(held.ask(Fall).await.is_err());
        let mut others = Vec::new();
        for _ in 0..3 {
            system.sleep(SECOND).await;
            others.push(system.spawn(cat(&log)).props(props()).await.unwrap());
        }
        system.sleep(SECOND).await;
        let awake = others.iter().filter(|one| !one.status().asleep).count();
        assert_eq!(awake + 1, 2, "the held one and one other are awake");
        system.stop().await.unwrap();
    });
}

/// L22: the same, and it is restarted later. From then on it is an actor like any other.
#[test]
fn l22_an_actor_that_was_restarted_instead_of_evicted_counts_again() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(1))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::on_demand());
        let held = system
            .spawn(cat(&log))
            .props(props())
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(held.ask(Fall).await.is_err());
        system.sleep(SECOND).await;
        let _second = system.spawn(cat(&log)).props(props()).await.unwrap();
        system.sleep(SECOND).await;
        held.restart();
        system.sleep(SECOND).await;
        let mut others = Vec::new();
        for _ in 0..5 {
            let other = system.spawn(cat(&log)).props(props()).await.unwrap();
            system.sleep(SECOND).await;
            other.ask(Count).await.unwrap();
            system.sleep(SECOND).await;
            others.push(other);
        }
        assert!(held.status().asleep, "it was idle longest, and one may be awake");
        system.stop().await.unwrap();
    });
}

/// L22: what has nothing to do sleeps. Here a bit says that something was taken back from the stash, and nothing is.
#[test]
fn l22_an_actor_that_goes_after_the_last_message_it_took_back_stays_asleep() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(cat(&log)).await.unwrap();
        actor.tell(Aside(1)).unwrap();
        actor.ask(Open).await.unwrap();
        system.sleep(SECOND).await;
        assert!(actor.status().asleep, "{:?}", log.all());
        assert_eq!(log.all(), ["started", "stopped"]);
        system.stop().await.unwrap();
    });
}

/// L22: `after_messages` counts messages, not the suspensions of their handlers.
#[test]
fn l22_after_messages_counts_messages_and_not_polls() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after_messages(5));
        let actor = system.spawn(cat(&log)).props(props).await.unwrap();
        for number in 1..=4 {
            let answer = actor.ask(Naps { times: 3 }).await.unwrap();
            assert_eq!(answer, number, "only {number} of five messages were handled");
            system.sleep(MS).await;
        }
        system.stop().await.unwrap();
    });
}

/// `Passivation`: "Timers end with it as well, and do not keep it awake."
#[test]
fn l22_timers_do_not_keep_an_actor_awake() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::after(10 * SECOND));
        let actor = system.spawn(cat(&log)).props(props()).await.unwrap();
        actor.ask(TickEvery { time: SECOND }).await.unwrap();
        system.sleep(HOUR / 10).await;
        assert!(actor.status().asleep, "nobody has said anything for six minutes");
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_receive_timeout_does_not_keep_an_actor_awake() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::after(10 * SECOND));
        let actor = system.spawn(cat(&log)).props(props()).await.unwrap();
        actor.ask(QuietAfter { time: SECOND }).await.unwrap();
        system.sleep(HOUR / 10).await;
        assert!(actor.status().asleep, "nobody has said anything for six minutes");
        system.stop().await.unwrap();
    });
}

/// S12: from a stop on, new messages are refused.
#[test]
fn s12_a_stop_of_an_actor_that_falls_asleep_refuses_new_messages() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, hang) = (Log::new(), Arc::new(AtomicBool::new(true)));
        let actor = system.spawn(hanging_cat(&log, &hang)).await.unwrap();
        actor.passivate();
        system.sleep(10 * MS).await;
        actor.stop();
        system.sleep(10 * MS).await;
        assert!(actor.tell(Count).is_err(), "it was told to stop ten milliseconds ago");
        actor.terminated().await;
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

/// S14: answers that are due are something to do; "told to go, an actor does not look at what waits in its mailbox",
/// and nothing is said about answers.
#[test]
fn s14_an_actor_that_is_told_to_go_has_its_answers_first() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, other_log) = (Log::new(), Log::new());
        let other = system.spawn(cat(&other_log)).await.unwrap();
        let actor = system.spawn(cat(&log)).await.unwrap();
        actor.tell(AskAndDoze { other }).unwrap();
        system.sleep(HOUR).await;
        assert!(log.has("answered"), "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

struct Blow(Bomb);

impl Message for Blow {
    type Reply = ();
    type Rejection = std::convert::Infallible;
}

struct Full;
#[actor]
impl Full {
    async fn occupy(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(HOUR).await;
    }
    #[handles]
    fn blow(&mut self, mut blow: Blow) {
        blow.0.0 = false;
    }
}

struct Holder(ActorRef<Full>);
#[actor]
impl Holder {
    fn hold(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&self.0, Blow(Bomb(true))).then(|_: &mut Holder, _, _| ())?;
        Ok(())
    }
    fn hello(&mut self) -> u64 {
        7
    }
}

/// S11, S3: a message that panics in its drop, refused by a full mailbox, in a request that holds others.
#[test]
fn l23_a_request_that_panics_while_it_is_made_does_not_hold_other_messages_for_ever() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let full = system.spawn(|| Full).mailbox(MailboxKind::Bounded(1)).await.unwrap();
        full.tell(Occupy).unwrap();
        system.sleep(MS).await;
        while full.tell(Occupy).is_ok() {}
        let whom = full.clone();
        let holder = system
            .spawn(move || Holder(whom.clone()))
            .props(Props::new().reentrancy(Reentrancy::hold_others()))
            .supervision(Supervision::new().otherwise(Directive::Resume))
            .await
            .unwrap();
        assert!(holder.ask(Hold).await.is_err());
        assert_eq!(
            holder.ask(Hello).await.ok(),
            Some(7),
            "the actor was resumed, and nothing is due"
        );
        full.kill();
        let _ = system.stop().await;
    });
}

/// A wait that is given up leaves nothing behind (S11 promises it for other waits).
#[test]
fn s13_waits_for_the_stop_of_the_system_that_are_given_up_leave_no_waker_behind() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let system = system().await;
        let bells: Vec<_> = (0..100).map(|_| Bell::new()).collect();
        for bell in &bells {
            let mut wait = Box::pin(system.stopped());
            assert!(poll_with(&mut wait, bell).is_pending());
        }
        let kept = bells.iter().filter(|bell| Arc::strong_count(bell) > 1).count();
        system.stop().await.unwrap();
        assert_eq!(kept, 0, "nobody waits any more");
    });
}

type Making = Pin<Box<dyn Future<Output = ActorRef<Slow>> + Send>>;

struct Slow(Arc<Mutex<Option<tokio::sync::oneshot::Receiver<()>>>>);
#[actor]
impl Slow {
    async fn started(&mut self) -> Result<(), Fault> {
        let gate = self.0.lock().unwrap().take();
        if let Some(gate) = gate {
            let _ = gate.await;
        }
        Ok(())
    }
}

/// An executor that polls where it is woken.
struct Inline {
    making: Mutex<Option<Making>>,
    made: AtomicUsize,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let making = self.making.lock().unwrap().take();
        let Some(mut making) = making else { return };
        match making.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(actor) => {
                let mut gone = Box::pin(actor.terminated().into_future());
                let _ = gone.as_mut().poll(&mut TaskContext::from_waker(&waker));
                self.made.fetch_add(1, Ordering::SeqCst);
            }
            Poll::Pending => *self.making.lock().unwrap() = Some(making),
        }
    }
}

/// No lock is held while somebody is woken: the spawner of an actor whose start took a while polls in its waker.
#[test]
fn s9_the_spawner_is_woken_without_a_lock() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let system = runtime.block_on(system());
    let (open, gate) = gate();
    let slot = Arc::new(Mutex::new(Some(gate)));
    let spawning = system.clone();
    let making: Making = Box::pin(async move { spawning.spawn(move || Slow(slot.clone())).await.unwrap() });
    let inline = Arc::new(Inline {
        making: Mutex::new(Some(making)),
        made: AtomicUsize::new(0),
    });
    let enter = runtime.enter();
    inline.clone().wake();
    assert_eq!(inline.made.load(Ordering::SeqCst), 0);
    open.send(()).unwrap();
    drop(enter);
    let until = std::time::Instant::now() + Duration::from_secs(5);
    while inline.made.load(Ordering::SeqCst) == 0 && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    let made = inline.made.load(Ordering::SeqCst);
    if made == 0 {
        eprintln!("the worker that woke the spawner hangs");
        std::mem::forget(system);
        std::mem::forget(runtime);
        panic!("a waker was called under the lock of the actor's links");
    }
    runtime.block_on(system.stop()).unwrap();
}

struct SlowDrop(Mutex<std::sync::mpsc::Receiver<()>>);

impl Drop for SlowDrop {
    fn drop(&mut self) {
        let _ = self.0.lock().unwrap().recv();
    }
}

/// S13: a hook that blocks its thread is named and holds up nobody; so does one that blocks where it is dropped.
#[test]
fn l27_a_hook_whose_drop_blocks_holds_up_nobody() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    let (open, blocked) = std::sync::mpsc::channel::<()>();
    let held = SlowDrop(Mutex::new(blocked));
    let hook = volary::ShutdownHook::new(volary::shutdown::INTAKE, "joins", move || {
        let _ = &held;
        async {}
    })
    .timeout(20 * MS);
    let ended = runtime.block_on(async {
        let system = builder("joins").on_shutdown(hook).start().await.unwrap();
        tokio::time::timeout(Duration::from_secs(8), system.stop())
            .await
            .is_ok()
    });
    drop(open);
    runtime.shutdown_background();
    assert!(
        ended,
        "the hook was to be cut off after 20 ms, and the stop never ended"
    );
}

/// Goes to sleep as soon as it is started, a thousand times.
struct Lazy {
    log: Log,
    other: ActorRef<Cat>,
    other_log: Log,
}
#[actor]
impl Lazy {
    fn started(&mut self, ctx: &mut Context<Self>) {
        self.log.push("started");
        match self.log.count("started") {
            2 => self.other.tell(Fall).unwrap(),
            n if n >= 1_000 => {
                self.log.push(if self.other_log.count("started") > 1 {
                    "fair"
                } else {
                    "unfair"
                });
                return;
            }
            _ => {}
        }
        ctx.passivate();
    }
    fn serve(&mut self) -> u64 {
        1
    }
}

/// S6: nobody starves. Waking up and falling asleep again is a turn without end, and uses up no budget.
#[test]
fn s6_an_actor_that_falls_asleep_whenever_it_starts_does_not_keep_its_worker() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, other_log) = (Log::new(), Log::new());
        let other = system.spawn(cat(&other_log)).await.unwrap();
        let (its_log, its_other) = (log.clone(), other_log.clone());
        let lazy = system
            .spawn(move || Lazy {
                log: its_log.clone(),
                other: other.clone(),
                other_log: its_other.clone(),
            })
            .await
            .unwrap();
        system.sleep(MS).await;
        assert!(lazy.status().asleep);
        lazy.tell(Serve).unwrap();
        system.sleep(SECOND).await;
        assert!(!log.has("unfair"), "{} incarnations in one turn", log.count("started"));
        system.stop().await.unwrap();
    });
}

struct Shut;
impl volary::Mailbox for Shut {
    fn push(&self, letter: volary::Letter) -> Result<(), volary::Letter> {
        Err(letter)
    }
    fn pop(&self) -> Option<volary::Letter> {
        None
    }
    fn len(&self) -> usize {
        0
    }
}

/// S14: a message wakes an actor; one that was refused is none.
#[test]
fn l22_a_refused_message_does_not_wake_an_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(cat(&log))
            .mailbox(MailboxKind::Custom(Arc::new(|| Box::new(Shut))))
            .await
            .unwrap();
        actor.passivate();
        system.sleep(MS).await;
        assert!(actor.status().asleep);
        assert!(actor.tell(Count).is_err());
        system.sleep(MS).await;
        assert!(actor.status().asleep, "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

/// S13: a stop from inside (a handler, a task of an actor) begins it and returns. From a hook it waits for itself.
#[test]
fn l27_a_hook_that_stops_the_system_does_not_wait_for_itself() {
    seeds(|env| async move {
        let log = Log::new();
        let system = simulated(&env).await;
        let (again, said) = (system.clone(), log.clone());
        let hook = volary::ShutdownHook::new(volary::shutdown::INTAKE, "stops", move || {
            let (again, said) = (again.clone(), said.clone());
            async move {
                let _ = again.stop().await;
                said.push("went on");
            }
        });
        system.on_shutdown(hook).unwrap();
        let stopped = system.stop().await;
        assert!(stopped.is_ok() && log.has("went on"), "{stopped:?}");
    });
}

/// S14 with stop: what is told to stop while it wakes up stops once, and nothing is lost in silence.
#[test]
fn s14_stop_drain_and_kill_race_with_sleep_and_wake_up_and_every_message_ends_once() {
    within("races", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            for round in 0..400u32 {
                let log = Log::new();
                let before = system.metrics().dead_letters;
                let actor = system.spawn(cat(&log)).await.unwrap();
                let teller = actor.clone();
                let told = tokio::spawn(async move {
                    let mut asks = Vec::new();
                    for _ in 0..20 {
                        asks.push(teller.ask(Count).into_future());
                    }
                    let mut ok = 0u64;
                    let mut stopped = 0u64;
                    for ask in asks {
                        match ask.await {
                            Ok(_) => ok += 1,
                            Err(volary::AskError::Stopped) => stopped += 1,
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    (ok, stopped)
                });
                let sleeper = actor.clone();
                let slept = tokio::spawn(async move {
                    for _ in 0..10 {
                        sleeper.passivate();
                        tokio::task::yield_now().await;
                    }
                });
                let ender = actor.clone();
                tokio::spawn(async move {
                    for _ in 0..(round % 7) {
                        tokio::task::yield_now().await;
                    }
                    match round % 3 {
                        0 => ender.stop(),
                        1 => ender.drain(),
                        _ => ender.kill(),
                    }
                })
                .await
                .unwrap();
                let (ok, stopped) = soon("asks", told).await.unwrap();
                assert_eq!(ok + stopped, 20);
                slept.await.unwrap();
                soon("the end", actor.terminated()).await;
                let _ = before;
                let (up, down) = (log.count("started"), log.count("stopped"));
                assert!(up == down, "{round}: {up} started, {down} stopped");
            }
            system.stop().await.unwrap();
        });
    });
}

struct Asker {
    log: Log,
    other: ActorRef<Cat>,
}
#[actor]
impl Asker {
    fn request(&mut self, times: u32, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.request(&self.other, Naps { times })
            .then(move |_: &mut Asker, _, _| log.push("answer"))?;
        Ok(())
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn say(&mut self, number: u32) {
        self.log.push(number);
    }
}

/// S1: answers to requests keep their place in user mail; also when the mailbox is closed by a drain.
#[test]
fn s1_an_answer_keeps_its_place_among_the_messages_of_an_actor_that_drains() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(cat(&Log::new())).await.unwrap();
        let made = log.clone();
        let asker = system
            .spawn(move || Asker {
                log: made.clone(),
                other: other.clone(),
            })
            .await
            .unwrap();
        asker.tell(Request { times: 10 }).unwrap();
        asker.tell(Nap { time: SECOND }).unwrap();
        for number in 1..=3 {
            asker.tell(Say { number }).unwrap();
        }
        system.sleep(2 * MS).await;
        asker.drain(); // the answer comes eight milliseconds later, behind the three
        asker.terminated().await;
        assert_eq!(log.all(), ["1", "2", "3", "answer"]);
        system.stop().await.unwrap();
    });
}

struct Stress {
    other: ActorRef<Echo>,
    pending: Vec<volary::PendingRequest>,
    seen: Arc<AtomicUsize>,
}
struct Echo;
#[actor]
impl Echo {
    async fn reflect(&mut self, number: u64) -> u64 {
        if number.is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
        number
    }
}
#[actor]
impl Stress {
    fn go(&mut self, number: u64, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let request = ctx.request(&self.other, Reflect { number });
        let request = if number.is_multiple_of(2) {
            request.hold_others()
        } else {
            request
        };
        let pending = request.then(move |me: &mut Stress, answer, _| {
            me.seen.fetch_add(1, Ordering::SeqCst);
            if let Ok(answer) = answer {
                reply.send(answer);
            }
        })?;
        if number.is_multiple_of(5) {
            self.pending.push(pending);
        }
        if number.is_multiple_of(97) {
            return Err(Fault::msg("now and then"));
        }
        Ok(())
    }
    fn pending(&mut self) -> Vec<volary::PendingRequest> {
        std::mem::take(&mut self.pending)
    }
}

/// S3, S7: requests that hold others, cancelled from other threads, with restarts between: every ask ends soon.
#[test]
fn l23_requests_cancels_and_restarts_on_threads_leave_nobody_waiting() {
    within("requests", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let other = system.spawn(|| Echo).await.unwrap();
            let seen = Arc::new(AtomicUsize::new(0));
            let (its_other, its_seen) = (other.clone(), seen.clone());
            let actor = system
                .spawn(move || Stress {
                    other: its_other.clone(),
                    pending: Vec::new(),
                    seen: its_seen.clone(),
                })
                .await
                .unwrap();
            let mut tasks = Vec::new();
            for lane in 0..4u64 {
                let actor = actor.clone();
                tasks.push(tokio::spawn(async move {
                    for number in 0..3_000u64 {
                        let ask = actor
                            .ask(Go {
                                number: number * 4 + lane,
                            })
                            .timeout(Duration::from_secs(5))
                            .await;
                        assert!(
                            !matches!(ask, Err(volary::AskError::Timeout { .. })),
                            "{lane} {number}: {ask:?}"
                        );
                    }
                }));
            }
            let canceller = actor.clone();
            let cancel = tokio::spawn(async move {
                for _ in 0..2_000 {
                    if let Ok(pending) = canceller.ask(Pending).await {
                        for one in pending {
                            one.cancel();
                        }
                    }
                }
            });
            for task in tasks {
                soon("the asks", task).await.unwrap();
            }
            soon("the cancels", cancel).await.unwrap();
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}

struct Parent(Log);
#[actor]
impl Parent {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.spawn_child(cat(&self.0)).named("c").await.or_fault()?;
        Ok(())
    }
    fn ping(&mut self) -> u64 {
        1
    }
}

/// S14: a parent that falls asleep and wakes up again and again, on threads, while its child and it are asked.
#[test]
fn s14_a_parent_sleeps_and_wakes_with_its_child_and_nobody_waits() {
    within("parents", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let log = Log::new();
            let made = log.clone();
            let parent = system
                .spawn(move || Parent(made.clone()))
                .named("p")
                .mailbox(MailboxKind::Bounded(4))
                .props(
                    Props::new()
                        .passivation(Passivation::after_messages(3))
                        .mailbox(MailboxKind::Bounded(4)),
                )
                .await
                .unwrap();
            let mut tasks = Vec::new();
            for _ in 0..3 {
                let parent = parent.clone();
                tasks.push(tokio::spawn(async move {
                    for _ in 0..1_000 {
                        parent.send(Ping).await.unwrap();
                    }
                }));
            }
            let (asking, sleeping) = (system.clone(), parent.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..1_000 {
                    if let Some(child) = asking.lookup::<Cat>("/user/p/c") {
                        match child.ask(Count).await {
                            Ok(_) | Err(volary::AskError::Stopped) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    sleeping.passivate();
                    tokio::task::yield_now().await;
                }
            }));
            for task in tasks {
                soon("tasks", task).await.unwrap();
            }
            assert!(parent.is_alive());
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}

struct Tasked;
#[actor]
impl Tasked {
    fn begin(&mut self, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(SECOND);
        ctx.spawn(sleep);
    }
    fn once_more(&mut self) {}
}

/// L22: an actor that has handled its number of messages, and was busy then, goes when it is not busy any more.
#[test]
fn l22_an_actor_that_had_enough_messages_goes_when_its_task_has_ended() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::after_messages(1));
        let actor = system.spawn(|| Tasked).props(props).await.unwrap();
        actor.ask(Begin).await.unwrap();
        system.sleep(HOUR).await;
        assert!(actor.status().asleep, "its task ended an hour ago");
        system.stop().await.unwrap();
    });
}

/// L22: the same after a pause.
#[test]
fn l22_an_actor_that_had_enough_messages_while_paused_goes_when_that_is_over() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::after_messages(1));
        let actor = system.spawn(|| Tasked).props(props).await.unwrap();
        actor.pause_passivation();
        actor.ask(OnceMore).await.unwrap();
        actor.ask(OnceMore).await.unwrap();
        actor.resume_passivation();
        system.sleep(HOUR).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

/// `Eviction`: "the limit can be passed for a while when all are busy". They are busy for a second.
#[test]
fn l22_a_limit_that_was_passed_while_all_were_busy_holds_when_they_are_not() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(1))
            .start()
            .await
            .unwrap();
        let props = || Props::new().passivation(Passivation::on_demand());
        let mut all = Vec::new();
        for _ in 0..5 {
            let one = system.spawn(|| Tasked).props(props()).await.unwrap();
            one.ask(Begin).await.unwrap();
            all.push(one);
        }
        system.sleep(HOUR).await;
        let awake = all.iter().filter(|one| !one.status().asleep).count();
        assert_eq!(awake, 1, "nobody has done anything for an hour");
        system.stop().await.unwrap();
    });
}

/// Does a bit of everything.
struct Mad {
    other: ActorRef<Echo>,
    opened: bool,
}

#[derive(Message)]
#[message(reply = u64)]
struct Put(u64);

#[derive(Message, Clone)]
struct Tock;

fn stand_in(_: &mut Mad, put: Put, ctx: &mut Context<Mad>) -> Result<u64, Failure> {
    ctx.unbecome_stacked::<Put>();
    Ok(put.0)
}

#[actor]
impl Mad {
    #[handles]
    fn put(&mut self, put: Put, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        match put.0 % 4 {
            0 if !self.opened => return Err(ctx.stash(put).map_err(Fault::from)?.into()),
            1 => ctx.becomes_stacked(stand_in),
            2 => ctx.set_interval("tock", MS, Tock),
            _ => {}
        }
        Ok(put.0)
    }
    #[handles]
    fn tock(&mut self, _: Tock, ctx: &mut Context<Self>) {
        self.opened = !self.opened;
        ctx.unstash_all();
    }
    fn ask_other(&mut self, number: u64, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let request = ctx.request(&self.other, Reflect { number });
        let request = if number.is_multiple_of(2) {
            request.hold_others()
        } else {
            request
        };
        request.then(move |me: &mut Mad, answer, ctx| {
            me.opened = true;
            ctx.unstash_all();
            if let Ok(answer) = answer {
                reply.send(answer);
            }
        })?;
        Ok(())
    }
    async fn wait_a_bit(&mut self, number: u64) -> u64 {
        tokio::task::yield_now().await;
        number
    }
    fn break_down(&mut self) -> Result<u64, Fault> {
        Err(Fault::msg("now and then"))
    }
    fn unlock(&mut self, ctx: &mut Context<Self>) -> usize {
        self.opened = true;
        ctx.unstash_all()
    }
}

#[test]
fn s14_a_bit_of_everything_on_threads_and_every_ask_ends_by_itself() {
    within("everything", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("mad")
                .eviction(Eviction::lfu().at_most(3))
                .start()
                .await
                .unwrap();
            let other = system.spawn(|| Echo).await.unwrap();
            let mut actors = Vec::new();
            for n in 0..6u64 {
                let other = other.clone();
                let passivation = match n % 3 {
                    0 => Passivation::after_messages(5),
                    1 => Passivation::after(MS),
                    _ => Passivation::on_demand(),
                };
                let mut props = Props::new().passivation(passivation);
                if n == 4 {
                    props = props.mailbox(MailboxKind::fair());
                }
                actors.push(
                    system
                        .spawn(move || Mad {
                            other: other.clone(),
                            opened: false,
                        })
                        .props(props)
                        .await
                        .unwrap(),
                );
            }
            let mut tasks = Vec::new();
            for lane in 0..6usize {
                let actors = actors.clone();
                tasks.push(tokio::spawn(async move {
                    let mut random = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(lane as u64 + 1);
                    for _ in 0..1_500u64 {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        let actor = actors[(random >> 8) as usize % actors.len()].clone();
                        let number = random >> 20;
                        let timeout = Duration::from_secs(6);
                        let ended = match random % 8 {
                            0 | 1 => actor.ask(AskOther { number }).timeout(timeout).await,
                            2 => actor.ask(WaitABit { number }).timeout(timeout).await,
                            3 => actor.ask(BreakDown).timeout(timeout).await,
                            4 => {
                                actor.passivate();
                                continue;
                            }
                            5 => {
                                let ask = actor.ask(Put(number)).timeout(timeout).into_future();
                                let _ = actor.tell(Unlock);
                                let waiter = actor.clone();
                                // Somebody unlocks later what was put aside by a new incarnation.
                                let ended = tokio::time::timeout(Duration::from_secs(20), async move {
                                    let mut ask = std::pin::pin!(ask);
                                    loop {
                                        match tokio::time::timeout(5 * MS, &mut ask).await {
                                            Ok(ended) => break ended,
                                            Err(_) => {
                                                let _ = waiter.tell(Unlock);
                                            }
                                        }
                                    }
                                });
                                ended.await.unwrap()
                            }
                            6 => {
                                actor.restart();
                                continue;
                            }
                            _ => {
                                let _ = actor.tell(Unlock);
                                continue;
                            }
                        };
                        assert!(
                            !matches!(ended, Err(volary::AskError::Timeout { .. })),
                            "{}: {ended:?}",
                            random % 8
                        );
                    }
                }));
            }
            for task in tasks {
                tokio::time::timeout(Duration::from_secs(25), task)
                    .await
                    .expect("never ended")
                    .unwrap();
            }
            for actor in &actors {
                assert!(actor.is_alive());
                soon("the last", actor.ask(WaitABit { number: 1 })).await.unwrap();
            }
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}

struct Ring {
    next: Option<ActorRef<Ring>>,
}
#[actor]
impl Ring {
    fn link(&mut self, next: ActorRef<Ring>) {
        self.next = Some(next);
    }
    fn round(&mut self, left: u32, reply: ReplyTo<String>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if left == 0 {
            reply.send("the end".to_owned());
            return Ok(());
        }
        let next = self.next.clone().unwrap();
        ctx.request(&next, Round { left: left - 1 })
            .then(move |_: &mut Ring, answer, _| match answer {
                Ok(answer) => reply.send(answer),
                Err(error) => reply.send(format!("{error:?}")),
            })?;
        Ok(())
    }
}

/// S3: actors that wait for each other are found. Requests that hold others wait as much as a suspended handler.
#[test]
fn l23_a_ring_of_requests_that_hold_others_is_found() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = || Props::new().reentrancy(Reentrancy::hold_others());
        let a = system.spawn(|| Ring { next: None }).props(props()).await.unwrap();
        let b = system.spawn(|| Ring { next: None }).props(props()).await.unwrap();
        a.ask(Link { next: b.clone() }).await.unwrap();
        b.ask(Link { next: a.clone() }).await.unwrap();
        let begun = system.now();
        let answer = a.ask(Round { left: 2 }).timeout(HOUR).await.unwrap();
        assert!(answer.contains("Cycle"), "{answer}");
        assert!(system.now().since(begun) < SECOND);
        system.stop().await.unwrap();
    });
}

struct Narrow {
    other: ActorRef<Echo>,
}
#[actor]
impl Narrow {
    async fn request_nap_and_doze(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        for number in [1, 2, 4] {
            ctx.request(&self.other, Reflect { number })
                .then(|_: &mut Narrow, _, _| ())?;
        }
        ctx.sleep(SECOND).await;
        ctx.passivate();
        Ok(())
    }
    fn note(&mut self) {}
}

/// S4: `send` waits for room. The room is there as soon as the actor sleeps, and nobody says so.
#[test]
fn s4_a_sender_that_waits_for_room_is_called_when_answers_of_a_sleeping_actor_are_discarded() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let other = system.spawn(|| Echo).await.unwrap();
        let actor = system
            .spawn(move || Narrow { other: other.clone() })
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        actor.tell(RequestNapAndDoze).unwrap();
        system.sleep(100 * MS).await;
        let begun = system.now();
        let sent = actor.send(Note).await;
        assert!(sent.is_ok(), "{sent:?} after {:?}", system.now().since(begun));
        assert!(
            system.now().since(begun) < 2 * SECOND,
            "{:?}",
            system.now().since(begun)
        );
        system.stop().await.unwrap();
    });
}
