//! Interceptors: layers around what actors send and what they handle.
//!
//! They are given to the builder, for all actors, or to an actor's props, for what it handles and what it sends. The
//! first given is the outermost: it sees a message first, and its handling last. A system without any pays nothing:
//! senders and turns look at marks that they look at anyway.

mod interceptor;
mod layers;
mod seen;

pub use interceptor::{Interceptor, Verdict};
pub(crate) use layers::Layers;
pub use seen::{Arriving, Departing, Handled, Outcome};
