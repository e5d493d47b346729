//! What somebody does who hears of the end of an actor, in the midst of that.

use super::*;

/// Waits for the end of an actor, of which it has the last reference; and when it hears of it, in the midst of that, lets go of it and
/// begins another, on the same thread.
struct Heir {
    system: ActorSystem,
    waiting: std::sync::Mutex<Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>>,
    begun: AtomicUsize,
}

impl std::task::Wake for Heir {
    #[expect(clippy::unwrap_used, reason = "a test")]
    fn wake(self: Arc<Self>) {
        let waiting = self.waiting.lock().unwrap().take();
        drop(waiting);
        if self.system.spawn(worker).start().is_ok() {
            self.begun.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn miri_an_actor_is_kept_to_its_end_although_others_begin_and_end_meanwhile() {
    in_system(|system| async move {
        for _ in 0..4 {
            let actor = system.spawn(worker).await.unwrap();
            let heir = Arc::new(Heir {
                system: system.clone(),
                waiting: std::sync::Mutex::new(Some(Box::pin(actor.terminated()))),
                begun: AtomicUsize::new(0),
            });
            let waker = Waker::from(heir.clone());
            {
                let mut waiting = heir.waiting.lock().unwrap();
                let waiting = waiting.as_mut().unwrap().as_mut();
                assert!(waiting.poll(&mut TaskContext::from_waker(&waker)).is_pending());
            }
            actor.kill();
            drop(actor);
            while heir.begun.load(SeqCst) == 0 {
                system.sleep(Duration::from_millis(1)).await;
            }
        }
    });
}
