//! L20: topics.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, Env, Interest, Lagged, Missed, SubscriberLagged, SubscriptionOptions, TopicInterest};

#[derive(Debug, Clone, PartialEq, volary::Message)]
struct Price(u64);

#[derive(Debug, Clone, PartialEq, volary::Message)]
struct Weather(&'static str);

struct Board {
    log: Log,
}

#[actor]
impl Board {
    #[handles]
    fn price(&mut self, price: Price) {
        self.log.push(price.0);
    }
    #[handles]
    fn missed(&mut self, missed: Missed) {
        let topic = missed.topic.as_deref().unwrap_or("an event");
        self.log.push(format!("missed {} of {topic}", missed.lost));
    }
    fn join(&mut self, topic: &'static str, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.subscribe::<Price>(topic).or_fault()
    }
    fn quit(&mut self, topic: &'static str, ctx: &mut Context<Self>) -> bool {
        ctx.unsubscribe(topic)
    }
    fn shout(&mut self, topic: &'static str, cents: u64, ctx: &mut Context<Self>) -> usize {
        ctx.publish(topic, Price(cents)).unwrap()
    }
    async fn pause(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        self.log.push("paused");
        let _ = gate.await;
    }
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
}

/// Does not want to know what it has missed.
struct Deaf {
    log: Log,
}

#[actor]
impl Deaf {
    #[handles]
    fn price(&mut self, price: Price) {
        self.log.push(price.0);
    }
    async fn hold(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
}

fn board(log: &Log) -> impl Fn() -> Board + Send + Sync + 'static {
    let log = log.clone();
    move || Board { log: log.clone() }
}

const MOMENT: Duration = Duration::from_millis(1);

fn numbers(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

#[test]
fn l20_actors_and_outsiders_publish_and_subscribe_in_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let logs: Vec<Log> = (0..5).map(|_| Log::new()).collect();
        let mut boards = Vec::new();
        for log in &logs {
            let actor = system.spawn(board(log)).await.unwrap();
            actor.ask(Join { topic: "prices" }).await.unwrap();
            actor.ask(Join { topic: "prices" }).await.unwrap(); // twice is once
            boards.push(actor);
        }
        let outside = system.topics().listen::<Price>("prices").unwrap();
        assert_eq!(system.topics().publish("prices", Price(0)).unwrap(), 6);
        for cents in 1..20 {
            let shout = Shout { topic: "prices", cents };
            assert_eq!(boards[0].ask(shout).await.unwrap(), 6);
        }
        assert_eq!(system.topics().publish("other", Price(99)).unwrap(), 0);
        system.sleep(MOMENT).await;
        for log in &logs {
            assert_eq!(log.all(), numbers(0..20));
        }
        for cents in 0..20 {
            assert_eq!(outside.next().await, Ok(Price(cents)));
        }
        assert!(outside.try_next().is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_a_slow_actor_is_told_in_its_place_how_much_it_lost() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(board(&log)).await.unwrap();
        let few = SubscriptionOptions::<Price>::new().capacity(3);
        system.topics().subscribe_with("prices", &actor, few).unwrap();
        let lagging = system.events().subscribe::<SubscriberLagged>();
        let (open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        for cents in 0..10 {
            let taken = system.topics().publish("prices", Price(cents)).unwrap();
            assert_eq!(taken, usize::from(cents < 3));
        }
        let info = &system.topics().subscribers("prices")[0];
        assert_eq!((info.waiting, info.capacity, info.lost), (3, 3, 7));
        assert_eq!(info.id, Some(actor.id()));
        assert_eq!(system.metrics().lost_events, 7);
        open.send(()).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(
            log.all(),
            ["paused", "0", "1", "2", "missed 7 of prices"],
            "without another event"
        );
        let told = lagging.try_next().unwrap().unwrap();
        assert_eq!((told.id, told.missed.lost), (actor.id(), 7));
        assert!(lagging.try_next().is_none());
        system.topics().publish("prices", Price(10)).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all().last().unwrap(), "10");
        system.stop().await.unwrap();
    });
}

