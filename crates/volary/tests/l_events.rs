//! L19: the event stream.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorStopped, Lagged};

#[derive(Debug, Clone, PartialEq, volary::Message)]
struct Price(u64);

#[derive(Clone)]
struct Other;

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
    fn ended(&mut self, stopped: ActorStopped) {
        self.log.push(format!("stopped {}", stopped.path));
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
async fn l19_every_subscriber_gets_every_event_of_its_type_in_order() {
    let system = system().await;
    let log = Log::new();
    let (one, two) = (
        system.events().subscribe::<Price>(),
        system.events().subscribe::<Price>(),
    );
    let actor = system.spawn(listener(&log)).await.unwrap();
    system.events().subscribe_actor::<Price>(&actor.recipient());
    system.events().subscribe_actor::<Price>(&actor.recipient()); // twice is once
    for n in 0..100 {
        system.events().publish(Price(n));
        system.events().publish(Other);
    }
    for n in 0..100 {
        assert_eq!(one.try_next(), Some(Ok(Price(n))));
        assert_eq!(soon("an event", two.next()).await, Ok(Price(n)));
    }
    assert!(one.try_next().is_none());
    eventually_async("the actor's events", || log.len() == 100).await;
    assert_eq!(log.all(), (0..100).map(|n| n.to_string()).collect::<Vec<_>>());
    system.events().unsubscribe_actor::<Price>(&actor.recipient());
    drop(two);
    system.events().publish(Price(100));
    assert_eq!(one.try_next(), Some(Ok(Price(100))));
    actor.drain();
    soon("drain", actor.terminated()).await;
    assert_eq!(log.len(), 100);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l19_a_slow_subscriber_is_told_how_much_it_lost_and_keeps_the_newest() {
    let system = system().await;
    let slow = system.events().subscribe::<Price>();
    for n in 0..1_024 + 10 {
        system.events().publish(Price(n));
    }
    assert_eq!(slow.next().await, Err(Lagged(10)));
    for n in 10..1_034 {
        assert_eq!(slow.next().await, Ok(Price(n)));
    }
    assert!(slow.try_next().is_none());
    system.stop().await.unwrap();
}

#[test]
fn l19_an_actor_that_lags_blocks_nobody_and_its_losses_are_counted() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(listener(&log))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        system.events().subscribe_actor::<Price>(&actor.recipient());
        let (open, gate) = gate();
        actor.tell(Pause { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for n in 0..10 {
            system.events().publish(Price(n));
        }
        assert_eq!(system.metrics().refused, 8);
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["0", "1"]);
        system.events().publish(Price(10));
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["0", "1", "10"], "still subscribed");
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l19_a_waiting_subscriber_is_woken_and_a_dead_actor_is_forgotten() {
    let system = system().await;
    let events = system.events().subscribe::<ActorStopped>();
    let log = Log::new();
    let registrar = system.spawn(listener(&log)).named("registrar").await.unwrap();
    system.events().subscribe_actor::<ActorStopped>(&registrar.recipient());
    let waiting = tokio::spawn(async move { events.next().await.unwrap().path.to_string() });
    let desk = system.spawn(|| Desk::new(&Log::new())).named("desk").await.unwrap();
    desk.stop();
    assert_eq!(soon("the event", waiting).await.unwrap(), "/user/desk");
    eventually_async("the registrar", || log.has("stopped /user/desk")).await;
    let dead = system.spawn(listener(&Log::new())).await.unwrap();
    system.events().subscribe_actor::<Price>(&dead.recipient());
    dead.stop();
    soon("the end", dead.terminated()).await;
    system.events().publish(Price(1));
    let refused = system.metrics().refused;
    system.events().publish(Price(2));
    assert_eq!(
        system.metrics().refused,
        refused,
        "a dead subscriber is forgotten after one try"
    );
    system.stop().await.unwrap();
}

/// Publishing from inside of what publishing calls: nobody waits for himself.
#[test]
fn l19_an_event_may_publish_when_it_is_cloned_or_dropped() {
    within("nested publishing", || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let published = Arc::new(AtomicUsize::new(0));
            let events = system.events().subscribe::<Echoing>();
            for _ in 0..1_100 {
                system.events().publish(Echoing {
                    system: system.clone(),
                    published: published.clone(),
                    depth: 0,
                });
            }
            assert!(published.load(Ordering::SeqCst) > 0);
            drop(events);
            system.stop().await.unwrap();
        });
    });
}

/// Publishes once more when it is dropped.
struct Echoing {
    system: ActorSystem,
    published: Arc<AtomicUsize>,
    depth: usize,
}

impl Clone for Echoing {
    fn clone(&self) -> Self {
        Echoing {
            system: self.system.clone(),
            published: self.published.clone(),
            depth: self.depth,
        }
    }
}

impl Drop for Echoing {
    fn drop(&mut self) {
        if self.depth == 0 && self.published.fetch_add(1, Ordering::SeqCst) < 5_000 {
            self.system.events().publish(Echoing {
                system: self.system.clone(),
                published: self.published.clone(),
                depth: 1,
            });
        }
    }
}
