//! Mailboxes: where messages wait.
//!
//! [`log`] is the queue, [`record`] what one message looks like in it, [`pool`] the memory it grows
//! into, [`bound`] its limit and who waits there. [`custom`] is the trait for a mailbox of one's own and the
//! [`letter`](Letter) it deals in; [`priority`] and [`fair`] are such mailboxes, ready-made. [`kind`]
//! is what users choose from.

mod block;
mod bound;
mod custom;
mod fair;
mod freight;
mod kind;
mod log;
mod marks;
pub(crate) mod pool;
mod priority;
mod reason;
mod record;

pub(crate) use block::{BLOCK_BYTES, First, LARGE_RECORDS, Word};
pub(crate) use bound::Bound;
pub(crate) use custom::BELL;
pub use custom::{Letter, Mailbox};
pub use fair::Fair;
pub(crate) use freight::{Freight, Goods};
pub use kind::MailboxKind;
pub(crate) use log::{Growth, Log, Notices, Peek, Refusal, Room};
pub use priority::{Priority, StablePriority};
pub(crate) use reason::Reason;
pub(crate) use record::{
    Along, Envelope, HEAD_WORDS, Incoming, Origin, RecordKind, RunFn, payload_words, take_payload, write_payload,
};
pub use record::{INLINE_BYTES, MessageTable};

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod order_tests;
