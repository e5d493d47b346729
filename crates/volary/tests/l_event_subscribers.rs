//! L19: who subscribes to events, how much waits for them, and what their own code may do.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use futures_core::Stream;
use volary::prelude::*;
use volary::{Lagged, Missed, SubscriptionOptions};

const MOMENT: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, PartialEq, volary::Message)]
struct Price(u64);

struct Listener {
    log: Log,
}

#[actor]
impl Listener {
    #[handles]
    fn price(&mut self, price: Price) {
        self.log.push(price.0);
    }
    #[handles]
    fn trap(&mut self, trap: Trap) {
        self.log.push(format!("trap {}", trap.number));
    }
    #[handles]
    fn missed(&mut self, missed: Missed) {
        assert!(missed.topic.is_none());
        self.log.push(format!("missed {}", missed.lost));
    }
    fn tune_in(&mut self, ctx: &mut Context<Self>) {
        ctx.subscribe_event::<Price>();
    }
    fn tune_out(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.unsubscribe_event::<Price>()
    }
    async fn pause(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
}

fn listener(log: &Log) -> impl Fn() -> Listener + Send + Sync + 'static {
    let log = log.clone();
    move || Listener { log: log.clone() }
}

#[tokio::test]
async fn l19_a_subscription_of_its_own_capacity_tells_its_losses_in_order() {
    let system = system().await;
    let three = system
        .events()
        .subscribe_with(SubscriptionOptions::<Price>::new().capacity(3));
    let usual = system.events().subscribe::<Price>();
    for n in 0..5 {
        system.events().publish(Price(n));
    }
    assert_eq!((three.waiting(), three.lost()), (3, 2));
    assert_eq!(three.next().await, Err(Lagged(2)));
    assert_eq!(three.next().await, Ok(Price(2)));
    for n in 5..8 {
        system.events().publish(Price(n));
    }
    assert_eq!(
        three.next().await,
        Err(Lagged(2)),
        "3 and 4, since the last word about it"
    );
    for n in 5..8 {
        assert_eq!(three.next().await, Ok(Price(n)));
    }
    assert!(three.try_next().is_none());
    assert_eq!((usual.waiting(), usual.lost()), (8, 0), "others lose nothing");
    assert_eq!(system.metrics().lost_events, 4);
    system.stop().await.unwrap();
}

#[test]
fn l19_filters_choose_for_readers_and_actors_and_what_they_leave_out_is_no_loss() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let even = || SubscriptionOptions::new().filter(|price: &Price| price.0.is_multiple_of(2));
        let reader = system.events().subscribe_with(even());
        let actor = system.spawn(listener(&log)).await.unwrap();
        system.events().subscribe_actor_with(&actor.recipient(), even());
        for n in 0..10 {
            system.events().publish(Price(n));
        }
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["0", "2", "4", "6", "8"]);
        assert_eq!(reader.waiting(), 5);
        assert_eq!(system.metrics().lost_events, 0);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l19_a_subscription_is_a_stream() {
    let system = system().await;
    let mut prices = system.events().subscribe::<Price>();
    system.events().publish(Price(1));
    let next = poll_fn(|task| Pin::new(&mut prices).poll_next(task)).await;
    assert_eq!(next, Some(Ok(Price(1))));
    let events = system.clone();
    let waiting = tokio::spawn(async move { poll_fn(|task| Pin::new(&mut prices).poll_next(task)).await });
    tokio::task::yield_now().await;
    events.events().publish(Price(2));
    assert_eq!(soon("the event", waiting).await.unwrap(), Some(Ok(Price(2))));
    system.stop().await.unwrap();
}

#[test]
fn l19_actors_subscribe_and_unsubscribe_themselves_and_are_listed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(listener(&log)).named("listener").await.unwrap();
        actor.ask(TuneIn).await.unwrap();
        let reader = system.events().subscribe::<Price>();
        system.events().publish(Price(1));
        let subscribers = system.events().subscribers::<Price>();
        assert_eq!(subscribers.len(), 2);
        assert_eq!(subscribers[0].path.as_ref().unwrap().to_string(), "/user/listener");
        assert_eq!((subscribers[1].path.clone(), subscribers[1].waiting), (None, 1));
        assert!(actor.ask(TuneOut).await.unwrap());
        assert!(!actor.ask(TuneOut).await.unwrap());
        system.events().publish(Price(2));
        system.sleep(MOMENT).await;
        assert!(!log.has("2"));
        assert_eq!(system.events().subscribers::<Price>().len(), 1);
        drop(reader);
        assert!(system.events().subscribers::<Price>().is_empty());
        system.stop().await.unwrap();
    });
}

