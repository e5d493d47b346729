//! What a connection is: two halves of a stream of bytes, made by listening and connecting.
//!
//! [`Tcp`] is the default; [`Memory`] connects nodes of one process, for tests and embedding. A transport of one's own
//! is two small traits. All of remoting above this is the same for each of them.

mod memory;
mod tcp;

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

pub use memory::Memory;
pub use tcp::Tcp;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream of bytes between two nodes.
pub struct Connection {
    /// What the other side writes.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What the other side reads.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Who is there, as far as the transport knows; for logs.
    pub from: String,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Makes connections.
///
/// ```
/// # use volary_remote::transport::{Tcp, Transport};
/// fn usual() -> impl Transport { Tcp::default() }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Listens at `host:port`; port 0 stands for any that is free.
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>>;

    /// Connects to `host:port`.
    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>>;

    /// Whether nobody on the way can read or forge what is said.
    fn is_encrypted(&self) -> bool {
        false
    }
}

/// Takes connections of others. Dropping it ends that.
pub trait Listener: Send {
    /// The next connection.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>>;

    /// The port that it listens at.
    fn port(&self) -> u16;
}
