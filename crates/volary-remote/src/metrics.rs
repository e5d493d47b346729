//! What remoting counts, in one reading.

use crate::peer::PeerReading;

macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// What remoting has counted since it began; of one peer, or of all together, those that are forgotten included.
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
        /// # let (remote, bank) = two_nodes().await?;
        /// remote.kinds("10.0.0.7:4242").await?;
        /// let counts = remote.metrics().counts;
        /// assert_eq!((counts.attempts, counts.connections, counts.disconnections), (1, 1, 0));
        /// # Ok(()) }
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct RemoteCounts {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl RemoteCounts {
            /// Both together.
            pub(crate) fn and(self, other: Self) -> Self {
                RemoteCounts { $($name: self.$name + other.$name,)+ }
            }
        }
    };
}

counts! {
    /// Messages that were taken for other nodes.
    sent,
    /// Messages that have left their mailbox there.
    confirmed,
    /// Messages that may have been handled there or not: the connection broke before they were confirmed.
    unconfirmed,
    /// Messages that never left.
    unreachable,
    /// What actors there were told beside messages, as to stop, and did not hear: it never left.
    unsaid,
    /// Messages for which there was no room, there or on their way.
    busy,
    /// Messages that came from other nodes.
    received,
    /// Of these, the ones that were not delivered.
    refused,
    /// What came in pieces and was given up before it was whole: there was no room for it, or nothing came any more.
    abandoned,
    /// What others asked for and had no right to.
    forbidden,
    /// Attempts to connect.
    attempts,
    /// Attempts that came to nothing: nobody answered, or the handshake failed.
    failed_attempts,
    /// Connections, whoever made them.
    connections,
    /// Connections that have ended.
    disconnections,
    /// Connections that were closed because what came on them broke a rule.
    breaches,
    /// Incarnations that will not be spoken to again, since another has come.
    quarantines,
    /// Bytes written to connections.
    bytes_written,
    /// Bytes read from connections, without handshakes.
    bytes_read,
}

/// What remoting has done and is about, in one reading; see [`Remote::metrics`](crate::Remote::metrics). The system's
/// [instruments](volary_core::ActorSystem::instruments) have the same under names that begin with `remote.`, and so have
/// the exporters.
///
/// ```
/// # fn f(remote: &volary_remote::Remote) {
/// let metrics = remote.metrics();
/// println!("{} of {} peers connected", metrics.connected(), metrics.peers.len());
/// println!("{} sent, {} confirmed", metrics.counts.sent, metrics.counts.confirmed);
/// for peer in &metrics.peers {
///     println!("{}: {} bytes wait, {:?} there and back", peer.node, peer.waiting_bytes, peer.round_trip);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteMetrics {
    /// This node, `host:port`.
    pub node: String,
    /// Of all peers together. None of these ever falls.
    pub counts: RemoteCounts,
    /// Connections of others that ended before their handshake was over; see
    /// [`Remote::refused_connections`](crate::Remote::refused_connections).
    pub refused_connections: u64,
    /// How many bytes of messages from other nodes wait in mailboxes here.
    pub inbound_bytes: usize,
    /// Each peer that is known, by its address.
    pub peers: Vec<PeerReading>,
}

impl RemoteMetrics {
    /// To how many peers there is a connection.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(remote.metrics().connected(), 0);
    /// remote.kinds("10.0.0.7:4242").await?;
    /// assert_eq!(remote.metrics().connected(), 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn connected(&self) -> usize {
        self.peers.iter().filter(|peer| peer.connected).count()
    }
}
