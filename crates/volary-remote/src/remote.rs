//! Remoting of one system, as its users see it.

use std::fmt;
use std::sync::Arc;

use volary_core::{ActorRef, Address, Message, Recipient, Target};
use volary_wire::RemoteActor;

use crate::builder::RemoteBuilder;
use crate::operations::{OperationError, RemoteNode, RemoteSpawn};
use crate::peer::PeerReading;
use crate::shared::Shared;

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
    /// let _ = volary_remote::Remote::builder();
    /// ```
    pub fn builder() -> RemoteBuilder {
        RemoteBuilder::new()
    }

    /// `host:port`, as others know this node.
    ///
    /// ```
    /// # fn f(remote: &volary_remote::Remote) { println!("{}", remote.node()); }
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// The address of an actor here, as others know it.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef};
    /// # fn f<A: Actor>(remote: &volary_remote::Remote, actor: &ActorRef<A>) {
    /// println!("{}", remote.address_of(actor)); // volary://bank@127.0.0.1:4242/user/alice#…
    /// # }
    /// ```
    #[must_use]
    pub fn address_of<T: Target>(&self, actor: &ActorRef<T>) -> Address {
        self.0.resolver.outside_address(&actor.address())
    }

    /// A reference to the actor at an address, here or elsewhere. Nothing is sent: whether somebody is there is seen
    /// when messages arrive, or by [`lookup`](Remote::lookup). For an address of this node it is the actor itself, if it
    /// lives and is of that type.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, Address};
    /// # fn f<A: Actor>(remote: &volary_remote::Remote, address: &Address) -> Option<ActorRef<A>> {
    /// remote.actor(address)
    /// # }
    /// ```
    #[must_use]
    pub fn actor<T: Target>(&self, address: &Address) -> Option<ActorRef<T>> {
        self.0.system.find(address)?.target()
    }

    /// A reference for one message, by an address.
    ///
    /// ```
    /// # use volary_core::{Address, Message, Recipient};
    /// # fn f<M: Message>(remote: &volary_remote::Remote, address: &Address) -> Option<Recipient<M>> {
    /// remote.recipient(address)
    /// # }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self, address: &Address) -> Option<Recipient<M>> {
        self.0.system.find(address)?.recipient()
    }

    /// Another node, to ask it what lives there and to change that.
    ///
    /// ```
    /// # async fn f(remote: &volary_remote::Remote) -> Result<(), volary_remote::OperationError> {
    /// println!("{:?}", remote.at("10.0.0.7:4242").kinds().await?);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn at(&self, node: impl Into<String>) -> RemoteNode {
        RemoteNode::new(self.clone(), node.into())
    }

    /// The address of whoever lives somewhere on another node now, with its uid; see [`RemoteNode::lookup`]. Cancel
    /// safe.
    ///
    /// ```
    /// # async fn f(remote: &volary_remote::Remote) -> Result<(), volary_remote::OperationError> {
    /// let alice = remote.lookup("10.0.0.7:4242", "/user/alice").await?;
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
    /// # async fn f(remote: &volary_remote::Remote) -> Result<(), volary_remote::OperationError> {
    /// println!("{:?}", remote.kinds("10.0.0.7:4242").await?);
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
    /// See [`RemoteSpawn`] for an example.
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
    /// # fn f(remote: &volary_remote::Remote) { println!("{:?}", remote.peers()); }
    /// ```
    #[must_use]
    pub fn peers(&self) -> Vec<PeerReading> {
        self.0.readings()
    }

    /// How many bytes of messages from other nodes wait in mailboxes here; see
    /// [`inbound_bytes`](crate::RemoteOptions::inbound_bytes).
    ///
    /// ```
    /// # fn f(remote: &volary_remote::Remote) { println!("{} bytes", remote.inbound_bytes()); }
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
    /// # fn f(remote: &volary_remote::Remote) {
    /// println!("{} connections were not taken", remote.refused_connections());
    /// # }
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
