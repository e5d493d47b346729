//! Who a peer is.

use crate::transport::{Identity, host_of};

/// A peer that has said who it is, and how far that is certain; see
/// [`RemoteBuilder::rights`](crate::RemoteBuilder::rights).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_remote::{PeerIdentity, Right, Rights};
///
/// fn rights(peer: &PeerIdentity) -> Rights {
///     match peer.verified() {
///         Some(names) if names.is_for("admin.internal") => Rights::all(),
///         Some(_) => Rights::all().without(Right::Control),
///         None => Rights::none(), // no certificate says who it is
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// let (shop, bank) = two_nodes_with(|builder| builder.rights(rights)).await?;
/// assert!(shop.kinds(bank.node()).await.is_err());
/// # Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::Rights;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes_with(|builder| {
    /// builder.rights(|peer| match peer.node() {
    ///     "10.0.0.1:4242" => Rights::all(),
    ///     _ => Rights::none(),
    /// })
    /// # }).await?;
    /// # remote.kinds("10.0.0.7:4242").await?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Its host, without brackets.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::Rights;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes_with(|builder| {
    /// builder.rights(|peer| match peer.host() {
    ///     "10.0.0.1" => Rights::all(),
    ///     _ => Rights::none(),
    /// })
    /// # }).await?;
    /// # remote.kinds("10.0.0.7:4242").await?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn host(&self) -> &str {
        host_of(&self.node)
    }

    /// The names in its certificate, the host among them; none without TLS.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::Rights;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes_with(|builder| {
    /// builder.rights(|peer| match peer.verified() {
    ///     Some(names) if names.is_for("admin.internal") => Rights::all(),
    ///     _ => Rights::none(),
    /// })
    /// # }).await?;
    /// # assert!(remote.kinds("10.0.0.7:4242").await.is_err());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn verified(&self) -> Option<&Identity> {
        self.verified.as_ref()
    }
}
