//! Whoever writes to an actor of a child: numbered messages, one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Duration;

use tokio::task::JoinHandle;
use volary_core::ActorRef;

use crate::counter::{Count, Counter};
use crate::home::Home;

pub(crate) struct Writer {
    /// By its path: kept through all lives of the child.
    to: ActorRef<Counter>,
    from: String,
    padding: usize,
    /// How many were taken, which is also the number of the last.
    pub(crate) taken: u64,
}

impl Writer {
    pub(crate) fn new(home: &Home, node: &str, to: &str) -> Self {
        Writer {
            to: home.remote.actor(&home.address(node, to)).unwrap(),
            from: format!("writer-to-{to}"),
            padding: 16,
            taken: 0,
        }
    }

    /// Every tenth message has so many bytes.
    pub(crate) fn padded(mut self, padding: usize) -> Self {
        self.padding = padding;
        self
    }

    /// Sends one, unless it is given back.
    pub(crate) fn try_write(&mut self) -> bool {
        let padding = if self.taken % 10 == 9 { self.padding } else { 16 };
        let count = Count {
            from: self.from.clone(),
            number: self.taken + 1,
            padding: vec![7; padding],
        };
        let taken = self.to.tell(count).is_ok();
        self.taken += u64::from(taken);
        taken
    }

    pub(crate) async fn write(&mut self, count: u64) {
        for _ in 0..count {
            while !self.try_write() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Goes on until it is told to stop.
    pub(crate) fn flow(mut self) -> Flow {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            while !stopped.load(Acquire) {
                for _ in 0..10 {
                    self.try_write();
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            self
        });
        Flow { stop, task }
    }
}

/// A writer at work.
pub(crate) struct Flow {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Writer>,
}

impl Flow {
    pub(crate) async fn stop(self) -> Writer {
        self.stop.store(true, Release);
        self.task.await.unwrap()
    }
}
