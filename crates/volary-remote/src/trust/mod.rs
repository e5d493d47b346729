//! Whom this node speaks with, and what they may do.

mod identity;
mod rights;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use volary_core::tree::{Host, Node, NodeError};

pub use identity::PeerIdentity;
pub use rights::{Right, Rights};

use crate::transport::{Identity, host_of};

pub(crate) type RightsOf = Box<dyn Fn(&PeerIdentity) -> Rights + Send + Sync>;

/// How connections that are not encrypted are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plaintext {
    /// There is none: connections are encrypted, or never leave the process.
    Never,
    /// Among nodes of one machine.
    OnLoopback,
    /// Wherever: anybody may be anybody.
    Anywhere,
}

/// Whether nodes must have proved which cluster they are of. If they have, it must be this one in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterProof {
    Optional,
    Required,
}

pub(crate) struct Trust {
    pub(crate) plaintext: Plaintext,
    /// Hosts and nodes; all if there is no list.
    pub(crate) allowed: Option<BTreeSet<String>>,
    pub(crate) rights: Option<RightsOf>,
    pub(crate) cluster_proof: ClusterProof,
}

impl Trust {
    /// Whether the other side may be of this cluster, by what was verified.
    pub(crate) fn is_of_cluster(&self, verified: Option<&Identity>, cluster: &str) -> Result<(), String> {
        let clusters = verified.map_or(&[][..], Identity::clusters);
        match (clusters, self.cluster_proof) {
            ([], ClusterProof::Optional) => Ok(()),
            ([], ClusterProof::Required) if verified.is_none() => Err(format!(
                "it shows no certificate, and only those of the cluster {cluster:?} are taken"
            )),
            ([], ClusterProof::Required) => Err(format!(
                "the certificate names no cluster, and only those of {cluster:?} are taken"
            )),
            (bound, _) if bound.iter().any(|one| one == cluster) => Ok(()),
            (bound, _) => {
                let bound: Vec<String> = bound.iter().map(|one| format!("{one:?}")).collect();
                let here = match cluster {
                    "" => "and this node is of none".to_owned(),
                    cluster => format!("not for {cluster:?}"),
                };
                Err(format!(
                    "the certificate is for the cluster {}, {here}",
                    bound.join(" or ")
                ))
            }
        }
    }

    /// Whether this node may connect, and be connected to.
    pub(crate) fn allows(&self, node: &str) -> bool {
        self.allowed
            .as_ref()
            .is_none_or(|allowed| allowed.contains(node) || allowed.contains(host_of(node)))
    }

    /// Whether what is said to this node may be said.
    pub(crate) fn may_dial(&self, node: &str) -> Result<(), String> {
        if self.plaintext == Plaintext::OnLoopback && !is_loopback(host_of(node)) {
            return Err(format!(
                "{node} is not on loopback, and the connection would not be encrypted"
            ));
        }
        Ok(())
    }

    pub(crate) fn rights(&self, peer: &PeerIdentity) -> Rights {
        let Some(rights) = &self.rights else {
            // Each speaks for itself, unless that is asked for.
            let own = Rights::all().without(Right::Relay);
            return match self.plaintext {
                Plaintext::Never | Plaintext::OnLoopback => own,
                Plaintext::Anywhere => own.without(Right::Control).without(Right::Spawn),
            };
        };
        catch_unwind(AssertUnwindSafe(|| rights(peer))).unwrap_or_else(|panic| {
            tracing::error!(node = peer.node(), "deciding on its rights panicked; it has none");
            // What was thrown may itself panic when it is dropped.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
            Rights::none()
        })
    }
}

/// Whether the node that the other side says it is has the verified names.
pub(crate) fn is_itself(verified: Option<&Identity>, node: &str) -> Result<(), String> {
    match verified {
        Some(identity) if !identity.is_for(host_of(node)) => Err(format!(
            "the certificate is for {}, not for {}",
            identity.names().join(", "),
            host_of(node)
        )),
        _ => Ok(()),
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost" || ip(host).is_some_and(|ip| ip.is_loopback())
}

/// A node in the one spelling that all nodes use, as addresses do; what is none stays as it is.
pub(crate) fn spelt(node: &str) -> String {
    node.parse()
        .map_or_else(|_| node.to_owned(), |node: Node| node.to_string())
}

/// The same for a host, or a node, that is to be among those allowed.
pub(crate) fn spelt_allowed(peer: &str) -> Result<String, NodeError> {
    match peer.parse() {
        Ok(node) => Ok(Node::to_string(&node)),
        Err(NodeError::NoPort { .. }) => match peer.parse::<Host>() {
            Ok(host) => Ok(host.to_string()),
            Err(source) => Err(NodeError::Host {
                position: source.position(),
                source,
            }),
        },
        Err(error) => Err(error),
    }
}

/// Whether it stands for all addresses of a machine, and so for none that others could call.
pub(crate) fn is_unspecified(host: &str) -> bool {
    ip(host).is_some_and(|ip| ip.to_canonical().is_unspecified())
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
