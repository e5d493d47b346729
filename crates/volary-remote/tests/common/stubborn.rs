//! An actor that keeps its thread.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use volary::prelude::*;

use super::{Node, PATIENCE, eventually};

/// How long [`Compute`] takes.
pub const LONG: Duration = Duration::from_millis(60);

/// Keeps its thread: until it is told to go on, or for a time.
pub struct Stubborn {
    began: Arc<AtomicBool>,
    go_on: Arc<Mutex<mpsc::Receiver<()>>>,
}

#[actor(kind = "test.Stubborn", remote(Think, Compute, Quick))]
impl Stubborn {
    #[message(remote = "test.Think", codec = postcard, derive(Serialize, Deserialize))]
    pub fn think(&mut self) -> u64 {
        self.began.store(true, SeqCst);
        let _ = self.go_on.lock().recv_timeout(PATIENCE);
        1
    }

    #[message(remote = "test.Compute", codec = postcard, derive(Serialize, Deserialize))]
    pub fn compute(&mut self) {
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }

    #[message(remote = "test.Quick", codec = postcard, derive(Serialize, Deserialize))]
    pub fn quick(&mut self) -> u64 {
        2
    }
}

/// Several of them, as the test holds them.
pub struct Stubborns {
    began: Arc<AtomicBool>,
    go_on: mpsc::Sender<()>,
    receiver: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Stubborns {
    pub fn new() -> Self {
        let (go_on, receiver) = mpsc::channel();
        Stubborns {
            began: Arc::default(),
            go_on,
            receiver: Arc::new(Mutex::new(receiver)),
        }
    }

    pub async fn spawn(&self, node: &Node, name: &str) -> ActorRef<Stubborn> {
        let (began, go_on) = (self.began.clone(), self.receiver.clone());
        let stubborn = move || Stubborn {
            began: began.clone(),
            go_on: go_on.clone(),
        };
        node.system.spawn(stubborn).named(name).await.unwrap()
    }

    /// One of them thinks.
    pub async fn begin(&self) {
        eventually("it thinks", || self.began.load(SeqCst)).await;
    }

    /// The one that thinks has an end of it.
    pub fn go_on(&self) {
        self.began.store(false, SeqCst);
        self.go_on.send(()).unwrap();
    }
}
