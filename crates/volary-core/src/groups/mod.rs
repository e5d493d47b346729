//! Process groups: actors under a common name, found by whoever knows the name.
//!
//! [`Groups`] is the system's; a [`Group`] is one name for actors of one type, or for everybody who speaks a protocol,
//! or takes one message ([`Takes`](crate::Takes)). Actors join and leave; one that ends leaves by itself.
//!
//! Order of things, which settles every race: a member is entered into the register first and into its cell second. An
//! actor that ends in between is seen by the second step, which takes the first one back; one that ends later finds the
//! group in its cell. Changes are announced in the order in which they happened, outside of the lock.

mod changed;
mod error;
mod group;
mod register;

pub use changed::{Change, GroupChanged};
pub use error::JoinError;
pub use group::{Group, Groups};
pub(crate) use register::{Key, Register};
