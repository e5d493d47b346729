//! What may be sent and spawned, with whom and how; and the start of remoting.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt;

use volary_core::tree::{Node, NodeError};
use volary_core::{ActorSystem, Address, Dependency, Fault, Path};
use volary_wire::{Registry, RemoteActor, Wire};

use crate::compression::Compression;
use crate::error::RemoteStartError;
use crate::operations::{Argument, Spawnables};
use crate::options::RemoteOptions;
use crate::propagator::Propagator;
use crate::remote::Remote;
use crate::settings::{self, Asked, Wish};
use crate::shared::{Beginning, Shared};
use crate::transport::{Tcp, Transport};
use crate::trust::{
    ClusterProof, PeerIdentity, Plaintext, Rights, RightsOf, Trust, is_loopback, is_unspecified, spelt_allowed,
};

/// Starts remoting; see [`Remote::builder`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_remote::Rights;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let system = system("bank").await?;
/// let remote = Remote::builder()
///     .kind::<Account>() // may be sent to
///     .spawnable::<Account>(|_| Ok(Account::default())) // may be started from other nodes
///     .cluster("production")
///     .rights(|peer| match peer.host() {
///         "admin.internal" => Rights::all(),
///         _ => Rights::none().tell().watch(),
///     })
///     .start(&system, "127.0.0.1:0")
///     .await?;
/// assert_eq!(remote.kinds(remote.node()).await?, ["bank.v1.Account"]); // of this node itself
/// # Ok(()) }
/// ```
#[must_use = "remoting is started by `start(..).await`"]
pub struct RemoteBuilder {
    registry: Registry,
    failed: Option<RemoteStartError>,
    spawnables: Spawnables,
    options: RemoteOptions,
    transport: Box<dyn Transport>,
    cluster: Option<String>,
    cluster_proof: ClusterProof,
    host: Option<String>,
    beyond_loopback: bool,
    allowed: Option<BTreeSet<String>>,
    rights: Option<RightsOf>,
    compressions: Option<Vec<Compression>>,
    propagators: Vec<Box<dyn Propagator>>,
}

impl RemoteBuilder {
    pub(crate) fn new() -> Self {
        RemoteBuilder {
            registry: Registry::new(),
            failed: None,
            spawnables: Spawnables::default(),
            options: RemoteOptions::new(),
            transport: Box::new(Tcp::default()),
            cluster: None,
            cluster_proof: ClusterProof::Optional,
            host: None,
            beyond_loopback: false,
            allowed: None,
            rights: None,
            compressions: None,
            propagators: Vec::new(),
        }
    }

