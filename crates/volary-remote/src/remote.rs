//! Remoting of one system: where it listens, whom it knows, what may be sent to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Weak};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use volary_core::foreign::{Abroad, StandIn};
use volary_core::tree::Node;
use volary_core::{
    ActorId, ActorRef, ActorSystem, Address, AnyRef, Message, Recipient, RemoteError, Resolver, ShutdownHook, Target,
    shutdown,
};
use volary_wire::native::{Answer, Frame, Goodbye, GoodbyeReason, Operation, RefuseReason};
use volary_wire::{RegisterError, Registry, RemoteActor, Wire};

use crate::error::RemoteStartError;
use crate::link::{self, Closing, Greeting, Link};
use crate::options::RemoteOptions;
use crate::peer::{Peer, PeerReading};
use crate::transport::{Connection, Listener, Tcp, Transport};

/// Something happened to the connection with a peer; published on the event stream.
///
/// ```
/// # use volary_remote::PeerEvent;
/// # fn f(system: &volary_core::ActorSystem) {
/// let events = system.events().subscribe::<PeerEvent>();
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerEvent {
    /// There is a connection.
    Connected {
        /// `host:port`.
        node: String,
    },
    /// A message from there was not delivered; said once for each reason.
    Refused {
        /// `host:port`.
        node: String,
        /// Why.
        why: String,
    },
}

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
    here: Address,
    this: Weak<Shared>,
    peers: Mutex<BTreeMap<String, Arc<Peer>>>,
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    /// Peers that are being dialled just now.
    dialling: Mutex<BTreeSet<String>>,
    operations: Mutex<BTreeMap<u64, oneshot::Sender<Answer>>>,
    next_operation: AtomicU64,
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

    pub(crate) fn peer(&self, node: &str) -> Option<Arc<Peer>> {
        if self.is_stopping() || node == self.node {
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
    pub(crate) fn adopt(&self, peer: &Arc<Peer>, greeting: Greeting) {
        let before = self.links.lock().remove(&peer.node);
        if let Some(before) = before {
            before.close("there is a new one");
        }
        let link = Link::start(peer, greeting);
        self.links.lock().insert(peer.node.clone(), link);
        self.system.events().publish(PeerEvent::Connected {
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
        if self.dialling.lock().contains(node) && *self.node < *node {
            return Err((
                RefuseReason::Duplicate,
                "a call in the other direction is under way".to_owned(),
            ));
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

    async fn welcome(self: Arc<Self>, connection: Connection) {
        let from = connection.from.clone();
        let accepted = link::accept(&self, connection, |node, incarnation| self.admit(node, incarnation));
        match link::within(&self.system, self.options.connect_timeout, accepted).await {
            Some(Ok(greeting)) => {
                if let Some(peer) = self.peer(&greeting.node) {
                    self.adopt(&peer, greeting);
                }
            }
            Some(Err(error)) => tracing::info!(from, %error, "a connection was not taken"),
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

    /// A message was not delivered. Said once for each reason, so that a peer cannot fill the log.
    pub(crate) fn report_refused(&self, node: &str, why: &str) {
        {
            let mut said = self.said.lock();
            if said.len() >= SAID || !said.insert((node.to_owned(), why.to_owned())) {
                return;
            }
        }
        tracing::warn!(node, why, "a message from another node was not delivered");
        self.system.events().publish(PeerEvent::Refused {
            node: node.to_owned(),
            why: why.to_owned(),
        });
    }

    /// Does what another node asks for; the status and what there is to say.
    pub(crate) fn operate(&self, name: &str, payload: &[u8]) -> (u8, Bytes) {
        let find = || self.local(&std::str::from_utf8(payload).ok()?.parse().ok()?);
        match name {
            "lookup" => match find() {
                Some(actor) => {
                    let address = self.resolver.outside_address(&actor.address());
                    (OK, address.to_string().into_bytes().into())
                }
                None => (NOBODY, Bytes::new()),
            },
            "kinds" => {
                let kinds: Vec<&str> = self.registry.kinds().map(|kind| &*kind.name).collect();
                (OK, kinds.join("\n").into_bytes().into())
            }
            "stop" | "drain" | "kill" | "restart" | "reinstate" | "passivate" => {
                let Some(actor) = find() else {
                    return (NOBODY, Bytes::new());
                };
                match name {
                    "stop" => actor.stop(),
                    "drain" => actor.drain(),
                    "kill" => actor.kill(),
                    "restart" => actor.restart(),
                    "reinstate" => actor.reinstate(),
                    _ => actor.passivate(),
                }
                (OK, Bytes::new())
            }
            _ => (UNKNOWN, Bytes::new()),
        }
    }

    pub(crate) fn operation_answered(&self, _node: &str, answer: Answer) {
        if let Some(waiting) = self.operations.lock().remove(&answer.correlation) {
            let _ = waiting.send(answer);
        }
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
        self.operations.lock().clear();
    }

    /// Whether everything that was to be written is.
    fn is_written(&self) -> bool {
        self.peers.lock().values().all(|peer| {
            let outbound = peer.outbound.lock();
            !outbound.is_connected() || !outbound.has_more()
        })
    }
}

const OK: u8 = 0;
const NOBODY: u8 = 1;
const UNKNOWN: u8 = 2;

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
            options: RemoteOptions::new(),
            transport: Box::new(Tcp::default()),
            cluster: String::new(),
            host: None,
            beyond_loopback: false,
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

    /// The address of whoever lives at a path of another node now, with its uid. Cancel safe.
    ///
    /// ```
    /// # async fn f(remote: &volary_remote::Remote) -> Result<(), volary_core::RemoteError> {
    /// let alice = remote.lookup("10.0.0.7:4242", "volary://bank@10.0.0.7:4242/user/alice").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node cannot be reached in time.
    pub async fn lookup(&self, node: &str, address: &str) -> Result<Option<Address>, RemoteError> {
        let answer = self.operate(node, "lookup", address.as_bytes().to_vec()).await?;
        let text = String::from_utf8_lossy(&answer.payload).into_owned();
        Ok((answer.status == OK).then(|| text.parse().ok()).flatten())
    }

    /// The kinds of actors that a node takes messages for. Cancel safe.
    ///
    /// ```
    /// # async fn f(remote: &volary_remote::Remote) -> Result<(), volary_core::RemoteError> {
    /// println!("{:?}", remote.kinds("10.0.0.7:4242").await?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node cannot be reached in time.
    pub async fn kinds(&self, node: &str) -> Result<Vec<String>, RemoteError> {
        let answer = self.operate(node, "kinds", Vec::new()).await?;
        let text = String::from_utf8_lossy(&answer.payload).into_owned();
        Ok(text.lines().map(str::to_owned).collect())
    }

    async fn operate(&self, node: &str, name: &str, payload: Vec<u8>) -> Result<Answer, RemoteError> {
        let shared = &self.0;
        let unreachable = |why: &str| RemoteError::Unreachable {
            node: node.to_owned(),
            why: why.to_owned(),
        };
        let peer = shared
            .peer(node)
            .ok_or_else(|| unreachable("it is this node, or we are stopping"))?;
        let correlation = shared.next_operation.fetch_add(1, Relaxed);
        let (send, answer) = oneshot::channel();
        shared.operations.lock().insert(correlation, send);
        let operation = Frame::Operation(Operation {
            correlation,
            name: name.into(),
            payload: payload.into(),
        });
        let waited = link::within(&shared.system, shared.options.connect_timeout, async {
            while !peer.outbound.lock().is_connected() {
                peer.want_connection();
                shared.system.sleep(Duration::from_millis(5)).await;
            }
            peer.write_in_order(&operation);
            answer.await
        })
        .await;
        shared.operations.lock().remove(&correlation);
        match waited {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(_)) => Err(unreachable("we are stopping")),
            None => Err(unreachable("no answer came in time")),
        }
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
    failed: Option<RegisterError>,
    options: RemoteOptions,
    transport: Box<dyn Transport>,
    cluster: String,
    host: Option<String>,
    beyond_loopback: bool,
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
        let failed = self.registry.kind::<A>().err();
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
        let failed = self.registry.message::<M>().err();
        self.failed = self.failed.or(failed);
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

    /// Listens at `host:port`, and connects the system with others.
    ///
    /// # Errors
    /// The step that failed; nothing is left running.
    pub async fn start(self, system: &ActorSystem, at: &str) -> Result<Remote, RemoteStartError> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.options.check()?;
        let (listen_host, _) = at.rsplit_once(':').ok_or_else(|| RemoteStartError::Address {
            at: at.to_owned(),
            why: "it has no port".to_owned(),
        })?;
        if !self.transport.is_encrypted() && !self.beyond_loopback && !is_loopback(listen_host) {
            return Err(RemoteStartError::Beyond { at: at.to_owned() });
        }
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
            here,
            this: this.clone(),
            peers: Mutex::default(),
            links: Mutex::default(),
            dialling: Mutex::default(),
            operations: Mutex::default(),
            next_operation: AtomicU64::new(1),
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

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

impl fmt::Debug for RemoteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteBuilder")
            .field("registry", &self.registry)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