#[test]
fn l19_an_actor_with_an_unbounded_mailbox_has_a_bounded_number_of_events_before_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(listener(&log)).await.unwrap();
        system.events().subscribe_actor::<Price>(&actor.recipient());
        let (open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        system.sleep(MOMENT).await;
        for n in 0..2_000 {
            system.events().publish(Price(n));
        }
        assert_eq!(actor.mailbox_len(), 1_024);
        open.send(()).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.len(), 1_025);
        assert_eq!(log.all().last().unwrap(), "missed 976");
        system.stop().await.unwrap();
    });
}

#[test]
fn l19_a_stopped_actor_is_forgotten_without_another_event() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(listener(&Log::new())).await.unwrap();
        system.events().subscribe_actor::<Price>(&actor.recipient());
        actor.stop();
        actor.terminated().await;
        assert!(system.events().subscribers::<Price>().is_empty());
        system.events().subscribe_actor::<Price>(&actor.recipient());
        assert!(system.events().subscribers::<Price>().is_empty(), "too late");
        system.stop().await.unwrap();
    });
}

/// Panics where it is told to, for the subscriber whose turn it is.
#[derive(Debug, volary::Message)]
struct Trap {
    number: u64,
    clones: Arc<AtomicUsize>,
    /// At which clone.
    panics_at: usize,
    panics_in_drop: bool,
}

impl Trap {
    fn harmless(number: u64) -> Self {
        Trap {
            number,
            clones: Arc::default(),
            panics_at: usize::MAX,
            panics_in_drop: false,
        }
    }
    fn at_clone(panics_at: usize, number: u64) -> Self {
        let mut trap = Trap::harmless(number);
        trap.panics_at = panics_at;
        trap
    }
    fn in_drop() -> Self {
        let mut trap = Trap::harmless(0);
        trap.panics_in_drop = true;
        trap
    }
}

impl Clone for Trap {
    fn clone(&self) -> Self {
        let clones = self.clones.fetch_add(1, Ordering::SeqCst) + 1;
        assert_ne!(clones, self.panics_at, "a trap, as told");
        Trap {
            number: self.number,
            clones: self.clones.clone(),
            panics_at: self.panics_at,
            panics_in_drop: false,
        }
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        assert!(!self.panics_in_drop, "a trap in drop, as told");
    }
}

#[test]
fn l19_a_panic_in_clone_harms_the_delivery_to_one_actor_only() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let logs: Vec<Log> = (0..3).map(|_| Log::new()).collect();
        for log in &logs {
            let actor = system.spawn(listener(log)).await.unwrap();
            system.events().subscribe_actor::<Trap>(&actor.recipient());
        }
        let keeps_one = system.events().subscribe::<Trap>(); // so that each actor has to clone
        system.events().publish(Trap::at_clone(2, 1));
        system.events().publish(Trap::harmless(2));
        system.sleep(MOMENT).await;
        let got = |number: u64| logs.iter().filter(|log| log.has(&format!("trap {number}"))).count();
        assert_eq!((got(1), got(2)), (2, 3));
        assert_eq!((system.metrics().faults, system.metrics().lost_events), (1, 1));
        assert_eq!(system.metrics().restarts, 0, "it is not the actor that failed");
        drop(keeps_one);
        system.stop().await.unwrap();
    });
}

/// Small and plain, so that it is copied to each subscriber by whoever publishes.
#[derive(Debug)]
struct Tiny(&'static AtomicUsize);

impl Clone for Tiny {
    fn clone(&self) -> Self {
        assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), 1, "the second clone, as told");
        Tiny(self.0)
    }
}

