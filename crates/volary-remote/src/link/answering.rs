//! Answers the asks of the peer.
//!
//! Most actors are idle and quick: their handlers are run right here, one after the other, and an answer costs no task,
//! no timer and no waker. Those that take longer must not hold up the others, so whatever is behind them is left to its
//! dispatcher, and asks wait there as local ones do.

use std::sync::Arc;
use std::task::{Context, Waker};

use bytes::BytesMut;
use volary_core::Resolving;
use volary_core::foreign::Undeliverable;
use volary_wire::native::{Frame, FrameWriter, Outcome, Oversize, Reply};

use super::Link;
use super::answers::{Open, Question};
use super::until::give_way;

/// How many are begun with before it is looked how long that took.
const FEW: u64 = 8;
/// If that took longer, the others are left to the dispatchers, which have more threads than this one. It is more than a
/// crowd of quick messages in one mailbox takes, or waking somebody.
const LONG: u64 = 100_000;
/// How many are begun with before others have their turn: among them who writes, so that the peer goes on with the first
/// answers while the next are made.
const AT_ONCE: u64 = 16;
/// A buffer that has grown beyond this is not kept.
const KEPT_BUFFER: usize = 1 << 20;

/// Begins with asks, and sends answers, as they come.
pub(super) async fn answer(link: Arc<Link>, turn: u64) {
    let ready = link.answers.ready.clone();
    let mut buffer = BytesMut::new();
    if turn > 1 {
        // Whoever had this duty has met a handler that does not end. There may be another.
        link.leave_to_dispatchers(link.answers.take_fresh(), &mut buffer);
    }
    let mut served = 0;
    while link.answerer.is_held(turn) {
        let begun = link.begin_with_some(&mut buffer);
        let correlations = std::mem::take(&mut *ready.correlations.lock());
        for correlation in &correlations {
            if let Some(open) = link.answers.find(*correlation) {
                link.try_answer(open, &mut buffer);
            }
        }
        link.answerer.go_on();
        served += begun + correlations.len() as u64;
        if served >= AT_ONCE {
            served = 0;
            give_way().await;
            if link.closing().is_closed() {
                return;
            }
        } else if correlations.is_empty() && link.closing().or(ready.notify.notified()).await.is_none() {
            return;
        }
    }
    // It may have been called for the one that has the duty now.
    ready.notify.notify_one();
}

impl Link {
    /// Begins with those that are there; with how many.
    fn begin_with_some(&self, buffer: &mut BytesMut) -> u64 {
        let now = || self.peer.shared.nanos();
        let mut began = now();
        for count in 1..=AT_ONCE {
            let Some(mut question) = self.answers.next() else {
                return count - 1;
            };
            self.answerer.go_on();
            if question.reply.start_here() {
                self.say(question, buffer);
            } else {
                self.wait(question, buffer);
            }
            if count % FEW == 0 {
                let before = std::mem::replace(&mut began, now());
                if began - before > LONG {
                    self.leave_to_dispatchers(self.answers.take_fresh(), buffer);
                }
            }
        }
        AT_ONCE
    }

    fn leave_to_dispatchers(&self, questions: impl IntoIterator<Item = Question>, buffer: &mut BytesMut) {
        let wanted = |question| self.answers.unless_given_up(question);
        for mut question in questions.into_iter().filter_map(wanted) {
            question.reply.start_elsewhere();
            self.wait(question, buffer);
        }
    }

    /// The answer is not there yet, or has just come.
    fn wait(&self, question: Question, buffer: &mut BytesMut) {
        let bell = self.answers.bell(question.correlation);
        self.try_answer(Open { question, bell }, buffer);
    }

    /// Answers if it can be.
    fn try_answer(&self, mut open: Open, buffer: &mut BytesMut) {
        open.bell.reset();
        let waker = Waker::from(open.bell.clone());
        if open
            .question
            .reply
            .poll_reply(&mut Context::from_waker(&waker))
            .is_ready()
        {
            return self.say(open.question, buffer);
        }
        self.answers.keep(open);
        if self.closing.is_closed() {
            self.answers.clear(); // it was, before this one was there
        }
    }

    /// Says the answer to an ask that is over.
    fn say(&self, question: Question, buffer: &mut BytesMut) {
        let Question { correlation, mut reply } = question;
        // It is there; nobody has to be woken for it.
        let _ = reply.poll_reply(&mut Context::from_waker(Waker::noop()));
        buffer.clear();
        // Not under the lock of what goes out: writing an answer is the user's code.
        let written = Resolving::within(&self.peer.shared.resolver, || {
            FrameWriter::new(buffer).reply(correlation, |payload| reply.write(payload))
        });
        self.answers.one_answered(|| {
            let too_large = match written {
                Ok(_) => self.write(|outbound| outbound.answer(buffer).err()),
                Err(Oversize { length, limit, .. }) => Some(Undeliverable::TooLarge {
                    bytes: length,
                    most: limit,
                }),
            };
            if let Some(why) = too_large {
                let outcome = Outcome::ended(Outcome::FAILED, 0, &format!("the answer cannot be sent: {why}"));
                self.write_first(&Frame::Reply(Reply { correlation, outcome }));
            }
        });
        if buffer.capacity() > KEPT_BUFFER {
            *buffer = BytesMut::new();
        }
    }
}
