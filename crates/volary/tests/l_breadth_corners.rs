//! L19 to L31: corners where routers, topics, streams, layers, baggage and telemetry meet.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use common::*;
use futures_core::Stream;
use volary::prelude::*;
use volary::routing::*;
use volary::{
    ActorFailed, Arriving, Baggage, DeadLetter, DeadReason, Departing, Handled, Interceptor, MailboxKind, Missed,
    Outcome, Passivation, Sample, SubscriptionOptions, Telemetry, TelemetrySink, Verdict,
};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, PartialEq, volary::Message)]
#[message(reply = u64)]
struct Item(u64);

#[derive(Clone, volary::Message)]
struct Nap(Duration);

/// Writes down what comes, and what came with it.
struct Reader {
    log: Log,
}

#[actor]
impl Reader {
    #[handles]
    fn item(&mut self, item: Item) -> u64 {
        let user = Baggage::current()
            .header("user")
            .map(|user| String::from_utf8_lossy(user).into_owned());
        self.log.push(match user {
            Some(user) => format!("{} for {user}", item.0),
            None => item.0.to_string(),
        });
        item.0
    }
    #[handles]
    fn missed(&mut self, missed: Missed) {
        self.log.push(format!("missed {}", missed.lost));
    }
    #[handles]
    fn failed(&mut self, failed: ActorFailed) {
        self.log.push(format!("failed {}", failed.path));
    }
    #[handles]
    async fn nap(&mut self, nap: Nap, ctx: &mut Context<Self>) {
        ctx.sleep(nap.0).await;
    }
    fn arm(&mut self, number: u64, ctx: &mut Context<Self>) {
        ctx.set_timer("item", MS, Item(number));
    }
}

fn reader(log: &Log) -> impl Fn() -> Reader + Send + Sync + Clone + 'static {
    let log = log.clone();
    move || Reader { log: log.clone() }
}

struct Listed(std::vec::IntoIter<u64>);

impl Stream for Listed {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        Poll::Ready(self.0.next())
    }
}

fn listed(numbers: impl IntoIterator<Item = u64>) -> Listed {
    Listed(numbers.into_iter().collect::<Vec<_>>().into_iter())
}

/// Counts what is sent, and refuses odd items.
#[derive(Default)]
struct Even {
    seen: AtomicU64,
}

impl Interceptor for Even {
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        match message.message().downcast_ref::<Item>() {
            None => Verdict::Pass,
            Some(item) => {
                self.seen.fetch_add(1, Ordering::SeqCst);
                if item.0 % 2 == 1 {
                    Verdict::Refuse("odd")
                } else {
                    Verdict::Pass
                }
            }
        }
    }
}

async fn calm(system: &ActorSystem) {
    system.sleep(20 * MS).await;
}

#[test]
fn l25_a_pool_larger_than_its_maximum_grows_again_beside_one_that_drains() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let elastic = Elastic::between(1, 4).every(Duration::from_secs(3_600));
        let router = system
            .router(RoundRobin, Pool::of(10, reader(&log)).elastic(elastic))
            .await
            .unwrap();
        assert_eq!(router.size(), 4);
        assert_eq!(router.broadcast(Nap(100 * MS)).sent, 4);
        assert_eq!(router.resize(3).await.unwrap(), 3);
        assert_eq!(
            router.resize(4).await.unwrap(),
            4,
            "the name of the one that drains is taken"
        );
        system.stop().await.unwrap();
    });
}

#[derive(Debug, volary::Message)]
#[message(reply = u64)]
struct Brittle;

impl Clone for Brittle {
    fn clone(&self) -> Self {
        panic!("cannot be copied")
    }
}

struct Anyone;
#[actor]
impl Anyone {
    #[handles]
    fn brittle(&mut self, _: Brittle) -> u64 {
        7
    }
}

