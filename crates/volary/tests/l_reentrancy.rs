//! L23: requests whose answers are handled in turns of their own.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    ActorRestarted, AskError, DeadLetter, DeadReason, MailboxKind, PendingRequest, Props, Recipient, Reentrancy,
    SpawnError,
};

const MS: Duration = Duration::from_millis(1);

/// Answers after a while.
struct Market;

#[derive(Message, Clone, Debug, PartialEq)]
#[message(reply = u64)]
struct Price {
    of: u64,
    after: Duration,
}

#[actor]
impl Market {
    #[handles]
    async fn price(&mut self, price: Price, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        if !price.after.is_zero() {
            ctx.sleep(price.after).await;
        }
        Ok(price.of * 10)
    }
    async fn back(&mut self, shop: ActorRef<Shop>) -> u64 {
        shop.ask(Count).await.map_or(0, |count| count as u64)
    }
}

struct Shop {
    market: Recipient<Price>,
    log: Log,
    sum: u64,
    pending: Arc<Mutex<Vec<PendingRequest>>>,
}

type Pending = Arc<Mutex<Vec<PendingRequest>>>;

fn shop(market: &ActorRef<Market>, log: &Log, pending: &Pending) -> impl Fn() -> Shop + Send + Sync + use<> {
    let (market, log, pending) = (market.recipient(), log.clone(), pending.clone());
    move || Shop {
        market: market.clone(),
        log: log.clone(),
        sum: 0,
        pending: pending.clone(),
    }
}

#[derive(Message, Clone, Copy)]
#[message(reply = u64)]
struct Sell {
    of: u64,
    after: Duration,
}

#[actor]
impl Shop {
    #[handles]
    async fn sell(&mut self, sell: Sell, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let Sell { of, after } = sell;
        self.log.push(format!("sell {of}"));
        let pending = ctx
            .request(&self.market, Price { of, after })
            .then(move |shop: &mut Shop, price, ctx| {
                let price = price.or_fault()?;
                shop.sum += price;
                shop.log.push(format!("sold {of} {:?}", ctx.sender().is_some()));
                reply.send(shop.sum);
                Ok(())
            })?;
        self.pending.lock().unwrap().push(pending);
        Ok(())
    }
    fn note(&mut self, number: u64) {
        self.log.push(format!("note {number}"));
    }
    fn count(&mut self) -> usize {
        self.log.len()
    }
    fn due(&mut self, ctx: &mut Context<Self>) -> usize {
        ctx.requests()
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        self.log.push("nap");
        ctx.sleep(time).await;
        self.log.push("awake");
    }
    /// Sells twice, the second time in the continuation of the first.
    fn twice(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let price = Price { of: 1, after: MS };
        let again = price.clone();
        ctx.request(&self.market, price).then(move |shop: &mut Shop, _, ctx| {
            shop.log.push("first");
            ctx.request(&shop.market, again)
                .then(|shop: &mut Shop, _, _| shop.log.push("second"))?;
            Ok(())
        })?;
        Ok(())
    }
    fn hurry(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let price = Price { of: 1, after: 100 * MS };
        ctx.request(&self.market, price)
            .timeout(MS)
            .then(|shop: &mut Shop, answer, _| shop.log.push(format!("{answer:?}")))?;
        Ok(())
    }
    fn break_later(&mut self, how: u32, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&self.market, Price { of: 1, after: MS })
            .then(move |_: &mut Shop, _, _| {
                let _reply = reply;
                match how {
                    0 => Err(Fault::new(Broken(7))),
                    _ => panic!("on purpose"),
                }
            })?;
        Ok(())
    }
    fn ring(&mut self, market: ActorRef<Market>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let shop = ctx.me();
        ctx.request(&market, Back { shop })
            .then(|shop: &mut Shop, answer, _| shop.log.push(format!("ring {:?}", answer.is_ok())))?;
        Ok(())
    }
    fn probe(&mut self, ctx: &mut Context<Self>) -> Result<String, Fault> {
        let price = Price {
            of: 3,
            after: Duration::ZERO,
        };
        let refused = ctx.request(&self.market, price.clone()).then(|_: &mut Shop, _, _| ());
        Ok(match refused {
            Ok(_) => "taken".to_owned(),
            Err(error) => {
                let text = error.to_string();
                assert_eq!(error.into_message(), price);
                text
            }
        })
    }
    fn crash(&mut self) {
        panic!("on purpose")
    }
}

async fn market_and_shop(system: &ActorSystem, props: Props) -> (ActorRef<Market>, ActorRef<Shop>, Log, Pending) {
    let market = system.spawn(|| Market).await.unwrap();
    let (log, pending) = (Log::new(), Pending::default());
    let shop = system.spawn(shop(&market, &log, &pending)).props(props).await.unwrap();
    (market, shop, log, pending)
}

