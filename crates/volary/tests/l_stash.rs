//! L15: putting messages aside.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{SpawnError, StashFull};

/// Handles deposits only while it is open.
struct Till {
    open: bool,
    log: Log,
    sum: u64,
}

fn till(log: &Log) -> impl Fn() -> Till + Send + Sync + use<> {
    let log = log.clone();
    move || Till {
        open: false,
        log: log.clone(),
        sum: 0,
    }
}

#[derive(Message)]
#[message(reply = u64)]
struct Deposit(u64);

/// The same, with a future that waits before it puts its message aside.
#[derive(Message)]
#[message(reply = u64)]
struct SlowDeposit(u64);

/// The same, with the asker in hand.
#[derive(Message)]
#[message(reply = u64)]
struct HandDeposit(u64);

#[actor]
impl Till {
    fn open(&mut self, ctx: &mut Context<Self>) -> usize {
        self.open = true;
        ctx.unstash_all()
    }
    fn open_for_one(&mut self, ctx: &mut Context<Self>) -> bool {
        self.open = true;
        ctx.unstash()
    }
    fn aside(&mut self, ctx: &mut Context<Self>) -> usize {
        ctx.stashed()
    }
    fn crash(&mut self) -> u64 {
        panic!("on purpose")
    }
    fn note(&mut self, number: u64) {
        self.log.push(format!("note {number}"));
    }
    #[handles]
    fn deposit(&mut self, deposit: Deposit, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        if !self.open {
            return Err(ctx.stash(deposit).map_err(Fault::from)?.into());
        }
        self.sum += deposit.0;
        self.log.push(format!("deposit {}", deposit.0));
        Ok(self.sum)
    }
    #[handles]
    async fn slow_deposit(&mut self, deposit: SlowDeposit, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        ctx.sleep(Duration::from_millis(1)).await;
        if !self.open {
            return Err(ctx.stash(deposit).map_err(Fault::from)?.into());
        }
        self.sum += deposit.0;
        self.log.push(format!("slow {}", deposit.0));
        Ok(self.sum)
    }
    #[handles]
    async fn hand_deposit(
        &mut self,
        deposit: HandDeposit,
        reply: ReplyTo<u64>,
        ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        if !self.open {
            ctx.stash_with(deposit, reply)?;
            return Ok(());
        }
        self.sum += deposit.0;
        self.log.push(format!("hand {}", deposit.0));
        reply.send(self.sum);
        Ok(())
    }
}

const MS: Duration = Duration::from_millis(1);

#[test]
fn l15_what_was_put_aside_comes_back_in_order_before_the_mailbox() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let till = system.spawn(till(&log)).await.unwrap();
        for number in 0..5 {
            till.tell(Deposit(number)).unwrap();
        }
        till.tell(Open).unwrap();
        till.tell(Note { number: 1 }).unwrap();
        till.tell(Deposit(9)).unwrap();
        system.sleep(MS).await;
        let wanted = [
            "deposit 0",
            "deposit 1",
            "deposit 2",
            "deposit 3",
            "deposit 4",
            "note 1",
            "deposit 9",
        ];
        assert_eq!(log.all(), wanted);
        system.stop().await.unwrap();
    });
}

#[test]
fn l15_an_asker_waits_for_the_message_that_was_put_aside() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let till = system.spawn(till(&log)).await.unwrap();
        let first = till.ask(Deposit(1)).into_future();
        let second = till.ask(SlowDeposit(2)).into_future();
        let third = till.ask(HandDeposit(3)).into_future();
        let aside = till.ask(Aside).await.unwrap();
        assert_eq!(aside, 3);
        assert_eq!(till.ask(Open).await.unwrap(), 3);
        assert_eq!(first.await.unwrap(), 1);
        assert_eq!(second.await.unwrap(), 3);
        assert_eq!(third.await.unwrap(), 6);
        assert_eq!(log.all(), ["deposit 1", "slow 2", "hand 3"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l15_one_message_is_taken_back_at_a_time_if_that_is_wanted() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let till = system.spawn(till(&log)).await.unwrap();
        till.tell(Deposit(1)).unwrap();
        till.tell(Deposit(2)).unwrap();
        assert!(till.ask(OpenForOne).await.unwrap());
        assert_eq!(till.ask(Aside).await.unwrap(), 1);
        assert_eq!(log.all(), ["deposit 1"]);
        assert!(till.ask(OpenForOne).await.unwrap());
        assert!(!till.ask(OpenForOne).await.unwrap());
        system.stop().await.unwrap();
    });
}

#[test]
fn l15_a_full_stash_gives_the_message_back() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = system.spawn(till(&log)).stash(2).on_fault(Directive::Resume);
        let till = props.await.unwrap();
        till.tell(Deposit(1)).unwrap();
        till.tell(Deposit(2)).unwrap();
        match till.ask(Deposit(3)).await {
            Err(AskError::Failed(fault)) => assert_eq!(fault.to_string(), "the stash is full"),
            other => panic!("{other:?}"),
        }
        assert_eq!(StashFull(3).0, 3);
        assert_eq!(till.ask(Aside).await.unwrap(), 2);
        system.stop().await.unwrap();
        assert_eq!(
            system.metrics().dead_letters,
            2,
            "what was put aside ends as dead letters"
        );
    });
}

#[test]
fn l15_a_stash_without_room_is_refused_at_spawn() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let error = system.spawn(till(&Log::new())).stash(0).await.unwrap_err();
        assert!(matches!(error, SpawnError::Stash), "{error:?}");
        system.stop().await.unwrap();
    });
}

/// S10: a restart returns what was put aside to the front; the new incarnation may put it aside again.
#[test]
fn s10_stashed_mail_returns_to_the_front_on_restart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let till = system.spawn(till(&log)).await.unwrap();
        let asked = till.ask(Deposit(1)).into_future();
        till.tell(Deposit(2)).unwrap();
        assert!(till.ask(Crash).await.is_err());
        assert_eq!(
            till.ask(Aside).await.unwrap(),
            2,
            "put aside again by the new incarnation"
        );
        till.ask(Open).await.unwrap();
        assert_eq!(asked.await.unwrap(), 1);
        system.sleep(MS).await;
        assert_eq!(log.all(), ["deposit 1", "deposit 2"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l15_what_is_put_aside_ends_with_the_actor_and_its_askers_hear() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let till = system.spawn(till(&Log::new())).await.unwrap();
        let asked = till.ask(Deposit(1)).into_future();
        till.tell(Deposit(2)).unwrap();
        assert_eq!(till.ask(Aside).await.unwrap(), 2);
        till.stop();
        till.terminated().await;
        assert!(matches!(asked.await, Err(AskError::Stopped)));
        assert_eq!(system.metrics().dead_letters, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l15_an_ask_that_expired_aside_is_not_executed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let till = system.spawn(till(&log)).await.unwrap();
        let late = till.ask(Deposit(1)).timeout(10 * MS).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })), "{late:?}");
        till.ask(Open).await.unwrap();
        system.sleep(MS).await;
        assert_eq!(log.all(), Vec::<String>::new());
        system.stop().await.unwrap();
    });
}
