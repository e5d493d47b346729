//! The tree of actors and how its places are written down.
//!
//! A [name](validate_name) is one step, a [`Path`] is the way from the root of one system to an actor, and an
//! [`Address`] is a path, or a logical place in a cluster, that means the same on every machine.

mod address;
mod children;
mod family;
mod forecast;
mod grain;
mod index;
mod name;
mod node;
mod path;
mod uid;

pub(crate) use children::{hash_of, hash_of_name};
pub(crate) use family::{Family, NotAdopted};

pub use address::{Address, AddressError};
pub use grain::{GrainIdError, KindError, MAX_GRAIN_ID_BYTES, MAX_KIND_BYTES};
pub use name::{MAX_NAME_BYTES, NameError, automatic_name, validate_name, validate_system_name};
pub use node::{Host, HostError, Node, NodeError};
pub use path::{MAX_PATH_BYTES, Path, PathError};
pub use uid::Uid;