    /// Lets other nodes send to actors of this kind what it lists.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder().kind::<Account>().start(&system, "127.0.0.1:0").await?;
    /// assert_eq!(remote.kinds(remote.node()).await?, ["bank.v1.Account"]);
    /// # Ok(()) }
    /// ```
    pub fn kind<A: RemoteActor>(mut self) -> Self {
        let failed = self.registry.kind::<A>().err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// The same under another name than the kind says, as for one of several instances of a generic actor. What it lists
    /// must have names of its own: [`message_as`](Self::message_as), before this.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// use serde::{Deserialize, Serialize};
    /// use volary::prelude::*;
    ///
    /// struct Cache<T> { value: Option<T> }
    /// #[actor(kind = "cache", remote(Put))]
    /// impl<T: Send + 'static> Cache<T> {
    ///     #[message(remote = "cache.Put", codec = json, derive(Serialize, Deserialize))]
    ///     fn put(&mut self, value: T) { self.value = Some(value); }
    /// }
    ///
    /// let builder = Remote::builder()
    ///     .kind::<Cache<u64>>()
    ///     .message_as::<Put<String>>("cache.PutText")
    ///     .kind_as::<Cache<String>>("cache.text");
    /// # let _ = builder;
    /// ```
    pub fn kind_as<A: RemoteActor>(mut self, name: impl Into<String>) -> Self {
        let failed = self.registry.kind_as::<A>(name).err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets a message be sent to other nodes; those that a registered kind lists can be already.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, network) = (system("till").await?, Memory::default());
    /// # let (_remote, _bank) = two_nodes_with(|builder| builder.transport(network.clone())).await?;
    /// let remote = Remote::builder().message::<Deposit>().transport(network).start(&system, "10.0.0.2:4242").await?;
    /// let address = "volary://bank@10.0.0.7:4242/user/alice".parse()?;
    /// let alice = remote.recipient::<Deposit>(&address).expect("this node speaks with others");
    /// assert_eq!(alice.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    pub fn message<M: Wire>(mut self) -> Self {
        let failed = self.registry.message::<M>().err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// The same under another name than the message says, as for one of several instances of a generic message. See
    /// [`kind_as`](Self::kind_as) for an example.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("shop").await?;
    /// let builder = Remote::builder().message_as::<Deposit>("bank.v2.Deposit").message_as::<Deposit>("bank.v3.Deposit");
    /// let started = builder.start(&system, "127.0.0.1:0").await;
    /// assert!(started.is_err(), "a message has one name");
    /// # Ok(()) }
    /// ```
    pub fn message_as<M: Wire>(mut self, name: impl Into<String>) -> Self {
        let failed = self.registry.message_as::<M>(name).err().map(RemoteStartError::from);
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets other nodes start actors of this kind, and send them what it lists. The factory is given what came along;
    /// it is called again for each restart. Who may, [`rights`](RemoteBuilder::rights) say. One that has another name is to be
    /// registered by [`kind_as`](Self::kind_as) before this, here and where it is started from.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder()
    ///     .spawnable::<Account>(|argument| {
    ///         let cents = argument.bytes().try_into().map_err(|_| Fault::msg("eight bytes say the balance"))?;
    ///         Ok(Account { cents: i64::from_be_bytes(cents) })
    ///     })
    ///     .start(&system, "127.0.0.1:0")
    ///     .await?;
    /// // From another node, or from this one:
    /// let bob = remote.spawn::<Account>(remote.node(), "bob").argument(100_i64.to_be_bytes().to_vec()).await?;
    /// assert_eq!(bob.ask(Deposit { cents: 1 }).await?, 101);
    /// # Ok(()) }
    /// ```
    pub fn spawnable<A: RemoteActor>(
        mut self,
        factory: impl Fn(&Argument) -> Result<A, Fault> + Send + Sync + 'static,
    ) -> Self {
        // Under the name that it was registered by, or the one that it says.
        let kind = match self.registry.kind_of(TypeId::of::<A>()) {
            Some(known) => known.name.to_string(),
            None => A::KIND.to_owned(),
        };
        let is_new = self.spawnables.add::<A>(&kind, factory);
        let failed = (!is_new).then_some(RemoteStartError::SpawnableTwice { kind });
        self.failed = self.failed.or(failed);
        self
    }

    /// Lets actors that other nodes start be given dependencies of this kind.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let builder = Remote::builder().dependency::<Branch>().spawnable::<Account>(|argument| {
    ///     let branch = argument.dependency::<Branch>().ok_or_else(|| Fault::msg("an account belongs to a branch"))?;
    ///     println!("one more at {}", branch.0);
    ///     Ok(Account::default())
    /// });
    /// let remote = builder.start(&system, "127.0.0.1:0").await?;
    /// let bob = remote.spawn::<Account>(remote.node(), "bob").props(Props::new().dependency(Branch("Ghent".to_owned())));
    /// assert!(bob.await.is_ok());
    /// assert!(remote.spawn::<Account>(remote.node(), "eve").await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn dependency<D: Dependency>(mut self) -> Self {
        let failed = self.spawnables.dependencies.add::<D>().err();
        self.failed = self.failed.or(failed.map(RemoteStartError::from));
        self
    }

    /// Limits and times.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::RemoteOptions;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let options = RemoteOptions::new().window(1_024).receiver_share(256);
    /// let remote = Remote::builder().options(options).start(&system, "127.0.0.1:0").await?;
    /// # Ok(()) }
    /// ```
    pub fn options(mut self, options: RemoteOptions) -> Self {
        self.options = options;
        self
    }

    /// What connections are made of; TCP otherwise.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let network = Memory::default(); // of this process
    /// # let (first, second) = (system("one").await?, system("other").await?);
    /// let one = Remote::builder().transport(network.clone()).start(&first, "one:1").await?;
    /// let other = Remote::builder().transport(network).start(&second, "other:1").await?;
    /// assert_eq!(one.at("other:1").metrics().await?.system, "other");
    /// # Ok(()) }
    /// ```
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Box::new(transport);
        self
    }

