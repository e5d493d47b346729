//! References: how messages are sent, asked and answered.
//!
//! [`ActorRef`] is typed by anything that accepts messages, [`Recipient`] by one message alone.
//! [`post`] puts a message into a mailbox; [`ask`] waits for its answer through a
//! [`reply slot`](ReplySlot), whose other end is a [`ReplyTo`].

mod actor_ref;
mod any_ref;
mod ask;
mod batch;
mod command;
mod cycle;
mod departure;
mod errors;
pub mod foreign;
mod found;
mod id;
mod inspect;
mod post;
mod recipient;
mod reply_slot;
mod reply_to;
mod resolve;
mod send;
mod sending;
#[cfg(feature = "serde")]
mod serde;
mod slots;
mod spawn;
mod status;
mod takes;
mod tap;
mod target;
mod watch;
mod weak_ref;

pub use actor_ref::ActorRef;
pub use any_ref::AnyRef;
pub use ask::{Ask, AskFuture};
pub(crate) use ask::{KeptAsk, unasked};
pub use batch::AskAll;
pub(crate) use batch::settle;
pub use cycle::Cycle;
pub(crate) use departure::{carrying, counted, depart, stamped, untimed};
pub use errors::{AskError, RemoteError, SendError, SpawnError, TellAllError, TellError};
pub use found::{Found, FoundTables};
pub use id::ActorId;
pub(crate) use post::{envelope_from_here, offer, post, post_exempt, post_unbounded};
pub use recipient::Recipient;
pub(crate) use reply_slot::ReplySlot;
pub use reply_to::ReplyTo;
pub use resolve::{ResolveError, Resolver, Resolving};
pub use send::SendFuture;
pub(crate) use slots::{PATIENT, sweep, wake_askers_of};
pub use spawn::{Spawn, SpawnFuture};
pub(crate) use spawn::{StartError, StartReport, spawn_guardian};
pub use status::ActorStatus;
pub use takes::Takes;
pub use tap::{TapError, Tapped};
pub use target::{Accepts, Covers, Target};
pub use watch::Termination;
pub(crate) use watch::{post_terminated, unwatch, watch};
pub use weak_ref::WeakRef;
