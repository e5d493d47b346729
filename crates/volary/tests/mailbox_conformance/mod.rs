//! What every mailbox must do, a user's own included: the same stories, told for each of them.
//!
//! A [`Candidate`] says what a mailbox promises, `conforms!` makes one test of each story.
#![allow(unreachable_pub, missing_docs, reason = "in tests only")]

mod office;
mod order;
mod stories;
mod threads;

pub use office::{BACKLOG, Filed, weight};
pub use order::{
    Keeps, newest_of_each_first, oldest_of_each_first, round_robin, weightiest_first, weightiest_oldest_first,
};
pub use stories::*;
pub use threads::*;

use volary::MailboxKind;

/// A mailbox and what it promises.
#[derive(Clone)]
pub struct Candidate {
    pub kind: MailboxKind,
    pub room: Room,
    pub keeps: Keeps,
    /// Checks in which order a backlog was handled that had been queued as a whole.
    pub order: fn(&[Filed]),
}

/// What happens to a message more than [`BACKLOG`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    ForEverything,
    /// `tell` and `ask` are refused, `send` waits.
    ThenSendWaits,
    /// All of them are refused.
    ThenAllIsRefused,
}

/// One test of each story, in a module named for the candidate.
macro_rules! conforms {
    ($($name:ident => $candidate:expr;)*) => {
        $(mod $name {
            use super::*;
            stories! { $candidate =>
                l12_every_message_is_handled_exactly_once
                l12_the_promised_order_is_kept
                l12_a_refused_message_comes_back
                l12_each_ask_gets_its_own_answer
                l12_what_is_left_at_a_stop_is_one_dead_letter_each_and_asks_hear_stopped
                l12_a_stop_overtakes_a_backlog
                l12_a_kill_overtakes_a_backlog
                l12_a_drain_handles_all_that_was_queued
                l12_a_panic_costs_one_message_only
                l12_the_end_of_the_system_drops_every_message_exactly_once
                l12_senders_on_several_threads_lose_nothing
                l12_a_stop_that_races_with_senders_leaves_no_message_unaccounted
            }
        })*
    };
}

macro_rules! stories {
    ($candidate:expr => $($story:ident)*) => {
        $(#[test]
        fn $story() {
            mailbox_conformance::$story($candidate);
        })*
    };
}
