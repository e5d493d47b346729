//! S9, S13, L27: where start and stop meet code of the user that blocks, wakes or waits.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

mod common;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

use common::*;
use volary::prelude::*;

const MS: Duration = Duration::from_millis(1);

/// A wait that is given up leaves nothing behind (S11 promises it for other waits).
#[test]
fn s13_waits_for_the_stop_of_the_system_that_are_given_up_leave_no_waker_behind() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let system = system().await;
        let bells: Vec<_> = (0..100).map(|_| Bell::new()).collect();
        for bell in &bells {
            let mut wait = Box::pin(system.stopped());
            assert!(poll_with(&mut wait, bell).is_pending());
        }
        let kept = bells.iter().filter(|bell| Arc::strong_count(bell) > 1).count();
        system.stop().await.unwrap();
        assert_eq!(kept, 0, "nobody waits any more");
    });
}

type Making = Pin<Box<dyn Future<Output = ActorRef<Slow>> + Send>>;

struct Slow(Arc<Mutex<Option<tokio::sync::oneshot::Receiver<()>>>>);
#[actor]
impl Slow {
    async fn started(&mut self) -> Result<(), Fault> {
        let gate = self.0.lock().unwrap().take();
        if let Some(gate) = gate {
            let _ = gate.await;
        }
        Ok(())
    }
}

/// An executor that polls where it is woken.
struct Inline {
    making: Mutex<Option<Making>>,
    made: AtomicUsize,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let making = self.making.lock().unwrap().take();
        let Some(mut making) = making else { return };
        match making.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(actor) => {
                let mut gone = Box::pin(actor.terminated().into_future());
                let _ = gone.as_mut().poll(&mut TaskContext::from_waker(&waker));
                self.made.fetch_add(1, Ordering::SeqCst);
            }
            Poll::Pending => *self.making.lock().unwrap() = Some(making),
        }
    }
}

/// No lock is held while somebody is woken: the spawner of an actor whose start took a while polls in its waker.
#[test]
fn s9_the_spawner_is_woken_without_a_lock() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let system = runtime.block_on(system());
    let (open, gate) = gate();
    let slot = Arc::new(Mutex::new(Some(gate)));
    let spawning = system.clone();
    let making: Making = Box::pin(async move { spawning.spawn(move || Slow(slot.clone())).await.unwrap() });
    let inline = Arc::new(Inline {
        making: Mutex::new(Some(making)),
        made: AtomicUsize::new(0),
    });
    let enter = runtime.enter();
    inline.clone().wake();
    assert_eq!(inline.made.load(Ordering::SeqCst), 0);
    open.send(()).unwrap();
    drop(enter);
    let until = std::time::Instant::now() + Duration::from_secs(5);
    while inline.made.load(Ordering::SeqCst) == 0 && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    let made = inline.made.load(Ordering::SeqCst);
    if made == 0 {
        eprintln!("the worker that woke the spawner hangs");
        std::mem::forget(system);
        std::mem::forget(runtime);
        panic!("a waker was called under the lock of the actor's links");
    }
    runtime.block_on(system.stop()).unwrap();
}

struct SlowDrop(Mutex<std::sync::mpsc::Receiver<()>>);

impl Drop for SlowDrop {
    fn drop(&mut self) {
        let _ = self.0.lock().unwrap().recv();
    }
}

/// S13: a hook that blocks its thread is named and holds up nobody; so does one that blocks where it is dropped.
#[test]
fn l27_a_hook_whose_drop_blocks_holds_up_nobody() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    let (open, blocked) = std::sync::mpsc::channel::<()>();
    let held = SlowDrop(Mutex::new(blocked));
    let hook = volary::ShutdownHook::new(volary::shutdown::INTAKE, "joins", move || {
        let _ = &held;
        async {}
    })
    .timeout(20 * MS);
    let ended = runtime.block_on(async {
        let system = builder("joins").on_shutdown(hook).start().await.unwrap();
        tokio::time::timeout(Duration::from_secs(8), system.stop())
            .await
            .is_ok()
    });
    drop(open);
    runtime.shutdown_background();
    assert!(
        ended,
        "the hook was to be cut off after 20 ms, and the stop never ended"
    );
}

/// S13: a stop from inside (a handler, a task of an actor) begins it and returns. From a hook it waits for itself.
#[test]
fn l27_a_hook_that_stops_the_system_does_not_wait_for_itself() {
    seeds(|env| async move {
        let log = Log::new();
        let system = simulated(&env).await;
        let (again, said) = (system.clone(), log.clone());
        let hook = volary::ShutdownHook::new(volary::shutdown::INTAKE, "stops", move || {
            let (again, said) = (again.clone(), said.clone());
            async move {
                let _ = again.stop().await;
                said.push("went on");
            }
        });
        system.on_shutdown(hook).unwrap();
        let stopped = system.stop().await;
        assert!(stopped.is_ok() && log.has("went on"), "{stopped:?}");
    });
}
