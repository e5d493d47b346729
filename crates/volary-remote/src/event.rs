//! What the event stream tells of connections.

use crate::trust::Right;

/// Something happened to the connection with a peer; published on the event stream. What else the transport knows and does
/// for others can be asked of a [`TransportActor`](crate::TransportActor).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let network = Memory::default();
/// # let (_remote, _bank) = two_nodes_with(|builder| builder.transport(network.clone())).await?;
/// use volary_remote::PeerEvent;
///
/// # let system = system("till").await?;
/// let events = system.events().subscribe::<PeerEvent>();
/// let remote = Remote::builder().transport(network).start(&system, "10.0.0.2:4242").await?;
/// remote.kinds("10.0.0.7:4242").await?;
/// assert_eq!(events.next().await?, PeerEvent::Connected { node: "10.0.0.7:4242".to_owned() });
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerEvent {
    /// There is a connection.
    Connected {
        /// `host:port`.
        node: String,
    },
    /// There is none, although one is needed; said when the reason changes.
    NotConnected {
        /// `host:port`.
        node: String,
        /// Why.
        why: String,
    },
    /// The connection is gone. What was on it is unconfirmed; a new one is made when it is needed.
    Disconnected {
        /// `host:port`.
        node: String,
        /// Why.
        why: String,
    },
    /// There was no connection for [`lost_after`](crate::RemoteOptions::lost_after) although one was needed: those who
    /// watch its actors hear that they are gone.
    Lost {
        /// `host:port`.
        node: String,
    },
    /// Addresses here call the system of that node by another name than its own: whoever has that other name is not there,
    /// and what is sent to it is lost. Said once for each name, while there is a connection; without one, the reason of
    /// [`NotConnected`](PeerEvent::NotConnected) says it.
    Misnamed {
        /// `host:port`.
        node: String,
        /// What addresses here say.
        called: String,
        /// What the system there is called.
        system: String,
    },
    /// Another incarnation of the node has come: the one before will never be spoken to again, and its actors are gone.
    Quarantined {
        /// `host:port`.
        node: String,
        /// The incarnation that was spoken to until now.
        incarnation: u64,
    },
    /// That node does not let this one do something; said once for each right that is missing.
    Forbidden {
        /// `host:port`.
        node: String,
        /// The right that this node does not have there.
        right: Right,
    },
    /// A message from there was not delivered, or an operation not done; said once for each reason.
    Refused {
        /// `host:port`.
        node: String,
        /// Why.
        why: String,
    },
}

impl PeerEvent {
    /// Of which node; `host:port`.
    ///
    /// ```
    /// # use volary_remote::PeerEvent;
    /// assert_eq!(PeerEvent::Lost { node: "10.0.0.7:4242".to_owned() }.node(), "10.0.0.7:4242");
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        match self {
            PeerEvent::Connected { node }
            | PeerEvent::NotConnected { node, .. }
            | PeerEvent::Disconnected { node, .. }
            | PeerEvent::Lost { node }
            | PeerEvent::Misnamed { node, .. }
            | PeerEvent::Quarantined { node, .. }
            | PeerEvent::Forbidden { node, .. }
            | PeerEvent::Refused { node, .. } => node,
        }
    }
}
