//! What Volary nodes say to each other, and how: frames, codecs, and the registry of message types. No sockets, no
//! clock, no tasks: bytes in, frames out, and the other way round.
//!
//! ```text
//!   M ──Registry──▶ codec ──▶ payload ─┐                       ┌─▶ payload ──Route──▶ ActorRef<A>
//!                                      ▼                       │
//!                              native frames ───▶ bytes ───▶ native::FrameDecoder
//! ```
//!
//! [`native`] is Volary's own dialect; [`codec`] and [`Registry`] know nothing of it, so that another dialect can
//! stand beside it. Most users meet this crate through the feature `wire` of `volary`.
#![forbid(unsafe_code)]

pub mod codec;
mod contain;
pub mod native;
mod registry;
mod wire;

#[cfg(feature = "proto")]
mod proto_ref;

#[cfg(feature = "cbor")]
pub use codec::Cbor;
#[cfg(feature = "json")]
pub use codec::Json;
#[cfg(feature = "postcard")]
pub use codec::Postcard;
#[cfg(feature = "proto")]
pub use codec::Proto;
pub use codec::{Codec, CodecId, DecodeError, EncodeError, Never};
#[cfg(feature = "proto")]
pub use proto_ref::Ref;
pub use registry::{
    Answered, DeliverError, KindTable, MessageEntry, PendingReply, RegisterError, Registered, Registry, Reply, Route,
    SendEncodeError,
};
pub use wire::{RemoteActor, Wire, WireRejection};

/// What the macros need and users do not.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "proto")]
    pub use prost::Name;

    /// The length of `package.name`.
    pub const fn full_length(package: &str, name: &str) -> usize {
        package.len() + name.len() + if package.is_empty() { 0 } else { 1 }
    }

    /// `package.name`, made at compile time.
    pub const fn full_name<const N: usize>(package: &str, name: &str) -> [u8; N] {
        let mut full = [b'.'; N];
        let (package, name) = (package.as_bytes(), name.as_bytes());
        let mut at = 0;
        while at < package.len() {
            full[at] = package[at];
            at += 1;
        }
        let start = N - name.len();
        at = 0;
        while at < name.len() {
            full[start + at] = name[at];
            at += 1;
        }
        full
    }

    /// The bytes that [`full_name`] made of two strings, as text.
    pub const fn text(bytes: &'static [u8]) -> &'static str {
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => panic!("two strings make a string"),
        }
    }
}
