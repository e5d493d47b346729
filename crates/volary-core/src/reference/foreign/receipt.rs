//! Receipts: whoever delivers messages hears when each has left its mailbox.
//!
//! ```text
//!   pad      office   open   line  line  line …       256 bytes, at a multiple of 256
//!                              ▲
//!   receipt ───────────────────┘   one word, which fits into the record of the message
//! ```
//!
//! A receipt is a line of a pad. Pads are what is allocated and freed, and counts references to the office, once for some
//! thirty messages; what is left to do for each is to write its line, and to strike it out.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::*, fence};

/// Hears when a message has left its mailbox.
///
/// ```
/// # use std::sync::Arc;
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # use volary_core::foreign::{Receipt, Received};
/// struct Last(AtomicU64);
/// impl Received for Last {
///     fn received(&self, ticket: u64) { self.0.store(ticket, Ordering::Relaxed) }
/// }
/// let last = Arc::new(Last(AtomicU64::new(0)));
/// drop(Receipt::new(last.clone(), 42));
/// assert_eq!(last.0.load(Ordering::Relaxed), 42);
/// ```
pub trait Received: Send + Sync + 'static {
    /// The message of this ticket has left its mailbox: it is being handled, was a moment ago, or never will be. Must be quick.
    fn received(&self, ticket: u64);

    /// The same for several, which were taken one after the other: what is done for each of them may be done once.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicUsize, Ordering};
    /// # use volary_core::foreign::Received;
    /// struct Count(AtomicUsize);
    /// impl Received for Count {
    ///     fn received(&self, _: u64) { self.0.fetch_add(1, Ordering::Relaxed); }
    ///     fn all_received(&self, tickets: &[u64]) { self.0.fetch_add(tickets.len(), Ordering::Relaxed); }
    /// }
    /// let count = Count(AtomicUsize::new(0));
    /// count.received(7);
    /// count.all_received(&[8, 9]);
    /// assert_eq!(count.0.into_inner(), 3);
    /// ```
    fn all_received(&self, tickets: &[u64]) {
        for ticket in tickets {
            let _ = crate::dispatch::contain(|| self.received(*ticket));
        }
    }
}

/// Of a pad, and what its address is a multiple of: that is how a line finds its pad.
const BYTES: usize = 256;
const LINES: usize = (BYTES - HEAD) / size_of::<u64>();
/// How many receipts are dropped at once, at most.
pub(crate) const AT_ONCE: usize = 16;
/// Set in the address of one that is said as soon as its message is taken. Lines are aligned; the bits below are for whoever
/// keeps a receipt as a word.
const PROMPT: usize = 0b100;
const _: () = assert!(align_of::<Line>() > PROMPT);
/// An office and a count, up to the next word.
const HEAD: usize = size_of::<Arc<dyn Received>>() + size_of::<u64>();

const _: () = assert!(size_of::<Pad>() == BYTES && align_of::<Pad>() == BYTES);

#[repr(C, align(256))]
struct Pad {
    office: Arc<dyn Received>,
    /// Lines that were not struck out, those among them that nobody has yet. The last one takes the pad along.
    open: AtomicU32,
    lines: [Line; LINES],
}

/// The ticket of one message.
#[repr(align(8))]
pub(crate) struct Line(UnsafeCell<u64>);

/// Says so when it is dropped: the message it goes with has left its mailbox.
///
/// ```
/// # use std::sync::Arc;
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
/// # fn main() {
/// let office = Arc::new(Office::default()); // adds up the tickets it hears of
/// let receipt: Receipt = Receipt::new(office.clone(), 42);
/// assert_eq!(office.0.load(SeqCst), 0);
/// drop(receipt);
/// assert_eq!(office.0.load(SeqCst), 42);
/// # }
/// ```
#[must_use = "dropping it says that the message was taken"]
pub struct Receipt(NonNull<Line>);

// SAFETY: its line belongs to it alone, and the rest of the pad is an office, which is `Send` and `Sync`, and an atomic.
unsafe impl Send for Receipt {}
// SAFETY: as above; through a reference the line is only read.
unsafe impl Sync for Receipt {}

