//! What all associations of a node share: the peers, the connections to them, and who may call.

mod callers;
#[cfg(test)]
mod crossing;
mod departed;
mod ending;
mod language;
#[cfg(test)]
mod nested;
mod relief;
mod reports;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Weak};
use std::time::{Duration, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::Notify;
use volary_core::foreign::{Abroad, StandIn};
use volary_core::settings::Effective;
use volary_core::tree::Node;
use volary_core::{ActorSystem, Address, AnyRef};
use volary_wire::Registry;
use volary_wire::native::RefuseReason;

use callers::Callers;
pub(crate) use language::Language;
pub(crate) use reports::cut;

use crate::compression::Compression;
use crate::error::RemoteStartError;
use crate::event::PeerEvent;
use crate::instruments::RemoteInstruments;
use crate::link::{self, Caller, Closing, Greeting, Link};
use crate::operations::{Spawnables, Waiting};
use crate::options::RemoteOptions;
use crate::peer::{Peer, PeerReading};
use crate::propagator::Propagator;
use crate::transport::{Connection, Listener, Transport, host_of, is_of_caller};
use crate::trust::{PeerIdentity, Trust, is_loopback};

/// What all associations of a node share.
pub(crate) struct Shared {
    pub(crate) language: Arc<Language>,
    pub(crate) options: RemoteOptions,
    /// What is in force, and who said so.
    pub(crate) settings: Vec<Effective>,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) cluster: String,
    /// `host:port`, as others know it.
    pub(crate) node: String,
    pub(crate) incarnation: u64,
    pub(crate) trust: Trust,
    compressions: Option<Vec<Compression>>,
    here: Address,
    this: Weak<Shared>,
    peers: Mutex<BTreeMap<String, Arc<Peer>>>,
    /// Peers that were let go of while messages of theirs may wait in mailboxes here; changes under the lock of `peers`.
    forgotten: Mutex<Vec<Weak<Peer>>>,
    /// What was counted of these; changes under the lock of `peers` as well.
    departed: Mutex<departed::Departed>,
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    /// Peers that are being dialled just now.
    dialling: Mutex<BTreeSet<String>>,
    /// Held while a connection takes the place of another. What is published meanwhile leads to code of the user, which may name
    /// nodes: whatever can come of that does without this lock.
    adopting: Mutex<()>,
    pub(crate) spawnables: Spawnables,
    pub(crate) waiting: Waiting,
    /// Room that messages of all peers take which wait in mailboxes here.
    pub(crate) inbound: Arc<AtomicU64>,
    /// Room that actors elsewhere take which messages of all peers have made known here.
    pub(crate) references: Arc<AtomicU64>,
    /// How many actors are starting at the wish of others.
    pub(crate) starting: AtomicUsize,
    /// Connections of others that ended before their handshake was over.
    not_taken: AtomicU64,
    /// A handler here keeps its thread.
    relief: Arc<Notify>,
    stopping: AtomicBool,
    pub(crate) closing: Closing,
    /// Reasons for refusals that were said.
    said: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

/// What remoting begins with.
pub(crate) struct Beginning {
    pub(crate) system: ActorSystem,
    pub(crate) registry: Registry,
    pub(crate) options: RemoteOptions,
    /// What is in force, and who said so.
    pub(crate) settings: Vec<Effective>,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) cluster: String,
    /// `host:port`, as others know it.
    pub(crate) node: String,
    /// The root of the system, as others know it.
    pub(crate) here: Address,
    pub(crate) trust: Trust,
    pub(crate) compressions: Option<Vec<Compression>>,
    pub(crate) spawnables: Spawnables,
    pub(crate) propagators: Vec<Box<dyn Propagator>>,
}

impl Shared {
    /// Connects the system with others, for as long as it lives.
    pub(crate) fn begin(with: Beginning, listener: Box<dyn Listener>) -> Result<Arc<Self>, RemoteStartError> {
        let system = with.system.clone();
        let since = system.world().wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Arc::new_cyclic(|this| Shared {
            language: Arc::new(Language {
                registry: with.registry,
                resolver: Arc::new(system.clone()),
                system: with.system,
                propagators: with.propagators,
            }),
            options: with.options,
            settings: with.settings,
            transport: with.transport,
            cluster: with.cluster,
            node: with.node,
            incarnation: incarnation(since, system.world().random()),
            trust: with.trust,
            compressions: with.compressions,
            here: with.here,
            this: this.clone(),
            peers: Mutex::default(),
            forgotten: Mutex::default(),
            departed: Mutex::default(),
            links: Mutex::default(),
            dialling: Mutex::default(),
            adopting: Mutex::default(),
            spawnables: with.spawnables,
            waiting: Waiting::default(),
            inbound: Arc::default(),
            references: Arc::default(),
            starting: AtomicUsize::new(0),
            not_taken: AtomicU64::new(0),
            relief: Arc::default(),
            stopping: AtomicBool::new(false),
            closing: Closing::default(),
            said: Mutex::default(),
        });
        let reach = Reach(Arc::downgrade(&shared), shared.relief.clone());
        if !system.set_abroad(Arc::new(reach)) {
            return Err(RemoteStartError::Twice);
        }
        ending::end_with(&system, &shared)?;
        system.world().spawn(Box::pin(shared.clone().listen(listener)));
        system.world().spawn(Box::pin(shared.clone().relieve()));
        system.add_instruments(Arc::new(RemoteInstruments(Arc::downgrade(&shared))));
        Ok(shared)
    }

