//! Remoting of one system: where it listens, whom it knows, what may be sent to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Weak};
use std::time::{Duration, UNIX_EPOCH};

use parking_lot::Mutex;
use volary_core::foreign::{Abroad, StandIn};
use volary_core::tree::Node;
use volary_core::{
    ActorId, ActorRef, ActorSystem, Address, AnyRef, Dependency, Fault, Message, Recipient, Resolver, ShutdownHook,
    Target, shutdown,
};
use volary_wire::native::{Frame, Goodbye, GoodbyeReason, RefuseReason};
use volary_wire::{Registry, RemoteActor, Wire};

use crate::compression::Compression;
use crate::error::RemoteStartError;
use crate::event::PeerEvent;
use crate::link::{self, Closing, Greeting, Link};
use crate::operations::{Argument, OperationError, RemoteNode, RemoteSpawn, Spawnables, Waiting};
use crate::options::RemoteOptions;
use crate::peer::{Peer, PeerReading};
use crate::transport::{Connection, Listener, Tcp, Transport, host_of};
use crate::trust::{PeerIdentity, Plaintext, Right, Rights, RightsOf, Trust, is_loopback};

/// What all associations of a node share.
pub(crate) struct Shared {
    pub(crate) system: ActorSystem,
    pub(crate) registry: Registry,
    pub(crate) options: RemoteOptions,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) cluster: String,
    /// `host:port`, as others know it.
    pub(crate) node: String,
    pub(crate) incarnation: u64,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) trust: Trust,
    compressions: Option<Vec<Compression>>,
    here: Address,
    this: Weak<Shared>,
    peers: Mutex<BTreeMap<String, Arc<Peer>>>,
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    /// Peers that are being dialled just now.
    dialling: Mutex<BTreeSet<String>>,
    /// Held while a connection takes the place of another.
    adopting: Mutex<()>,
    pub(crate) spawnables: Spawnables,
    pub(crate) waiting: Waiting,
    /// How many actors are starting at the wish of others.
    pub(crate) starting: AtomicUsize,
    stopping: AtomicBool,
    closing: Closing,
    /// Reasons for refusals that were said.
    said: Mutex<BTreeSet<(String, String)>>,
}

/// How many reasons for refusals are said.
const SAID: usize = 1_000;

impl Shared {
    /// Nanoseconds of the system's clock.
    pub(crate) fn nanos(&self) -> u64 {
        u64::try_from(self.system.uptime().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Acquire)
    }

    /// The address of a local actor, as others know it.
    pub(crate) fn address_of(&self, id: ActorId) -> Option<String> {
        let path = self.system.path_of(id)?;
        let address = Address::local(self.system.name(), path).ok()?;
        let address = self.resolver.outside_address(&address.with_uid(id.uid()));
        Some(address.to_string())
    }

    /// The actor here that an address of this node leads to.
    pub(crate) fn local(&self, address: &Address) -> Option<AnyRef> {
        let is_here = match address.node() {
            Some(node) => Some(node) == self.here.node(),
            None => true,
        };
        is_here.then(|| self.system.find(address)).flatten()
    }

    /// A stand-in for an actor of that very peer; others it may not speak for.
    pub(crate) fn stand_in_of_peer(&self, peer: &Arc<Peer>, address: &Address) -> Option<StandIn> {
        let node = address.node()?.to_string();
        (node == peer.node).then(|| peer.stand_in(address)).flatten()
    }

    /// The compressions that are offered to a node, and taken if it offers them; the best first.
    pub(crate) fn compressions(&self, node: &str) -> Vec<Compression> {
        match &self.compressions {
            Some(chosen) => chosen.clone(),
            None if Compression::Zstd.is_available() && !is_loopback(host_of(node)) => vec![Compression::Zstd],
            None => Vec::new(),
        }
    }

    pub(crate) fn peer(&self, node: &str) -> Option<Arc<Peer>> {
        if self.is_stopping() || node == self.node || !self.trust.allows(node) {
            return None;
        }
        let mut peers = self.peers.lock();
        if let Some(peer) = peers.get(node) {
            return Some(peer.clone());
        }
        let peer = Arc::new(Peer::new(self.this.upgrade()?, node.to_owned()));
        peers.insert(node.to_owned(), peer.clone());
        drop(peers);
        self.system.world().spawn(Box::pin(link::dial(peer.clone())));
        Some(peer)
    }

