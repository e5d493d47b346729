//! Mailboxes that hand out the most urgent letter first.
//!
//! Both kinds are one heap. They differ in what a letter is ranked by: its priority alone, or its
//! priority and then its place in line.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;

use super::custom::{Letter, Mailbox};
use crate::sync::Mutex;

/// The highest priority first; letters of equal priority come in any order.
///
/// The priority is whatever the function makes of a letter: any `Ord`, greatest first. It is asked
/// once for each letter, on the sender's side and outside of any lock. Taking and giving a letter
/// costs about `log n` comparisons. Messages of one sender are reordered, those of equal priority
/// too; [`StablePriority`] does not do the latter. A steady stream of urgent letters starves the
/// others.
///
/// If the function panics, that letter becomes a dead letter and the actor goes on.
///
/// Most users write [`MailboxKind::priority`](super::MailboxKind::priority). The type is there to
/// build other mailboxes on:
///
/// ```
/// use volary_core::{Letter, Mailbox, Priority};
///
/// struct Alarm { level: u8 }
/// let mailbox = Priority::new(|letter: &Letter| letter.message::<Alarm>().map_or(0, |alarm| alarm.level));
/// assert!(mailbox.is_empty() && mailbox.pop().is_none());
/// ```
pub struct Priority<K, F> {
    priority: F,
    heap: Heap<K>,
}

impl<K, F> Priority<K, F>
where
    K: Ord + Send + 'static,
    F: Fn(&Letter) -> K + Send + Sync + 'static,
{
    /// An empty mailbox whose letters get their priority from this function.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let balances_first = || Priority::new(|letter: &Letter| letter.message::<Balance>().is_some());
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::custom(balances_first)).await?;
    /// let (deposit, balance) = (bob.ask(Deposit(5)).into_future(), bob.ask(Balance).into_future());
    /// assert_eq!((balance.await?, deposit.await?), (0, 5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn new(priority: F) -> Self {
        Priority {
            priority,
            heap: Heap::default(),
        }
    }
}

impl<K, F> Mailbox for Priority<K, F>
where
    K: Ord + Send + 'static,
    F: Fn(&Letter) -> K + Send + Sync + 'static,
{
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        self.heap.push((self.priority)(&letter), letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.heap.pop()
    }
    fn len(&self) -> usize {
        self.heap.len()
    }
}

impl<K, F> fmt::Debug for Priority<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Priority").finish_non_exhaustive()
    }
}

/// The highest priority first; letters of equal priority in the order in which they came.
///
/// As [`Priority`], and among equals each sender's messages keep their order. That costs a word more
/// per letter and, among equals, a second comparison.
///
/// Most users write [`MailboxKind::stable_priority`](super::MailboxKind::stable_priority).
///
/// ```
/// use volary_core::{Letter, Mailbox, StablePriority};
///
/// struct Alarm { level: u8 }
/// let mailbox = StablePriority::new(|letter: &Letter| letter.message::<Alarm>().map_or(0, |alarm| alarm.level));
/// assert_eq!(mailbox.len(), 0);
/// ```
pub struct StablePriority<K, F> {
    priority: F,
    heap: Heap<(K, Reverse<u64>)>,
}

impl<K, F> StablePriority<K, F>
where
    K: Ord + Send + 'static,
    F: Fn(&Letter) -> K + Send + Sync + 'static,
{
    /// An empty mailbox whose letters get their priority from this function.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let balances_first = || StablePriority::new(|letter: &Letter| letter.message::<Balance>().is_some());
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::custom(balances_first)).await?;
    /// let (deposit, balance) = (bob.ask(Deposit(5)).into_future(), bob.ask(Balance).into_future());
    /// assert_eq!((balance.await?, deposit.await?), (0, 5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn new(priority: F) -> Self {
        StablePriority {
            priority,
            heap: Heap::default(),
        }
    }
}

impl<K, F> Mailbox for StablePriority<K, F>
where
    K: Ord + Send + 'static,
    F: Fn(&Letter) -> K + Send + Sync + 'static,
{
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        // Letters are numbered as they are sent: the smaller number came first.
        let rank = ((self.priority)(&letter), Reverse(letter.identity()));
        self.heap.push(rank, letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.heap.pop()
    }
    fn len(&self) -> usize {
        self.heap.len()
    }
}

impl<K, F> fmt::Debug for StablePriority<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StablePriority").finish_non_exhaustive()
    }
}

/// Letters by rank, the greatest on top.
///
/// Comparing and dropping ranks is user code and may panic. Whatever happens, a letter that was
/// pushed is popped once or becomes a dead letter once, and never under the lock: that
/// wakes askers and listeners, and wakers are user code too.
struct Heap<R>(Mutex<BinaryHeap<Ranked<R>>>);

impl<R: Ord> Heap<R> {
    fn push(&self, rank: R, letter: Letter) {
        // Should a comparison panic, the heap keeps the letter, in some place.
        self.0.lock().push(Ranked {
            rank,
            letter: Some(letter),
        });
    }

    fn pop(&self) -> Option<Letter> {
        let letter; // outlives the lock, should a comparison panic
        let mut heap = self.0.lock();
        let mut top = heap.peek_mut()?;
        letter = top.letter.take();
        let rank = PeekMut::pop(top);
        drop(heap);
        drop(rank);
        letter
    }

    fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl<R: Ord> Default for Heap<R> {
    fn default() -> Self {
        Heap(Mutex::new(BinaryHeap::new()))
    }
}

struct Ranked<R> {
    rank: R,
    /// `None` on the way out only.
    letter: Option<Letter>,
}

impl<R: Ord> Ord for Ranked<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<R: Ord> PartialOrd for Ranked<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Ord> PartialEq for Ranked<R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<R: Ord> Eq for Ranked<R> {}
