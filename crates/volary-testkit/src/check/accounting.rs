//! Was every message handled, dead or given back, exactly once and in order?
//!
//! `ledger.rs` follows each message; `tally.rs` only counts, for runs too large for that. What is promised are the
//! first two clauses of the contract: order from one sender to one receiver, and one fate for each message.

pub use ledger::{AccountingViolation, Ledger, MessageRecord};
pub use tally::{Tally, TallyViolation};

mod ledger;
mod tally;
