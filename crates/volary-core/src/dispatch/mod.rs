//! The dispatcher: who runs which actor when.
//!
//! [`turn`] is one visit to one actor; [`frame`] is where its futures live and [`host`] what the
//! running thread has at hand. [`pool`] spreads ready actors over workers ([`worker`], with their
//! [`ring`]s, and [`idle`] for those who sleep); [`elastic`] gives blocking and pinned actors
//! threads of their own.

mod attention;
mod contain;
mod early;
mod elastic;
mod frame;
mod gathered;
mod global;
mod host;
mod idle;
mod last_in;
mod pool;
mod pulse;
mod ring;
mod turn;
mod worker;
mod young;

use crate::actor::Fault;

pub(crate) use contain::{contain, wake};
pub(crate) use early::fetch_early;
pub(crate) use elastic::Elastic;
pub(crate) use frame::{Ambiently, FrameHead, attend_to_the_end, beside_turn, discard, launch, resume};
pub(crate) use gathered::Gathered;
pub(crate) use host::{Ending, Host};
pub(crate) use pool::{Pool, PoolConfig};
pub(crate) use pulse::{Pulse, guests};
pub(crate) use ring::Ready;
pub(crate) use turn::{TurnEnd, deliver, deliver_again, run_inline, start_turn};

/// How polling a handler or hook ended.
pub(crate) enum Step {
    /// It is finished.
    Done,
    /// It waits for something; its frame is in the cell.
    Suspended,
    /// It crashed.
    Faulted(Fault),
}

#[cfg(all(test, volary_shuttle))]
mod shuttle_tests;
