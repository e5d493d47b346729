//! A mailbox that does as the test says.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use volary::{Letter, Mailbox, MailboxKind};

use crate::sim::short;

/// A mailbox that writes down what it is given, and refuses, reorders or panics when told to. Clones are the same
/// mailbox: one for the actor, one for the test.
///
/// ```
/// use volary::prelude::*;
/// use volary_testkit::{FakeMailbox, Probe, TestKit};
///
/// #[derive(Debug, PartialEq, Message)]
/// struct Ping(u32);
/// # struct Desk;
/// # #[actor] impl Desk { #[handles] fn ping(&mut self, _: Ping) {} }
///
/// let kit = TestKit::new();
/// kit.run(async {
///     let mailbox = FakeMailbox::new();
///     let desk = kit.system().spawn(|| Desk).mailbox(mailbox.kind()).await.unwrap();
///     desk.tell(Ping(1)).unwrap();
///     mailbox.refuse_next(1);
///     assert!(matches!(desk.tell(Ping(2)), Err(TellError::Full(Ping(2)))));
///     assert_eq!(mailbox.pushed(), ["Ping", "Ping"]);
///     assert_eq!(mailbox.refused(), 1);
/// });
/// ```
#[derive(Clone, Default)]
pub struct FakeMailbox(Arc<Mutex<State>>);

type Refuse = Arc<dyn Fn(&Letter) -> bool + Send + Sync>;
type Choose = Arc<dyn Fn(&[Letter]) -> usize + Send + Sync>;

#[derive(Default)]
struct State {
    waiting: Vec<Letter>,
    pushed: Vec<&'static str>,
    refused: usize,
    refuse_next: usize,
    refuse_if: Option<Refuse>,
    choose: Option<Choose>,
    panic_on_push: bool,
    panic_on_pop: bool,
}

impl FakeMailbox {
    /// A mailbox that takes everything, oldest first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// let mailbox = FakeMailbox::new();
    /// let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// assert_eq!(two(&sum).await, [1, 3]); // of `Add(1)` and `Add(2)`
    /// # }) }
    /// ```
    #[must_use]
    pub fn new() -> Self {
        FakeMailbox::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to give to an actor; to one, since two would read each other's mail.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// let mailbox = FakeMailbox::new();
    /// let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// sum.ask(Add(1)).await.unwrap();
    /// assert_eq!(mailbox.pushed().len(), 1);
    /// # }) }
    /// ```
    #[must_use]
    pub fn kind(&self) -> MailboxKind {
        let mailbox = self.clone();
        MailboxKind::custom(move || mailbox.clone())
    }

    /// The types of what was pushed, in order, whatever became of it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// let mailbox = FakeMailbox::new();
    /// let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// sum.ask(Add(1)).await.unwrap();
    /// assert!(mailbox.pushed()[0].ends_with("Add"));
    /// # }) }
    /// ```
    #[must_use]
    pub fn pushed(&self) -> Vec<&'static str> {
        self.state().pushed.clone()
    }

    /// How many were refused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.refuse_next(1);
    /// assert!(sum.tell(Add(1)).is_err());
    /// assert_eq!(mailbox.refused(), 1);
    /// # }) }
    /// ```
    #[must_use]
    pub fn refused(&self) -> usize {
        self.state().refused
    }

    /// Refuses the next so many, as if it were full.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.refuse_next(1);
    /// assert!(sum.tell(Add(1)).is_err());
    /// assert!(sum.tell(Add(2)).is_ok());
    /// # }) }
    /// ```
    pub fn refuse_next(&self, count: usize) {
        self.state().refuse_next = count;
    }

    /// Refuses whatever this says, from now on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.refuse_if(|letter| letter.message::<Add>().is_some_and(|add| add.0 > 5));
    /// assert!(sum.tell(Add(5)).is_ok());
    /// assert!(sum.tell(Add(6)).is_err());
    /// # }) }
    /// ```
    pub fn refuse_if(&self, refuse: impl Fn(&Letter) -> bool + Send + Sync + 'static) {
        let _before = self.state().refuse_if.replace(Arc::new(refuse));
    }