impl Receipt {
    /// For the message of this ticket. Who has many for the same office takes them from [`Receipts`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # fn main() {
    /// let office = Arc::new(Office::default()); // adds up the tickets it hears of
    /// drop(Receipt::new(office.clone(), 42));
    /// assert_eq!(office.0.load(SeqCst), 42);
    /// # }
    /// ```
    pub fn new(office: Arc<dyn Received>, ticket: u64) -> Self {
        Receipts::new(office).next(ticket)
    }

    /// The same, to be said as soon as its message is taken. Others may be said a few at a time, while more mail is waiting
    /// behind them: the last of those after it was handled, if the next handler takes long.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # use volary_core::foreign::Arrival;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let office = Arc::new(Office::default()); // adds up the tickets it hears of
    /// let receipt = Receipt::new(office.clone(), 42).promptly();
    /// # let heard = office.clone();
    /// # let body = Inside(Box::new(move |_| { match heard.0.load(SeqCst) { 42 => Ok(()), heard => Err(format!("{heard}").into()) } }));
    /// # Arrival::new(&system).receipt(receipt).deliver(|| alice.ask(body).into_future()).await?; // heard of by its handler
    /// assert_eq!(office.0.load(SeqCst), 42);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn promptly(self) -> Self {
        Receipt(self.into_line().map_addr(|address| address | PROMPT))
    }

    #[inline]
    pub(crate) fn is_prompt(&self) -> bool {
        self.0.addr().get() & PROMPT != 0
    }

    /// As one word, of which the two lowest bits are clear.
    #[inline]
    pub(crate) fn into_line(self) -> NonNull<Line> {
        std::mem::ManuallyDrop::new(self).0
    }

    /// # Safety
    /// From `into_line`, once.
    #[inline]
    pub(crate) unsafe fn from_line(line: NonNull<Line>) -> Self {
        Receipt(line)
    }

    /// Drops receipts, the first `AT_ONCE` at most. What several in a row say to the same office is said at once.
    ///
    /// # Safety
    /// Each is from `into_line`, once.
    pub(crate) unsafe fn drop_lines(lines: &[NonNull<Line>]) {
        let mut tickets = [0; AT_ONCE];
        // SAFETY: these lines are open, so their pads are there.
        let office = |line: &NonNull<Line>| unsafe { Arc::as_ptr(&Pad::of(*line).as_ref().office) };
        for of_office in lines.chunk_by(|one, next| std::ptr::addr_eq(office(one), office(next))) {
            for (ticket, line) in tickets.iter_mut().zip(of_office) {
                // SAFETY: as above.
                *ticket = unsafe { Line::ticket(*line) };
            }
            let tickets = &tickets[..of_office.len()];
            // SAFETY: as above; the pad keeps its office until its last line is struck out.
            let _ = crate::dispatch::contain(|| unsafe { &*office(&of_office[0]) }.all_received(tickets));
            for of_pad in of_office.chunk_by(|one, next| Pad::of(*one) == Pad::of(*next)) {
                // SAFETY: the lines are the caller's, and each is struck out once.
                unsafe { Pad::strike_out(Pad::of(of_pad[0]), of_pad.len() as u32) };
            }
        }
    }
}

impl Line {
    /// # Safety
    /// It is open.
    #[inline]
    unsafe fn ticket(line: NonNull<Self>) -> u64 {
        let line = line.as_ptr().map_addr(|address| address & !PROMPT);
        // SAFETY: the line of a receipt was written before there was one, and is not written again while there is.
        unsafe { *(*line).0.get() }
    }
}

impl Drop for Receipt {
    #[inline]
    fn drop(&mut self) {
        let pad = Pad::of(self.0);
        // SAFETY: the line is open, so the pad is there.
        let ticket = unsafe { Line::ticket(self.0) };
        // SAFETY: as above.
        let office = unsafe { &*pad.as_ref().office };
        let _ = crate::dispatch::contain(|| office.received(ticket));
        // SAFETY: the line is this one's, and is struck out once.
        unsafe { Pad::strike_out(pad, 1) };
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the line of a receipt is open.
        write!(f, "Receipt({})", unsafe { Line::ticket(self.0) })
    }
}

