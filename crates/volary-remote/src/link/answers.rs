//! Asks of the peer that actors here have not answered yet.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::task::{Context, Poll, Wake, Waker};

use bytes::BytesMut;
use parking_lot::Mutex;
use tokio::sync::Notify;
use volary_core::Resolving;
use volary_wire::native::{Frame, FrameWriter, Outcome, Reply};
use volary_wire::{Answered, PendingReply};

use super::Link;

#[derive(Default)]
pub(super) struct Answers {
    open: Mutex<BTreeMap<u64, Open>>,
    /// Asks that were given up before they came: what is said of them may pass them on the way.
    given_up: Mutex<BTreeSet<u64>>,
    has_given_up: AtomicBool,
    ready: Arc<Ready>,
    scratch: Mutex<BytesMut>,
}

/// How many asks that were given up before they came are remembered.
const GIVEN_UP: usize = 4_096;
/// A buffer that has grown beyond this is not kept.
const KEPT_BUFFER: usize = 1 << 20;

struct Open {
    reply: Box<dyn PendingReply>,
    bell: Arc<Bell>,
}

/// Asks that may have their answer.
#[derive(Default)]
struct Ready {
    correlations: Mutex<Vec<u64>>,
    notify: Notify,
}

struct Bell {
    correlation: u64,
    ready: Arc<Ready>,
    /// It rang since it was last looked.
    rang: AtomicBool,
}

impl Bell {
    fn announce(&self) {
        self.ready.correlations.lock().push(self.correlation);
        self.ready.notify.notify_one();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rang.store(true, SeqCst);
        self.announce();
    }
}

impl Answers {
    /// Nobody waits for any of them.
    pub(super) fn clear(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        open.into_values().for_each(let_go);
        self.ready.notify.notify_one();
    }

    /// The peer has given up.
    pub(super) fn cancel(&self, correlation: u64) {
        let cancelled = self.open.lock().remove(&correlation);
        match cancelled {
            Some(open) => let_go(open),
            None => {
                let mut given_up = self.given_up.lock();
                given_up.insert(correlation);
                if given_up.len() > GIVEN_UP {
                    given_up.pop_first();
                }
                self.has_given_up.store(true, Relaxed);
            }
        }
    }

    /// Whether the peer gave this one up before it came.
    pub(super) fn was_given_up(&self, correlation: u64) -> bool {
        self.has_given_up.load(Relaxed) && self.given_up.lock().remove(&correlation)
    }

    /// How many are not answered yet.
    pub(super) fn len(&self) -> usize {
        self.open.lock().len()
    }
}

impl Link {
    /// Waits for the answer of an actor here.
    pub(super) fn await_answer(&self, correlation: u64, reply: Box<dyn PendingReply>) {
        let bell = Arc::new(Bell {
            correlation,
            ready: self.answers.ready.clone(),
            rang: AtomicBool::new(false),
        });
        self.poll_answer(correlation, Open { reply, bell });
    }

    fn poll_answer(&self, correlation: u64, mut open: Open) {
        let bell = open.bell.clone();
        bell.rang.store(false, SeqCst);
        let waker = Waker::from(bell.clone());
        let mut task = Context::from_waker(&waker);
        // Not under the lock of what goes out: writing an answer is the user's code.
        let mut frame = std::mem::take(&mut *self.answers.scratch.lock());
        frame.clear();
        let mut pending = false;
        let written = Resolving::within(&self.peer.shared.resolver, || {
            FrameWriter::new(&mut frame).reply(correlation, |payload| match open.reply.poll_reply(&mut task, payload) {
                Poll::Ready(answered) => answered,
                Poll::Pending => {
                    pending = true;
                    Answered::Ended(Outcome::stopped(""))
                }
            })
        });
        if pending {
            let before = self.answers.open.lock().insert(correlation, open);
            before.into_iter().for_each(let_go); // a peer may use a number twice
            if bell.rang.load(SeqCst) {
                bell.announce(); // whoever came for it then did not find it
            }
            if self.closing.is_closed() {
                self.answers.clear(); // it was, before this one was there
            }
        } else {
            let_go(open);
            if written.is_err() || frame.len() - 4 > self.peer.outbound.lock().longest() {
                let text = "the answer is too large for that node";
                let outcome = Outcome::ended(Outcome::FAILED, 0, text);
                self.write_first(&Frame::Reply(Reply { correlation, outcome }));
            } else {
                self.write(|outbound| outbound.answer(&frame));
            }
        }
        if frame.capacity() <= KEPT_BUFFER {
            *self.answers.scratch.lock() = frame;
        }
    }
}

/// What is waited for may hold an answer that came too late, and its drop is the user's code.
fn let_go(open: Open) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(open)));
}

/// Sends answers as they come.
pub(super) async fn answer(link: Arc<Link>) {
    let ready = link.answers.ready.clone();
    loop {
        let correlations = std::mem::take(&mut *ready.correlations.lock());
        for correlation in &correlations {
            let open = link.answers.open.lock().remove(correlation);
            if let Some(open) = open {
                link.poll_answer(*correlation, open);
            }
        }
        if correlations.is_empty() && link.closing().or(ready.notify.notified()).await.is_none() {
            return;
        }
    }
}