    /// Hands out the newest first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.newest_first();
    /// assert_eq!(two(&sum).await, [3, 2]); // of `Add(1)` and `Add(2)`
    /// # }) }
    /// ```
    pub fn newest_first(&self) {
        self.choose(|waiting| waiting.len() - 1);
    }

    /// Hands out the letter at the place that this says, of those that wait, oldest first; there is at least one. A
    /// place that does not exist means the newest.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.choose(|waiting| {
    ///     let is_two = |letter: &volary::Letter| letter.message::<Add>().is_some_and(|add| add.0 == 2);
    ///     waiting.iter().position(is_two).unwrap_or(0)
    /// });
    /// assert_eq!(two(&sum).await, [3, 2]); // of `Add(1)` and `Add(2)`
    /// # }) }
    /// ```
    pub fn choose(&self, choose: impl Fn(&[Letter]) -> usize + Send + Sync + 'static) {
        let _before = self.state().choose.replace(Arc::new(choose));
    }

    /// The next push panics.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.panic_on_push();
    /// sum.tell(Add(1)).unwrap(); // is lost, as a dead letter
    /// assert_eq!(sum.ask(Add(2)).await.unwrap(), 2);
    /// # }) }
    /// ```
    pub fn panic_on_push(&self) {
        self.state().panic_on_push = true;
    }

    /// The next pop panics; its letter stays.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/mail.rs"));
    /// # fn main() {
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// # let mailbox = FakeMailbox::new();
    /// # let sum = kit.system().spawn(Sum::default).mailbox(mailbox.kind()).await.unwrap();
    /// mailbox.panic_on_pop();
    /// assert_eq!(sum.ask(Add(1)).await.unwrap(), 1);
    /// # }) }
    /// ```
    pub fn panic_on_pop(&self) {
        self.state().panic_on_pop = true;
    }

    /// Whether a letter is to be refused; panics if that was asked for.
    fn refuses(&self, letter: &Letter) -> bool {
        let (panics, next, refuse) = {
            let state = &mut *self.state();
            state.pushed.push(short(letter.type_name()));
            let next = state.refuse_next > 0;
            state.refuse_next = state.refuse_next.saturating_sub(1);
            (std::mem::take(&mut state.panic_on_push), next, state.refuse_if.clone())
        };
        assert!(!panics, "the fake mailbox was told to panic on this push");
        next || refuse.is_some_and(|refuse| refuse(letter))
    }
}

impl Mailbox for FakeMailbox {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let refused = self.refuses(&letter);
        let state = &mut *self.state();
        if refused {
            state.refused += 1;
            return Err(letter);
        }
        state.waiting.push(letter);
        Ok(())
    }

    fn pop(&self) -> Option<Letter> {
        let (panics, choose, mut waiting) = {
            let state = &mut *self.state();
            let panics = std::mem::take(&mut state.panic_on_pop);
            let waiting = if panics {
                Vec::new()
            } else {
                std::mem::take(&mut state.waiting)
            };
            (panics, state.choose.clone(), waiting)
        };
        assert!(!panics, "the fake mailbox was told to panic on this pop");
        // The letters are out while the test's code looks at them, and are put back even if that panics.
        let chosen = catch_unwind(AssertUnwindSafe(|| match choose {
            Some(choose) if !waiting.is_empty() => choose(&waiting).min(waiting.len() - 1),
            _ => 0,
        }));
        let letter = match &chosen {
            Ok(chosen) if !waiting.is_empty() => Some(waiting.remove(*chosen)),
            _ => None,
        };
        {
            let state = &mut *self.state();
            waiting.append(&mut state.waiting); // what came meanwhile
            state.waiting = waiting;
        }
        match chosen {
            Ok(_) => letter,
            Err(panic) => resume_unwind(panic),
        }
    }

    fn len(&self) -> usize {
        self.state().waiting.len()
    }
}

impl fmt::Debug for FakeMailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, pushed) = {
            let state = self.state();
            (state.waiting.len(), state.pushed.len())
        };
        write!(f, "FakeMailbox({waiting} waiting, {pushed} pushed)")
    }
}
