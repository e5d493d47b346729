//! Volary's own dialect: what two Volary nodes say to each other.
//!
//! ```text
//!   frame   ┌ length u32 ┬ kind u8 ┬ flags u8 ┬ body … ┐      length counts what comes behind it
//!
//!   tell    sequence · receiver · sender? · type · codec u8 · (length · metadata)? · payload …
//!   ask     sequence · correlation · receiver · sender? · type · codec u8 · (length · metadata)? · payload …
//!   name    0 · length · text          or the id of an interned one
//! ```
//!
//! Fixed numbers are big-endian; `·` joins numbers of variable length (7 bits per byte, low ones first, never longer
//! than need be) and what they count. What stands at the end of a body has no length of its own. Every frame has
//! exactly one encoding.
//!
//! A node closes the connection on the first byte that breaks a rule ([`FrameError`] says which). Frames of a kind it
//! does not know it skips if their sender marked them so, and so it does with unknown fields of the handshake and of
//! metadata: that is how a version and the next can talk.

mod addressed;
mod capability;
mod chunk;
mod confirm;
mod decoder;
mod error;
mod fields;
mod frame;
mod handshake;
mod intern;
mod limits;
mod metadata;
mod read;
mod told;
mod write;

pub use addressed::Addressed;
pub use capability::{Capabilities, Capability};
pub use chunk::{Assembler, Beginning, Chunk, ChunkError, Chunks};
pub use decoder::FrameDecoder;
pub use error::{FrameError, Oversize};
pub use fields::{Name, NameRef, Text};
pub use frame::{
    Answer, Confirm, Credit, Envelope, Frame, FrameKind, Goodbye, GoodbyeReason, Intern, Operation, Outcome, Reply,
    Terminated, TerminationCause, Watch,
};
pub use handshake::{Hello, Lane, Refuse, RefuseReason, Welcome};
pub use intern::{InternError, InternSpace, InternTable, Interned, Interner};
pub use limits::{Bounds, Limits};
pub use metadata::{Metadata, MetadataBuilder, TraceContext};
pub use told::Told;
pub use write::{FrameWriter, Head};

/// The versions of this dialect that this crate speaks, oldest and newest.
///
/// ```
/// let (oldest, newest) = volary_wire::native::VERSIONS;
/// assert!(oldest <= newest);
/// ```
pub const VERSIONS: (u16, u16) = (1, 1);
