//! Actors that live elsewhere: what a transport needs to stand in for them here.
//!
//! An actor of another machine is represented by a stand-in: a cell like every other, so that an
//! [`ActorRef`](crate::ActorRef) to it is like every other, can be watched, compared and kept. Its mailbox leads out:
//! what is sent to it goes to an [`Outlet`], on the sender's thread, as a [`Parcel`]. When the actor there ends, or is
//! lost, the stand-in is [ended](StandIn::end), and whoever watches hears of it as they would of an actor here.
//!
//! What comes from elsewhere is told and asked under an [`Arrival`], which says who sent it and what travels along, and
//! gives a receipt when the message leaves the mailbox.

mod arrival;
mod inquiry;
mod outlet;
mod parcel;
mod pending_reply;
mod receipt;
mod stand_in;
mod taken;

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod miri_tests;

pub use arrival::Arrival;
pub use inquiry::Inquiry;
pub(crate) use outlet::Foreign;
pub use outlet::{Errand, Outlet, Room, Undeliverable};
pub use parcel::Parcel;
pub(crate) use parcel::post_out;
pub use pending_reply::PendingReply;
pub(crate) use receipt::Line;
pub use receipt::{Receipt, Receipts, Received};
pub(crate) use stand_in::Absent;
pub use stand_in::{Abroad, StandIn};
pub(crate) use taken::Taken;
