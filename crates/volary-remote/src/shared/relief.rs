//! Looks for tasks that a blocked thread keeps, while there is one.

use std::sync::Arc;

use super::Shared;
use crate::link;

impl Shared {
    /// Whoever has something to do and does not come is replaced, at every sign of the clock.
    pub(super) async fn relieve(self: Arc<Self>) {
        while self.closing.or(self.relief.notified()).await.is_some() {
            let peers: Vec<_> = self.peers.lock().values().cloned().collect();
            for peer in peers.into_iter().filter(|peer| peer.is_not_dialled()) {
                let turn = peer.dialler.take_over();
                self.system.world().spawn(Box::pin(link::dial(peer, turn)));
            }
            let links: Vec<_> = self.links.lock().values().cloned().collect();
            links.iter().for_each(|link| link.relieve());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::{Poll, Waker};
    use std::time::Duration;

    use parking_lot::Mutex;
    use volary_core::Env;

    use crate::alone::Alone;
    use crate::{PeerEvent, Remote, RemoteOptions};

    use super::*;

    /// A thread that is blocked or not, and the task that is to run there.
    #[derive(Default)]
    struct Thread {
        is_blocked: bool,
        waiting: Option<Waker>,
    }

    fn block(thread: &Mutex<Thread>, is_blocked: bool) {
        let mut thread = thread.lock();
        thread.is_blocked = is_blocked;
        if let Some(waker) = thread.waiting.take() {
            waker.wake();
        }
    }

    #[test]
    fn r3_whoever_dials_in_place_of_another_knows_what_that_one_knew() {
        let second = Duration::from_secs(1);
        let options = RemoteOptions::new()
            .backoff_first(second)
            .backoff_most(30 * second)
            .lost_after(60 * second);
        let node = Alone::start(Remote::builder().options(options));
        let events = node.system.events().subscribe::<PeerEvent>();
        let thread = Arc::new(Mutex::new(Thread::default()));
        let on_thread = thread.clone();
        node.world.change_next_task(move |mut task| {
            Box::pin(poll_fn(move |context| {
                let thread = &mut *on_thread.lock();
                thread.waiting = Some(context.waker().clone());
                match thread.is_blocked {
                    true => Poll::Pending,
                    false => task.as_mut().poll(context),
                }
            }))
        });
        let began = node.world.now();
        let go_to = |seconds: f64| {
            let until = Duration::from_secs_f64(seconds);
            let passed = node.world.now().since(began);
            node.world.env.advance(until - passed);
        };
        let dialled = || node.dialled.lock().len();
        let peer = node.peer();
        peer.want_connection();
        // Pauses of one and two seconds, or a little less; that of four is over while its thread is blocked.
        go_to(4.0);
        assert_eq!(dialled(), 3);
        block(&thread, true);
        go_to(8.0);
        assert_eq!(dialled(), 3);
        for _ in 0..2 {
            node.shared().relief.notify_one();
            node.settle();
        }
        assert_eq!(dialled(), 4, "another dials");
        // The next pause is one of eight seconds, however often the first one comes.
        block(&thread, false);
        go_to(13.9);
        assert_eq!(dialled(), 4);
        go_to(16.1);
        assert_eq!(dialled(), 5);
        // And a minute after the first attempt it is lost, of which it was said once that it cannot be reached.
        let mut heard = Vec::new();
        let mut hear = || {
            while let Some(event) = events.try_next() {
                heard.push(event.unwrap());
            }
            heard.len()
        };
        go_to(59.9);
        assert_eq!(hear(), 1);
        go_to(60.1);
        assert_eq!(hear(), 2);
        assert!(
            matches!(&heard[..], [PeerEvent::NotConnected { .. }, PeerEvent::Lost { .. }]),
            "{heard:?}"
        );
    }
}
