//! Asks of the peer that actors here have not answered yet: those that nobody has begun with, and those that wait.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::task::Wake;

use parking_lot::Mutex;
use tokio::sync::Notify;
use volary_wire::PendingReply;

use crate::peer::Apart;

/// How many asks that were given up before they came are remembered.
const GIVEN_UP: usize = 4_096;

/// An ask whose message is in its mailbox.
pub(super) struct Question {
    pub(super) correlation: u64,
    pub(super) reply: Box<dyn PendingReply>,
}

impl Question {
    /// What is waited for may hold an answer that came too late, and its drop is the user's code.
    fn let_go(self) {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(self)));
    }
}

#[derive(Default)]
pub(super) struct Answers {
    /// Those that nobody has begun with. No actor was told to run for them.
    fresh: Mutex<VecDeque<Question>>,
    open: Mutex<BTreeMap<u64, Open>>,
    /// Asks that were given up before they came, or before anybody began with them: what is said of them may pass them on
    /// the way.
    given_up: Mutex<BTreeSet<u64>>,
    has_given_up: AtomicBool,
    pub(super) ready: Arc<Ready>,
    /// How many there were, and how many of them had ended when it was looked last. Written by whoever reads.
    begun: Apart<(AtomicU64, AtomicU64)>,
    ended: Apart<AtomicU64>,
    /// How many of these have ended and are just being said.
    saying: AtomicU64,
}

/// An ask that waits for its answer.
pub(super) struct Open {
    pub(super) question: Question,
    pub(super) bell: Arc<Bell>,
}

/// Asks that may have their answer.
#[derive(Default)]
pub(super) struct Ready {
    pub(super) correlations: Mutex<Vec<u64>>,
    pub(super) notify: Notify,
}

pub(super) struct Bell {
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

    /// It has not rung.
    pub(super) fn reset(&self) {
        self.rang.store(false, SeqCst);
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
        self.take_fresh().into_iter().for_each(Question::let_go);
        let open = std::mem::take(&mut *self.open.lock());
        open.into_values().for_each(|open| open.question.let_go());
        self.ready.correlations.lock().clear();
        self.ready.notify.notify_one();
    }

