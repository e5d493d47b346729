//! Five small programs with a race planted in each. The simulator must find it and tell the story; the mended program must
//! survive.
//!
//! `VOLARY_EXERCISE_SEEDS` says how many seeds the mended programs run, 1,000 unless said otherwise.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use volary::prelude::*;
use volary::{Props, Reentrancy};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check, FailedRun, Verdict, Wire};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The planted bug is found within ten thousand seeds, and its report has a timeline.
fn found<F: Future<Output = V>, V: Verdict>(scenario: impl Fn(Sim) -> F + Send + Sync) -> FailedRun {
    let failed = Check::new().seeds(10_000).run(scenario).unwrap_err();
    let report = failed.to_string();
    assert!(report.contains(&format!("VOLARY_SEED={}", failed.seed())), "{report}");
    assert!(failed.timeline().lines().count() > 3, "{report}");
    assert!(!failed.why().contains("nondeterminism"), "{report}");
    failed
}

fn survives<F: Future<Output = V>, V: Verdict>(scenario: impl Fn(Sim) -> F + Send + Sync) {
    let seeds = std::env::var("VOLARY_EXERCISE_SEEDS");
    let seeds = seeds.ok().and_then(|seeds| seeds.parse().ok());
    Check::new().seeds(seeds.unwrap_or(1_000)).run(scenario).unwrap();
}

/// One: an update is lost across a request. The stock is read before the answer comes and written after it.
mod lost_update {
    use super::*;

    struct Pricing;

    #[actor]
    impl Pricing {
        async fn price(&mut self, ctx: &mut Context<Self>) -> u64 {
            ctx.sleep(MS).await;
            7
        }
    }

    struct Shop {
        stock: u64,
        pricing: ActorRef<Pricing>,
    }

    #[actor]
    impl Shop {
        fn sell(&mut self, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
            let stock = self.stock; // read …
            ctx.request(&self.pricing, Price)
                .then(move |shop: &mut Shop, price, _| {
                    shop.stock = stock - 1; // … and written, with other sales in between
                    reply.send(price.or_fault()?);
                    Ok(())
                })?;
            Ok(())
        }
        fn stock(&mut self) -> u64 {
            self.stock
        }
    }

    pub(super) async fn run(sim: Sim, reentrancy: Reentrancy) {
        let system = sim.node("shop").start().await;
        let pricing = system.spawn(|| Pricing).named("pricing").await.unwrap();
        let shop = move || Shop {
            stock: 10,
            pricing: pricing.clone(),
        };
        let props = Props::new().reentrancy(reentrancy);
        let shop = system.spawn(shop).named("shop").props(props).await.unwrap();
        for _ in 0..2 {
            let shop = shop.clone();
            let wait = sim.sleep(Duration::from_micros(sim.random() % 2_000));
            sim.node("shop").spawn(async move {
                wait.await;
                let _ = shop.ask(Sell).await;
            });
        }
        sim.sleep(SECOND).await;
        assert_eq!(shop.ask(Stock).await.unwrap(), 8, "two were sold");
    }
}

#[test]
fn t5_finds_an_update_that_is_lost_across_a_request() {
    let failed = found(|sim| lost_update::run(sim, Reentrancy::all()));
    assert!(failed.why().contains("two were sold"), "{failed}");
    survives(|sim| lost_update::run(sim, Reentrancy::hold_others()));
}

/// Two: a question is answered twice, by the clerk and by the clock.
mod double_reply {
    use super::*;

    struct Desk {
        waiting: Option<ReplyTo<u64>>,
        answered: Arc<AtomicU64>,
        careful: bool,
    }

    #[derive(Message, Clone)]
    struct TimeIsUp;

    #[actor]
    impl Desk {
        fn question(&mut self, reply: ReplyTo<u64>, ctx: &mut Context<Self>) {
            self.waiting = Some(reply);
            ctx.set_timer("patience", 5 * MS, TimeIsUp);
        }
        fn clerk_says(&mut self, answer: u64, ctx: &mut Context<Self>) {
            if self.careful {
                ctx.cancel_timer("patience");
            }
            self.say(answer);
        }
        #[handles]
        fn time_is_up(&mut self, _: TimeIsUp) {
            self.say(0);
        }
        fn is_open(&mut self) -> bool {
            self.waiting.is_some()
        }
    }

    impl Desk {
        fn say(&mut self, answer: u64) {
            let reply = self.waiting.take();
            if self.careful && reply.is_none() {
                return;
            }
            self.answered.fetch_add(1, SeqCst);
            if let Some(reply) = reply {
                reply.send(answer);
            }
        }
    }