    /// Nanoseconds of the system's clock.
    pub(crate) fn nanos(&self) -> u64 {
        u64::try_from(self.system.uptime().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Acquire)
    }

    /// The actor here that an address of this node leads to.
    pub(crate) fn local(&self, address: &Address) -> Option<AnyRef> {
        let is_here = match address.node() {
            Some(node) => Some(node) == self.here.node(),
            None => true,
        };
        is_here.then(|| self.system.find(address)).flatten()
    }

    /// Whether this node is called so.
    pub(crate) fn is_called(&self, node: &Node) -> bool {
        self.here.node() == Some(node)
    }

    /// Lets go of all stand-ins that nobody refers to.
    pub(crate) fn sweep(&self) {
        let peers: Vec<_> = self.peers.lock().values().cloned().collect();
        peers.iter().for_each(|peer| peer.sweep());
    }

    /// A stand-in for an actor of that very peer; others it may not speak for.
    pub(crate) fn stand_in_of_peer(&self, peer: &Arc<Peer>, address: &Address) -> Option<StandIn> {
        let node = address.node()?.to_string();
        (node == peer.node && peer.is_called(address.system()))
            .then(|| peer.stand_in(address))
            .flatten()
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
        let known = self.peers.lock().get(node).cloned();
        if known.is_some() {
            return known;
        }
        if !self.make_room() {
            self.report_refused(node, "too many nodes are known here");
            return None;
        }
        let mut peers = self.peers.lock();
        if let Some(peer) = peers.get(node) {
            return Some(peer.clone());
        }
        let peer = Arc::new(Peer::new(self.this.upgrade()?, node.to_owned()));
        peers.insert(node.to_owned(), peer.clone());
        drop(peers);
        let turn = peer.dialler.take_over();
        self.system.world().spawn(Box::pin(link::dial(peer.clone(), turn)));
        Some(peer)
    }

    /// Whether there is room for one more peer, if need be by letting go of all that nobody speaks with.
    fn make_room(&self) -> bool {
        let most = self.options.peers;
        let idle: Vec<_> = {
            let mut peers = self.peers.lock();
            if peers.len() < most {
                return true;
            }
            let idle: Vec<_> = peers.extract_if(.., |_, peer| peer.is_idle()).collect();
            self.let_go(idle.iter().map(|(_, peer)| peer));
            idle
        };
        for (_, peer) in idle {
            // First: a connection that is taken just now is among the others when these are looked at, or its peer is seen to be
            // closed after that.
            peer.close();
            if let Some(link) = self.take_link_of(&peer) {
                link.close("it is forgotten");
            }
        }
        self.peers.lock().len() < most
    }

    /// Takes out the connection of this peer; not that of another one with the same name.
    fn take_link_of(&self, peer: &Arc<Peer>) -> Option<Arc<Link>> {
        let mut links = self.links.lock();
        let is_its_own = |link: &Arc<Link>| Arc::ptr_eq(&link.peer, peer);
        links
            .get(&peer.node)
            .is_some_and(is_its_own)
            .then(|| links.remove(&peer.node))
            .flatten()
    }

