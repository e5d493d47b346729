//! Mailboxes: where messages wait.
//!
//! [`log`] is the queue, [`record`] what one message looks like in it, [`pool`] the memory it grows
//! into, [`bound`] its limit and who waits there, [`custom`] the trait for a mailbox of one's own and the [`letter`](Letter) it deals in.

mod bound;
mod custom;
mod log;
pub(crate) mod pool;
mod record;

pub(crate) use bound::Bound;
pub(crate) use custom::BELL;
pub use custom::{Letter, Mailbox};
pub(crate) use log::{BLOCK_BYTES, Growth, Log, Peek, Refusal};
pub(crate) use record::{Envelope, Incoming, payload_words, write_payload};
pub use record::{INLINE_BYTES, MessageTable};
