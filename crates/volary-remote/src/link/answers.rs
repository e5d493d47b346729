//! Asks of the peer that actors here have not answered yet.

use std::collections::BTreeMap;
use std::sync::Arc;
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
    ready: Arc<Ready>,
    scratch: Mutex<BytesMut>,
}

struct Open {
    reply: Box<dyn PendingReply>,
    waker: Waker,
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
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ready.correlations.lock().push(self.correlation);
        self.ready.notify.notify_one();
    }
}

impl Answers {
    /// Nobody waits for any of them.
    pub(super) fn clear(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        drop(open);
        self.ready.notify.notify_one();
    }

    /// The peer has given up.
    pub(super) fn cancel(&self, correlation: u64) {
        let cancelled = self.open.lock().remove(&correlation);
        drop(cancelled);
    }
}

impl Link {
    /// Waits for the answer of an actor here.
    pub(super) fn await_answer(&self, correlation: u64, reply: Box<dyn PendingReply>) {
        let bell = Bell {
            correlation,
            ready: self.answers.ready.clone(),
        };
        let open = Open {
            reply,
            waker: Waker::from(Arc::new(bell)),
        };
        self.poll_answer(correlation, open);
    }

    fn poll_answer(&self, correlation: u64, mut open: Open) {
        let waker = open.waker.clone();
        let mut task = Context::from_waker(&waker);
        // Not under the lock of what goes out: writing an answer is the user's code.
        let mut frame = std::mem::take(&mut *self.answers.scratch.lock());
        frame.clear();
        let mut pending = false;
        let resolver = self.peer.shared.resolver.clone();
        let written = Resolving::scope(resolver, || {
            FrameWriter::new(&mut frame).reply(correlation, |payload| match open.reply.poll_reply(&mut task, payload) {
                Poll::Ready(answered) => answered,
                Poll::Pending => {
                    pending = true;
                    Answered::Ended(Outcome::stopped(""))
                }
            })
        });
        if pending {
            self.answers.open.lock().insert(correlation, open);
            if self.closing.is_closed() {
                self.answers.clear(); // it was, before this one was there
            }
        } else {
            if written.is_err() {
                let text = "the answer is too large";
                let outcome = Outcome::ended(Outcome::FAILED, 0, text);
                self.write_first(&Frame::Reply(Reply { correlation, outcome }));
            } else {
                self.write(|outbound| outbound.answer(|out| out.extend_from_slice(&frame)));
            }
        }
        *self.answers.scratch.lock() = frame;
    }
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