#[test]
fn l25_an_asker_hears_at_once_of_a_copy_that_panicked_in_the_router() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let router = system.router(FanOut, Pool::of(2, || Anyone)).await.unwrap();
        let began = system.now();
        let failed = router.actor_ref().ask(Brittle).await.unwrap_err();
        assert!(
            matches!(&failed, AskError::Failed(fault) if fault.is_panic()),
            "{failed:?}"
        );
        assert!(system.now().since(began) < Duration::from_secs(1));
        assert!(router.is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_layers_see_what_is_published_to_a_topic_and_may_refuse_it() {
    seeds(|env| async move {
        let even = Arc::new(Even::default());
        let system = builder("sim")
            .environment(env.clone())
            .intercept(even.clone())
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let board = system.spawn(reader(&log)).await.unwrap();
        system.topics().subscribe::<Item>("items", &board).unwrap();
        let reached: Vec<usize> = (0..4)
            .map(|n| system.topics().publish("items", Item(n)).unwrap())
            .collect();
        calm(&system).await;
        assert_eq!(
            log.all(),
            ["0", "2"],
            "and nothing missed: it was refused, not too much"
        );
        assert_eq!(reached, [1, 0, 1, 0]);
        assert_eq!(even.seen.load(Ordering::SeqCst), 4);
        assert_eq!(system.metrics().refused, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_layers_see_the_elements_of_a_stream_and_what_they_refuse_is_a_dead_letter() {
    seeds(|env| async move {
        let even = Arc::new(Even::default());
        let system = builder("sim")
            .environment(env.clone())
            .intercept(even.clone())
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let letters = system.events().subscribe::<DeadLetter>();
        let board = system.spawn(reader(&log)).await.unwrap();
        let attached = board.attach(listed(0..10)).window(2).each(Item);
        calm(&system).await;
        assert!(attached.is_finished());
        assert_eq!(log.all(), ["0", "2", "4", "6", "8"]);
        let dead: Vec<_> = std::iter::from_fn(|| letters.try_next()).map(Result::unwrap).collect();
        assert_eq!(dead.len(), 5);
        assert!(
            dead.iter()
                .all(|letter| letter.reason() == DeadReason::Intercepted("odd"))
        );
        assert_eq!(even.seen.load(Ordering::SeqCst), 10);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_an_ask_through_a_router_that_a_layer_refuses_says_why() {
    seeds(|env| async move {
        let even = Arc::new(Even::default());
        let system = builder("sim")
            .environment(env.clone())
            .intercept(even.clone())
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let one = system.router(RoundRobin, Pool::of(3, reader(&log))).await.unwrap();
        let all = system.router(ScatterGather, Pool::of(3, reader(&log))).await.unwrap();
        let why = |answer: Result<u64, AskError<std::convert::Infallible>>| match answer {
            Err(AskError::Refused { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(one.ask(Item(1)).await), "odd");
        assert_eq!(why(one.actor_ref().ask(Item(1)).await), "odd");
        assert_eq!(why(all.ask(Item(1)).await), "odd");
        assert_eq!(why(all.actor_ref().ask(Item(1)).await), "odd");
        assert_eq!(one.ask(Item(2)).await.unwrap(), 2);
        assert_eq!(all.actor_ref().ask(Item(2)).await.unwrap(), 2);
        system.stop().await.unwrap();
    });
}

struct BrokenForFailures;
impl Interceptor for BrokenForFailures {
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        if message.type_name().contains("ActorFailed") || message.message().is::<Item>() {
            panic!("a broken layer");
        }
        Verdict::Pass
    }
}

#[test]
fn l28_a_layer_that_panics_on_the_news_of_its_panics_comes_to_rest() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .intercept(BrokenForFailures)
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let board = system.spawn(reader(&log)).await.unwrap();
        system.events().subscribe_actor::<ActorFailed>(&board.recipient());
        board.tell(Item(1)).unwrap();
        calm(&system).await;
        let faults = system.metrics().faults;
        assert!(faults <= 2, "{faults} panics of one message");
        system.stop().await.unwrap();
    });
}

/// How many messages it has let pass that are not over.
#[derive(Default)]
struct InFlight {
    now: AtomicI64,
    refused: AtomicU64,
}

impl Interceptor for InFlight {
    fn receiving(&self, _: &Arriving<'_>) -> Verdict {
        self.now.fetch_add(1, Ordering::SeqCst);
        Verdict::Pass
    }
    fn handled(&self, handled: &Handled<'_>) {
        self.now.fetch_sub(1, Ordering::SeqCst);
        if matches!(handled.outcome(), Outcome::Refused("no items")) {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct NoItems;
impl Interceptor for NoItems {
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        if message.message().is::<Item>() {
            Verdict::Refuse("no items")
        } else {
            Verdict::Pass
        }
    }
}

#[test]
fn l28_a_layer_hears_the_end_of_everything_that_it_let_pass() {
    seeds(|env| async move {
        let (everywhere, own) = (Arc::new(InFlight::default()), Arc::new(InFlight::default()));
        let system = builder("sim").environment(env.clone()).intercept(everywhere.clone());
        let system = system.start().await.unwrap();
        let log = Log::new();
        let props = Props::new()
            .intercept(own.clone())
            .intercept(NoItems)
            .intercept(own.clone());
        let actor = system.spawn(reader(&log)).props(props).await.unwrap();
        actor.ask(Item(1)).await.unwrap_err();
        actor.tell(Nap(Duration::from_secs(60))).unwrap();
        calm(&system).await;
        assert_eq!(
            (everywhere.now.load(Ordering::SeqCst), own.now.load(Ordering::SeqCst)),
            (1, 2)
        );
        actor.kill();
        actor.terminated().await;
        assert_eq!(
            (everywhere.now.load(Ordering::SeqCst), own.now.load(Ordering::SeqCst)),
            (0, 0)
        );
        let refused = (
            everywhere.refused.load(Ordering::SeqCst),
            own.refused.load(Ordering::SeqCst),
        );
        assert_eq!(refused, (1, 1));
        assert!(log.is_empty());
        system.stop().await.unwrap();
    });
}

#[derive(Clone, Default)]
struct Samples(Arc<Mutex<Vec<&'static str>>>);

impl Samples {
    fn items(&self) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|name| name.ends_with("::Item"))
            .count()
    }
}

impl TelemetrySink for Samples {
    fn sample(&self, sample: &Sample<'_>) {
        self.0.lock().unwrap().push(sample.message_type);
    }
}

#[test]
fn l29_every_way_of_a_message_is_measured() {
    seeds(|env| async move {
        let samples = Samples::default();
        let system = builder("sim")
            .environment(env.clone())
            .telemetry(Telemetry::sampled(1.0))
            .telemetry_sink(samples.clone())
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let board = system.spawn(reader(&log)).await.unwrap();
        let fair = system
            .spawn(reader(&log))
            .props(Props::new().mailbox(MailboxKind::fair()))
            .await
            .unwrap();
        let router = system.router(RoundRobin, vec![board.clone()]).await.unwrap();
        let mut expected = 0;
        let mut once = |what: &'static str| {
            expected += 1;
            (what, expected)
        };
        let check = |(what, expected): (&'static str, usize)| assert_eq!(samples.items(), expected, "{what}");

        board.tell(Item(1)).unwrap();
        calm(&system).await;
        check(once("tell"));
        fair.tell(Item(1)).unwrap();
        calm(&system).await;
        check(once("a mailbox of its own"));
        router.tell(Item(1)).unwrap();
        calm(&system).await;
        check(once("a router"));
        router.actor_ref().tell(Item(1)).unwrap();
        calm(&system).await;
        once("the hop");
        check(once("the address of a router"));
        system.topics().subscribe::<Item>("items", &board).unwrap();
        system.topics().publish("items", Item(2)).unwrap();
        calm(&system).await;
        check(once("a topic"));
        board.attach(listed([3])).each(Item);
        calm(&system).await;
        check(once("a stream"));
        board.tell(Arm { number: 4 }).unwrap();
        calm(&system).await;
        check(once("a timer"));
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_a_subscriber_that_sleeps_is_woken() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after(10 * MS));
        let board = system.spawn(reader(&log)).props(props).await.unwrap();
        system.topics().subscribe::<Item>("items", &board).unwrap();
        for n in 0..3 {
            system.sleep(100 * MS).await;
            assert!(board.status().asleep, "{:?}", board.status());
            assert_eq!(system.topics().publish("items", Item(n)).unwrap(), 1);
        }
        calm(&system).await;
        assert_eq!(log.all(), ["0", "1", "2"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_baggage_goes_through_routers_topics_and_streams_and_stays_with_its_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let board = system.spawn(reader(&log)).await.unwrap();
        let router = system.router(RoundRobin, vec![board.clone()]).await.unwrap();
        let all = system.router(ScatterGather, vec![board.clone()]).await.unwrap();
        system.topics().subscribe::<Item>("items", &board).unwrap();
        let ada = Baggage::new().with_header("user", "ada").unwrap();
        ada.in_scope(|| {
            router.tell(Item(1)).unwrap();
            system.topics().publish("items", Item(2)).unwrap();
        });
        system.topics().publish("items", Item(3)).unwrap();
        calm(&system).await;
        ada.clone().around(async { router.ask(Item(4)).await.unwrap() }).await;
        ada.clone()
            .around(async { router.actor_ref().ask(Item(5)).await.unwrap() })
            .await;
        ada.clone()
            .around(async { all.actor_ref().ask(Item(6)).await.unwrap() })
            .await;
        router.ask(Item(7)).await.unwrap();
        let expected = [
            "1 for ada",
            "2 for ada",
            "3",
            "4 for ada",
            "5 for ada",
            "6 for ada",
            "7",
        ];
        assert_eq!(log.all(), expected);
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_a_loss_with_nothing_in_the_mailbox_is_told_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let board = system.spawn(reader(&log)).await.unwrap();
        let picky = SubscriptionOptions::new().filter(|item: &Item| {
            assert!(item.0 != 1, "on purpose");
            true
        });
        system.topics().subscribe_with("items", &board, picky).unwrap();
        system.topics().publish("items", Item(1)).unwrap();
        calm(&system).await;
        assert_eq!(log.all(), ["missed 1"]);
        // Told while nobody reads, it is one notice and not as many as were lost.
        board.tell(Nap(5 * MS)).unwrap();
        system.sleep(MS).await;
        for _ in 0..100 {
            system.topics().publish("items", Item(1)).unwrap();
        }
        let waiting = board.mailbox_len();
        assert!(waiting <= 1, "{waiting} wait");
        system.topics().publish("items", Item(2)).unwrap();
        calm(&system).await;
        assert_eq!(log.all(), ["missed 1", "missed 1", "missed 99", "2"]);
        system.stop().await.unwrap();
    });
}