/// Every message is seen or counted, and the count stands between what came before it and what came after.
#[test]
fn l20_what_is_lost_while_the_actor_reads_is_counted_exactly_and_in_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(board(&log)).await.unwrap();
        let few = SubscriptionOptions::<Price>::new().capacity(2);
        system.topics().subscribe_with("prices", &actor, few).unwrap();
        for cents in 0..60 {
            system.topics().publish("prices", Price(cents)).unwrap();
            if env.random().is_multiple_of(3) {
                system.sleep(MOMENT).await;
            }
        }
        system.sleep(MOMENT).await;
        let mut next = 0;
        for entry in log.all() {
            match entry.strip_prefix("missed ") {
                Some(rest) => next += rest.split(' ').next().unwrap().parse::<u64>().unwrap(),
                None => {
                    assert_eq!(entry, next.to_string(), "in {:?}", log.all());
                    next += 1;
                }
            }
        }
        assert_eq!(next, 60, "in {:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_an_actor_that_does_not_want_to_know_is_counted_all_the_same() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let deaf = {
            let log = log.clone();
            system.spawn(move || Deaf { log: log.clone() }).await.unwrap()
        };
        let few = SubscriptionOptions::<Price>::new().capacity(1);
        system.topics().subscribe_with("prices", &deaf, few).unwrap();
        let lagging = system.events().subscribe::<SubscriberLagged>();
        let (open, closed) = gate();
        deaf.tell(Hold { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        for cents in 0..5 {
            system.topics().publish("prices", Price(cents)).unwrap();
        }
        open.send(()).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["0"]);
        assert_eq!(lagging.try_next().unwrap().unwrap().missed.lost, 4);
        assert_eq!(system.metrics().lost_events, 4);
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_a_bounded_mailbox_bounds_what_waits_of_a_topic_and_is_not_filled_by_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(board(&log))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        system.topics().subscribe::<Price>("prices", &actor).unwrap();
        let (open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        for cents in 0..5 {
            system.topics().publish("prices", Price(cents)).unwrap();
        }
        assert_eq!(system.topics().subscribers("prices")[0].lost, 3);
        open.send(()).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["paused", "0", "1", "missed 3 of prices"]);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l20_another_type_is_an_error_that_names_both_and_gives_the_message_back() {
    let system = system().await;
    let prices = system.topics().listen::<Price>("prices").unwrap();
    let error = system.topics().publish("prices", Weather("rain")).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("`prices`") && said.contains("Price") && said.contains("Weather"),
        "{said}"
    );
    assert_eq!(error.into_message(), Weather("rain"));
    let error = system.topics().listen::<Weather>("prices").unwrap_err();
    assert!(error.carries.contains("Price") && error.given.contains("Weather"));
    assert!(prices.try_next().is_none());
    drop(prices);
    let weather = system.topics().listen::<Weather>("prices").unwrap();
    system.topics().publish("prices", Weather("sun")).unwrap();
    assert_eq!(
        weather.next().await,
        Ok(Weather("sun")),
        "a topic that has vanished has no type"
    );
    system.stop().await.unwrap();
}

#[test]
fn l20_an_actor_that_stops_leaves_and_the_last_takes_the_topic_along() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let interest = system.events().subscribe::<TopicInterest>();
        let one = system.spawn(board(&Log::new())).await.unwrap();
        let two = system.spawn(board(&Log::new())).named("two").await.unwrap();
        one.ask(Join { topic: "prices" }).await.unwrap();
        two.ask(Join { topic: "prices" }).await.unwrap();
        let topics = system.topics().list();
        assert_eq!(
            (topics.len(), topics[0].subscribers, &*topics[0].name),
            (1, 2, "prices")
        );
        one.stop();
        one.terminated().await;
        let left = system.topics().subscribers("prices");
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].path.as_ref().unwrap().to_string(), "/user/two");
        two.kill();
        two.terminated().await;
        assert!(system.topics().list().is_empty());
        let begun = interest.try_next().unwrap().unwrap();
        let ended = interest.try_next().unwrap().unwrap();
        assert_eq!((begun.interest, ended.interest), (Interest::Begun, Interest::Ended));
        assert!(begun.revision < ended.revision && &*ended.topic == "prices");
        assert!(interest.try_next().is_none());
        system.topics().subscribe::<Price>("prices", &two).unwrap();
        assert!(
            system.topics().list().is_empty(),
            "one that has ended does not come back"
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_nothing_arrives_after_an_actor_has_unsubscribed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(board(&log)).await.unwrap();
        actor.ask(Join { topic: "prices" }).await.unwrap();
        let (open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        actor.tell(Quit { topic: "prices" }).unwrap();
        system.topics().publish("prices", Price(1)).unwrap();
        open.send(()).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["paused"]);
        assert!(!actor.ask(Quit { topic: "prices" }).await.unwrap());
        assert_eq!(system.topics().publish("prices", Price(2)).unwrap(), 0);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_a_restart_keeps_the_subscription_and_what_waits() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(board(&log)).await.unwrap();
        actor.ask(Join { topic: "prices" }).await.unwrap();
        actor.tell(Crash).unwrap();
        for cents in 0..3 {
            system.topics().publish("prices", Price(cents)).unwrap();
        }
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), numbers(0..3));
        assert_eq!(system.topics().subscribers("prices").len(), 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_what_a_stopped_actor_did_not_come_to_is_one_dead_letter_each() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let actor = system.spawn(board(&Log::new())).await.unwrap();
        actor.ask(Join { topic: "prices" }).await.unwrap();
        let (_open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        for cents in 0..4 {
            system.topics().publish("prices", Price(cents)).unwrap();
        }
        actor.kill();
        actor.terminated().await;
        for cents in 0..4 {
            let letter = dead.try_next().unwrap().unwrap();
            assert_eq!(letter.take::<Price>(), Some(Price(cents)));
        }
        assert!(dead.try_next().is_none());
        system.stop().await.unwrap();
    });
}

