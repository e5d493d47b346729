//! What travels along with a message, in one word of its record.

use std::ptr::NonNull;

use crate::baggage::Carried;
use crate::reference::foreign::{Line, Receipt};
use crate::time::Moment;

/// Set in a word that is a time itself. Boxes and receipts are aligned, so that their addresses have these bits clear.
const STAMP: usize = 0b01;
/// Set in a word that is a receipt.
const RECEIPT: usize = 0b10;
const KIND: usize = STAMP | RECEIPT;

const _: () = assert!(align_of::<Carried>() > KIND && align_of::<Line>() > KIND);

/// A box of what a message carries; or, of one that carries nothing else, when it was sent, if it is measured, or the
/// receipt of one from another node. Nearly all are of the latter kinds, and a box for each, freed by another thread than
/// made it, would cost as much as looking at the clock.
///
/// A plain value, so that envelopes stay in registers: it is in one hand at a time, and opened once.
#[derive(Clone, Copy)]
pub(crate) struct Freight(NonNull<()>);

/// What a word is.
pub(crate) enum Goods {
    Time(Moment),
    Receipt(Receipt),
    Box(Box<Carried>),
}

impl Freight {
    pub(crate) fn boxed(carried: Box<Carried>) -> Self {
        Freight(NonNull::from(Box::leak(carried)).cast())
    }

    /// The time a message was sent at, and nothing else.
    pub(crate) fn sent_at(time: Moment) -> Self {
        // A word takes 146 years of nanoseconds; where that is not enough, or words are shorter, there is a box.
        let word = time
            .nanos()
            .checked_mul(1 << KIND.count_ones())
            .and_then(|times| usize::try_from(times).ok());
        match word
            .map(|word| word | STAMP)
            .and_then(|word| NonNull::new(std::ptr::without_provenance_mut(word)))
        {
            Some(word) => Freight(word),
            None => Freight::boxed(Box::new(Carried {
                sent_at: Some(time),
                ..Carried::default()
            })),
        }
    }

    /// The receipt of a message, and nothing else.
    #[inline]
    pub(crate) fn receipt(receipt: Receipt) -> Self {
        Freight(receipt.into_line().cast().map_addr(|address| address | RECEIPT))
    }

    #[inline]
    fn kind(self) -> usize {
        self.0.addr().get() & KIND
    }

    /// When it was sent, if that is all.
    #[inline]
    pub(crate) fn time(self) -> Option<Moment> {
        (self.kind() == STAMP).then(|| Moment::from_nanos((self.0.addr().get() >> KIND.count_ones()) as u64))
    }

    /// Whether it is a receipt, and nothing else.
    #[inline]
    pub(crate) fn is_receipt(self) -> bool {
        self.kind() == RECEIPT
    }

    /// What it is.
    ///
    /// # Safety
    /// Taken apart once, of all its copies.
    #[inline]
    pub(crate) unsafe fn take_apart(self) -> Goods {
        if let Some(time) = self.time() {
            return Goods::Time(time);
        }
        let address = self.0.as_ptr();
        // SAFETY: what it is says how it was made; and the caller's promise.
        unsafe {
            if self.is_receipt() {
                let line = address.map_addr(|address| address & !KIND).cast();
                return Goods::Receipt(Receipt::from_line(NonNull::new_unchecked(line)));
            }
            Goods::Box(Box::from_raw(address.cast()))
        }
    }

    /// What is carried, in a box in any case.
    ///
    /// # Safety
    /// As for `take_apart`.
    pub(crate) unsafe fn open(self) -> Box<Carried> {
        // SAFETY: the caller's promise.
        match unsafe { self.take_apart() } {
            Goods::Time(time) => Box::new(Carried {
                sent_at: Some(time),
                ..Carried::default()
            }),
            Goods::Receipt(receipt) => Box::new(Carried {
                receipt: Some(receipt),
                ..Carried::default()
            }),
            Goods::Box(carried) => carried,
        }
    }

    /// Lets go of it.
    ///
    /// # Safety
    /// As for `take_apart`.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn discard(self) {
        // SAFETY: the caller's promise.
        drop(unsafe { self.take_apart() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baggage::Baggage;

    #[test]
    fn a_time_is_kept_in_the_word_itself() {
        for (nanos, fits) in [(0, true), (1, true), (u64::MAX >> 2, true), (u64::MAX, false)] {
            let time = Moment::from_nanos(nanos);
            let freight = Freight::sent_at(time);
            assert_eq!(freight.time(), (fits && usize::BITS == 64).then_some(time));
            // SAFETY: opened once.
            let opened = unsafe { freight.open() };
            assert_eq!(opened.sent_at, Some(time));
            assert!(opened.baggage.is_empty());
        }
    }

    #[test]
    fn a_box_comes_back_as_it_was() {
        let baggage = Baggage::new().with_header("tenant", "blue").unwrap();
        let freight = Freight::boxed(Box::new(Carried::new(baggage)));
        assert_eq!(freight.time(), None);
        // SAFETY: opened once.
        let opened = unsafe { freight.open() };
        assert_eq!(opened.baggage.header("tenant"), Some(&b"blue"[..]));
    }

    struct Heard(std::sync::atomic::AtomicU64);

    impl crate::reference::foreign::Received for Heard {
        fn received(&self, ticket: u64) {
            self.0.fetch_add(ticket, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// That it does is seen by Miri.
    #[test]
    fn miri_letting_go_frees_what_is_there_and_leaves_a_time_alone() {
        let freight = Freight::boxed(Box::new(Carried::new(
            Baggage::new().with_header("tenant", "blue").unwrap(),
        )));
        let heard = std::sync::Arc::new(Heard(0.into()));
        let receipt = || Freight::receipt(Receipt::new(heard.clone(), 40));
        let told = || heard.0.load(std::sync::atomic::Ordering::Relaxed);
        // SAFETY: each is let go of once.
        unsafe {
            freight.discard();
            Freight::sent_at(Moment::from_nanos(7)).discard();
            let word = receipt();
            assert!(word.is_receipt() && word.time().is_none());
            word.discard();
            assert_eq!(told(), 40);
            let opened = receipt().open();
            assert!(opened.baggage.is_empty() && opened.sent_at.is_none());
            assert_eq!(told(), 40, "it is still there");
            drop(opened);
        }
        assert_eq!(told(), 80);
    }
}
