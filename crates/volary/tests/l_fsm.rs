//! L30: a state machine in an actor, whose states have as much time as they say. Everything in virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ForbiddenChange, Fsm, FsmState, StateTimeout};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq)]
enum Door {
    New,
    /// Has two seconds, to see that the first state has its time.
    Shut,
    Open(Duration),
    Broken,
    /// Panics when its timeout is asked for.
    Cursed,
}

impl FsmState for Door {
    fn timeout(&self) -> Option<Duration> {
        match self {
            Door::Shut => Some(2 * SECOND),
            Door::Open(time) => Some(*time),
            Door::New | Door::Broken => None,
            Door::Cursed => panic!("cursed"),
        }
    }

    fn may_go_to(&self, next: &Self) -> bool {
        !matches!((self, next), (Door::Broken, Door::Open(_)))
    }
}

/// Two doors, and a log of the timeouts that came.
struct House {
    front: Fsm<Door>,
    back: Option<Fsm<Door>>,
    log: Log,
    began: volary::Moment,
}

#[actor]
impl House {
    fn make(system: &ActorSystem, log: &Log) -> impl Fn() -> House + Send + Sync + use<> {
        let (log, began) = (log.clone(), system.now());
        move || House {
            front: Fsm::new(Door::New),
            back: None,
            log: log.clone(),
            began,
        }
    }

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.front.start(ctx);
    }

    fn goto(&mut self, door: Door, ctx: &mut Context<Self>) -> Result<String, Fault> {
        let change = self.front.goto(door, ctx)?;
        Ok(format!("{change} after {}", change.after.as_millis()))
    }
    fn stay(&mut self, ctx: &mut Context<Self>) {
        self.front.stay(ctx);
    }
    fn look(&mut self, ctx: &mut Context<Self>) -> (Door, Duration) {
        (self.front.state().clone(), self.front.time_in_state(ctx))
    }
    fn add_back(&mut self, first: Door, ctx: &mut Context<Self>) {
        let mut back = Fsm::new(first);
        back.start(ctx);
        self.back = Some(back);
    }
    fn widen(&mut self, time: Duration) {
        *self.front.state_mut() = Door::Open(time);
    }
    fn lose_back(&mut self) {
        self.back = None;
    }
    fn names(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.timers()
    }
    async fn dawdle(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn crash(&mut self) -> u32 {
        panic!("on purpose")
    }

    #[handles]
    fn timed_out(&mut self, timeout: StateTimeout<Door>, ctx: &mut Context<Self>) {
        let at = ctx.now().since(self.began).as_millis() / 10;
        let is_back = self.back.as_ref().is_some_and(|back| back.has_timed_out(&timeout));
        let which = match (self.front.has_timed_out(&timeout), is_back) {
            (true, false) => "front",
            (false, true) => "back",
            _ => "neither",
        };
        self.log.push(format!("{which} {:?}@{at}", timeout.after()));
    }
}

async fn house(system: &ActorSystem, log: &Log) -> ActorRef<House> {
    system.spawn(House::make(system, log)).await.unwrap()
}

#[test]
fn l30_a_state_that_is_not_left_in_time_sends_one_timeout() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let door = Door::Open(100 * MS);
        assert_eq!(house.ask(Goto { door }).await.unwrap(), "New -> Open(100ms) after 0");
        system.sleep(99 * MS).await;
        assert!(log.is_empty());
        system.sleep(10 * SECOND).await;
        assert_eq!(log.all(), ["front 100ms@10"], "once");
        assert_eq!(
            house.ask(Look).await.unwrap().0,
            Door::Open(100 * MS),
            "and it is still there"
        );
        assert_eq!(house.ask(Names).await.unwrap(), Vec::<String>::new());
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_the_first_state_has_its_time_from_the_start_on() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        house.ask(AddBack { first: Door::Shut }).await.unwrap();
        system.sleep(10 * SECOND).await;
        assert_eq!(log.all(), ["back 2s@200"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_a_state_that_is_left_sends_no_timeout() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        for door in [Door::Open(100 * MS), Door::Open(200 * MS), Door::Shut, Door::Broken] {
            house.ask(Goto { door }).await.unwrap();
            system.sleep(90 * MS).await;
        }
        let timers = system.metrics().timers;
        system.sleep(10 * SECOND).await;
        assert!(log.is_empty(), "{:?}", log.all());
        assert_eq!(system.metrics().timers, timers, "nothing is left on the wheel");
        system.stop().await.unwrap();
    });
}