    pub(crate) fn begin_dialling(&self, node: &str) {
        self.dialling.lock().insert(node.to_owned());
    }

    pub(crate) fn end_dialling(&self, node: &str) {
        self.dialling.lock().remove(node);
    }

    /// Takes a connection over as that of its peer, in the place of one there may be.
    pub(crate) fn adopt(&self, peer: &Arc<Peer>, mut greeting: Greeting) {
        let identity = PeerIdentity::new(&peer.node, greeting.identity.take());
        // Decided by code of the user, and so outside the lock.
        let rights = self.trust.rights(&identity);
        let _turn = self.adopting.lock();
        // Much may have happened since it was greeted.
        if self.is_stopping() || !peer.admits(greeting.incarnation) {
            return;
        }
        let before = self.links.lock().remove(&peer.node);
        if let Some(before) = before {
            before.close("there is a new one");
        }
        let link = Link::start(peer, greeting, rights);
        self.links.lock().insert(peer.node.clone(), link);
        self.publish(PeerEvent::Connected {
            node: peer.node.clone(),
        });
        peer.look.notify_one();
    }

    /// Whether a caller is taken. If both call at the same time, the call of the lower address counts.
    fn admit(&self, node: &str, incarnation: u64) -> Result<(), (RefuseReason, String)> {
        if self.is_stopping() {
            return Err((RefuseReason::Busy, "it is stopping".to_owned()));
        }
        if node == self.node {
            return Err((RefuseReason::Forbidden, "that is this node".to_owned()));
        }
        if !self.trust.allows(node) {
            return Err((RefuseReason::Forbidden, format!("{node} is not among those allowed")));
        }
        if self.dialling.lock().contains(node) && *self.node < *node {
            return Err((
                RefuseReason::Duplicate,
                "a call in the other direction is under way".to_owned(),
            ));
        }
        if *self.node < *node && self.has_just_called(node, incarnation) {
            return Err((RefuseReason::Duplicate, "this node has just called".to_owned()));
        }
        let known = self.peers.lock().get(node).cloned();
        if known.is_some_and(|peer| !peer.admits(incarnation)) {
            return Err((
                RefuseReason::Quarantined,
                "a later incarnation of it was here".to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether there is a connection that this node has made, so recently that a call of the other side may have crossed it.
    fn has_just_called(&self, node: &str, incarnation: u64) -> bool {
        let links = self.links.lock();
        links
            .get(node)
            .is_some_and(|link| link.has_just_called(incarnation, self.options.connect_timeout))
    }

    async fn welcome(self: Arc<Self>, connection: Connection) {
        let from = connection.from.clone();
        let accepted = async {
            let connection = self.transport.accepted(connection).await?;
            link::accept(&self, connection, |node, incarnation| self.admit(node, incarnation)).await
        };
        match link::within(&self.system, self.options.connect_timeout, accepted).await {
            Some(Ok(greeting)) => {
                if let Some(peer) = self.peer(&greeting.node) {
                    self.adopt(&peer, greeting);
                }
            }
            Some(Err(error)) => {
                let why = error.to_string();
                if self.is_new(host_of(&from), &why) {
                    tracing::warn!(from, why, "a connection was not taken; said once for each reason");
                } else {
                    tracing::debug!(from, why, "a connection was not taken");
                }
            }
            None => tracing::info!(from, "a connection said nothing in time"),
        }
    }

    async fn listen(self: Arc<Self>, mut listener: Box<dyn Listener>) {
        let open = Arc::new(AtomicU64::new(0));
        while let Some(accepted) = self.closing.or(listener.accept()).await {
            match accepted {
                Ok(_) if open.load(Relaxed) >= self.options.handshakes as u64 => {
                    tracing::warn!("too many connections are in their handshake; one was closed");
                }
                Ok(connection) => {
                    open.fetch_add(1, Relaxed);
                    let (shared, open) = (self.clone(), open.clone());
                    self.system.world().spawn(Box::pin(async move {
                        shared.welcome(connection).await;
                        open.fetch_sub(1, Relaxed);
                    }));
                }
                Err(error) => {
                    tracing::warn!(%error, "no connection could be taken");
                    self.system.sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Whether this was not said before, and there is room to remember that it is now.
    fn is_new(&self, of: &str, what: &str) -> bool {
        let mut said = self.said.lock();
        said.len() < SAID && said.insert((of.to_owned(), what.to_owned()))
    }

    /// There is no connection to a node.
    pub(crate) fn report_not_connected(&self, node: &str, why: &str) {
        tracing::warn!(node, why, "no connection");
        self.publish(PeerEvent::NotConnected {
            node: node.to_owned(),
            why: why.to_owned(),
        });
    }

    /// A message was not delivered. Said once for each reason, so that a peer cannot fill the log.
    pub(crate) fn report_refused(&self, node: &str, why: &str) {
        if !self.is_new(node, why) {
            return;
        }
        tracing::warn!(node, why, "what another node sent was refused");
        self.publish(PeerEvent::Refused {
            node: node.to_owned(),
            why: why.to_owned(),
        });
    }

    pub(crate) fn peer_count(&self) -> usize {
        self.peers.lock().len()
    }

    /// A node does not let this one do something. Said once for each right.
    pub(crate) fn report_forbidden(&self, node: &str, right: Right) {
        if !self.is_new(node, &format!("forbidden: {right}")) {
            return;
        }
        tracing::warn!(node, %right, "this node has no right to that there");
        let node = node.to_owned();
        self.publish(PeerEvent::Forbidden { node, right });
    }

    pub(crate) fn publish(&self, event: PeerEvent) {
        self.system.events().publish(event);
    }

    /// Nothing is taken or sent any more. Peers hear goodbye.
    fn stop(&self) {
        if self.stopping.swap(true, AcqRel) {
            return;
        }
        self.closing.close();
        let goodbye = Frame::Goodbye(Goodbye {
            reason: GoodbyeReason::Leaving,
            text: "".into(),
        });
        for peer in self.peers.lock().values() {
            peer.write_in_order(&goodbye);
        }
    }

    fn close(&self) {
        let links = std::mem::take(&mut *self.links.lock());
        links.values().for_each(|link| link.close("this node stops"));
        let peers = std::mem::take(&mut *self.peers.lock());
        for peer in peers.values() {
            peer.close();
            peer.forget(volary_core::DeadReason::Unreachable);
        }
        self.waiting.clear();
    }

    /// Whether everything that was to be written is.
    fn is_written(&self) -> bool {
        self.peers.lock().values().all(|peer| {
            let outbound = peer.outbound.lock();
            !outbound.is_connected() || !outbound.has_more()
        })
    }
}

struct Reach(Weak<Shared>);

impl Abroad for Reach {
    fn resolve(&self, address: &Address) -> Option<StandIn> {
        let shared = self.0.upgrade()?;
        shared.peer(&address.node()?.to_string())?.stand_in(address)
    }

    fn here(&self) -> Option<Address> {
        Some(self.0.upgrade()?.here.clone())
    }
}

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
        RemoteBuilder {
            registry: Registry::new(),
            failed: None,
            spawnables: Spawnables::default(),
            options: RemoteOptions::new(),
            transport: Box::new(Tcp::default()),
            cluster: String::new(),
            host: None,
            beyond_loopback: false,
            allowed: None,
            rights: None,
            compressions: None,
        }
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
    /// when messages arrive, or by [`lookup`](Remote::lookup).
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, Address};
    /// # fn f<A: Actor>(remote: &volary_remote::Remote, address: &Address) -> Option<ActorRef<A>> {
    /// remote.actor(address)
    /// # }
    /// ```
    #[must_use]
    pub fn actor<T: Target>(&self, address: &Address) -> Option<ActorRef<T>> {
        let node = address.node()?.to_string();
        Some(self.0.peer(&node)?.stand_in(address)?.actor_ref())
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
        self.0.peers.lock().values().map(|peer| peer.read()).collect()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("node", &self.0.node)
            .finish_non_exhaustive()
    }
}

/// Starts remoting; see [`Remote::builder`].
#[must_use = "remoting is started by `start(..).await`"]
pub struct RemoteBuilder {
    registry: Registry,
    failed: Option<RemoteStartError>,
    spawnables: Spawnables,
    options: RemoteOptions,
    transport: Box<dyn Transport>,
    cluster: String,
    host: Option<String>,
    beyond_loopback: bool,
    allowed: Option<BTreeSet<String>>,
    rights: Option<RightsOf>,
    compressions: Option<Vec<Compression>>,
}

impl RemoteBuilder {
    /// Lets other nodes send to actors of this kind what it lists.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// # fn f<Account: volary_wire::RemoteActor>() {
    /// let builder = Remote::builder().kind::<Account>();
    /// # }
    /// ```
    pub fn kind<A: RemoteActor>(mut self) -> Self {
        let failed = self.registry.kind::<A>().err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets a message be sent to other nodes; those that a registered kind lists can be already.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// # fn f<Deposit: volary_wire::Wire>() {
    /// let builder = Remote::builder().message::<Deposit>();
    /// # }
    /// ```
    pub fn message<M: Wire>(mut self) -> Self {
        let failed = self.registry.message::<M>().err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets other nodes start actors of this kind, and send them what it lists. The factory is given what came along;
    /// it is called again for each restart. Who may, [`rights`](RemoteBuilder::rights) say.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// # fn f<Account: volary_wire::RemoteActor>(open: fn(&[u8]) -> Result<Account, volary_core::Fault>) {
    /// let builder = Remote::builder().spawnable::<Account>(move |argument| open(argument.bytes()));
    /// # }
    /// ```
    pub fn spawnable<A: RemoteActor>(
        mut self,
        factory: impl Fn(&Argument) -> Result<A, Fault> + Send + Sync + 'static,
    ) -> Self {
        let kind = A::KIND;
        let is_new = self.spawnables.add::<A>(factory);
        let failed = (!is_new).then_some(RemoteStartError::SpawnableTwice { kind });
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets actors that other nodes start be given dependencies of this kind.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// # fn f<Database: volary_core::Dependency>() {
    /// let builder = Remote::builder().dependency::<Database>();
    /// # }
    /// ```
    pub fn dependency<D: Dependency>(mut self) -> Self {
        let failed = self.spawnables.dependencies.add::<D>().err();
        self.failed = self.failed.or(failed.map(RemoteStartError::from));
        self
    }

    /// Limits and times.
    ///
    /// ```
    /// # use volary_remote::{Remote, RemoteOptions};
    /// let builder = Remote::builder().options(RemoteOptions::new().window(1_024).receiver_share(256));
    /// # let _ = builder;
    /// ```
    pub fn options(mut self, options: RemoteOptions) -> Self {
        self.options = options;
        self
    }

    /// What connections are made of; TCP otherwise.
    ///
    /// ```
    /// # use volary_remote::{Remote, transport::Memory};
    /// let builder = Remote::builder().transport(Memory::default());
    /// # let _ = builder;
    /// ```
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Box::new(transport);
        self
    }

    /// Only nodes that say the same name are spoken to.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// let builder = Remote::builder().cluster("production");
    /// # let _ = builder;
    /// ```
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// The host by which others reach this node, if it is not the one that it listens at.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// let builder = Remote::builder().advertise("bank-0.internal");
    /// # let _ = builder;
    /// ```
    pub fn advertise(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Allows connections beyond loopback that are not encrypted: anybody on the way can read and forge messages.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// let builder = Remote::builder().plaintext_beyond_loopback();
    /// # let _ = builder;
    /// ```
    pub fn plaintext_beyond_loopback(mut self) -> Self {
        self.beyond_loopback = true;
        self
    }

    /// Speaks only with these nodes: a host, or `host:port`. Others are refused when they call, and addresses of theirs
    /// lead nowhere. Without TLS a caller may claim any host.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// let builder = Remote::builder().allow_peers(["bank-0.internal", "10.0.0.7:4242"]);
    /// # let _ = builder;
    /// ```
    pub fn allow_peers<N: Into<String>>(mut self, peers: impl IntoIterator<Item = N>) -> Self {
        let peers = peers.into_iter().map(Into::into);
        self.allowed.get_or_insert_default().extend(peers);
        self
    }

    /// What each peer may do here; asked once for each connection. What a peer has no right to is refused, answered
    /// and counted, and a closure that panics gives none.
    ///
    /// Without this, nodes of the cluster have all rights if connections are encrypted or stay on loopback, and may
    /// neither control nor spawn actors if they are [plaintext beyond it](Self::plaintext_beyond_loopback). What can be
    /// started is bounded by what is [`spawnable`](Self::spawnable).
    ///
    /// Without encryption a peer can say that it is another: then this keeps order, but nobody out.
    ///
    /// ```
    /// # use volary_remote::{Remote, Rights};
    /// let builder = Remote::builder().rights(|peer| match peer.host() {
    ///     "admin.internal" => Rights::all(),
    ///     _ => Rights::none().tell().watch(),
    /// });
    /// # let _ = builder;
    /// ```
    pub fn rights(mut self, rights: impl Fn(&PeerIdentity) -> Rights + Send + Sync + 'static) -> Self {
        self.rights = Some(Box::new(rights));
        self
    }

    /// How connections are compressed: the first of the caller's that the other side has too, or not at all. Without
    /// this, zstd beyond loopback if the cargo feature `zstd` is on, and nothing otherwise.
    ///
    /// ```
    /// # use volary_remote::{Remote, compression::Compression};
    /// let builder = Remote::builder().compressions([Compression::Lz4, Compression::Zstd]);
    /// let never = Remote::builder().compressions([]);
    /// # let _ = (builder, never);
    /// ```
    pub fn compressions(mut self, compressions: impl IntoIterator<Item = Compression>) -> Self {
        self.compressions = Some(compressions.into_iter().collect());
        self
    }

    /// Listens at `host:port`, and connects the system with others.
    ///
    /// # Errors
    /// The step that failed; nothing is left running.
    pub async fn start(mut self, system: &ActorSystem, at: &str) -> Result<Remote, RemoteStartError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.spawnables.register(&mut self.registry)?;
        self.options.check()?;
        let missing = self.compressions.iter().flatten().find(|one| !one.is_available());
        if let Some(&compression) = missing {
            return Err(RemoteStartError::Compression { compression });
        }
        let (listen_host, _) = at.rsplit_once(':').ok_or_else(|| RemoteStartError::Address {
            at: at.to_owned(),
            why: "it has no port".to_owned(),
        })?;
        if !self.transport.is_encrypted() && !self.beyond_loopback && !is_loopback(listen_host) {
            return Err(RemoteStartError::Beyond { at: at.to_owned() });
        }
        let plaintext = match (self.transport.is_encrypted(), self.beyond_loopback) {
            (true, _) => Plaintext::Never,
            (false, false) => Plaintext::OnLoopback,
            (false, true) => Plaintext::Anywhere,
        };
        self.transport.attach(system);
        let listener = self
            .transport
            .listen(at)
            .await
            .map_err(|error| RemoteStartError::Listen {
                at: at.to_owned(),
                error,
            })?;
        let host = self.host.unwrap_or_else(|| listen_host.to_owned());
        let address = |why: String| RemoteStartError::Address { at: host.clone(), why };
        let node: Node = format!("{host}:{}", listener.port())
            .parse()
            .map_err(|error: volary_core::tree::NodeError| address(error.to_string()))?;
        let root =
            Address::local(system.name(), volary_core::Path::root()).map_err(|error| address(error.to_string()))?;
        let here = root
            .with_node(&node.host().to_string(), node.port())
            .map_err(|error| address(error.to_string()))?;
        let since = system.world().wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Arc::new_cyclic(|this| Shared {
            system: system.clone(),
            registry: self.registry,
            options: self.options,
            transport: self.transport,
            cluster: self.cluster,
            node: node.to_string(),
            incarnation: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).max(1),
            resolver: Arc::new(system.clone()),
            trust: Trust {
                plaintext,
                allowed: self.allowed,
                rights: self.rights,
            },
            compressions: self.compressions,
            here,
            this: this.clone(),
            peers: Mutex::default(),
            links: Mutex::default(),
            dialling: Mutex::default(),
            adopting: Mutex::default(),
            spawnables: self.spawnables,
            waiting: Waiting::default(),
            starting: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            closing: Closing::default(),
            said: Mutex::default(),
        });
        if !system.set_abroad(Arc::new(Reach(Arc::downgrade(&shared)))) {
            return Err(RemoteStartError::Twice);
        }
        end_with(system, &shared)?;
        system.world().spawn(Box::pin(shared.clone().listen(listener)));
        Ok(Remote(shared))
    }
}

/// Sees to it that remoting ends with its system: after the actors, whose last messages still go out.
fn end_with(system: &ActorSystem, shared: &Arc<Shared>) -> Result<(), RemoteStartError> {
    let stopping = shared.clone();
    let hook = ShutdownHook::new(shutdown::AFTER_ACTORS, "remoting", move || {
        let shared = stopping.clone();
        async move {
            shared.stop();
            let patience = Duration::from_millis(500);
            let _ = link::within(&shared.system, patience, async {
                while !shared.is_written() {
                    shared.system.sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
            shared.close();
        }
    });
    system
        .on_shutdown(hook)
        .map(drop)
        .map_err(|_| RemoteStartError::Stopping)
}

impl fmt::Debug for RemoteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteBuilder")
            .field("registry", &self.registry)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
