//! What travels along with a message, in one word of its record.

use std::ptr::NonNull;

use crate::baggage::Carried;
use crate::time::Moment;

/// Set in a word that is a time itself. A box is aligned, so its address has this bit clear.
const STAMP: usize = 1;

const _: () = assert!(align_of::<Carried>() > STAMP);

/// A box of what a message carries; or, of one that carries nothing and is measured, when it was sent. Most messages
/// that are measured are of the second kind, and a box for each, freed by another thread than made it, would cost as
/// much as looking at the clock.
///
/// A plain value, so that envelopes stay in registers: it is in one hand at a time, and opened once.
#[derive(Clone, Copy)]
pub(crate) struct Freight(NonNull<Carried>);

impl Freight {
    pub(crate) fn boxed(carried: Box<Carried>) -> Self {
        Freight(NonNull::from(Box::leak(carried)))
    }

    /// The time a message was sent at, and nothing else.
    pub(crate) fn sent_at(time: Moment) -> Self {
        // A word takes 292 years of nanoseconds; where that is not enough, or words are shorter, there is a box.
        let word = time
            .nanos()
            .checked_mul(2)
            .and_then(|twice| usize::try_from(twice).ok());
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

    /// When it was sent, if that is all.
    #[inline]
    pub(crate) fn time(self) -> Option<Moment> {
        let word = self.0.addr().get();
        (word & STAMP != 0).then(|| Moment::from_nanos((word >> 1) as u64))
    }

    /// What is carried, in a box in any case.
    ///
    /// # Safety
    /// Opened once, of all its copies.
    pub(crate) unsafe fn open(self) -> Box<Carried> {
        match self.time() {
            Some(_) => Box::new(Carried {
                sent_at: self.time(),
                ..Carried::default()
            }),
            // SAFETY: no time, so it was made from a box in `boxed`; and the caller's promise.
            None => unsafe { Box::from_raw(self.0.as_ptr()) },
        }
    }

    /// Lets go of it.
    ///
    /// # Safety
    /// As for `open`.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn discard(self) {
        if self.time().is_none() {
            // SAFETY: the caller's promise.
            drop(unsafe { self.open() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baggage::Baggage;

    #[test]
    fn a_time_is_kept_in_the_word_itself() {
        for (nanos, fits) in [(0, true), (1, true), (u64::MAX >> 1, true), (u64::MAX, false)] {
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

    /// That it does is seen by Miri.
    #[test]
    fn miri_letting_go_frees_a_box_and_leaves_a_time_alone() {
        let freight = Freight::boxed(Box::new(Carried::new(
            Baggage::new().with_header("tenant", "blue").unwrap(),
        )));
        // SAFETY: each is let go of once.
        unsafe {
            freight.discard();
            Freight::sent_at(Moment::from_nanos(7)).discard();
        }
    }
}
