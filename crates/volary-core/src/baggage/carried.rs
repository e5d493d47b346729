//! What a record carries besides its message, when it carries anything.

use super::Baggage;
use crate::time::Moment;

/// Baggage on its way through a mailbox.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) baggage: Baggage,
    /// When it was sent, if its way is measured.
    pub(crate) sent_at: Option<Moment>,
    /// Its trace has no span before the one of its handling.
    pub(crate) begins_trace: bool,
}

impl Carried {
    pub(crate) fn new(baggage: Baggage) -> Self {
        Carried {
            baggage,
            ..Carried::default()
        }
    }
}
