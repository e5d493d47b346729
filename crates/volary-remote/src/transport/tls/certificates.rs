//! Where certificates come from, and what is made of them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig, version};

use super::clock::Clock;

/// Where the certificate of this node, its key, and the certificates of the authorities that others' are signed by come
/// from; all PEM. A certificate must be good for servers and for clients, and name the host of its node.
///
/// ```
/// use volary_remote::transport::CertificateSource;
/// let source = CertificateSource::files("node.pem", "node.key", "authorities.pem");
/// # let _ = source;
/// ```
#[derive(Clone)]
pub struct CertificateSource(From);

#[derive(Clone)]
enum From {
    Files {
        chain: PathBuf,
        key: PathBuf,
        authorities: PathBuf,
    },
    Pem {
        chain: Arc<[u8]>,
        key: Arc<[u8]>,
        authorities: Arc<[u8]>,
    },
}

/// Why certificates are not used. Those that were used before still are.
///
/// ```
/// use volary_remote::transport::{CertificateError, CertificateSource, Tls};
/// let error = Tls::new(CertificateSource::files("missing.pem", "missing.key", "missing.pem")).unwrap_err();
/// assert!(matches!(error, CertificateError::Unreadable { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// There is no such file, or it is no PEM. Look at the file.
    #[error("the {what} cannot be read: {why}")]
    Unreadable {
        /// Which of the three.
        what: &'static str,
        /// What is wrong.
        #[source]
        why: pem::Error,
    },
    /// There is nothing in it. Look at the file.
    #[error("there is no certificate among the {what}")]
    Missing {
        /// Which of the three.
        what: &'static str,
    },
    /// The key is not that of the certificate, or of a kind that is not known. Make both anew.
    #[error("certificate and key cannot be used: {why}")]
    Unusable {
        /// What is wrong.
        #[source]
        why: rustls::Error,
    },
    /// The certificates of the authorities cannot be used. Look at the file.
    #[error("the authorities cannot be used: {why}")]
    Authorities {
        /// What is wrong.
        #[source]
        why: VerifierBuilderError,
    },
}

impl CertificateSource {
    /// From files, which are read again by [`Tls::reload`](super::Tls::reload).
    ///
    /// ```
    /// # use volary_remote::transport::CertificateSource;
    /// let _ = CertificateSource::files("node.pem", "node.key", "authorities.pem");
    /// ```
    pub fn files(chain: impl Into<PathBuf>, key: impl Into<PathBuf>, authorities: impl Into<PathBuf>) -> Self {
        CertificateSource(From::Files {
            chain: chain.into(),
            key: key.into(),
            authorities: authorities.into(),
        })
    }

    /// From what is given here.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/authority.rs"));
    /// # use volary_remote::transport::{CertificateSource, Memory, Tls};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let [chain, key, authorities] = certificates("bank-0.internal")?;
    /// let source = CertificateSource::pem(chain, key, authorities);
    /// assert!(Tls::new(source).is_ok());
    /// # Ok(()) }
    /// ```
    pub fn pem(chain: impl AsRef<[u8]>, key: impl AsRef<[u8]>, authorities: impl AsRef<[u8]>) -> Self {
        CertificateSource(From::Pem {
            chain: chain.as_ref().into(),
            key: key.as_ref().into(),
            authorities: authorities.as_ref().into(),
        })
    }

    pub(super) fn configure(&self, clock: &Arc<Clock>) -> Result<Configured, CertificateError> {
        const CHAIN: &str = "certificate";
        const AUTHORITIES: &str = "authorities";
        let (chain, key, authorities) = match &self.0 {
            From::Files {
                chain,
                key,
                authorities,
            } => (
                certificates(CertificateDer::pem_file_iter(chain), CHAIN)?,
                PrivateKeyDer::from_pem_file(key),
                certificates(CertificateDer::pem_file_iter(authorities), AUTHORITIES)?,
            ),
            From::Pem {
                chain,
                key,
                authorities,
            } => (
                certificates(Ok(CertificateDer::pem_slice_iter(chain)), CHAIN)?,
                PrivateKeyDer::from_pem_slice(key),
                certificates(Ok(CertificateDer::pem_slice_iter(authorities)), AUTHORITIES)?,
            ),
        };
        let key = key.map_err(|why| CertificateError::Unreadable { what: "key", why })?;
        Configured::new(clock, chain, key, authorities)
    }
}

/// Says where from, never what: there is a key in it.
impl fmt::Debug for CertificateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            From::Files { chain, .. } => f.debug_tuple("CertificateSource").field(chain).finish(),
            From::Pem { .. } => f.write_str("CertificateSource(PEM)"),
        }
    }
}

fn certificates<I>(
    read: Result<I, pem::Error>,
    what: &'static str,
) -> Result<Vec<CertificateDer<'static>>, CertificateError>
where
    I: Iterator<Item = Result<CertificateDer<'static>, pem::Error>>,
{
    let unreadable = |why| CertificateError::Unreadable { what, why };
    let all: Vec<_> = read
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    if all.is_empty() {
        return Err(CertificateError::Missing { what });
    }
    Ok(all)
}

/// Certificates, ready for both ends of a connection.
pub(super) struct Configured {
    pub(super) client: Arc<ClientConfig>,
    pub(super) server: Arc<ServerConfig>,
}

impl Configured {
    fn new(
        clock: &Arc<Clock>,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        authorities: Vec<CertificateDer<'static>>,
    ) -> Result<Self, CertificateError> {
        let unusable = |why| CertificateError::Unusable { why };
        // Given explicitly, since a default of the process belongs to the program.
        let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        for authority in authorities {
            roots.add(authority).map_err(unusable)?;
        }
        let roots = Arc::new(roots);
        let callers = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone())
            .build()
            .map_err(|why| CertificateError::Authorities { why })?;
        let mut server = ServerConfig::builder_with_details(provider.clone(), clock.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(unusable)?
            .with_client_cert_verifier(callers)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(unusable)?;
        let mut client = ClientConfig::builder_with_details(provider, clock.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(unusable)?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(unusable)?;
        // A session that is resumed would be verified with the certificates of an earlier time.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        client.resumption = Resumption::disabled();
        Ok(Configured {
            client: Arc::new(client),
            server: Arc::new(server),
        })
    }
}