#[test]
fn l23_other_messages_are_handled_while_an_answer_is_due() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_, shop, log, _) = market_and_shop(&system, Props::new()).await;
        shop.tell(Sell { of: 1, after: MS }).unwrap();
        shop.ask(Note { number: 1 }).await.unwrap();
        assert_eq!(shop.ask(Due).await.unwrap(), 1);
        assert!(!log.has("sold 1 false"));
        system.sleep(10 * MS).await;
        assert_eq!(log.all(), ["sell 1", "note 1", "sold 1 false"]);
        assert_eq!(shop.ask(Due).await.unwrap(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l23_an_answer_keeps_its_place_among_the_messages() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_, shop, log, _) = market_and_shop(&system, Props::new()).await;
        // The market answers within the handler of the shop, before the notes; or after it, behind them.
        shop.tell(Sell {
            of: 1,
            after: Duration::ZERO,
        })
        .unwrap();
        shop.tell(Note { number: 1 }).unwrap();
        shop.tell(Note { number: 2 }).unwrap();
        system.sleep(MS).await;
        let order = log.all();
        assert_eq!(order[0], "sell 1", "never within the handler that asked: {order:?}");
        assert_eq!(order.len(), 4);
        assert!(log.position("note 1") < log.position("note 2"));

        // One that is answered while the shop naps comes after what was in the mailbox then.
        shop.tell(Sell { of: 2, after: MS }).unwrap();
        shop.tell(Nap { time: 5 * MS }).unwrap();
        shop.tell(Note { number: 3 }).unwrap();
        system.sleep(20 * MS).await;
        assert_eq!(log.all()[4..], ["sell 2", "nap", "awake", "note 3", "sold 2 false"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l23_others_wait_when_the_actor_holds_them_and_continuations_run() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().reentrancy(Reentrancy::hold_others());
        let (_, shop, log, _) = market_and_shop(&system, props).await;
        shop.tell(Twice).unwrap();
        shop.tell(Note { number: 1 }).unwrap();
        system.sleep(MS / 2).await;
        assert!(log.is_empty(), "{:?}", log.all());
        shop.tell(Note { number: 2 }).unwrap();
        system.sleep(10 * MS).await;
        assert_eq!(log.all(), ["first", "second", "note 1", "note 2"]);
        assert_eq!(shop.ask(Count).await.unwrap(), 4);
        system.stop().await.unwrap();
    });
}

#[test]
fn l23_requests_are_refused_with_the_message_when_off_or_too_many() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_, off, ..) = market_and_shop(&system, Props::new().reentrancy(Reentrancy::off())).await;
        assert_eq!(
            off.ask(Probe).await.unwrap(),
            "the actor was started with `Reentrancy::off`"
        );
        let (_, few, ..) = market_and_shop(&system, Props::new().reentrancy(Reentrancy::all().at_most(2))).await;
        for of in 0..2 {
            few.tell(Sell { of, after: MS }).unwrap();
        }
        assert_eq!(
            few.ask(Probe).await.unwrap(),
            "2 requests are in flight, which is all that the actor may have"
        );
        system.sleep(10 * MS).await;
        assert_eq!(few.ask(Probe).await.unwrap(), "taken");
        let none = system.spawn(|| Market).reentrancy(Reentrancy::all().at_most(0)).await;
        let error = none.unwrap_err();
        assert!(matches!(error, SpawnError::Option { .. }));
        assert_eq!(
            error.to_string(),
            "`reentrancy at_most` cannot be 0: 1 to 16,777,216 requests"
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l23_a_cancelled_request_never_continues_and_holds_nobody() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().reentrancy(Reentrancy::hold_others());
        let (_, shop, log, pending) = market_and_shop(&system, props).await;
        shop.tell(Sell { of: 1, after: 10 * MS }).unwrap();
        shop.tell(Note { number: 1 }).unwrap();
        system.sleep(MS).await;
        assert_eq!(log.all(), ["sell 1"]);
        {
            let pending = pending.lock().unwrap();
            assert!(pending[0].is_pending());
            assert!(pending[0].cancel());
            assert!(!pending[0].is_pending());
            assert!(!pending[0].cancel());
        }
        system.sleep(50 * MS).await;
        assert_eq!(log.all(), ["sell 1", "note 1"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_a_restart_cancels_requests_and_their_askers_hear_of_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let restarts = system.events().subscribe::<ActorRestarted>();
        let dead = system.events().subscribe::<DeadLetter>();
        let (market, shop, log, pending) = market_and_shop(&system, Props::new()).await;
        let sold = system.spawn(asker(&shop, &log)).await.unwrap();
        market.tell(Price { of: 0, after: 5 * MS }).unwrap(); // keeps it busy
        sold.tell(Go).unwrap();
        system.sleep(MS).await;
        assert_eq!(log.all(), ["sell 9"]);
        shop.tell(Crash).unwrap();
        system.sleep(50 * MS).await;
        assert_eq!(log.all(), ["sell 9", "Err(Stopped)"]);
        assert!(restarts.try_next().is_some());
        assert!(!pending.lock().unwrap()[0].is_pending());
        assert_eq!(
            dead.try_next().unwrap().unwrap().reason(),
            DeadReason::Abandoned,
            "the ask was cancelled"
        );
        system.stop().await.unwrap();
    });
}

struct Asker(ActorRef<Shop>, Log);

