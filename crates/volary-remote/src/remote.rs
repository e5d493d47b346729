//! Remoting of one system, as its users see it.

use std::fmt;
use std::sync::Arc;

use volary_core::settings::Effective;
use volary_core::{ActorRef, Address, Message, Recipient, Target};
use volary_wire::RemoteActor;

use crate::builder::RemoteBuilder;
use crate::metrics::RemoteMetrics;
use crate::operations::{OperationError, RemoteNode, RemoteSpawn};
use crate::peer::PeerReading;
use crate::shared::Shared;
use crate::trust::spelt;

/// Remoting of a system. Cheap to clone; it ends with its system.
///
/// ```
/// use volary_core::ActorSystem;
/// use volary_remote::Remote;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("bank").start().await?;
/// let remote = Remote::builder().start(&system, "127.0.0.1:0").await?;
/// println!("others find us at {}", remote.node());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

impl Remote {
    /// What may be sent and spawned, and how.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder().cluster("production").start(&system, "127.0.0.1:0").await?;
    /// assert!(remote.node().starts_with("127.0.0.1:"));
    /// # Ok(()) }
    /// ```
    pub fn builder() -> RemoteBuilder {
        RemoteBuilder::new()
    }

    /// `host:port`, as others know this node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(remote.node(), "10.0.0.1:4242");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// The address of an actor here, as others know it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder().start(&system, "127.0.0.1:0").await?;
    /// let alice = system.spawn(Account::default).named("alice").await?;
    /// println!("{}", remote.address_of(&alice)); // volary://bank@127.0.0.1:4242/user/alice#…
    /// # assert_eq!(remote.address_of(&alice).node().map(|node| node.to_string()).as_deref(), Some(remote.node()));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn address_of<T: Target>(&self, actor: &ActorRef<T>) -> Address {
        self.0.resolver.outside_address(&actor.address())
    }

    /// A reference to the actor at an address, here or elsewhere. Nothing is sent: whether somebody is there is seen
    /// when messages arrive, or by [`lookup`](Remote::lookup). For an address of this node it is the actor itself, if it
    /// lives and is of that type.
    ///
    /// Without a uid it leads to whoever lives there on another node, also when that was lost or started anew, unless somebody
    /// who watched it was told of an end.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let address = "volary://bank@10.0.0.7:4242/user/alice".parse()?;
    /// let alice: ActorRef<Account> = remote.actor(&address).expect("this node speaks with others");
    /// assert_eq!(alice.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn actor<T: Target>(&self, address: &Address) -> Option<ActorRef<T>> {
        self.0.system.find(address)?.target()
    }

    /// A reference for one message, by an address.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let address = "volary://bank@10.0.0.7:4242/user/alice".parse()?;
    /// let till = remote.recipient::<Deposit>(&address).expect("this node speaks with others");
    /// assert_eq!(till.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self, address: &Address) -> Option<Recipient<M>> {
        self.0.system.find(address)?.recipient()
    }

    /// Another node, to ask it what lives there and to change that.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(remote.at("10.0.0.7:4242").kinds().await?, ["bank.v1.Account"]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn at(&self, node: impl Into<String>) -> RemoteNode {
        RemoteNode::new(self.clone(), spelt(&node.into()))
    }

    /// The address of whoever lives somewhere on another node now, with its uid; see [`RemoteNode::lookup`]. Cancel
    /// safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let alice = remote.lookup("10.0.0.7:4242", "/user/alice").await?;
    /// assert!(alice.is_some());
    /// assert_eq!(remote.lookup("10.0.0.7:4242", "/user/nobody").await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked.
    pub async fn lookup(&self, node: &str, who: &str) -> Result<Option<Address>, OperationError> {
        self.at(node).lookup(who).await
    }

    /// The kinds of actors that a node takes messages for; see [`RemoteNode::kinds`]. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(remote.kinds("10.0.0.7:4242").await?, ["bank.v1.Account"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked.
    pub async fn kinds(&self, node: &str) -> Result<Vec<String>, OperationError> {
        self.at(node).kinds().await
    }

    /// Begins to start an actor on a node, under a name; see [`RemoteNode::spawn`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let bob = remote.spawn::<Account>("10.0.0.7:4242", "bob").await?;
    /// assert_eq!(bob.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    pub fn spawn<A: RemoteActor>(&self, node: impl Into<String>, name: impl Into<String>) -> RemoteSpawn<A> {
        self.at(node).spawn(name)
    }

    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Remote(shared)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    /// What came from and went to each peer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// remote.kinds("10.0.0.7:4242").await?;
    /// let peers = remote.peers();
    /// assert_eq!(peers[0].node, "10.0.0.7:4242");
    /// assert!(peers[0].connected);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn peers(&self) -> Vec<PeerReading> {
        self.0.readings()
    }

    /// What remoting has done and is about, in one reading: sums of all peers, and each of them. The system's
    /// [instruments](volary_core::ActorSystem::instruments), and with them every exporter, have the same.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// remote.kinds("10.0.0.7:4242").await?;
    /// let metrics = remote.metrics();
    /// assert_eq!((metrics.connected(), metrics.counts.connections), (1, 1));
    /// assert!(metrics.counts.bytes_read > 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn metrics(&self) -> RemoteMetrics {
        self.0.metrics()
    }

    /// The settings in force and where each came from, as they are logged at the start: options, and what else can be set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::RemoteOptions;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let options = RemoteOptions::new().window(1_024).receiver_share(256);
    /// let remote = Remote::builder().options(options).start(&system, "127.0.0.1:0").await?;
    /// let lines: Vec<String> = remote.settings().iter().map(ToString::to_string).collect();
    /// assert!(lines.contains(&"remote.window = 1024 (code)".to_owned()));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn settings(&self) -> &[Effective] {
        &self.0.settings
    }

    /// How many bytes of messages from other nodes wait in mailboxes here; see
    /// [`inbound_bytes`](crate::RemoteOptions::inbound_bytes).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(bank.inbound_bytes(), 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn inbound_bytes(&self) -> usize {
        self.0.inbound_bytes()
    }

    /// How many connections of others ended before their handshake was over, since the start: they said what no node
    /// says, or nothing in time; they were of another version or cluster, meant another system, or had no certificate that
    /// counts; they were not allowed; or there were too many at a time. Calls of two nodes that cross are not among them.
    ///
    /// If it grows, somebody calls who should not, or is set up wrongly; the log says who and why.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let network = Memory::default();
    /// # let (_remote, bank) = two_nodes_with(|builder| builder.transport(network.clone())).await?;
    /// let stranger = Remote::builder().cluster("another").transport(network);
    /// # let soon = volary_remote::RemoteOptions::new().operation_timeout(std::time::Duration::from_millis(50));
    /// # let stranger = stranger.options(soon);
    /// # let system = system("stranger").await?;
    /// let stranger = stranger.start(&system, "10.0.0.9:4242").await?;
    /// assert!(stranger.kinds("10.0.0.7:4242").await.is_err());
    /// assert!(bank.refused_connections() > 0);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn refused_connections(&self) -> u64 {
        self.0.refused_connections()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("node", &self.0.node)
            .finish_non_exhaustive()
    }
}