    /// These are peers no more. Under the lock of `peers`.
    fn let_go<'a>(&self, peers: impl Iterator<Item = &'a Arc<Peer>> + Clone) {
        self.departed.lock().add(peers.clone());
        let mut forgotten = self.forgotten.lock();
        forgotten.retain(|peer| peer.strong_count() > 0);
        forgotten.extend(peers.map(Arc::downgrade));
    }

    /// A peer is dialled until this is dropped.
    pub(crate) fn begin_dialling<'a>(&'a self, node: &'a str) -> Dialling<'a> {
        self.dialling.lock().insert(node.to_owned());
        Dialling { shared: self, node }
    }

    /// The peer could not be reached for too long. False: by now it is.
    pub(crate) fn lose(&self, peer: &Peer) -> bool {
        let _turn = self.adopting.lock();
        let is_lost = !peer.outbound.lock().is_connected();
        if is_lost {
            peer.lose();
        }
        is_lost
    }

    /// This life of the peer has left, as it said on the connection `epoch`. Nobody adopts a connection to it meanwhile.
    pub(crate) fn left(&self, peer: &Peer, epoch: u64, incarnation: u64) {
        let _turn = self.adopting.lock();
        peer.left(epoch, incarnation);
    }

    /// How many bytes of messages of others wait in mailboxes here.
    pub(crate) fn inbound_bytes(&self) -> usize {
        // Outlives the lock: a peer may end with the last of its references.
        let forgotten: Vec<Arc<Peer>>;
        let unused: u64 = {
            let peers = self.peers.lock();
            forgotten = self.forgotten.lock().iter().filter_map(Weak::upgrade).collect();
            let all = peers.values().chain(&forgotten);
            all.map(|peer| peer.inflow.unused()).sum()
        };
        let waiting = self.inbound.load(Relaxed).saturating_sub(unused);
        usize::try_from(waiting).unwrap_or(usize::MAX) * link::UNIT
    }

    /// How many connections of others were not taken.
    pub(crate) fn refused_connections(&self) -> u64 {
        self.not_taken.load(Relaxed)
    }

    /// Takes a connection over as that of its peer, in the place of one there may be. When it began to be made, the last
    /// connection was that of `epoch`.
    ///
    /// If there is another since, calls have crossed. Both sides then keep the same one, whichever they come to first:
    /// that of the lower address. Else one would hear on one of them what the other has said before what it says on the
    /// other.
    pub(crate) fn adopt(&self, peer: &Arc<Peer>, mut greeting: Greeting, epoch: u64) {
        let identity = PeerIdentity::new(&peer.node, greeting.identity.take());
        // Decided by code of the user, and so outside the lock.
        let rights = self.trust.rights(&identity);
        let _turn = self.adopting.lock();
        // Much may have happened since it was greeted.
        let admitted = match greeting.caller {
            Caller::We => peer.admits_answer(greeting.incarnation, epoch),
            Caller::They => peer.admits(greeting.incarnation),
        };
        if self.is_stopping() || peer.is_closed() || !admitted {
            return;
        }
        let before = self.links.lock().get(&peer.node).cloned();
        let is_overtaken = peer.outbound.lock().epoch() != epoch;
        let is_of_lower = match greeting.caller {
            Caller::We => self.node < peer.node,
            Caller::They => peer.node < self.node,
        };
        if let Some(before) = &before
            && is_overtaken
            && before.is_open_to(greeting.incarnation)
            && (!is_of_lower || before.caller() == greeting.caller)
        {
            return;
        }
        if let Some(before) = before {
            before.close("there is a new one");
        }
        if peer.is_closed() {
            return; // whoever heard of that has named another node, which had room in the place of this one
        }
        let link = Link::start(peer, greeting, rights);
        self.links.lock().insert(peer.node.clone(), link);
        self.publish(PeerEvent::Connected {
            node: peer.node.clone(),
        });
        if peer.is_closed()
            && let Some(link) = self.take_link_of(peer)
        {
            return link.close("it is forgotten"); // by others, before they could see it
        }
        peer.look.notify_one();
    }

    /// Whether a caller is taken. If both call at the same time, the call of the lower address counts.
    fn admit(&self, node: &str, incarnation: u64) -> Result<Arc<Peer>, (RefuseReason, String)> {
        if self.is_stopping() {
            return Err((RefuseReason::Stopping, "it is stopping".to_owned()));
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
        // Known from here on, so that there is room for it when it hears that it is welcome.
        match self.peer(node) {
            None => Err((RefuseReason::Busy, "too many nodes are known here".to_owned())),
            Some(peer) if peer.is_over(incarnation) => {
                let text = "the actors of this incarnation were said to be gone; it must start anew";
                Err((RefuseReason::Quarantined, text.to_owned()))
            }
            Some(peer) if !peer.admits(incarnation) => {
                // Unless its clock was set back: who answers there is the one that lives.
                if !peer.outbound.lock().is_connected() {
                    peer.want_connection();
                }
                let text = "a later incarnation of it was here";
                Err((RefuseReason::Quarantined, text.to_owned()))
            }
            Some(peer) => Ok(peer),
        }
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
        // The peer that calls, and its last connection before this one.
        let mut called = None;
        // Calls have crossed: nothing is wrong, and the other one is taken.
        let mut has_crossed = false;
        let mut unheard = None;
        let accepted = async {
            let connection = self.transport.accepted(connection).await?;
            let admit = |node: &str, incarnation| {
                let admitted = self.admit(node, incarnation);
                has_crossed = matches!(admitted, Err((RefuseReason::Duplicate, _)));
                let peer = admitted?;
                peer.expected.fetch_add(1, AcqRel);
                let epoch = peer.outbound.lock().epoch();
                called = Some((peer, epoch));
                Ok(())
            };
            link::accept(&self, connection, admit, &mut unheard).await
        };
        let accepted = link::within(&self.system, self.options.connect_timeout, accepted);
        let Some(accepted) = self.closing.or(accepted).await else {
            return;
        };
        if !matches!(accepted, Some(Ok(_))) && !has_crossed {
            self.not_taken.fetch_add(1, Relaxed);
        }
        match accepted {
            Some(Ok(greeting)) => {
                if let Some((peer, epoch)) = &called {
                    self.adopt(peer, greeting, *epoch);
                }
            }
            Some(Err(error)) => {
                let why = error.to_string();
                let why = cut(&why);
                if self.is_new(host_of(&from), why) {
                    tracing::warn!(from, why, "a connection was not taken; said once for each reason");
                } else {
                    tracing::debug!(from, why, "a connection was not taken");
                }
            }
            None => tracing::info!(from, "a connection said nothing in time"),
        }
        if let Some((peer, _)) = called {
            peer.expected.fetch_sub(1, AcqRel);
        }
        if let Some(connection) = unheard {
            self.closing.or(link::hear_out(&self, connection)).await;
        }
    }

    async fn listen(self: Arc<Self>, mut listener: Box<dyn Listener>) {
        let callers = Callers::new(self.options.handshakes);
        while let Some(accepted) = self.closing.or(link::contained(listener.accept())).await {
            let panicked = || Err(std::io::Error::other("what takes connections panicked"));
            match accepted.unwrap_or_else(panicked) {
                Ok(connection) => {
                    let mut entered = callers.enter(&connection.from);
                    if entered.is_err() {
                        // Those who have gone since they were taken leave as soon as they have a turn.
                        link::give_way().await;
                        entered = callers.enter(&connection.from);
                    }
                    let calling = match entered {
                        Ok(calling) => calling,
                        Err(why) => {
                            self.not_taken.fetch_add(1, Relaxed);
                            if self.is_new("", &why.to_string()) {
                                tracing::warn!(from = connection.from, "{why}; said once");
                            }
                            continue;
                        }
                    };
                    let shared = self.clone();
                    self.system.world().spawn(Box::pin(async move {
                        if link::contained(shared.clone().welcome(connection)).await.is_none() {
                            shared.not_taken.fetch_add(1, Relaxed);
                            tracing::error!("what takes connections panicked");
                        }
                        drop(calling);
                    }));
                }
                Err(error) if is_of_caller(&error) => {
                    self.not_taken.fetch_add(1, Relaxed);
                    if self.is_new("", "gone") {
                        tracing::warn!(%error, "a caller was gone before its connection was taken; said once");
                    }
                    link::give_way().await; // there may be many of them, and none is waited for
                }
                Err(error) => {
                    if self.is_new("", &error.to_string()) {
                        tracing::warn!(%error, "no connection can be taken; said once for each reason");
                    }
                    self.system.sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// What came from and went to each peer.
    pub(crate) fn readings(&self) -> Vec<PeerReading> {
        self.peers.lock().values().map(|peer| peer.read()).collect()
    }

    pub(crate) fn peer_count(&self) -> usize {
        self.peers.lock().len()
    }
}

/// A peer that is dialled.
pub(crate) struct Dialling<'a> {
    shared: &'a Shared,
    node: &'a str,
}

impl Drop for Dialling<'_> {
    fn drop(&mut self) {
        self.shared.dialling.lock().remove(self.node);
    }
}

/// The number of this life: by the clock, to the microsecond, so that a later one is mostly greater; and by chance below
/// that, so that two of the same moment are not the same.
fn incarnation(since: Duration, random: u64) -> u64 {
    let nanos = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
    (nanos & !0x3ff | random & 0x3ff).max(1)
}

struct Reach(Weak<Shared>, Arc<Notify>);

impl Abroad for Reach {
    fn resolve(&self, address: &Address) -> Option<StandIn> {
        let shared = self.0.upgrade()?;
        shared.peer(&address.node()?.to_string())?.stand_in(address)
    }

    fn here(&self) -> Option<Address> {
        Some(self.0.upgrade()?.here.clone())
    }

    fn relieve(&self) {
        // No more than that: the clock waits for nobody. And who is woken from its thread runs on any that is free.
        self.1.notify_one();
    }
}