#[actor]
impl Asker {
    async fn go(&mut self) {
        let answer = self.0.ask(Sell { of: 9, after: MS }).await;
        self.1.push(format!("{answer:?}"));
    }
}

fn asker(shop: &ActorRef<Shop>, log: &Log) -> impl Fn() -> Asker + Send + Sync + use<> {
    let (shop, log) = (shop.clone(), log.clone());
    move || Asker(shop.clone(), log.clone())
}

#[test]
fn l23_a_request_ends_at_its_deadline_or_with_its_target() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (market, shop, log, _) = market_and_shop(&system, Props::new().on_fault(Directive::Resume)).await;
        shop.ask(Hurry).await.unwrap();
        system.sleep(10 * MS).await;
        assert_eq!(log.all(), ["Err(Timeout { after: 1ms })"]);
        market.kill();
        market.terminated().await;
        let answer = shop.ask(Sell { of: 1, after: MS }).await;
        assert!(matches!(answer, Err(AskError::NoReply)), "{answer:?}");
        assert_eq!(system.metrics().faults, 1, "the continuation crashed on `Stopped`");
        system.stop().await.unwrap();
    });
}

#[test]
fn l23_a_ring_of_requests_is_none_unless_others_are_held() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (market, shop, log, _) = market_and_shop(&system, Props::new()).await;
        shop.ask(Ring { market }).await.unwrap();
        system.sleep(MS).await;
        assert_eq!(log.all(), ["ring true"]);

        let props = Props::new().reentrancy(Reentrancy::hold_others());
        let (market, shop, log, _) = market_and_shop(&system, props).await;
        shop.tell(Ring { market }).unwrap();
        let before = system.now();
        while log.is_empty() {
            system.sleep(MS).await;
        }
        assert!(
            system.now().since(before) < 100 * MS,
            "found as a ring, not by the deadline"
        );
        assert_eq!(system.metrics().faults, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_drain_waits_for_answers_and_stop_does_not() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for hold in [false, true] {
            let mode = if hold {
                Reentrancy::hold_others()
            } else {
                Reentrancy::all()
            };
            let (_, shop, log, _) = market_and_shop(&system, Props::new().reentrancy(mode)).await;
            shop.tell(Sell { of: 1, after: MS }).unwrap();
            shop.tell(Sell { of: 2, after: MS }).unwrap();
            shop.drain();
            shop.terminated().await;
            assert_eq!(
                log.count("sold 1 false") + log.count("sold 2 false"),
                2,
                "{:?}",
                log.all()
            );
        }
        let (_, shop, log, _) = market_and_shop(&system, Props::new()).await;
        shop.tell(Sell { of: 1, after: MS }).unwrap();
        shop.ask(Count).await.unwrap();
        shop.stop();
        shop.terminated().await;
        system.sleep(10 * MS).await;
        assert_eq!(log.all(), ["sell 1"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn s11_a_fault_in_a_continuation_is_a_crash_like_any_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_, shop, ..) = market_and_shop(&system, Props::new()).await;
        let answer = shop.ask(BreakLater { how: 1 }).await;
        assert!(matches!(answer, Err(AskError::Failed(_))), "{answer:?}");
        let answer = shop.ask(BreakLater { how: 0 }).await;
        assert!(matches!(answer, Err(AskError::NoReply)), "{answer:?}");
        assert_eq!(shop.ask(Sell { of: 1, after: MS }).await.unwrap(), 10);
        assert_eq!(system.metrics().faults, 2);
        assert_eq!(system.metrics().restarts, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn s1_no_bound_applies_to_answers() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().mailbox(MailboxKind::BoundedRefusing(1));
        let (_, shop, log, _) = market_and_shop(&system, props).await;
        shop.tell(Sell { of: 1, after: 3 * MS }).unwrap();
        system.sleep(MS / 10).await;
        shop.ask(Nap { time: 5 * MS }).timeout(MS).await.unwrap_err();
        shop.tell(Note { number: 1 }).unwrap();
        assert!(shop.tell(Note { number: 2 }).is_err(), "full");
        system.sleep(10 * MS).await;
        assert_eq!(log.all()[1..], ["nap", "awake", "note 1", "sold 1 false"]);
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l23_every_request_continues_exactly_once_on_real_threads() {
    const REQUESTS: u64 = 20_000;
    for hold in [false, true] {
        let mode = if hold {
            Reentrancy::hold_others()
        } else {
            Reentrancy::all()
        };
        let system = system().await;
        let props = Props::new().reentrancy(mode.at_most(100_000));
        let (_, shop, log, _) = market_and_shop(&system, props).await;
        for of in 0..REQUESTS {
            shop.tell(Sell {
                of,
                after: Duration::ZERO,
            })
            .unwrap();
        }
        soon("all answers", async {
            while shop.ask(Due).await.unwrap() > 0 || log.len() < 2 * REQUESTS as usize {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(
            log.all().iter().filter(|entry| entry.starts_with("sold")).count() as u64,
            REQUESTS
        );
        system.stop().await.unwrap();
    }
}
