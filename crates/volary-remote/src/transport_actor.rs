//! The transport, seen as an actor.

use std::convert::Infallible;

use bytes::Bytes;
use volary_core::foreign::Arrival;
use volary_core::{Actor, Address, Context, Failure, Message, Rejection, Resolving, SyncHandler};
use volary_wire::{CodecId, DeliverError};

use crate::peer::PeerReading;
use crate::remote::Remote;

/// The transport of a node as an actor, for those who have bytes in hand and not messages: gateways, bridges, tools. It is
/// told by name what to send to whom, and asked whom it knows. Spawn as many as there are uses; each sends in order.
///
/// What happens to connections is on the event stream, as [`PeerEvent`](crate::PeerEvent); what cannot be delivered is a
/// dead letter there, as for everybody.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let network = Memory::default();
/// # let (_remote, _bank) = two_nodes_with(|builder| builder.transport(network.clone())).await?;
/// use volary_remote::{Peers, RemoteEnvelope, SendRemote, TransportActor};
/// use volary_wire::CodecId;
///
/// # let system = system("gateway").await?;
/// let remote = Remote::builder().message::<Deposit>().transport(network).start(&system, "10.0.0.2:4242").await?;
/// # let alice: ActorRef<Account> = remote.actor(&"volary://bank@10.0.0.7:4242/user/alice".parse()?).expect("a stand-in");
/// let transport = system.spawn(move || TransportActor::new(remote.clone())).named("transport").await?;
/// let envelope = RemoteEnvelope {
///     target: "volary://bank@10.0.0.7:4242/user/alice".parse()?,
///     sender: None,
///     type_name: "bank.v1.Deposit".to_owned(),
///     codec: CodecId::JSON,
///     payload: r#"{"cents":500}"#.into(),
/// };
/// transport.ask(SendRemote(envelope)).await?;
/// println!("{:?}", transport.ask(Peers).await?);
/// # while alice.ask(Deposit { cents: 0 }).await? != 500 {}
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TransportActor {
    remote: Remote,
}

impl TransportActor {
    /// Of this node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// use volary_remote::TransportActor;
    ///
    /// # let system = system("tools").await?;
    /// let transport = system.spawn(move || TransportActor::new(remote.clone())).named("transport").await?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn new(remote: Remote) -> Self {
        TransportActor { remote }
    }
}

impl Actor for TransportActor {}

/// A message as bytes, with the names that the wire has for everything.
///
/// ```
/// # use volary_remote::RemoteEnvelope;
/// # use volary_wire::CodecId;
/// let envelope = RemoteEnvelope {
///     target: "volary://bank@10.0.0.7:4242/user/alice".parse()?,
///     sender: None,
///     type_name: "bank.v1.Deposit".to_owned(),
///     codec: CodecId::JSON,
///     payload: r#"{"cents":500}"#.into(),
/// };
/// # assert_eq!(envelope.codec, CodecId::JSON);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEnvelope {
    /// Whom it is for, here or elsewhere.
    pub target: Address,
    /// The actor of this node that sends it, for whoever answers; without one it comes from outside of any.
    pub sender: Option<Address>,
    /// What it is called: the name that it is registered under.
    pub type_name: String,
    /// How it is written.
    pub codec: CodecId,
    /// The message.
    pub payload: Bytes,
}

/// Sends what is in an envelope. The answer says that it is on its way, as a `tell` does. What the bytes stand for is all
/// that goes: neither the trace nor the time of whoever asks for it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// use volary_remote::{RemoteEnvelope, SendRemote, TransportActor};
///
/// # let system = system("tools").await?;
/// let transport = system.spawn(move || TransportActor::new(remote.clone())).await?;
/// let nonsense = RemoteEnvelope {
///     target: "volary://bank@10.0.0.7:4242/user/alice".parse()?,
///     sender: None,
///     type_name: "nobody.has.Registered".to_owned(),
///     codec: volary_wire::CodecId::JSON,
///     payload: "{}".into(),
/// };
/// assert!(transport.ask(SendRemote(nonsense)).await.is_err());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRemote(pub RemoteEnvelope);

