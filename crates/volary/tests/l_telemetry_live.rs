//! L29 on threads of their own, where each thread counts what it sends: every way of a message is measured as in a
//! simulation, and what is not a message is not.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::routing::RoundRobin;
use volary::{ActorStarted, Baggage, MailboxKind, Sample, Telemetry, TelemetrySink};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, volary::Message)]
#[message(reply = u64)]
struct Item(u64);

/// Counts what it has handled, and does what makes messages of other kinds.
#[derive(Clone, Default)]
struct Handled(Arc<AtomicUsize>);

struct Reader(Handled);

#[actor]
impl Reader {
    #[handles]
    fn item(&mut self, item: Item) -> u64 {
        self.0.0.fetch_add(1, SeqCst);
        item.0
    }
    fn arm(&mut self, ctx: &mut Context<Self>) {
        self.0.0.fetch_add(1, SeqCst);
        ctx.set_timer("item", MS, Item(1));
    }
    async fn nap(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(MS).await;
        self.0.0.fetch_add(1, SeqCst);
    }
    fn pass_on(&mut self, to: ActorRef<Reader>) {
        self.0.0.fetch_add(1, SeqCst);
        let _ = to.tell(Item(2));
    }
    #[handles]
    fn hears_of_another(&mut self, _: ActorStarted) {}
}

#[derive(Clone, Default)]
struct Samples(Arc<Mutex<Vec<&'static str>>>);

impl TelemetrySink for Samples {
    fn sample(&self, sample: &Sample<'_>) {
        if sample.actor_type.ends_with("::Reader") {
            self.0.lock().unwrap().push(sample.message_type);
        }
    }
}

/// How many messages to readers were measured.
fn measured(system: &ActorSystem) -> u64 {
    let readings = system.readings();
    let readers = readings.kinds.iter().find(|kind| kind.kind.ends_with("::Reader"));
    readers.map_or(0, |readers| readers.took.count())
}

/// Sends in every way there is, and sees each message measured once.
async fn every_way(system: &ActorSystem, samples: Option<&Samples>) {
    let handled = Handled::default();
    let reader = || {
        let handled = handled.clone();
        move || Reader(handled.clone())
    };
    let board = system.spawn(reader()).await.unwrap();
    let other = system.spawn(reader()).await.unwrap();
    let props = Props::new().mailbox(MailboxKind::fair());
    let fair = system.spawn(reader()).props(props).await.unwrap();
    let props = Props::new().mailbox(MailboxKind::Bounded(8));
    let bounded = system.spawn(reader()).props(props).await.unwrap();
    let router = system.router(RoundRobin, vec![board.clone()]).await.unwrap();
    system.topics().subscribe::<Item>("items", &board).unwrap();

    let mut expected = 0;
    let mut check = async |what: &'static str, messages: u64| {
        expected += messages;
        eventually_async(what, || measured(system) >= expected).await;
        assert_eq!(
            (measured(system), handled.0.load(SeqCst) as u64),
            (expected, expected),
            "{what}"
        );
        if let Some(samples) = samples {
            eventually_async(what, || samples.0.lock().unwrap().len() as u64 >= expected).await;
        }
    };

    board.tell(Item(1)).unwrap();
    check("tell", 1).await;
    board.ask(Item(1)).await.unwrap();
    check("ask", 1).await;
    bounded.send(Item(1)).await.unwrap();
    check("a bounded mailbox", 1).await;
    fair.tell(Item(1)).unwrap();
    check("a mailbox of its own", 1).await;
    board.tell(PassOn { to: other.clone() }).unwrap();
    check("from one actor to another", 2).await;
    board.tell(Nap {}).unwrap();
    check("a handler that waits", 1).await;
    router.tell(Item(1)).unwrap();
    check("a router", 1).await;
    router.actor_ref().tell(Item(1)).unwrap();
    check("the address of a router", 1).await;
    system.topics().publish("items", Item(1)).unwrap();
    check("a topic", 1).await;
    board.tell(Arm {}).unwrap();
    check("a timer", 2).await;
    system.scheduler().once(MS).tell(&board, Item(1)).unwrap();
    check("a schedule", 1).await;
    let baggage = Baggage::new().with_header("tenant", "blue").unwrap();
    baggage.in_scope(|| board.tell(Item(1))).unwrap();
    check("with baggage", 1).await;

    // Events are not measured, however many there are.
    system.events().subscribe_actor::<ActorStarted>(&board.recipient());
    for _ in 0..50 {
        system.spawn(reader()).await.unwrap();
    }
    board.ask(Item(1)).await.unwrap();
    check("events", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l29_every_way_of_a_message_is_measured_on_threads_that_count() {
    let telemetry = Telemetry::sampled(1.0);
    let system = builder("live").telemetry(telemetry).start().await.unwrap();
    soon("every way", every_way(&system, None)).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l29_a_sink_sees_every_way_of_a_message_on_threads_that_count() {
    let samples = Samples::default();
    let telemetry = Telemetry::sampled(1.0).begin_traces();
    let builder = builder("live").telemetry(telemetry).telemetry_sink(samples.clone());
    let system = builder.start().await.unwrap();
    soon("every way", every_way(&system, Some(&samples))).await;
    assert!(
        !samples
            .0
            .lock()
            .unwrap()
            .iter()
            .any(|name| name.ends_with("ActorStarted"))
    );
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l29_the_share_that_was_asked_for_is_measured_on_threads_that_count() {
    let system = builder("live")
        .telemetry(Telemetry::sampled(0.01))
        .start()
        .await
        .unwrap();
    let handled = Handled::default();
    let theirs = handled.clone();
    let board = system.spawn(move || Reader(theirs.clone())).await.unwrap();
    // Threads of which each sends less than the share: none is always measured, and not all are never.
    let senders: Vec<_> = (0..100)
        .map(|_| {
            let board = board.clone();
            std::thread::spawn(move || (0..50).for_each(|n| board.tell(Item(n)).unwrap()))
        })
        .collect();
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    eventually_async("all are handled", || handled.0.load(SeqCst) == 5_000).await;
    board.ask(Item(1)).await.unwrap();
    let few = measured(&system);
    // Each thread has one with a chance of one half: 50 of 100, within ten deviations of five.
    assert!((1..=100).contains(&few), "{few}");
    for n in 0..10_000 {
        board.tell(Item(n)).unwrap();
    }
    eventually_async("all are handled", || handled.0.load(SeqCst) == 15_001).await;
    board.ask(Item(1)).await.unwrap();
    let more = measured(&system) - few;
    assert!((98..=102).contains(&more), "{more}");
    system.stop().await.unwrap();
}
