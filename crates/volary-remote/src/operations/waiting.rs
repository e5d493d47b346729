//! Operations that were asked of peers and not answered yet.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::*};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use volary_wire::native::Answer;

struct Asked {
    node: String,
    /// The connection that it was asked on; `None` until it was.
    epoch: Option<u64>,
    answer: oneshot::Sender<Answer>,
}

#[derive(Default)]
pub(crate) struct Waiting {
    asked: Mutex<BTreeMap<u64, Asked>>,
    last: AtomicU64,
}

/// Forgets an operation when whoever asked for it does.
pub(super) struct Place<'a> {
    waiting: &'a Waiting,
    pub(super) correlation: u64,
}

impl Waiting {
    /// Expects the answer to one more operation.
    pub(super) fn expect(&self, node: &str) -> (Place<'_>, oneshot::Receiver<Answer>) {
        let correlation = self.last.fetch_add(1, Relaxed) + 1;
        let (answer, receiver) = oneshot::channel();
        let node = node.to_owned();
        let asked = Asked {
            node,
            epoch: None,
            answer,
        };
        self.asked.lock().insert(correlation, asked);
        let waiting = self;
        (Place { waiting, correlation }, receiver)
    }

    /// Whether somebody waits for this answer of this node.
    pub(crate) fn has_asked(&self, node: &str, correlation: u64) -> bool {
        self.asked
            .lock()
            .get(&correlation)
            .is_some_and(|asked| asked.node == node)
    }

    /// An answer came; one from somebody who was not asked is none.
    pub(crate) fn answered(&self, node: &str, answer: Answer) {
        let asked = {
            let mut asked = self.asked.lock();
            let of_it = asked.get(&answer.correlation).is_some_and(|asked| asked.node == node);
            of_it.then(|| asked.remove(&answer.correlation)).flatten()
        };
        if let Some(asked) = asked {
            let _ = asked.answer.send(answer); // nobody waits any more
        }
    }

    /// The connection of this number is gone, and with it the answers that were to come by it.
    pub(crate) fn lost(&self, node: &str, epoch: u64) {
        let by_it = |asked: &Asked| asked.node == node && asked.epoch.is_some_and(|on| on <= epoch);
        self.asked.lock().retain(|_, asked| !by_it(asked));
    }

    pub(crate) fn clear(&self) {
        self.asked.lock().clear();
    }
}

impl Place<'_> {
    /// It was asked on the connection of this number.
    pub(super) fn asked_on(&self, epoch: u64) {
        if let Some(asked) = self.waiting.asked.lock().get_mut(&self.correlation) {
            asked.epoch = Some(epoch);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.waiting.asked.lock().remove(&self.correlation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(correlation: u64) -> Answer {
        Answer {
            correlation,
            status: 0,
            payload: Default::default(),
        }
    }

    #[test]
    fn an_answer_counts_only_from_the_one_who_was_asked() {
        let waiting = Waiting::default();
        let (place, mut receiver) = waiting.expect("a:1");
        waiting.answered("b:1", answer(place.correlation));
        assert!(receiver.try_recv().is_err(), "b was not asked");
        waiting.answered("a:1", answer(place.correlation));
        assert!(receiver.try_recv().is_ok());
    }

    #[test]
    fn whoever_gives_up_or_loses_the_connection_leaves_nothing_behind() {
        let waiting = Waiting::default();
        let (place, _receiver) = waiting.expect("a:1");
        drop(place);
        assert!(waiting.asked.lock().is_empty());
        let (place, mut receiver) = waiting.expect("a:1");
        waiting.lost("a:1", 2);
        place.asked_on(2);
        waiting.lost("b:1", 2);
        waiting.lost("a:1", 1);
        assert_eq!(receiver.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        waiting.lost("a:1", 2);
        assert_eq!(receiver.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}