impl Message for SendRemote {
    type Reply = ();
    type Rejection = Undelivered;
}

/// Why what is in an envelope was not sent.
///
/// ```
/// # use volary_remote::Undelivered;
/// let nobody = Undelivered::Nobody { address: "volary://bank/user/alice".to_owned() };
/// assert_eq!(nobody.to_string(), "nobody can be reached at volary://bank/user/alice");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Undelivered {
    /// Nobody lives there, or this node does not speak with that one.
    #[error("nobody can be reached at {address}")]
    Nobody {
        /// The address.
        address: String,
    },
    /// Whoever is to be the sender does not live on this node, so that nobody could answer it.
    #[error("{address} is nobody of this node, so it cannot be the sender")]
    Sender {
        /// The address.
        address: String,
    },
    /// It is no message, or was not taken.
    #[error(transparent)]
    Not(#[from] DeliverError),
}

impl Rejection for Undelivered {}

impl SyncHandler<SendRemote> for TransportActor {
    fn handle(&mut self, SendRemote(envelope): SendRemote, _: &mut Context<Self>) -> Result<(), Failure<Undelivered>> {
        let shared = self.remote.shared();
        let system = &shared.system;
        let Some(target) = system.find(&envelope.target) else {
            let address = envelope.target.to_string();
            return Err(Undelivered::Nobody { address }.into());
        };
        let sender = match &envelope.sender {
            None => None,
            Some(address) => match system.find(address).filter(|sender| !sender.is_elsewhere()) {
                Some(sender) => Some(sender.id()),
                None => {
                    let address = address.to_string();
                    return Err(Undelivered::Sender { address }.into());
                }
            },
        };
        let (name, codec, payload) = (&envelope.type_name, envelope.codec, envelope.payload);
        let told = Resolving::within(&shared.resolver, || {
            let arrival = Arrival::new(system).from(sender);
            arrival.deliver(|| shared.registry.tell(&target, name, codec, payload))
        });
        Ok(told.map_err(Undelivered::Not)?)
    }
}

/// Asks whom the transport knows; see [`Remote::peers`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// use volary_remote::{Peers, TransportActor};
///
/// # let system = system("tools").await?;
/// let transport = system.spawn(move || TransportActor::new(remote.clone())).await?;
/// assert!(transport.ask(Peers).await?.is_empty(), "nobody was spoken with");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peers;

impl Message for Peers {
    type Reply = Vec<PeerReading>;
    type Rejection = Infallible;
}

impl SyncHandler<Peers> for TransportActor {
    fn handle(&mut self, _: Peers, _: &mut Context<Self>) -> Result<Vec<PeerReading>, Failure> {
        Ok(self.remote.peers())
    }
}

/// Asks for a connection to a node, before there is anything to send. Whether there is one is on the event stream, or
/// in what [`Peers`] answers. False: none will be made, because it is this node itself, is not allowed, or there are too many.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// use volary_remote::{Connect, TransportActor};
///
/// # let system = system("tools").await?;
/// let transport = system.spawn(move || TransportActor::new(remote.clone())).await?;
/// assert!(transport.ask(Connect("10.0.0.7:4242".to_owned())).await?, "a connection will be made");
/// assert!(!transport.ask(Connect("10.0.0.1:4242".to_owned())).await?, "that is this node");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect(pub String);

impl Message for Connect {
    type Reply = bool;
    type Rejection = Infallible;
}

impl SyncHandler<Connect> for TransportActor {
    fn handle(&mut self, Connect(node): Connect, _: &mut Context<Self>) -> Result<bool, Failure> {
        let peer = self.remote.shared().peer(&node);
        if let Some(peer) = &peer {
            peer.want_connection();
        }
        Ok(peer.is_some())
    }
}
