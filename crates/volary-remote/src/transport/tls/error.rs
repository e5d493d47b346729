//! What went wrong between two nodes, in words that are the same each time, so that they need be said once only.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// Why there is no TLS with the other side; found as the inner error of an [`io::Error`].
///
/// ```
/// use volary_remote::transport::TlsError;
/// assert!(TlsError::Expired.to_string().contains("expired"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Its certificate was valid once. Renew it there; or this node's clock is wrong.
    #[error("its certificate has expired")]
    Expired,
    /// Its certificate is not valid yet. Wait, or look at the clocks of both nodes.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// Its certificate is signed by nobody that is known here. Add the authority, or ask who that node is.
    #[error("its certificate is signed by an authority that is not known here")]
    UnknownAuthority,
    /// Its certificate is for another host. Call it by a name in the certificate, or add the name there.
    #[error("its certificate is not for {host}")]
    WrongHost {
        /// The host that was dialled.
        host: String,
    },
    /// It has no certificate. Give it one.
    #[error("it shows no certificate")]
    NoCertificate,
    /// What came is not TLS. Use TLS there too.
    #[error("it does not speak TLS")]
    NotTls,
    /// It does not take the certificate of this node. Look at that, and at the authorities there.
    #[error("it does not take the certificate of this node: {alert}")]
    Refused {
        /// What it says.
        alert: String,
    },
    /// It ended the connection without a word. Look at its log.
    #[error("it ended the connection during the handshake of TLS")]
    Ended,
    /// Something else.
    #[error("{why}")]
    Other {
        /// What is known.
        why: String,
    },
}

/// Says an error of TLS in our words; others stay as they are.
pub(super) fn explain(error: io::Error, host: &str) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof && error.get_ref().is_none_or(|inner| !inner.is::<Error>()) {
        return io::Error::new(io::ErrorKind::UnexpectedEof, TlsError::Ended);
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner) => io::Error::new(io::ErrorKind::InvalidData, in_words(inner, host)),
        None => error,
    }
}

fn in_words(error: &Error, host: &str) -> TlsError {
    match error {
        Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsError::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsError::NotYetValid,
            CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsError::UnknownAuthority,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsError::WrongHost { host: host.to_owned() }
            }
            other => TlsError::Other {
                why: format!("its certificate is not valid: {other}"),
            },
        },
        Error::NoCertificatesPresented => TlsError::NoCertificate,
        Error::InvalidMessage(_) => TlsError::NotTls,
        Error::AlertReceived(alert) if is_about_certificates(*alert) => TlsError::Refused {
            alert: format!("{alert:?}"),
        },
        other => TlsError::Other { why: other.to_string() },
    }
}

fn is_about_certificates(alert: AlertDescription) -> bool {
    use AlertDescription::*;
    matches!(
        alert,
        NoCertificate
            | BadCertificate
            | UnsupportedCertificate
            | CertificateRevoked
            | CertificateExpired
            | CertificateUnknown
            | UnknownCA
            | AccessDenied
            | CertificateRequired
            | DecryptError
    )
}
