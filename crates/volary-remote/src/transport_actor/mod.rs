//! The transport, seen as an actor.

mod asking;
mod events;

use std::convert::Infallible;

use bytes::Bytes;
use volary_core::foreign::Arrival;
use volary_core::{Actor, Address, AnyRef, Context, DeadReason, Failure, Message, Rejection, Resolving, SyncHandler};
use volary_wire::{CodecId, DeliverError, Registry};

use crate::peer::PeerReading;
use crate::remote::Remote;
use crate::trust::spelt;
pub use asking::{AskRemote, RemoteAnswer};
pub use events::{InboundMessage, RemoteDeadLetter};

/// The transport of a node as an actor, for those who have bytes in hand and not messages: gateways, bridges, tools. It is
/// told by name what to send to whom, asks for them, and says whom it knows. Spawn as many as there are uses; each sends in order.
///
/// What comes in is on the event stream, as [`InboundMessage`]; what happens to connections, as
/// [`PeerEvent`](crate::PeerEvent); what did not get to another node, as [`RemoteDeadLetter`].
///
/// Casty, whose transport is an actor too, calls things so:
///
/// | Casty | here |
/// |---|---|
/// | `ActorAddress`, `to_uri`, `from_uri` | [`Address`], which is written and parsed, and has an incarnation too |
/// | `MessageTransport.deliver`, `LocalTransport`, `RemoteTransport` | none: a reference knows its way, and [`ActorSystem::find`](volary_core::ActorSystem::find) makes one of an address |
/// | `Serializer`, `TypeRegistry` | [`Codec`](volary_wire::Codec) per message, [`Registry`] |
/// | `MessageEnvelope` | [`RemoteEnvelope`] |
/// | `Transport.start`, `.send`, `.stop` | [`Transport`](crate::transport::Transport), which makes connections; frames are remoting's |
/// | `InboundHandler.on_message`, `InboundMessage` | [`InboundMessage`] on the event stream; delivery needs no handler |
/// | `SendRemote` | [`SendRemote`]; [`AskRemote`] for answers |
/// | one connection per node, reconnect from 1 s to 30 s | the same; [`Connect`] makes one before it is needed |
/// | bounded buffer, retry, then dead letter | the same: [`outbound_bytes`](crate::RemoteOptions::outbound_bytes), [`lost_after`](crate::RemoteOptions::lost_after) |
/// | overflow strategy of the buffer | [`Overflow`](crate::Overflow): by default what is beyond it goes back to its sender, as `TellError::Full` |
/// | `RemoteDeadLetter` | [`RemoteDeadLetter`] |
///
/// A bridge passes on what it sees in the name of whoever sent it. That node then takes it as from there only if this one has the
/// right to [relay](crate::Right::Relay); else it comes from nobody. References in messages need none of that: they lead
/// back to where they came from, whoever has passed them on.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// use volary_core::Address;
///
/// fn pass_on(transport: &ActorRef<TransportActor>, came: InboundMessage, to: Address) {
///     let envelope = RemoteEnvelope { target: to, ..came.envelope }; // its sender stays
///     let _ = transport.tell(SendRemote(envelope));
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// # let arrived = alice.system().events().subscribe::<InboundMessage>();
/// # transport.ask(SendRemote(envelope(5)?)).await?;
/// # pass_on(&transport, arrived.next().await?, ALICE.parse()?);
/// # assert_eq!(&*arrived.next().await?.envelope.payload, br#"{"cents":5}"#);
/// # Ok(()) }
/// ```
///
/// ```
/// use volary_core::{Address, ActorSystem};
/// use volary_remote::{Peers, Remote, RemoteEnvelope, SendRemote, TransportActor};
/// use volary_wire::CodecId;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("bank").start().await?;
/// let remote = Remote::builder().start(&system, "127.0.0.1:0").await?;
/// let transport = system.spawn(move || TransportActor::new(remote.clone())).named("transport").await?;
/// let envelope = RemoteEnvelope {
///     target: "volary://bank@10.0.0.7:4242/user/alice".parse()?,
///     sender: None,
///     type_name: "bank.v1.Deposit".to_owned(),
///     codec: CodecId::JSON,
///     payload: r#"{"amount":5}"#.into(),
/// };
/// let sent = transport.ask(SendRemote(envelope)).await;
/// assert!(sent.is_err(), "nobody has registered `bank.v1.Deposit` here");
/// println!("{:?}", transport.ask(Peers).await?);
/// # system.stop().await?; Ok(()) }
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
    /// # let system = system("desk").await?;
    /// let transport = system.spawn(move || volary_remote::TransportActor::new(remote.clone())).await?;
    /// assert!(transport.ask(volary_remote::Peers).await?.is_empty(), "it has spoken with nobody");
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// let envelope = RemoteEnvelope {
///     target: "volary://bank@10.0.0.7:4242/user/alice".parse()?,
///     sender: None,
///     type_name: "bank.v1.Deposit".to_owned(),
///     codec: CodecId::JSON,
///     payload: r#"{"cents":5}"#.into(),
/// };
/// assert_eq!(transport.ask(AskRemote(envelope)).await?.payload, "5");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEnvelope {
    /// Whom it is for, here or elsewhere.
    pub target: Address,
    /// The actor that sends it, of this node or another; without one it comes from outside of any.
    pub sender: Option<Address>,
    /// What it is called: the name that it is registered under.
    pub type_name: String,
    /// How it is written.
    pub codec: CodecId,
    /// The message.
    pub payload: Bytes,
}