/// Counts how many of it are alive.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Counted(alive.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone, volary::Message)]
struct Heavy(#[allow(dead_code, reason = "it is there to be counted")] Counted);

struct Stuck;

#[actor]
impl Stuck {
    async fn hang(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    #[handles]
    fn heavy(&mut self, _: Heavy) {}
}

#[tokio::test]
async fn l20_subscribers_that_never_read_hold_a_bounded_number_of_messages_between_them() {
    let system = system().await;
    let alive = Arc::new(AtomicUsize::new(0));
    let actor = system.spawn(|| Stuck).await.unwrap();
    let (open, closed) = gate();
    actor.tell(Hang { gate: closed }).unwrap();
    system.topics().subscribe::<Heavy>("heavy", &actor).unwrap();
    let unread = system.topics().listen::<Heavy>("heavy").unwrap();
    for _ in 0..10_000 {
        system.topics().publish("heavy", Heavy(Counted::new(&alive))).unwrap();
    }
    assert!(
        alive.load(Ordering::SeqCst) <= 2 * 1_024,
        "{}",
        alive.load(Ordering::SeqCst)
    );
    assert_eq!(unread.next().await.unwrap_err(), Lagged(10_000 - 1_024));
    assert_eq!(system.metrics().lost_events, 2 * (10_000 - 1_024));
    drop(unread);
    open.send(()).unwrap();
    actor.drain();
    soon("the drain", actor.terminated()).await;
    eventually_async("all are dropped", || alive.load(Ordering::SeqCst) == 0).await;
    system.stop().await.unwrap();
}

/// Publishers, subscribers that come and go and actors that stop, all at once: nothing is delivered twice or out of
/// order, and nothing is left.
#[test]
fn l20_publish_unsubscribe_and_stop_may_race() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let logs: Vec<Log> = (0..6).map(|_| Log::new()).collect();
        let mut boards = Vec::new();
        for log in &logs {
            let actor = system.spawn(board(log)).await.unwrap();
            actor.tell(Join { topic: "prices" }).unwrap();
            boards.push(actor);
        }
        let shouter = system.spawn(board(&Log::new())).await.unwrap();
        for cents in 0..12 {
            shouter.tell(Shout { topic: "prices", cents }).unwrap();
        }
        boards[0].stop();
        boards[1].tell(Quit { topic: "prices" }).unwrap();
        boards[2].kill();
        boards[3].drain();
        for cents in 12..20 {
            shouter.tell(Shout { topic: "prices", cents }).unwrap();
        }
        system.sleep(MOMENT).await;
        for log in &logs {
            let seen: Vec<u64> = log.all().iter().map(|entry| entry.parse().unwrap()).collect();
            assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
        }
        assert_eq!(system.topics().subscribers("prices").len(), 2);
        for actor in &boards {
            actor.stop();
            actor.terminated().await;
        }
        assert!(system.topics().list().is_empty());
        system.stop().await.unwrap();
    });
}

#[test]
fn l20_topics_on_threads_lose_nothing_in_silence() {
    within("topics on threads", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let logs: Vec<Log> = (0..8).map(|_| Log::new()).collect();
            let few = || SubscriptionOptions::<Price>::new().capacity(16);
            for log in &logs {
                let actor = system.spawn(board(log)).await.unwrap();
                system.topics().subscribe_with("prices", &actor, few()).unwrap();
            }
            let publishers: Vec<_> = (0..2)
                .map(|_| {
                    let topics = system.topics();
                    std::thread::spawn(move || {
                        for cents in 0..2_000 {
                            topics.publish("prices", Price(cents)).unwrap();
                        }
                    })
                })
                .collect();
            for publisher in publishers {
                publisher.join().unwrap();
            }
            let accounted = |log: &Log| {
                log.all()
                    .iter()
                    .map(|entry| match entry.strip_prefix("missed ") {
                        Some(rest) => rest.split(' ').next().unwrap().parse().unwrap(),
                        None => 1_u64,
                    })
                    .sum::<u64>()
            };
            eventually_async("every message", || logs.iter().all(|log| accounted(log) == 4_000)).await;
            system.stop().await.unwrap();
        });
    });
}
