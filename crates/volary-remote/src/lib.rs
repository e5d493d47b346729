//! Remoting: the same `tell` across machines.
//!
//! ```text
//!   ActorRef ──▶ stand-in ──▶ Outlet ──▶ Outbound ══ bytes ══▶ Inbound ──▶ Route ──▶ mailbox
//!                             (sender's   (one per              (one per
//!                              thread)     peer)                 connection)
//! ```
//!
//! A node has one association (`peer`) per peer: what is on its way there, what was not confirmed yet, and which
//! actors there are known here. A link (`link`) is one connection of it, which comes and goes. [`transport`] says what
//! a connection is, [`compression`] how its bytes become fewer, `trust` who may do what, `operations` what nodes ask of
//! each other beside messages. Frames and codecs are those of `volary-wire`.
#![forbid(unsafe_code)]

#[cfg(test)]
mod alone;
mod backoff;
mod builder;
pub mod compression;
mod duty;
mod error;
mod event;
mod instruments;
mod link;
mod metrics;
mod operations;
mod options;
mod outlet;
mod peer;
mod propagator;
mod remote;
mod settings;
mod shared;
pub mod transport;
mod transport_actor;
mod trust;

pub use builder::RemoteBuilder;
pub use error::RemoteStartError;
pub use event::PeerEvent;
pub use metrics::{RemoteCounts, RemoteMetrics};
pub use operations::{
    ActorKind, ActorMetrics, Argument, Children, NodeMetrics, OperationError, RemoteNode, RemoteSpawn, RemoteSpawnError,
};
pub use options::{Overflow, RemoteOptions};
pub use peer::PeerReading;
pub use propagator::Propagator;
pub use remote::Remote;
pub use settings::SETTINGS;
pub use transport_actor::{
    AskRemote, Connect, InboundMessage, Peers, RemoteAnswer, RemoteDeadLetter, RemoteEnvelope, SendRemote,
    TransportActor, Undelivered,
};
pub use trust::{PeerIdentity, Right, Rights};

/// What the fuzz targets need and users do not.
#[cfg(feature = "tls")]
#[doc(hidden)]
pub mod __private {
    /// Whose certificate it is, as it is read once it was verified.
    pub fn certificate_identity(certificate: &[u8]) -> crate::transport::Identity {
        crate::transport::identity_of(certificate)
    }
}
