//! Messages put aside on plain tokio: a `VecDeque` in the task.

use std::collections::VecDeque;
use std::hint::black_box;

use tokio::sync::mpsc;

use super::{Tokio, Tx, send};
use crate::features::Stashing;
use crate::latch::{LAST, Latch};
use crate::tally::Tally;

/// What the hoarder takes.
pub enum HoarderMessage {
    /// A number.
    Put(u64),
    /// Take all back.
    Open,
}

async fn hoard(mut inbox: mpsc::UnboundedReceiver<HoarderMessage>, latch: &'static Latch, handled: &'static Tally) {
    let (mut aside, mut sum, mut done) = (VecDeque::new(), 0u64, 0);
    while let Some(message) = inbox.recv().await {
        match message {
            HoarderMessage::Put(value) => aside.push_back(value),
            HoarderMessage::Open => {
                while let Some(value) = aside.pop_front() {
                    sum = sum.wrapping_add(value);
                    done += 1;
                    if value == LAST {
                        handled.add(std::mem::take(&mut done));
                        latch.arrive();
                    }
                }
            }
        }
    }
    black_box(sum);
}

impl Stashing for Tokio {
    type Hoarder = Tx<HoarderMessage>;

    async fn hoarder(&self, latch: &'static Latch, handled: &'static Tally) -> Tx<HoarderMessage> {
        self.at(0, move |inbox| hoard(inbox, latch, handled)).await
    }

    fn put(hoarder: &Tx<HoarderMessage>, value: u64) {
        send(hoarder, HoarderMessage::Put(value));
    }

    fn open(hoarder: &Tx<HoarderMessage>) {
        send(hoarder, HoarderMessage::Open);
    }
}
