//! A stream by hand: a task that pulls its elements and sends them into a bounded
//! channel of 64, and the task that receives them.

use futures::StreamExt;
use tokio::sync::mpsc;

use super::{Tokio, bounded_sink};
use crate::features::{Numbers, Streaming};
use crate::latch::Latch;

impl Streaming for Tokio {
    type Inlet = mpsc::Sender<u64>;

    async fn inlet(&self, latch: &'static Latch) -> mpsc::Sender<u64> {
        let (send, receive) = mpsc::channel(64);
        self.host.handle(0).spawn(bounded_sink(receive, latch));
        send
    }

    fn feed(inlet: &mpsc::Sender<u64>, mut numbers: Numbers) {
        let inlet = inlet.clone();
        tokio::spawn(async move {
            while let Some(value) = numbers.next().await {
                inlet.send(value).await.expect("the task lives");
            }
        });
    }
}