/// Sends what is in an envelope. The answer says that it is on its way, as a `tell` does. What the bytes stand for is all
/// that goes: neither the trace nor the time of whoever asks for it. The message must be registered here: it is read and
/// written again. What cannot be sent is a [`RemoteDeadLetter`] as well.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// transport.ask(SendRemote(envelope(5)?)).await?; // a deposit for alice, as JSON
/// # while alice.ask(Deposit { cents: 0 }).await? == 0 { tokio::task::yield_now().await; }
/// assert_eq!(alice.ask(Deposit { cents: 0 }).await?, 5);
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
    /// Whoever is to be the sender does not live on this node, nor on one that it speaks with: nobody could answer it.
    #[error("nobody can be reached at {address}, so it cannot be the sender")]
    Sender {
        /// The address.
        address: String,
    },
    /// It is no message, or was not taken.
    #[error(transparent)]
    Not(#[from] DeliverError),
    /// The answer is a rejection: this one.
    #[error("it was rejected")]
    Rejected(RemoteAnswer),
    /// It was asked, and there is no answer.
    #[error("there is no answer: {why}")]
    Unanswered {
        /// What is known.
        why: String,
    },
}

impl Undelivered {
    fn reason(&self) -> DeadReason {
        match self {
            Undelivered::Nobody { .. } => DeadReason::Nobody,
            Undelivered::Not(DeliverError::Stopped) => DeadReason::Stopped,
            Undelivered::Not(DeliverError::Full) => DeadReason::Full,
            Undelivered::Not(DeliverError::NotListed { .. } | DeliverError::UnknownKind) => DeadReason::Unhandled,
            _ => DeadReason::Unsendable,
        }
    }
}

impl Rejection for Undelivered {}

impl SyncHandler<SendRemote> for TransportActor {
    fn handle(&mut self, SendRemote(envelope): SendRemote, _: &mut Context<Self>) -> Result<(), Failure<Undelivered>> {
        let system = &self.remote.shared().system;
        // Payloads are shared, so that costs little; and nobody may want to know.
        let is_wanted = system.events().has_subscribers::<RemoteDeadLetter>();
        let kept = is_wanted.then(|| envelope.clone());
        let told = self.deliver(envelope, |registry, to, (name, codec, payload)| {
            registry.tell(to, name, codec, payload)
        });
        if let (Err(why), Some(envelope)) = (&told, kept) {
            let registry = &self.remote.shared().registry;
            let message = registry.type_name_of(&envelope.type_name).map(str::to_owned);
            system.events().publish(RemoteDeadLetter {
                target: envelope.target,
                sender: envelope.sender,
                message: message.unwrap_or(envelope.type_name),
                reason: why.reason(),
            });
        }
        Ok(told?)
    }
}

impl TransportActor {
    /// Finds receiver and sender of what is in an envelope, and hands it over.
    fn deliver<T>(
        &self,
        envelope: RemoteEnvelope,
        send: impl FnOnce(&Registry, &AnyRef, (&str, CodecId, Bytes)) -> Result<T, DeliverError>,
    ) -> Result<T, Undelivered> {
        let shared = self.remote.shared();
        let system = &shared.system;
        let target = system.find(&envelope.target).ok_or_else(|| Undelivered::Nobody {
            address: envelope.target.to_string(),
        })?;
        // Kept until it is sent, so that it is known by its address.
        let sender = match &envelope.sender {
            None => None,
            Some(address) => Some(system.find(address).ok_or_else(|| Undelivered::Sender {
                address: address.to_string(),
            })?),
        };
        let named = (envelope.type_name.as_str(), envelope.codec, envelope.payload);
        let sent = Resolving::within(&shared.resolver, || {
            let arrival = Arrival::new(system).from(sender.as_ref().map(AnyRef::id));
            arrival.deliver(|| send(&shared.registry, &target, named))
        });
        Ok(sent?)
    }
}

/// Asks whom the transport knows; see [`Remote::peers`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// transport.ask(AskRemote(envelope(5)?)).await?;
/// assert_eq!(transport.ask(Peers).await?[0].node, "10.0.0.7:4242");
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// assert!(transport.ask(Connect("10.0.0.7:4242".to_owned())).await?);
/// assert!(!transport.ask(Connect("10.0.0.1:4242".to_owned())).await?, "that is this node itself");
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
        let peer = self.remote.shared().peer(&spelt(&node));
        if let Some(peer) = &peer {
            peer.want_connection();
        }
        Ok(peer.is_some())
    }
}