    pub(super) async fn run(sim: Sim, careful: bool) {
        let answered = Arc::new(AtomicU64::new(0));
        let counted = answered.clone();
        sim.invariant("one answer for one question", move || match counted.load(SeqCst) {
            0 | 1 => Ok(()),
            many => Err(format!("{many} answers")),
        });
        let system = sim.node("desk").start().await;
        let desk = system.spawn(move || Desk {
            waiting: None,
            answered: answered.clone(),
            careful,
        });
        let desk = desk.named("desk").await.unwrap();
        let clerk = desk.clone();
        let thinking = sim.sleep(Duration::from_micros(sim.random() % 8_000));
        sim.node("desk").spawn(async move {
            thinking.await;
            // Nobody bothers the clerk about a question that is answered already; but it may be, a moment later.
            if clerk.ask(IsOpen).await.unwrap_or(false) {
                let _ = clerk.tell(ClerkSays { answer: 42 });
            }
        });
        let _ = desk.ask(Question).await;
        sim.sleep(SECOND).await;
    }
}

#[test]
fn t5_finds_a_question_that_is_answered_twice() {
    let failed = found(|sim| double_reply::run(sim, false));
    assert!(failed.why().contains("one answer for one question"), "{failed}");
    survives(|sim| double_reply::run(sim, true));
}

/// Three: a message is sent to an actor that stops meanwhile, and the sender believes that it was handled.
mod stop_against_send {
    use super::*;

    struct Till {
        sum: u64,
        book: Arc<Mutex<u64>>,
    }

    #[actor]
    impl Till {
        fn stopped(&mut self) {
            *self.book.lock().unwrap() += self.sum;
        }
        fn pay(&mut self, cents: u64) -> u64 {
            self.sum += cents;
            self.sum
        }
    }

    pub(super) async fn run(sim: Sim, careful: bool) {
        let book = Arc::new(Mutex::new(0));
        let system = sim.node("till").start().await;
        let ours = book.clone();
        let till = system.spawn(move || Till {
            sum: 0,
            book: ours.clone(),
        });
        let till = till.named("till").await.unwrap();
        let closing = till.clone();
        let wait = sim.sleep(Duration::from_micros(sim.random() % 200));
        sim.node("till").spawn(async move {
            wait.await;
            if careful { closing.drain() } else { closing.stop() }
        });
        let mut paid = 0;
        for _ in 0..5 {
            if till.tell(Pay { cents: 100 }).is_ok() {
                paid += 100; // accepted is not handled
            }
            sim.sleep(Duration::from_micros(30)).await;
        }
        till.terminated().await;
        assert_eq!(*book.lock().unwrap(), paid, "what was paid is in the book");
    }
}

#[test]
fn t5_finds_a_message_that_is_lost_to_a_stop() {
    let failed = found(|sim| stop_against_send::run(sim, false));
    assert!(failed.why().contains("what was paid is in the book"), "{failed}");
    survives(|sim| stop_against_send::run(sim, true));
}

/// Four: a reminder outlives the incarnation that asked for it, because it was sent by a task outside of the actor.
mod timer_against_restart {
    use super::*;

    struct Oven {
        baking: bool,
        burnt: Arc<AtomicU64>,
        own_timer: bool,
        sim: Sim,
    }

    #[derive(Message, Clone)]
    struct Ready;

    #[actor]
    impl Oven {
        fn bake(&mut self, ctx: &mut Context<Self>) {
            self.baking = true;
            if self.own_timer {
                ctx.set_timer("ready", 2 * MS, Ready);
            } else {
                let (me, wait) = (ctx.me(), self.sim.sleep(2 * MS));
                self.sim.node("kitchen").spawn(async move {
                    wait.await;
                    let _ = me.tell(Ready);
                });
            }
        }
        fn trip(&mut self) -> Result<(), Fault> {
            Err(Fault::msg("the fuse"))
        }
        #[handles]
        fn ready(&mut self, _: Ready) {
            if !self.baking {
                self.burnt.fetch_add(1, SeqCst); // nothing was put in since the restart
            }
            self.baking = false;
        }
    }

    pub(super) async fn run(sim: Sim, own_timer: bool) {
        let burnt = Arc::new(AtomicU64::new(0));
        let (counted, here) = (burnt.clone(), sim.clone());
        let system = sim.node("kitchen").start().await;
        let oven = system.spawn(move || Oven {
            baking: false,
            burnt: counted.clone(),
            own_timer,
            sim: here.clone(),
        });
        let oven = oven.named("oven").await.unwrap();
        oven.tell(Bake).unwrap();
        sim.sleep(Duration::from_micros(sim.random() % 4_000)).await;
        oven.tell(Trip).unwrap();
        sim.sleep(SECOND).await;
        assert_eq!(burnt.load(SeqCst), 0, "a reminder for bread that is not in the oven");
    }
}