    /// Only nodes that say the same name are spoken to. One whose certificate is bound to clusters, by alternative names of
    /// the form `volary://cluster/NAME`, must be bound to this one; one whose certificate is bound to none may say what it
    /// likes, unless it is a [`certified_cluster`](Self::certified_cluster).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let network = Memory::default();
    /// # let bank = |builder: RemoteBuilder| builder.transport(network.clone()).cluster("production");
    /// # let (_remote, _bank) = two_nodes_with(bank).await?;
    /// let staging = Remote::builder().cluster("staging").transport(network);
    /// # let soon = volary_remote::RemoteOptions::new().operation_timeout(std::time::Duration::from_millis(50));
    /// # let staging = staging.options(soon);
    /// # let system = system("test").await?;
    /// let staging = staging.start(&system, "10.0.0.2:4242").await?;
    /// assert!(staging.kinds("10.0.0.7:4242").await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = Some(name.into());
        self
    }

    /// As [`cluster`](Self::cluster), and only nodes that have proved to be of it are spoken to: those whose certificate has
    /// the alternative name `volary://cluster/NAME`. The certificate of this node needs it too, for others to speak with
    /// it. In a name, what may not stand in a URI is `%` and the two hexadecimal digits of a byte.
    ///
    /// Without TLS, or another transport that says who the other side [is](crate::transport::Connection::identity), nobody
    /// can prove anything, and nobody is spoken to.
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// let builder = Remote::builder().certified_cluster("production"); // volary://cluster/production
    /// # let _ = builder;
    /// ```
    pub fn certified_cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster_proof = ClusterProof::Required;
        self.cluster(name)
    }

    /// The host by which others reach this node, if it is not the one that it listens at. One that listens at all addresses of
    /// its machine, as by `0.0.0.0`, has to say it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder().advertise("bank-0.internal").start(&system, "127.0.0.1:0").await?;
    /// assert!(remote.node().starts_with("bank-0.internal:"));
    /// # Ok(()) }
    /// ```
    pub fn advertise(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Allows connections beyond loopback that are not encrypted: anybody on the way can read and forge messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::RemoteStartError;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let refused = Remote::builder().start(&system, "0.0.0.0:0").await;
    /// assert!(matches!(refused, Err(RemoteStartError::Beyond { .. })));
    /// let builder = Remote::builder().plaintext_beyond_loopback().advertise("10.0.0.7");
    /// let remote = builder.start(&system, "0.0.0.0:0").await?;
    /// # Ok(()) }
    /// ```
    pub fn plaintext_beyond_loopback(mut self) -> Self {
        self.beyond_loopback = true;
        self
    }

    /// Speaks only with these nodes: a host, or `host:port`, in any spelling; an IPv6 address in brackets. Others are refused when
    /// they call, and addresses of theirs lead nowhere. Without TLS a caller may claim any host.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("till").await?;
    /// let builder = Remote::builder().allow_peers(["bank-0.internal", "10.0.0.7:4242"]);
    /// let remote = builder.start(&system, "127.0.0.1:0").await?;
    /// let stranger = "volary://bank@10.0.0.8:4242/user/alice".parse()?;
    /// assert!(remote.actor::<Account>(&stranger).is_none());
    /// # Ok(()) }
    /// ```
    pub fn allow_peers<N: Into<String>>(mut self, peers: impl IntoIterator<Item = N>) -> Self {
        let allowed = self.allowed.get_or_insert_default();
        for at in peers.into_iter().map(Into::into) {
            match spelt_allowed(&at) {
                Ok(peer) => _ = allowed.insert(peer),
                Err(error) => {
                    let why = error.to_string();
                    self.failed.get_or_insert(RemoteStartError::Address { at, why });
                }
            }
        }
        self
    }

    /// What each peer may do here; asked once for each connection. What a peer has no right to is refused, answered
    /// and counted, and a closure that panics gives none.
    ///
    /// Without this, nodes of the cluster have all rights but to [relay](crate::Right::Relay) if connections are encrypted or stay
    /// on loopback, and may neither control nor spawn actors if they are [plaintext beyond it](Self::plaintext_beyond_loopback). What can be
    /// started is bounded by what is [`spawnable`](Self::spawnable).
    ///
    /// Without encryption a peer can say that it is another: then this keeps order, but nobody out.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_remote::Rights;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes_with(|builder| {
    /// builder.rights(|peer| match peer.host() {
    ///     "admin.internal" => Rights::all(),
    ///     _ => Rights::none().tell().watch(),
    /// })
    /// # }).await?;
    /// # assert!(matches!(remote.kinds(bank.node()).await, Err(volary_remote::OperationError::Forbidden { .. })));
    /// # Ok(()) }
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

    /// Takes context of your own across nodes, beside headers and traces, which go by themselves. Without any, messages pay
    /// nothing for it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use std::error::Error;
    /// use volary_core::Baggage;
    /// use volary_remote::Propagator;
    ///
    /// struct Marked;
    /// impl Propagator for Marked {
    ///     fn inject(&self, leaving: Baggage) -> std::result::Result<Baggage, Box<dyn Error + Send + Sync>> { Ok(leaving) }
    ///     fn extract(&self, arriving: Baggage) -> std::result::Result<Baggage, Box<dyn Error + Send + Sync>> {
    ///         match arriving.header("mark") {
    ///             Some(_) => Ok(arriving),
    ///             None => Err("it has no mark".into()),
    ///         }
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let (shop, bank) = two_nodes_with(|builder| builder.propagator(Marked)).await?;
    /// # let alice: ActorRef<Account> = shop.actor(&"volary://bank@10.0.0.7:4242/user/alice".parse()?).expect("they speak");
    /// assert!(alice.ask(Deposit { cents: 5 }).await.is_err());
    /// let marked = Baggage::new().with_header("mark", "blue")?;
    /// assert_eq!(marked.around(async { alice.ask(Deposit { cents: 5 }).await }).await?, 5);
    /// # Ok(()) }
    /// ```
    pub fn propagator(mut self, propagator: impl Propagator) -> Self {
        self.propagators.push(Box::new(propagator));
        self
    }

    /// Listens at `host:port`, and connects the system with others.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = system("bank").await?;
    /// let remote = Remote::builder().start(&system, "127.0.0.1:0").await?; // at any port that is free
    /// println!("others find us at {}", remote.node());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The step that failed; nothing is left running.
    pub async fn start(self, system: &ActorSystem, at: &str) -> Result<Remote, RemoteStartError> {
        self.begin(system, Some(at.to_owned())).await
    }

    /// The same at the place that the setting `remote.listen` names, in a file or as `VOLARY_REMOTE_LISTEN`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let system = ActorSystem::builder("bank")
    ///     .toml_str("bank.toml", "[remote]\nlisten = \"127.0.0.1:0\"\nadvertise = \"localhost\"")
    ///     .start()
    ///     .await?;
    /// let remote = Remote::builder().kind::<Account>().start_as_set(&system).await?;
    /// assert!(remote.node().starts_with("localhost:"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`start`](Self::start), and if nobody has said where.
    pub async fn start_as_set(self, system: &ActorSystem) -> Result<Remote, RemoteStartError> {
        self.begin(system, None).await
    }

    async fn begin(mut self, system: &ActorSystem, at: Option<String>) -> Result<Remote, RemoteStartError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.spawnables.register(&mut self.registry)?;
        let mut asked = Asked {
            listen: Wish::in_code(at),
            advertise: Wish::in_code(self.host),
            cluster: Wish::in_code(self.cluster),
            plaintext: Wish::in_code(self.beyond_loopback.then_some(true)),
            compressions: Wish::in_code(self.compressions),
            allow_peers: Wish::in_code(self.allowed.map(Vec::from_iter)),
        };
        let lines = settings::resolve(&mut asked, &mut self.options, system.settings())?;
        let at = &*asked.listen.get().ok_or(RemoteStartError::NoListen)?;
        let beyond_loopback = asked.plaintext.get().unwrap_or(false);
        let compressions = asked.compressions.get();
        let missing = compressions.iter().flatten().find(|one| !one.is_available());
        if let Some(&compression) = missing {
            return Err(RemoteStartError::Compression { compression });
        }
        let (listen_host, _) = at.rsplit_once(':').ok_or_else(|| RemoteStartError::Address {
            at: at.to_owned(),
            why: "it has no port".to_owned(),
        })?;
        if !self.transport.is_encrypted() && !beyond_loopback && !is_loopback(listen_host) {
            return Err(RemoteStartError::Beyond { at: at.to_owned() });
        }
        let host = asked.advertise.get().unwrap_or_else(|| listen_host.to_owned());
        let address = |why: String| RemoteStartError::Address { at: host.clone(), why };
        if is_unspecified(&host) {
            let why =
                "it stands for all addresses of a machine; say with `advertise` by which one others reach this node";
            return Err(address(why.to_owned()));
        }
        let plaintext = match (self.transport.is_encrypted(), beyond_loopback) {
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
        let node: Node = format!("{host}:{}", listener.port())
            .parse()
            .map_err(|error: NodeError| address(error.to_string()))?;
        let root = Address::local(system.name(), Path::root()).map_err(|error| address(error.to_string()))?;
        let here = root
            .with_node(&node.host().to_string(), node.port())
            .map_err(|error| address(error.to_string()))?;
        let beginning = Beginning {
            system: system.clone(),
            registry: self.registry,
            options: self.options,
            transport: self.transport,
            cluster: asked.cluster.get().unwrap_or_default(),
            node: node.to_string(),
            settings: lines,
            here,
            trust: Trust {
                plaintext,
                allowed: asked.allow_peers.get().map(BTreeSet::from_iter),
                rights: self.rights,
                cluster_proof: self.cluster_proof,
            },
            compressions,
            spawnables: self.spawnables,
            propagators: self.propagators,
        };
        let remote = Shared::begin(beginning, listener).map(Remote::new)?;
        if system.settings().log_config() {
            for line in remote.settings() {
                tracing::info!(system = system.name(), node = remote.node(), "{line}");
            }
        }
        Ok(remote)
    }
}

impl fmt::Debug for RemoteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteBuilder")
            .field("registry", &self.registry)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
