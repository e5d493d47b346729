//! What a connection is: two halves of a stream of bytes, made by listening and connecting.
//!
//! [`Tcp`] is the default; [`Memory`] connects nodes of one process, for tests and embedding; `Tls`, with the feature
//! `tls`, makes any of them safe. A transport of one's own is two small traits. All of remoting above this is the same
//! for each of them.

mod identity;
mod memory;
mod tcp;
#[cfg(feature = "tls")]
mod tls;

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use volary_core::ActorSystem;

pub use identity::Identity;
pub(crate) use identity::host_of;
pub use memory::Memory;
pub use tcp::Tcp;
#[cfg(feature = "tls")]
pub(crate) use tls::identity_of;
#[cfg(feature = "tls")]
pub use tls::{CertificateError, CertificateSource, Tls, TlsError};

/// A future in a box.
///
/// ```
/// use volary_remote::transport::BoxFuture;
/// let ready: BoxFuture<'_, u8> = Box::pin(std::future::ready(7));
/// # let _ = ready;
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream of bytes between two nodes.
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use volary_remote::transport::{Listener, Memory, Transport};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let network = Memory::default();
/// let mut listener = network.listen("bank:1").await?;
/// let mut caller = network.connect("bank:1").await?;
/// let mut called = listener.accept().await?;
/// caller.writer.write_all(b"hello").await?;
/// let mut heard = [0; 5];
/// called.reader.read_exact(&mut heard).await?;
/// assert_eq!(&heard, b"hello");
/// # Ok(()) }
/// ```
pub struct Connection {
    /// What the other side writes.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What the other side reads.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Who is there, as far as the transport knows; for logs.
    pub from: String,
    /// Who is there for certain, if the transport verifies that. The host of the node must be among the names then, and the
    /// cluster among those that it is bound to, if it is to any.
    pub identity: Option<Identity>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("from", &self.from)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

/// Makes connections. One of your own may stand on another:
///
/// ```
/// use std::io;
/// use volary_remote::Remote;
/// use volary_remote::transport::{BoxFuture, Connection, Listener, Tcp, Transport};
///
/// /// Says whom it calls.
/// struct Chatty(Tcp);
/// impl Transport for Chatty {
///     fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
///         self.0.listen(at)
///     }
///     fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
///         Box::pin(async move {
///             println!("calling {to}");
///             self.0.connect(to).await
///         })
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("bank").start().await?;
/// # let other = volary_core::ActorSystem::builder("other").start().await?;
/// # let other = Remote::builder().start(&other, "127.0.0.1:0").await?;
/// let remote = Remote::builder().transport(Chatty(Tcp::default())).start(&system, "127.0.0.1:0").await?;
/// # remote.kinds(other.node()).await?;
/// # Ok(()) }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// The system that it will serve, told before anything else; for its clock.
    fn attach(&self, _system: &ActorSystem) {}

    /// Listens at `host:port`; port 0 stands for any that is free.
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>>;

    /// Connects to `host:port`.
    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>>;

    /// What is to be done with a connection that was accepted before anything is said on it, as a handshake. Not done
    /// in [`Listener::accept`], so that a caller who is slow keeps nobody waiting.
    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(std::future::ready(Ok(connection)))
    }

    /// Whether nobody on the way can read or forge what is said.
    fn is_encrypted(&self) -> bool {
        false
    }
}

/// Whether a connection could not be taken because whoever called is gone; the next may be.
pub(crate) fn is_of_caller(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    // The last ones of the network between, which Linux says of the connection that it has taken.
    matches!(
        error.kind(),
        ConnectionReset | ConnectionAborted | NotConnected | Interrupted | HostUnreachable | NetworkUnreachable
    )
}

/// Takes connections of others. Dropping it ends that.
///
/// ```
/// use volary_remote::transport::{Listener, Tcp, Transport};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// let mut listener = Tcp::default().listen("127.0.0.1:0").await?;
/// let here = format!("127.0.0.1:{}", listener.port());
/// let caller = Tcp::default().connect(&here).await?;
/// println!("{} called", listener.accept().await?.from);
/// # Ok(()) }
/// ```
pub trait Listener: Send {
    /// The next connection. An error that says that one caller is gone, `ConnectionReset`, `ConnectionAborted` or
    /// `NotConnected`, is passed over, and the next is taken; after any other it is tried again after a moment.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>>;

    /// The port that it listens at.
    fn port(&self) -> u16;
}
