//! R2, R3: messages are written where they are sent, and who cannot write one is told why.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::IntoFuture;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

use common::{Desk, Echo, Node, Note, builder, soon, stop};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use volary::prelude::*;
use volary_core::RemoteError;

/// How far the codec and the test are: one has begun, the other has gone on.
static STEPS: Mutex<(bool, bool)> = Mutex::new((false, false));
static CHANGED: Condvar = Condvar::new();

fn step(change: impl FnOnce(&mut (bool, bool)), until: impl Fn(&(bool, bool)) -> bool) {
    let mut steps = STEPS.lock().unwrap();
    change(&mut steps);
    CHANGED.notify_all();
    let (_steps, late) = CHANGED
        .wait_timeout_while(steps, common::PATIENCE, |steps| !until(steps))
        .unwrap();
    assert!(!late.timed_out(), "the other side never came so far");
}

/// Waits while it is written.
#[derive(Deserialize)]
struct Slow;

impl Serialize for Slow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        step(|steps| steps.0 = true, |steps| steps.1);
        serializer.serialize_unit()
    }
}

/// Says something to somebody elsewhere while it is written, and counts how often that is.
#[derive(Deserialize)]
struct Chatty {
    #[serde(skip)]
    to: Option<ActorRef<Desk>>,
    #[serde(skip)]
    written: Arc<AtomicUsize>,
}

impl Serialize for Chatty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.fetch_add(1, SeqCst);
        if let Some(desk) = &self.to {
            desk.tell(Note { number: 7 }).map_err(serde::ser::Error::custom)?;
        }
        serializer.serialize_struct("Chatty", 0)?.end()
    }
}

/// Cannot be written.
#[derive(Deserialize)]
struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it is broken"))
    }
}

struct Shelf;

#[actor(kind = "test.Shelf", remote(Lay, Mend, Chat))]
impl Shelf {
    #[message(remote = "test.Lay", codec = postcard, derive(Serialize, Deserialize))]
    fn lay(&mut self, slow: Slow) {
        let Slow = slow;
    }

    /// Never ends, so that whatever comes behind it waits.
    #[message(remote = "test.Chat", codec = postcard, derive(Serialize, Deserialize))]
    async fn chat(&mut self, chatty: Chatty) {
        drop(chatty);
        std::future::pending().await
    }

    #[message(remote = "test.Mend", codec = postcard, derive(Serialize, Deserialize))]
    fn mend(&mut self, broken: Broken) {
        let Broken = broken;
    }
}

async fn two() -> (Node, Node) {
    let start = async |name: &str| Node::start(name, builder().kind::<Shelf>()).await;
    (start("one").await, start("other").await)
}

#[expect(clippy::disallowed_methods, reason = "whoever writes keeps a thread of its own")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_message_that_takes_long_to_write_holds_up_nobody_else() {
    let (one, other) = two().await;
    other.desk("desk").await;
    other.system.spawn(|| Shelf).named("shelf").await.unwrap();
    let desk = one.far(&other, "desk");
    let shelf: ActorRef<Shelf> = one.remote.actor(&other.address("shelf")).unwrap();
    soon("a connection", desk.ask(Note { number: 0 })).await.unwrap();
    let sender = std::thread::spawn({
        let shelf = shelf.clone();
        move || shelf.tell(Lay { slow: Slow }).unwrap()
    });
    step(|_| {}, |steps| steps.0);
    for number in 1..=100 {
        soon("an answer", desk.ask(Note { number })).await.unwrap();
    }
    step(|steps| steps.1 = true, |_| true);
    sender.join().unwrap();
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_who_asks_with_something_that_cannot_be_sent_hears_why() {
    let (one, other) = two().await;
    other.desk("desk").await;
    other.system.spawn(|| Shelf).named("shelf").await.unwrap();
    let desk: ActorRef<Desk> = one.far(&other, "desk");
    let shelf: ActorRef<Shelf> = one.remote.actor(&other.address("shelf")).unwrap();
    soon("a connection", desk.ask(Note { number: 0 })).await.unwrap();
    let bytes = vec![1; 65 << 20];
    let large = soon("a refusal", desk.ask(Echo { bytes })).await;
    assert!(is_too_large(&large), "{:?}", large.map(drop));
    let broken = soon("a refusal", shelf.ask(Mend { broken: Broken })).await;
    assert!(said(&broken, "its codec cannot write it"), "{broken:?}");
    // Each hears its own reason, whenever and wherever it is looked at.
    let bytes = vec![1; 65 << 20];
    let large = desk.ask(Echo { bytes }).into_future();
    let broken = shelf.ask(Mend { broken: Broken }).into_future();
    std::thread::scope(|scope| {
        let elsewhere = scope.spawn(move || {
            let (mut large, mut broken) = (std::pin::pin!(large), std::pin::pin!(broken));
            let task = &mut std::task::Context::from_waker(std::task::Waker::noop());
            (large.as_mut().poll(task), broken.as_mut().poll(task))
        });
        let (std::task::Poll::Ready(large), std::task::Poll::Ready(broken)) = elsewhere.join().unwrap() else {
            panic!("a refusal needs no waiting");
        };
        assert!(is_too_large(&large), "{:?}", large.map(drop));
        assert!(said(&broken, "its codec cannot write it"), "{broken:?}");
    });
    // And whoever comes behind them is not harmed.
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    assert!(matches!(
        shelf.tell(Mend { broken: Broken }),
        Err(TellError::Unsendable(_))
    ));
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_codec_may_send_and_is_not_called_where_there_is_no_room() {
    let options = || common::options().window(16).receiver_share(16);
    let start = async |name: &str| Node::start(name, builder().kind::<Shelf>().options(options())).await;
    let (one, other) = (start("one").await, start("other").await);
    other.desk("desk").await;
    let stuck = other.system.spawn(|| Shelf).named("shelf").await.unwrap();
    let desk: ActorRef<Desk> = one.far(&other, "desk");
    let shelf: ActorRef<Shelf> = one.remote.actor(&other.address("shelf")).unwrap();
    soon("a connection", desk.ask(Note { number: 0 })).await.unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let chat = |to| {
        let written = written.clone();
        shelf.tell(Chat {
            chatty: Chatty { to, written },
        })
    };
    chat(Some(desk)).unwrap();
    common::eventually("what the codec said", || other.log.len() == 2).await;
    assert_eq!(written.load(SeqCst), 1);
    // None of these is taken out of its mailbox, so that the window is full of them at last. Until then the link may make room
    // between any two.
    let mut refused = 0;
    let mut was_full = false;
    while refused < 100 {
        let before = written.load(SeqCst);
        let is_full = matches!(chat(None), Err(TellError::Full(_)));
        if is_full && was_full {
            assert_eq!(written.load(SeqCst), before, "written for nothing");
            refused += 1;
        }
        was_full = is_full;
    }
    stuck.kill();
    stop(one, other).await;
}

/// Whether it is said how long it is, and how long it may be.
fn is_too_large<T>(asked: &Result<T, AskError>) -> bool {
    let is_it = |error: &RemoteError| {
        matches!(error, RemoteError::TooLarge { name, bytes, most }
            if name.ends_with("Echo") && *bytes > 65 << 20 && *most == 64 << 20)
    };
    matches!(asked, Err(AskError::Remote(error)) if is_it(error))
}

fn said<T, R: Rejection>(answer: &Result<T, AskError<R>>, expected: &str) -> bool {
    let Err(AskError::Remote(error)) = answer else {
        return false;
    };
    matches!(&**error, RemoteError::Unsendable { why, .. } if why == expected) && error.is_certainly_not_handled()
}
