//! Who is at the other end of a connection, as its transport has verified.

use std::net::IpAddr;

/// The names that the other side has proved to have, as those in its certificate.
///
/// ```
/// use volary_remote::transport::Identity;
/// let identity = Identity::new(["bank-0.internal", "*.shops.internal", "10.0.0.7"]);
/// assert!(identity.is_for("BANK-0.internal") && identity.is_for("10.0.0.7") && identity.is_for("a.shops.internal"));
/// assert!(!identity.is_for("bank-1.internal") && !identity.is_for("a.b.shops.internal"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    names: Vec<String>,
    clusters: Vec<String>,
}

impl Identity {
    /// With these names: hosts, IP addresses, or `*.` and the rest of a host.
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// assert!(Identity::new(["*.shops.internal"]).is_for("a.shops.internal"));
    /// ```
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Identity {
            names: names.into_iter().map(Into::into).collect(),
            clusters: Vec::new(),
        }
    }

    /// Bound to these clusters: nodes of others do not speak with it. Without any it is bound to none, and nodes that want
    /// that [certified](crate::RemoteBuilder::certified_cluster) do not speak with it.
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// let identity = Identity::new(["bank-0.internal"]).of_clusters(["production"]);
    /// assert!(identity.is_of("production") && !identity.is_of("staging"));
    /// ```
    #[must_use]
    pub fn of_clusters<N: Into<String>>(mut self, clusters: impl IntoIterator<Item = N>) -> Self {
        self.clusters.extend(clusters.into_iter().map(Into::into));
        self
    }

    /// The clusters that it is bound to. In a certificate they are alternative names of the subject too, of the form
    /// `volary://cluster/NAME`.
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// assert!(Identity::new(["db-1"]).clusters().is_empty());
    /// ```
    #[must_use]
    pub fn clusters(&self) -> &[String] {
        &self.clusters
    }

    /// Whether this cluster is among them, letter for letter.
    ///
    /// See [`of_clusters`](Self::of_clusters) for an example.
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// let identity = Identity::new(["bank-0.internal"]).of_clusters(["production"]);
    /// assert!(identity.is_of("production"));
    /// assert!(!identity.is_of("Production"));
    /// ```
    #[must_use]
    pub fn is_of(&self, cluster: &str) -> bool {
        self.clusters.iter().any(|one| one == cluster)
    }

    /// All of them, without those of [clusters](Self::clusters).
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// assert_eq!(Identity::new(["db-1"]).names(), ["db-1"]);
    /// ```
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether this host is among them. A star stands for one label.
    ///
    /// ```
    /// # use volary_remote::transport::Identity;
    /// assert!(Identity::new(["::1"]).is_for("[::1]"));
    /// ```
    #[must_use]
    pub fn is_for(&self, host: &str) -> bool {
        let host = bare(host);
        self.names.iter().any(|name| match host.parse::<IpAddr>() {
            Ok(address) => name.parse() == Ok(address),
            Err(_) => is_host(name, host),
        })
    }
}

fn is_host(name: &str, host: &str) -> bool {
    match (name.strip_prefix("*."), host.split_once('.')) {
        (Some(name), Some((label, rest))) => !label.is_empty() && name.eq_ignore_ascii_case(rest),
        _ => name.eq_ignore_ascii_case(host),
    }
}

/// A host without the brackets of an IPv6 address.
pub(crate) fn bare(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

/// The host of `host:port`.
pub(crate) fn host_of(node: &str) -> &str {
    bare(node.rsplit_once(':').map_or(node, |(host, _)| host))
}
