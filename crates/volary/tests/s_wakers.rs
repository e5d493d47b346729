//! S11 for wakers: they are anybody's code, and one that panics or is left behind harms nobody else.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Wake, Waker};
use std::time::Duration;

use common::*;
use volary::prelude::*;

struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

fn poll_with_bomb<F: Future>(future: std::pin::Pin<&mut F>) {
    let waker = Waker::from(Arc::new(Bomb));
    assert!(future.poll(&mut TaskContext::from_waker(&waker)).is_pending());
}

#[test]
fn s11_a_waker_that_panics_harms_neither_the_actor_nor_the_system() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (open, gate) = gate();

        let mut end = std::pin::pin!(desk.terminated());
        poll_with_bomb(end.as_mut());
        let mut late = std::pin::pin!(system.sleep(Duration::from_millis(5)));
        poll_with_bomb(late.as_mut());
        let mut down = std::pin::pin!(system.stopped());
        poll_with_bomb(down.as_mut());
        let events = system.events().subscribe::<&'static str>();
        let mut next = std::pin::pin!(events.next());
        poll_with_bomb(next.as_mut());
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let mut answer = std::pin::pin!(desk.ask(Note { number: 1 }).into_future());
        poll_with_bomb(answer.as_mut());

        system.events().publish("an event");
        drop(open);
        system.sleep(Duration::from_millis(10)).await; // the timer's waker blows up
        desk.ask(Note { number: 1 }).await.unwrap(); // and so did that of the answer
        assert_eq!(next.await, Ok("an event"));
        answer.await.unwrap();
        desk.stop();
        desk.terminated().await;
        assert_eq!(
            log.all().iter().filter(|line| *line == "stopped").count(),
            1,
            "{:?}",
            log.all()
        );
        system.stop().await.unwrap();
    });
}

struct Counted(Arc<AtomicUsize>);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Somebody who looks again and again with a short patience must not pile up what they leave.
#[test]
fn s11_a_wait_that_is_given_up_leaves_nothing_behind() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        let dropped = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let waker = Waker::from(Arc::new(Counted(dropped.clone())));
            let mut task = TaskContext::from_waker(&waker);
            let mut end = std::pin::pin!(desk.terminated());
            assert!(end.as_mut().poll(&mut task).is_pending());
            assert!(end.as_mut().poll(&mut task).is_pending());
            let events = system.events().subscribe::<&'static str>();
            let mut next = std::pin::pin!(events.next());
            assert!(next.as_mut().poll(&mut task).is_pending());
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 100);
        system.stop().await.unwrap();
    });
}

/// Two systems of one process agree on what a deadline means.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_a_deadline_is_inherited_across_systems() {
    struct Relay {
        next: Option<ActorRef<Relay>>,
    }
    #[actor]
    impl Relay {
        async fn left_over(&mut self, ctx: &mut Context<Self>) -> Duration {
            match &self.next {
                Some(next) => next.ask(LeftOver).await.unwrap(),
                None => ctx.time_left().unwrap(),
            }
        }
    }
    let first = system().await;
    eventually_async("the first system grows older", || {
        first.uptime() > Duration::from_millis(20)
    })
    .await;
    let second = system().await;
    let far = second.spawn(|| Relay { next: None }).await.unwrap();
    let near = first
        .spawn(move || Relay {
            next: Some(far.clone()),
        })
        .await
        .unwrap();
    for _ in 0..50 {
        let left = near.ask(LeftOver).timeout(Duration::from_secs(3)).await.unwrap();
        assert!(left <= Duration::from_secs(3), "{left:?}");
    }
    first.stop().await.unwrap();
    second.stop().await.unwrap();
}
