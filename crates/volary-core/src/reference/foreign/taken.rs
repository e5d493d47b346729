//! Receipts of messages that were taken out of their mailboxes a moment ago: what is said of each is said once for a few,
//! while more mail waits behind them.

use std::cell::Cell;
use std::ptr::NonNull;

use super::receipt::{AT_ONCE, Line, Receipt};

/// Those of the turns on one thread. There are none between turns.
pub(crate) struct Taken {
    lines: [Cell<NonNull<Line>>; AT_ONCE],
    count: Cell<usize>,
}

impl Taken {
    pub(crate) const fn new() -> Self {
        Taken {
            lines: [const { Cell::new(NonNull::dangling()) }; AT_ONCE],
            count: Cell::new(0),
        }
    }

    /// One more was taken. If nothing is known to follow it is said at once, with those before it.
    #[inline]
    pub(crate) fn put(&self, receipt: Receipt, is_followed: bool) {
        let is_followed = is_followed && !receipt.is_prompt();
        let count = self.count.get();
        self.lines[count].set(receipt.into_line());
        self.count.set(count + 1);
        if !is_followed || count + 1 == AT_ONCE {
            self.say_all();
        }
    }

    /// Says what was not said yet.
    #[inline]
    pub(crate) fn say(&self) {
        if self.count.get() > 0 {
            self.say_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn say_all(&self) {
        // A copy: whoever hears of it may be the user's code, and run a turn here.
        let lines: [NonNull<Line>; AT_ONCE] = std::array::from_fn(|at| self.lines[at].get());
        let count = self.count.replace(0);
        // SAFETY: the first so many are from receipts, and are not held any more.
        unsafe { Receipt::drop_lines(&lines[..count]) };
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::future::IntoFuture;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::task::Context as Task;
    use std::time::Duration;

    use super::super::{Arrival, Receipts, Received};
    use crate::env::Steady;
    use crate::sync::Mutex;
    use crate::*;

    /// Writes down which messages were handled, which are known to be taken, and what was known when an actor went.
    #[derive(Default)]
    struct Book {
        handled: Mutex<Vec<u64>>,
        taken: Mutex<Vec<u64>>,
        taken_at_end: Mutex<Vec<u64>>,
    }

    impl Received for Book {
        fn received(&self, ticket: u64) {
            self.taken.lock().push(ticket);
        }
    }

    struct Number(u64);
    impl Message for Number {
        type Reply = ();
        type Rejection = std::convert::Infallible;
    }

    const STOPS_THE_CLOCK: u64 = 4;
    const PANICS: u64 = 5;

    struct Desk(Arc<Book>, Arc<AtomicBool>);

    impl Actor for Desk {
        fn messages(list: &mut MessageList<Self>) {
            list.add::<Number>();
        }
    }

    impl SyncHandler<Number> for Desk {
        fn handle(&mut self, Number(number): Number, _: &mut Context<Self>) -> Result<(), Failure> {
            assert_ne!(number, PANICS, "a handler may panic");
            self.1.store(number == STOPS_THE_CLOCK, SeqCst);
            self.0.handled.lock().push(number);
            Ok(())
        }
    }

    impl Drop for Desk {
        fn drop(&mut self) {
            let mut taken_at_end = self.0.taken_at_end.lock();
            if taken_at_end.is_empty() {
                *taken_at_end = self.0.taken.lock().clone();
            }
        }
    }

    /// What becomes of messages of another node that are in the mailbox together, the last two behind an ask of this one.
    #[expect(clippy::unwrap_used, reason = "a test")]
    fn book_of(numbers: &[u64]) -> Arc<Book> {
        let book = Arc::new(Book::default());
        let env = Steady::new();
        let clock = env.clock_stops.clone();
        let (system, desk) = env.seeded.block_on(async {
            let builder = ActorSystem::builder("one").environment(env.clone());
            let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
            let (book, clock) = (book.clone(), clock.clone());
            let desk = system.spawn(move || Desk(book.clone(), clock.clone())).await.unwrap();
            (system, desk)
        });
        let receipts = Receipts::new(book.clone());
        let arrive = |number: &u64| {
            let arrival = Arrival::new(&system).receipt(receipts.next(*number));
            arrival.deliver(|| desk.tell(Number(*number))).unwrap();
        };
        let (before, behind) = numbers.split_at(numbers.len() - 2);
        before.iter().for_each(arrive);
        let mut asked = Box::pin(desk.ask(Number(100)).timeout(Duration::from_secs(1)).into_future());
        assert!(
            asked
                .as_mut()
                .poll(&mut Task::from_waker(std::task::Waker::noop()))
                .is_pending()
        );
        behind.iter().for_each(arrive);
        env.seeded.advance(Duration::from_secs(2));
        book.taken.lock().sort_unstable();
        book
    }

    #[test]
    fn r8_what_was_handled_is_said_to_be_taken_although_its_turn_ends_with_a_panic() {
        // Nothing of the user's runs between two messages but the clock, which is looked at for the ask.
        let book = book_of(&[1, 2, 3, STOPS_THE_CLOCK, 6, 7]);
        assert_eq!(
            *book.handled.lock(),
            [1, 2, 3, STOPS_THE_CLOCK],
            "it was a panic of the turn itself"
        );
        assert_eq!(*book.taken_at_end.lock(), [1, 2, 3, STOPS_THE_CLOCK]);
        assert_eq!(*book.taken.lock(), [1, 2, 3, STOPS_THE_CLOCK, 6, 7], "and each once");
    }

    #[test]
    fn r8_what_was_handled_is_said_to_be_taken_before_the_panic_of_the_next_handler_has_consequences() {
        let book = book_of(&[1, 2, 3, PANICS, 6, 7, 8]);
        assert_eq!(*book.taken_at_end.lock(), [1, 2, 3, PANICS]);
        assert_eq!(*book.handled.lock(), [1, 2, 3, 6, 100, 7, 8], "another goes on");
        assert_eq!(*book.taken.lock(), [1, 2, 3, PANICS, 6, 7, 8], "and each once");
    }
}
