//! L22, S14: where sleep, wake-up and drain meet timers, limits, hooks, children and answers.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Directive, Eviction, MailboxKind, Passivation, Props, Supervision};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

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
