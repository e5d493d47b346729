//! What a record carries besides its message, when it carries anything.

use super::Baggage;
use crate::reference::foreign::Receipt;
use crate::time::Moment;

/// Baggage on its way through a mailbox.
#[derive(Default)]
pub(crate) struct Carried {
    pub(crate) baggage: Baggage,
    /// When it was sent, if its way is measured.
    pub(crate) sent_at: Option<Moment>,
    /// Says that the message has left its mailbox.
    pub(crate) receipt: Option<Receipt>,
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

    /// Whether nobody needs it once the message has left its mailbox.
    pub(crate) fn is_spent(&self) -> bool {
        self.sent_at.is_none() && self.baggage.is_empty()
    }
}
