//! Streams into actors and out of them.
//!
//! [`attach`] feeds a stream to an actor: [`pump`] pulls elements and posts them while there is room in a [`window`], so
//! that a slow actor slows the stream. [`reply`] answers an ask with a stream, a bounded queue between a producer and
//! whoever asked. [`sink`] is the other direction of both: somebody's stream forwarded to an actor with `send`.

mod attach;
mod errors;
mod pump;
mod reply;
mod sink;
mod window;

pub use attach::{Attach, Attached};
pub use errors::{StreamClosed, StreamEnd, StreamError, TrySendItemError};
pub use reply::{StreamReply, Streaming};
pub use sink::ActorSink;
