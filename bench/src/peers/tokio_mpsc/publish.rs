//! Events by hand: a `broadcast` channel with room for 1,024 and a task for each
//! that listens.

use std::hint::black_box;

use tokio::sync::broadcast;

use super::Tokio;
use crate::features::Announcing;
use crate::latch::{LAST, Latch};

async fn listener(mut events: broadcast::Receiver<u64>, latch: &'static Latch) {
    let mut sum = 0u64;
    while let Ok(value) = events.recv().await {
        sum = sum.wrapping_add(value);
        if value == LAST {
            latch.arrive();
        }
    }
    black_box(sum);
}

impl Announcing for Tokio {
    type Events = broadcast::Sender<u64>;

    async fn events(&self, subscribers: usize, latch: &'static Latch) -> broadcast::Sender<u64> {
        let (send, _) = broadcast::channel(1_024);
        for _ in 0..subscribers {
            self.host.handle(0).spawn(listener(send.subscribe(), latch));
        }
        send
    }

    fn announce(events: &broadcast::Sender<u64>, value: u64) {
        assert!(events.send(value).is_ok(), "somebody listens");
    }
}