#[test]
fn t5_finds_a_timer_that_outlives_a_restart() {
    let failed = found(|sim| timer_against_restart::run(sim, false));
    assert!(failed.why().contains("a reminder for bread"), "{failed}");
    survives(|sim| timer_against_restart::run(sim, true));
}

/// Five: a transfer in two steps between two nodes loses money when the second one crashes, or the message is lost.
mod lost_money {
    use std::collections::BTreeMap;

    use super::*;

    /// What a disk would be: it survives a crash.
    #[derive(Default)]
    struct Ledger {
        balances: Mutex<BTreeMap<&'static str, i64>>,
        /// Transfers that were credited, so that they are not credited twice.
        seen: Mutex<BTreeMap<u64, i64>>,
    }

    impl Ledger {
        fn add(&self, who: &'static str, cents: i64) {
            *self.balances.lock().unwrap().entry(who).or_default() += cents;
        }
        fn total(&self) -> i64 {
            self.balances.lock().unwrap().values().sum()
        }
    }

    #[derive(Message, Clone)]
    struct Credit {
        number: u64,
        cents: i64,
    }

    #[derive(Message, Clone)]
    struct Credited(u64);

    #[derive(Message, Clone)]
    struct Again;

    struct Payer {
        ledger: Arc<Ledger>,
        wire: Wire<Credit>,
        pending: BTreeMap<u64, i64>,
        careful: bool,
    }

    #[actor]
    impl Payer {
        fn started(&mut self, ctx: &mut Context<Self>) {
            if self.careful {
                ctx.set_interval("again", 50 * MS, Again);
            }
        }
        fn transfer(&mut self, number: u64, cents: i64) {
            self.ledger.add("payer", -cents);
            self.pending.insert(number, cents);
            self.wire.tell(Credit { number, cents });
        }
        #[handles]
        fn credited(&mut self, done: Credited) {
            self.pending.remove(&done.0);
        }
        #[handles]
        fn again(&mut self, _: Again) {
            for (number, cents) in &self.pending {
                self.wire.tell(Credit {
                    number: *number,
                    cents: *cents,
                });
            }
        }
    }

    struct Payee {
        ledger: Arc<Ledger>,
        wire: Wire<Credited>,
    }

    #[actor]
    impl Payee {
        #[handles]
        fn credit(&mut self, credit: Credit) {
            let mut seen = self.ledger.seen.lock().unwrap();
            if seen.insert(credit.number, credit.cents).is_none() {
                self.ledger.add("payee", credit.cents);
            }
            self.wire.tell(Credited(credit.number));
        }
    }

    pub(super) async fn run(sim: Sim, careful: bool) {
        let ledger = Arc::new(Ledger::default());
        ledger.add("payer", 1_000);
        let (payer, payee) = (sim.node("payer"), sim.node("payee"));
        let to_payee = sim.wire::<Credit>(&payer, &payee, "/user/payee");
        let to_payer = sim.wire::<Credited>(&payee, &payer, "/user/payer");
        let ours = ledger.clone();
        payee
            .boot(move |node| {
                let (ledger, wire) = (ours.clone(), to_payer.clone());
                async move {
                    let system = node.start().await;
                    let actor = move || Payee {
                        ledger: ledger.clone(),
                        wire: wire.clone(),
                    };
                    system.spawn(actor).named("payee").await.unwrap();
                }
            })
            .await;
        let system = payer.start().await;
        let ours = ledger.clone();
        let actor = move || Payer {
            ledger: ours.clone(),
            wire: to_payee.clone(),
            pending: BTreeMap::new(),
            careful,
        };
        let actor = system.spawn(actor).named("payer").await.unwrap();
        let chaos = Chaos::within(SECOND).partitions(0..=2).one_way_cuts(0..=2);
        sim.chaos(&chaos.lasting(200 * MS));
        // Only the payee's machine dies: the payer keeps what it owes in memory.
        let (victim, here) = (payee.clone(), sim.clone());
        let (crash, down) = (sim.random() % 1_000, sim.random() % 200);
        payer.spawn(async move {
            here.sleep(Duration::from_millis(crash)).await;
            victim.crash();
            here.sleep(Duration::from_millis(down)).await;
            victim.restart().await;
        });
        for number in 0..10 {
            actor.tell(Transfer { number, cents: 10 }).unwrap();
            sim.sleep(100 * MS).await;
        }
        sim.sleep(5 * SECOND).await;
        assert_eq!(ledger.total(), 1_000, "money is conserved");
    }
}

#[test]
fn t5_finds_a_transfer_that_loses_money_on_a_crash() {
    let failed = found(|sim| lost_money::run(sim, false));
    assert!(failed.why().contains("money is conserved"), "{failed}");
    survives(|sim| lost_money::run(sim, true));
}
