//! What the event stream tells of messages between nodes.

use std::convert::Infallible;

use volary_core::{Address, DeadReason, Message};

use super::RemoteEnvelope;

/// A message that came from another node, as bytes; published on the event stream before it is delivered. Whoever subscribes
/// sees what arrives, and does not take it from its receiver: for bridges, audits and tools. So it is said of every message
/// that the node which sent it has the [right](crate::Right::Tell) to send, whether or not anybody takes it.
///
/// An actor subscribes with [`subscribe_event`](volary_core::Context::subscribe_event), others read it from a
/// [subscription](volary_core::EventStream::subscribe). Options say how many may wait, and a filter which are wanted; one that
/// is too slow hears how many it has missed. While nobody subscribes, messages pay nothing for this; while somebody does, each is copied, and
/// none goes the short way. It is seen when the next bytes are read, so what is being read just then may be missed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// use volary_core::{MessageList, SyncHandler};
///
/// struct Audit;
///
/// impl Actor for Audit {
///     fn messages(list: &mut MessageList<Self>) {
///         list.add::<InboundMessage>();
///     }
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         ctx.subscribe_event::<InboundMessage>();
///         Ok(())
///     }
/// }
///
/// impl SyncHandler<InboundMessage> for Audit {
///     fn handle(&mut self, came: InboundMessage, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         println!("{} for {} from {}", came.envelope.type_name, came.envelope.target, came.node);
///         # ctx.system().events().publish(came.node);
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// # let audited = alice.system().events().subscribe::<String>();
/// # alice.system().spawn(|| Audit).await?;
/// # transport.ask(SendRemote(envelope(5)?)).await?;
/// # assert_eq!(audited.next().await?, "10.0.0.1:4242");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboundMessage {
    /// The node that it came from; `host:port`. Of a message that was relayed that is not the node of its sender.
    pub node: String,
    /// What came. The addresses are as that node has written them: check them before you rely on them.
    pub envelope: RemoteEnvelope,
    /// Whether somebody waits for an answer.
    pub is_asked: bool,
}

impl Message for InboundMessage {
    type Reply = ();
    type Rejection = Infallible;
}

/// A message for another node that did not get there, or perhaps has; published on the event stream, with the whole address of
/// its receiver. There is one for each message to another node that is lost after it was taken, beside its
/// [`DeadLetter`](volary_core::DeadLetter), and one for each envelope that a [`TransportActor`](super::TransportActor) could
/// not send, wherever to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/envelope.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (transport, alice) = transport().await?;
/// let letters = transport.system().events().subscribe::<RemoteDeadLetter>();
/// let unknown = RemoteEnvelope { type_name: "bank.v9.Gift".to_owned(), ..envelope(5)? };
/// assert!(transport.ask(SendRemote(unknown)).await.is_err());
/// let letter = letters.next().await?;
/// println!("{} for {}: {}", letter.message, letter.target, letter.reason);
/// # assert_eq!(letter.message, "bank.v9.Gift");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteDeadLetter {
    /// Whom it was for.
    pub target: Address,
    /// Who sent it, if an actor did.
    pub sender: Option<Address>,
    /// The Rust type of the message; of bytes that are no registered message, the name that they came with.
    pub message: String,
    /// Why it did not get there.
    pub reason: DeadReason,
}

impl Message for RemoteDeadLetter {
    type Reply = ();
    type Rejection = Infallible;
}
