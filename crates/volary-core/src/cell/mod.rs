//! The cell: the one allocation of an actor.
//!
//! [`header`] is what every cell has whatever actor lives in it, and the counted pointer to it;
//! [`typed`] adds the actor and its factory; [`state`] is the word that says who may run it;
//! [`links`] holds what most actors do not need until they do (children, watchers, bounds);
//! [`tap`] shows its messages to whoever looks, [`timed`] and [`timer_table`] are its timers;
//! [`lifecycle`] starts, restarts and stops it, [`end`] is its last step.

mod behaviour;
mod counts;
mod directory;
mod end;
mod header;
mod here;
pub(crate) mod lifecycle;
mod links;
mod parcel;
pub(crate) mod passivate;
mod request;
mod serve;
mod stash;
pub(crate) mod state;
mod supervise;
mod tap;
mod timed;
mod timer_table;
mod typed;
mod waker;

pub(crate) use behaviour::BehaviourTable;
pub(crate) use directory::Directory;
pub(crate) use end::demolish_all;
pub(crate) use header::{Birth, CellRef, Header, WeakCell};
pub(crate) use here::Here;
pub(crate) use lifecycle::Phase;
pub(crate) use links::{Extras, Links, MailboxRule, Membership, Memberships, Watcher};
pub(crate) use parcel::{Arrival, Parcel, post_parcel};
pub(crate) use passivate::Wakefulness;
pub(crate) use request::{Asked, RequestHandle};
pub(crate) use serve::{Course, Served};
pub(crate) use timed::{Plan, TimerName};
pub use typed::MessageList;
pub(crate) use typed::{Relay, cell_table, create, relay_table};
pub use typed::{absent_table, message_table};
pub(crate) use waker::{grace_waker, idle_waker, is_waker_of, waker_of};

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod miri_tests;