/// Makes receipts of one office: cheap where there are many.
///
/// ```
/// # use std::sync::Arc;
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// use volary_core::foreign::{Receipts, Received};
///
/// struct Sum(AtomicU64);
/// impl Received for Sum {
///     fn received(&self, ticket: u64) { self.0.fetch_add(ticket, Ordering::Relaxed); }
/// }
///
/// let sum = Arc::new(Sum(AtomicU64::new(0)));
/// let receipts = Receipts::new(sum.clone());
/// (1..=100).for_each(|ticket| drop(receipts.next(ticket)));
/// assert_eq!(sum.0.load(Ordering::Relaxed), 5_050);
/// ```
pub struct Receipts {
    office: Arc<dyn Received>,
    /// The pad that has lines left, and how many; none before the first message.
    pad: Cell<Option<NonNull<Pad>>>,
    left: Cell<usize>,
}

// SAFETY: the lines that are left belong to it alone; and as for `Receipt`.
unsafe impl Send for Receipts {}

impl Receipts {
    /// Of an office.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # fn main() {
    /// let office = Arc::new(Office::default()); // adds up the tickets it hears of
    /// let receipts = Receipts::new(office.clone());
    /// drop((receipts.next(1), receipts.next(2)));
    /// assert_eq!(office.0.load(SeqCst), 3);
    /// # }
    /// ```
    #[must_use]
    pub fn new(office: Arc<dyn Received>) -> Self {
        Receipts {
            office,
            pad: Cell::new(None),
            left: Cell::new(0),
        }
    }

    /// One for the message of this ticket.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # fn main() {
    /// let office = Arc::new(Office::default()); // adds up the tickets it hears of
    /// let receipts = Receipts::new(office.clone());
    /// let receipt = receipts.next(42);
    /// drop(receipt);
    /// assert_eq!(office.0.load(SeqCst), 42);
    /// # }
    /// ```
    #[inline]
    pub fn next(&self, ticket: u64) -> Receipt {
        let pad = match self.pad.get() {
            Some(pad) => pad,
            None => self.begin_pad(),
        };
        let left = self.left.get() - 1;
        self.left.set(left);
        if left == 0 {
            // From here on it belongs to its receipts.
            self.pad.set(None);
        }
        // SAFETY: this line is open and nobody's yet, so the pad is there. The address is made from that of the pad.
        unsafe {
            let line = (&raw mut (*pad.as_ptr()).lines).cast::<Line>().add(left);
            (*line).0.get().write(ticket);
            Receipt(NonNull::new_unchecked(line))
        }
    }

    /// Whether the next one needs memory, 256 bytes: for whoever keeps account of it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # fn main() {
    /// # let office = Arc::new(Office::default());
    /// let receipts = Receipts::new(office);
    /// assert!(receipts.is_spent());
    /// let receipt = receipts.next(1);
    /// assert!(!receipts.is_spent());
    /// # }
    /// ```
    #[inline]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.pad.get().is_none()
    }

    #[cold]
    fn begin_pad(&self) -> NonNull<Pad> {
        let pad = Box::new(Pad {
            office: self.office.clone(),
            open: AtomicU32::new(LINES as u32),
            lines: [const { Line(UnsafeCell::new(0)) }; LINES],
        });
        let pad = NonNull::from(Box::leak(pad));
        self.pad.set(Some(pad));
        self.left.set(LINES);
        pad
    }
}

impl Drop for Receipts {
    fn drop(&mut self) {
        if let Some(pad) = self.pad.get() {
            // SAFETY: the lines that are left are this one's.
            unsafe { Pad::strike_out(pad, self.left.get() as u32) };
        }
    }
}

impl fmt::Debug for Receipts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receipts")
    }
}

impl Pad {
    #[inline]
    fn of(line: NonNull<Line>) -> NonNull<Self> {
        // Made from the address of its pad, so this points to all of it.
        let pad = line.as_ptr().map_addr(|address| address & !(BYTES - 1)).cast();
        // SAFETY: the address of a pad is not zero.
        unsafe { NonNull::new_unchecked(pad) }
    }

