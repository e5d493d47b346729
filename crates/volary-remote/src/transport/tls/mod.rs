//! TLS with certificates on both sides, over another transport.
//!
//! Whoever calls verifies that the node called has a certificate for the host that was dialled; whoever is called wants
//! a certificate of the caller, and the handshake of remoting then compares its names with the node that the caller
//! says it is. Both compare the clusters in it with their own. Sessions are not resumed: each connection is verified with the certificates of its time.

mod certificates;
mod clock;
mod error;
mod explained;
mod names;

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use volary_core::ActorSystem;

pub use certificates::{CertificateError, CertificateSource};
pub use error::TlsError;
pub(crate) use names::of as identity_of;

use super::{BoxFuture, Connection, Identity, Listener, Tcp, Transport, host_of};
use certificates::Configured;
use clock::Clock;
use error::explain;
use explained::Explained;

/// TLS 1.3 with certificates on both sides. Cheap to clone; clones share their certificates.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
/// use volary_remote::Remote;
/// use volary_remote::transport::{CertificateSource, Tls};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _folder = Folder::with_certificates("localhost")?;
/// # let system = volary_core::ActorSystem::builder("bank").start().await?;
/// let tls = Tls::new(CertificateSource::files("node.pem", "node.key", "authorities.pem"))?;
/// let remote = Remote::builder()
///     .transport(tls.clone())
///     .advertise("localhost") // must be a name in the certificate
///     .start(&system, "127.0.0.1:0")
///     .await?;
///
/// tls.reload()?; // when there are new files: for connections from now on
/// # let other = volary_core::ActorSystem::builder("other").start().await?;
/// # let other = Remote::builder().transport(tls).advertise("localhost").start(&other, "127.0.0.1:0").await?;
/// # assert_eq!(other.at(remote.node()).metrics().await?.system, "bank");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Tls {
    below: Arc<dyn Transport>,
    certificates: Arc<Certificates>,
}

struct Certificates {
    clock: Arc<Clock>,
    source: Mutex<CertificateSource>,
    configured: Mutex<Arc<Configured>>,
}

impl Tls {
    /// Over TCP. Reads the certificates, which may block for as long as files take to read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
    /// # use volary_remote::transport::{CertificateSource, Memory, Tls};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// let tls = Tls::new(CertificateSource::pem(chain, key, authorities))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If they cannot be read, or do not belong together.
    pub fn new(source: CertificateSource) -> Result<Self, CertificateError> {
        let clock = Arc::new(Clock::default());
        let configured = source.configure(&clock)?;
        Ok(Tls {
            below: Arc::new(Tcp::default()),
            certificates: Arc::new(Certificates {
                clock,
                source: Mutex::new(source),
                configured: Mutex::new(Arc::new(configured)),
            }),
        })
    }

    /// Over another transport than TCP.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
    /// # use volary_remote::transport::{CertificateSource, Memory, Tls};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// let tls = Tls::new(CertificateSource::pem(chain, key, authorities))?.over(Memory::default());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn over(self, transport: impl Transport) -> Self {
        Tls {
            below: Arc::new(transport),
            ..self
        }
    }

    /// Reads the certificates again, from where they came. Connections that are there go on with the old ones, those
    /// made from now on use the new ones. May block for as long as files take to read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
    /// # use volary_remote::transport::{CertificateSource, Memory, Tls};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// # let tls = Tls::new(CertificateSource::pem(chain, key, authorities))?;
    /// if let Err(error) = tls.reload() {
    ///     panic!("the old certificates stay: {error}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If they cannot be read, or do not belong together. The old ones stay.
    pub fn reload(&self) -> Result<(), CertificateError> {
        let source = self.certificates.source.lock().clone();
        self.replace(source)
    }

    /// Takes certificates from somewhere else from now on, as [`reload`](Self::reload) does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
    /// # use volary_remote::transport::{CertificateSource, Memory, Tls};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// # let tls = Tls::new(CertificateSource::pem(chain, key, authorities))?;
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// tls.replace(CertificateSource::pem(chain, key, authorities))?;
    /// assert!(tls.replace(CertificateSource::files("none.pem", "none.key", "none.pem")).is_err()); // those before stay
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If they cannot be read, or do not belong together. The old ones stay.
    pub fn replace(&self, source: CertificateSource) -> Result<(), CertificateError> {
        let configured = Arc::new(source.configure(&self.certificates.clock)?);
        *self.certificates.source.lock() = source;
        *self.certificates.configured.lock() = configured;
        Ok(())
    }

    fn configured(&self) -> Arc<Configured> {
        self.certificates.configured.lock().clone()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("source", &*self.certificates.source.lock())
            .finish_non_exhaustive()
    }
}

impl Transport for Tls {
    fn attach(&self, system: &ActorSystem) {
        self.certificates.clock.set(system.world().clone());
        self.below.attach(system);
    }

    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.below.listen(at)
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let host = host_of(to);
            let name = ServerName::try_from(host.to_owned())
                .map_err(|_| io::Error::other(TlsError::WrongHost { host: host.to_owned() }))?;
            let below = self.below.connect(to).await?;
            let stream = tokio::io::join(below.reader, below.writer);
            let connector = TlsConnector::from(self.configured().client.clone());
            let stream = connector
                .connect(name, stream)
                .await
                .map_err(|error| explain(error, host))?;
            let identity = identity(stream.get_ref().1.peer_certificates());
            Ok(connection(stream, below.from, host, identity))
        })
    }

    fn accepted(&self, connection_below: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            let below = self.below.accepted(connection_below).await?;
            let stream = tokio::io::join(below.reader, below.writer);
            let acceptor = TlsAcceptor::from(self.configured().server.clone());
            let stream = acceptor.accept(stream).await.map_err(|error| explain(error, ""))?;
            let identity = identity(stream.get_ref().1.peer_certificates());
            Ok(connection(stream, below.from, "", identity))
        })
    }

    fn is_encrypted(&self) -> bool {
        true
    }
}

/// Never absent: someone without a certificate is someone without a name.
fn identity(chain: Option<&[CertificateDer<'_>]>) -> Identity {
    let own = chain.and_then(<[_]>::first).map(|own| identity_of(own));
    own.unwrap_or_else(|| Identity::new([""; 0]))
}

fn connection<S>(stream: S, from: String, host: &str, identity: Identity) -> Connection
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let (reader, writer) = tokio::io::split(stream);
    Connection {
        reader: Box::new(Explained::new(reader, host)),
        writer: Box::new(writer),
        from,
        identity: Some(identity),
    }
}