    /// The peer has given up.
    pub(super) fn cancel(&self, correlation: u64) {
        let cancelled = self.open.lock().remove(&correlation);
        match cancelled {
            Some(open) => {
                open.question.let_go();
                self.one_ended();
            }
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

    /// Whether the peer gave this one up before somebody began with it.
    pub(super) fn was_given_up(&self, correlation: u64) -> bool {
        self.has_given_up.load(Relaxed) && self.given_up.lock().remove(&correlation)
    }

    /// One more, if there are less than so many that are not answered yet. For one reader at a time.
    pub(super) fn begin(&self, most: u64) -> bool {
        let (begun, ended) = &*self.begun;
        let number = begun.load(Relaxed);
        if number - ended.load(Relaxed) >= most {
            ended.store(self.ended.load(Relaxed), Relaxed);
            if number - ended.load(Relaxed) >= most {
                return false;
            }
        }
        begun.store(number + 1, Relaxed);
        true
    }

    /// One that was begun is over.
    pub(super) fn one_ended(&self) {
        self.ended.fetch_add(1, Release);
    }

    /// One that was begun is over, and has an answer, which `say` writes. Over before that: whoever has it may ask again.
    pub(super) fn one_answered(&self, say: impl FnOnce()) {
        self.saying.fetch_add(1, Relaxed);
        self.one_ended();
        say();
        self.saying.fetch_sub(1, Release);
    }

    /// Whether everything that was asked has its answer, and that is written.
    pub(super) fn are_given(&self) -> bool {
        are_all_given(
            || self.ended.load(Acquire),
            || self.begun.0.load(Acquire),
            || self.saying.load(Acquire),
        )
    }

    /// Asks that came.
    pub(super) fn add(&self, questions: &mut Vec<Question>) {
        self.fresh.lock().extend(questions.drain(..));
        self.ready.notify.notify_one();
    }

    /// The next ask to begin with.
    pub(super) fn next(&self) -> Option<Question> {
        loop {
            let question = self.fresh.lock().pop_front()?;
            if let Some(question) = self.unless_given_up(question) {
                return Some(question);
            }
        }
    }

    /// The ask, unless the peer has given it up meanwhile.
    pub(super) fn unless_given_up(&self, question: Question) -> Option<Question> {
        if !self.was_given_up(question.correlation) {
            return Some(question);
        }
        question.let_go();
        self.one_ended();
        None
    }

    /// All asks that nobody has begun with.
    pub(super) fn take_fresh(&self) -> VecDeque<Question> {
        std::mem::take(&mut *self.fresh.lock())
    }

    /// Whether there is something to do for whoever answers, and nobody is at it.
    pub(super) fn has_work(&self) -> bool {
        let fresh = self.fresh.try_lock().is_some_and(|fresh| !fresh.is_empty());
        let rang = || self.ready.correlations.try_lock().is_some_and(|rang| !rang.is_empty());
        fresh || rang()
    }

    /// A bell for an ask that has to wait.
    pub(super) fn bell(&self, correlation: u64) -> Arc<Bell> {
        Arc::new(Bell {
            correlation,
            ready: self.ready.clone(),
            rang: AtomicBool::new(false),
        })
    }

    /// It waits, until its bell rings.
    pub(super) fn keep(&self, open: Open) {
        let bell = open.bell.clone();
        let before = self.open.lock().insert(bell.correlation, open);
        if let Some(before) = before {
            before.question.let_go(); // a peer may use a number twice
            self.one_ended();
        }
        if bell.rang.load(SeqCst) {
            bell.announce(); // whoever came for it then did not find it
        }
    }

    /// An ask that waits, if it still does.
    pub(super) fn find(&self, correlation: u64) -> Option<Open> {
        self.open.lock().remove(&correlation)
    }
}

/// Whether the answers to all asks that had begun are written. In this order: never more have ended than were begun, so that all
/// of those that were had ended if the numbers are alike; and whichever has ended was about to be said before.
fn are_all_given(ended: impl FnOnce() -> u64, begun: impl FnOnce() -> u64, being_said: impl FnOnce() -> u64) -> bool {
    let ended = ended();
    ended == begun() && being_said() == 0
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// The asks of whom something happens next; or it is looked at the next number.
    const LOOK: usize = 2;
    /// An ask comes, is about to be said, is over, is written, and is said.
    const STEPS: usize = 5;

    /// Two asks, and whoever wants to know whether all are answered, one thing at a time.
    #[derive(Default)]
    struct Model {
        begun: u64,
        ended: u64,
        saying: u64,
        done: [usize; 2],
        /// Which had come when it was first looked.
        had_come: Option<[bool; 2]>,
    }

    impl Model {
        /// Everything up to the next look.
        fn go_on(&mut self, order: &mut impl Iterator<Item = usize>) {
            for ask in order.take_while(|next| *next != LOOK) {
                match self.done[ask] {
                    0 => self.begun += 1,
                    1 => self.saying += 1,
                    2 => self.ended += 1,
                    3 => {} // written
                    _ => self.saying -= 1,
                }
                self.done[ask] += 1;
            }
            self.had_come.get_or_insert(self.done.map(|steps| steps > 0));
        }

        /// What is said of all of it in this order is true.
        fn check(order: &[usize]) -> bool {
            let model = RefCell::new(Model::default());
            let mut left = order.iter().copied();
            let left = RefCell::new(&mut left);
            let look = |number: fn(&Model) -> u64| {
                let model = &mut *model.borrow_mut();
                model.go_on(*left.borrow_mut());
                number(model)
            };
            let given = are_all_given(
                || look(|model| model.ended),
                || look(|model| model.begun),
                || look(|model| model.saying),
            );
            let model = model.into_inner();
            let had_come = model.had_come.unwrap_or_default();
            let is_open = |ask: usize| had_come[ask] && model.done[ask] < 4;
            assert!(!given || !(is_open(0) || is_open(1)), "{order:?}");
            given
        }

        /// All orders that begin so.
        fn check_all(order: &mut Vec<usize>, left: [usize; 3], given: &Cell<usize>) {
            if left == [0; 3] {
                given.set(given.get() + usize::from(Model::check(order)));
                return;
            }
            for next in 0..=LOOK {
                if left[next] > 0 {
                    let mut left = left;
                    left[next] -= 1;
                    order.push(next);
                    Model::check_all(order, left, given);
                    order.pop();
                }
            }
        }
    }

    #[test]
    fn s3_all_is_said_to_be_answered_only_if_whatever_had_come_is_written() {
        let given = Cell::new(0);
        Model::check_all(&mut Vec::new(), [STEPS, STEPS, 3], &given);
        assert!(given.get() > 0, "sometimes it is");
    }

    #[test]
    fn s3_an_answer_is_over_and_not_given_while_it_is_being_said() {
        let answers = Answers::default();
        assert!(answers.are_given() && answers.begin(1) && !answers.are_given());
        answers.one_answered(|| {
            assert!(answers.begin(1), "whoever has it may ask again");
            answers.one_ended();
            assert!(!answers.are_given());
        });
        assert!(answers.are_given());
    }

    #[test]
    fn as_many_are_open_as_may_be_and_each_that_ends_makes_room_for_one() {
        let answers = Answers::default();
        assert!(answers.begin(2) && answers.begin(2));
        assert!(!answers.begin(2));
        for _ in 0..100 {
            answers.one_ended();
            assert!(answers.begin(2));
            assert!(!answers.begin(2));
        }
    }
}