    /// # Safety
    /// So many lines are the caller's, and will not be touched again.
    #[inline]
    unsafe fn strike_out(pad: NonNull<Self>, lines: u32) {
        // SAFETY: a line is open, so the pad is there.
        if unsafe { pad.as_ref() }.open.fetch_sub(lines, Release) != lines {
            return;
        }
        fence(Acquire);
        // SAFETY: from a box, and these were the last lines: nobody else has an address of it.
        let pad = unsafe { Box::from_raw(pad.as_ptr()) };
        // The office may go with it, which is anybody's.
        let _ = crate::dispatch::contain(|| drop(pad));
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[derive(Default)]
    struct Office {
        sum: AtomicU64,
        count: AtomicU64,
    }

    impl Received for Office {
        fn received(&self, ticket: u64) {
            self.count.fetch_add(1, SeqCst);
            self.sum.fetch_add(ticket, SeqCst);
            assert_ne!(ticket, 13, "an office may panic");
        }
    }

    impl Office {
        fn seen(&self) -> (u64, u64) {
            (self.count.load(SeqCst), self.sum.load(SeqCst))
        }
    }

    #[test]
    fn miri_every_receipt_is_heard_of_once_and_pads_go_with_their_last_line() {
        let office = Arc::new(Office::default());
        let receipts = Receipts::new(office.clone());
        let count = 3 * LINES as u64 + 5;
        assert!(receipts.is_spent());
        let mut open: Vec<Receipt> = (1..=count).map(|ticket| receipts.next(ticket)).collect();
        assert_eq!(format!("{:?}", open[41]), "Receipt(42)");
        assert_eq!(office.seen(), (0, 0));
        assert!(!receipts.is_spent(), "of the fourth pad five are used");
        // In any order, and the maker before the last.
        let mut left = Vec::new();
        while let Some(receipt) = open.pop() {
            left.push(receipt);
            if !open.is_empty() {
                drop(open.swap_remove(open.len() / 2));
            }
        }
        drop(receipts);
        drop(left);
        assert_eq!(office.seen(), (count, count * (count + 1) / 2));
        assert_eq!(Arc::strong_count(&office), 1, "no pad is left");
    }

    #[test]
    fn miri_receipts_are_dropped_where_messages_are_handled() {
        let office = Arc::new(Office::default());
        let receipts = Receipts::new(office.clone());
        let count = if cfg!(miri) { 2 * LINES as u64 } else { 20_000 };
        std::thread::scope(|scope| {
            let (even, odd) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
            scope.spawn(move || even.1.into_iter().for_each(drop::<Receipt>));
            scope.spawn(move || odd.1.into_iter().for_each(drop::<Receipt>));
            for ticket in 1..=count {
                let to = if ticket % 2 == 0 { &even.0 } else { &odd.0 };
                to.send(receipts.next(ticket)).unwrap();
            }
            drop((receipts, even.0, odd.0));
        });
        assert_eq!(office.seen(), (count, count * (count + 1) / 2));
        assert_eq!(Arc::strong_count(&office), 1);
    }

    #[test]
    fn miri_a_single_receipt_has_a_pad_of_its_own() {
        let office = Arc::new(Office::default());
        let receipt = Receipt::new(office.clone(), 7);
        assert_eq!(Arc::strong_count(&office), 2);
        // SAFETY: once.
        drop(unsafe { Receipt::from_line(receipt.into_line()) });
        assert_eq!((office.seen(), Arc::strong_count(&office)), ((1, 7), 1));
        let prompt = Receipt::new(office.clone(), 8).promptly();
        assert_eq!(
            (format!("{prompt:?}"), prompt.is_prompt()),
            ("Receipt(8)".to_owned(), true)
        );
        drop(prompt);
        assert_eq!((office.seen(), Arc::strong_count(&office)), ((2, 15), 1));
    }

    #[test]
    fn miri_an_office_that_panics_keeps_no_pad() {
        let office = Arc::new(Office::default());
        drop(Receipt::new(office.clone(), 13));
        assert_eq!((office.seen(), Arc::strong_count(&office)), ((1, 13), 1));
    }

    /// It may go with the last of its receipts, in the middle of a turn.
    #[test]
    fn miri_an_office_that_panics_when_it_goes_harms_nobody() {
        struct Fragile(Arc<AtomicU64>);
        impl Received for Fragile {
            fn received(&self, ticket: u64) {
                self.0.fetch_add(ticket, SeqCst);
            }
        }
        impl Drop for Fragile {
            fn drop(&mut self) {
                panic!("an office may panic as it goes");
            }
        }
        let sum = Arc::new(AtomicU64::new(0));
        let one = |ticket| Receipt::new(Arc::new(Fragile(sum.clone())), ticket);
        drop(one(1));
        let lines = [one(10), one(100)].map(Receipt::into_line);
        // SAFETY: once each.
        unsafe { Receipt::drop_lines(&lines) };
        assert_eq!(
            sum.load(SeqCst),
            111,
            "the second was heard of although the first panicked"
        );
    }
}
