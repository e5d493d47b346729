//! What stands in the word of a log for those who write into it.

/// The mailbox has a rule of its own; ask it first.
pub(super) const GUARDED: u64 = 1 << 19;
/// Somebody looks at everything that is written: layers, or the meter in a simulation.
pub(super) const SEEN: u64 = 1 << 20;
/// One in so many of what is written is measured. Senders ask for this only when they look up.
pub(super) const METERED: u64 = 1 << 21;
/// Where somebody other than who writes looks at what is written, or has to be asked.
pub(super) const MARKS: u64 = GUARDED | SEEN;
/// All of them.
pub(super) const LASTING: u64 = GUARDED | SEEN | METERED;

/// What writers must know of a mailbox before they write; nothing, of most.
#[derive(Clone, Copy)]
pub(crate) struct Marks(u64);

impl Marks {
    #[inline]
    pub(super) fn of(word: u64) -> Self {
        Marks(word & MARKS)
    }

    #[inline]
    pub(crate) fn are_none(self) -> bool {
        self.0 == 0
    }

    /// Whether the mailbox has a rule of its own, which is asked first.
    #[inline]
    pub(crate) fn is_guarded(self) -> bool {
        self.0 & GUARDED != 0
    }

    /// Whether somebody looks at everything that is written.
    #[inline]
    pub(crate) fn is_seen(self) -> bool {
        self.0 & SEEN != 0
    }
}