/// The timeout is in the mailbox already, behind a handler that waits; then the state is left.
#[test]
fn l30_a_timeout_that_waits_is_not_delivered_once_the_state_is_left() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let door = Door::Open(100 * MS);
        house.ask(Goto { door: door.clone() }).await.unwrap();
        house.tell(Dawdle { time: 90 * MS }).unwrap();
        house.tell(Dawdle { time: 90 * MS }).unwrap();
        // The same state again is another visit.
        house.tell(Goto { door }).unwrap();
        system.sleep(270 * MS).await;
        assert!(log.is_empty(), "{:?}", log.all());
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["front 100ms@28"]);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_to_stay_gives_the_state_its_time_again_and_is_no_new_visit() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let door = Door::Open(100 * MS);
        house.ask(Goto { door }).await.unwrap();
        for _ in 0..5 {
            system.sleep(80 * MS).await;
            house.ask(Stay).await.unwrap();
        }
        let (_, time) = house.ask(Look).await.unwrap();
        assert!((400 * MS..420 * MS).contains(&time), "{time:?}");
        assert!(log.is_empty());
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["front 100ms@50"]);
        let change = house.ask(Goto { door: Door::Shut }).await.unwrap();
        assert!(change.starts_with("Open(100ms) -> Shut after 14"), "{change}");
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_what_a_state_carries_may_change_without_a_new_visit() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let door = Door::Open(100 * MS);
        house.ask(Goto { door }).await.unwrap();
        system.sleep(50 * MS).await;
        house.ask(Widen { time: 900 * MS }).await.unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["front 100ms@10"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_a_forbidden_change_names_both_states_and_changes_nothing() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = system.spawn(House::make(&system, &log)).on_fault(Directive::Resume);
        let house = house.await.unwrap();
        house.ask(Goto { door: Door::Broken }).await.unwrap();
        let door = Door::Open(MS);
        let Err(AskError::Failed(fault)) = house.ask(Goto { door }).await else {
            panic!("a broken door does not open")
        };
        let forbidden = fault.find::<ForbiddenChange>().unwrap();
        assert_eq!(
            (forbidden.from.as_str(), forbidden.to.as_str()),
            ("Broken", "Open(1ms)")
        );
        assert_eq!(
            fault.to_string(),
            "the state `Broken` may not be followed by `Open(1ms)`"
        );
        assert_eq!(house.ask(Look).await.unwrap().0, Door::Broken);
        system.sleep(SECOND).await;
        assert!(log.is_empty());
        system.stop().await.unwrap();
    });
}

/// The code of a state may panic: the machine is then where it was, and its time runs on.
#[test]
fn l30_a_state_that_panics_is_not_entered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = system.spawn(House::make(&system, &log)).on_fault(Directive::Resume);
        let house = house.await.unwrap();
        house.ask(Goto { door: Door::Shut }).await.unwrap();
        assert!(house.ask(Goto { door: Door::Cursed }).await.is_err());
        assert_eq!(house.ask(Look).await.unwrap().0, Door::Shut);
        system.sleep(10 * SECOND).await;
        assert_eq!(log.all(), ["front 2s@200"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_nothing_of_the_old_machine_arrives_after_a_restart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let door = Door::Open(100 * MS);
        house.ask(Goto { door }).await.unwrap();
        house.ask(AddBack { first: Door::Shut }).await.unwrap();
        // One timeout waits behind the crash in the mailbox, the other is yet to come.
        house.tell(Dawdle { time: 150 * MS }).unwrap();
        assert!(house.ask(Crash).await.is_err());
        assert_eq!(house.ask(Look).await.unwrap().0, Door::New, "a new machine");
        system.sleep(10 * SECOND).await;
        assert!(log.is_empty(), "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_machines_with_the_same_states_do_not_disturb_each_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        let (front, back) = (Door::Open(100 * MS), Door::Open(200 * MS));
        house.ask(Goto { door: front }).await.unwrap();
        house.ask(AddBack { first: back }).await.unwrap();
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["front 100ms@10", "back 200ms@20"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l30_a_machine_that_is_gone_sends_no_timeout() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let house = house(&system, &log).await;
        house.ask(AddBack { first: Door::Shut }).await.unwrap();
        house.ask(LoseBack).await.unwrap();
        // Replaced by another, which has its own time.
        house.ask(AddBack { first: Door::Shut }).await.unwrap();
        system.sleep(SECOND).await;
        let first = Door::Open(3 * SECOND);
        house.ask(AddBack { first }).await.unwrap();
        system.sleep(10 * SECOND).await;
        assert_eq!(log.all(), ["back 3s@400"]);
        system.stop().await.unwrap();
    });
}
