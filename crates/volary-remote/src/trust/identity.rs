//! Who a peer is.

use crate::transport::{Identity, host_of};

/// A peer that has said who it is, and how far that is certain; see
/// [`RemoteBuilder::rights`](crate::RemoteBuilder::rights).
///
/// ```
/// # use volary_remote::{PeerIdentity, Right, Rights};
/// fn rights(peer: &PeerIdentity) -> Rights {
///     match peer.verified() {
///         Some(names) if names.is_for("admin.internal") => Rights::all(),
///         Some(_) => Rights::all().without(Right::Control),
///         None => Rights::none(),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerIdentity {
    node: String,
    verified: Option<Identity>,
}

impl PeerIdentity {
    pub(crate) fn new(node: &str, verified: Option<Identity>) -> Self {
        PeerIdentity {
            node: node.to_owned(),
            verified,
        }
    }

    /// `host:port`. Without [`verified`](Self::verified) names the peer may claim any.
    ///
    /// ```
    /// # fn f(peer: &volary_remote::PeerIdentity) { println!("{}", peer.node()); }
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Its host, without brackets.
    ///
    /// ```
    /// # fn f(peer: &volary_remote::PeerIdentity) { println!("{}", peer.host()); }
    /// ```
    #[must_use]
    pub fn host(&self) -> &str {
        host_of(&self.node)
    }

    /// The names in its certificate, the host among them; none without TLS.
    ///
    /// ```
    /// # fn f(peer: &volary_remote::PeerIdentity) { println!("{:?}", peer.verified()); }
    /// ```
    #[must_use]
    pub fn verified(&self) -> Option<&Identity> {
        self.verified.as_ref()
    }
}