#[tokio::test]
async fn l19_a_panic_in_clone_of_a_small_event_is_one_subscribers_loss_too() {
    static CLONES: AtomicUsize = AtomicUsize::new(0);
    let system = system().await;
    let readers: Vec<_> = (0..3).map(|_| system.events().subscribe::<Tiny>()).collect();
    system.events().publish(Tiny(&CLONES));
    assert_eq!(
        readers.iter().map(|reader| reader.lost()).collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert_eq!(readers[1].next().await.unwrap_err(), Lagged(1));
    assert!(readers[2].next().await.is_ok());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l19_a_panic_in_clone_is_a_loss_to_the_reader_whose_clone_it_was() {
    let system = system().await;
    let (one, two) = (system.events().subscribe::<Trap>(), system.events().subscribe::<Trap>());
    system.events().publish(Trap::at_clone(1, 1));
    assert_eq!(one.next().await.unwrap_err(), Lagged(1));
    assert_eq!(two.next().await.unwrap().number, 1);
    assert_eq!((one.lost(), two.lost()), (1, 0));
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l19_a_panic_in_the_drop_of_an_event_reaches_neither_publisher_nor_others() {
    let system = system().await;
    let one = system
        .events()
        .subscribe_with(SubscriptionOptions::<Trap>::new().capacity(1));
    let two = system
        .events()
        .subscribe_with(SubscriptionOptions::<Trap>::new().capacity(1));
    system.events().publish(Trap::in_drop()); // evicted from both queues by the next
    system.events().publish(Trap::harmless(1));
    for subscription in [&one, &two] {
        assert_eq!(subscription.next().await.unwrap_err(), Lagged(1));
        assert_eq!(subscription.next().await.unwrap().number, 1);
    }
    system.events().publish(Trap::in_drop());
    drop(one);
    drop(two);
    system.events().publish(Trap::in_drop()); // nobody takes it
    system.stop().await.unwrap();
}

#[test]
fn l19_a_filter_that_panics_costs_its_own_subscriber_that_event() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let touchy = || {
            SubscriptionOptions::new().filter(|price: &Price| {
                assert_ne!(price.0, 1, "a filter, as told");
                true
            })
        };
        let reader = system.events().subscribe_with(touchy());
        let other = system.events().subscribe::<Price>();
        let actor = system.spawn(listener(&log)).await.unwrap();
        system.events().subscribe_actor_with(&actor.recipient(), touchy());
        for n in 0..3 {
            system.events().publish(Price(n));
        }
        system.sleep(MOMENT).await;
        assert_eq!(reader.lost(), 1);
        assert_eq!(reader.next().await, Err(Lagged(1)));
        assert_eq!(reader.next().await, Ok(Price(0)));
        assert_eq!(reader.next().await, Ok(Price(2)));
        assert_eq!(other.waiting(), 3);
        let all = log.all();
        assert_eq!(all.iter().filter(|entry| *entry != "missed 1").count(), 2, "{all:?}");
        assert_eq!(log.count("missed 1"), 1);
        assert!(log.position("missed 1") > log.position("0") && log.position("missed 1") < log.position("2"));
        system.stop().await.unwrap();
    });
}

#[test]
fn l19_a_tap_sees_events_as_the_messages_they_are() {
    use std::sync::Mutex;
    use volary::{Input, Passage, Tap};
    struct Eyes(Arc<Mutex<Vec<String>>>);
    impl Tap for Eyes {
        fn input(&self, input: &Input<'_>) -> Passage {
            let price = input.message().and_then(|message| message.downcast_ref::<Price>());
            self.0.lock().unwrap().push(format!("{price:?}"));
            Passage::Handle
        }
    }
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(listener(&log)).await.unwrap();
        system.events().subscribe_actor::<Price>(&actor.recipient());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tapped = actor.tap(Arc::new(Eyes(seen.clone()))).unwrap();
        system.sleep(MOMENT).await;
        system.events().publish(Price(7));
        system.sleep(MOMENT).await;
        assert_eq!(*seen.lock().unwrap(), ["Some(Price(7))"]);
        assert_eq!(log.all(), ["7"]);
        drop(tapped);
        system.stop().await.unwrap();
    });
}
