//! Starting an actor on another node.

use std::any::TypeId;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;

use bytes::Bytes;
use volary_core::{ActorRef, Address, Props, PropsDescription};
use volary_wire::RemoteActor;

use super::OperationName;
use super::error::{OperationError, RemoteSpawnError};
use super::message::{AddressAnswer, SpawnProblem, SpawnRequest, write};
use super::node::RemoteNode;
use super::props;

/// An actor that is to be started on another node. Await it: the answer is a reference to the actor, which has started
/// by then.
///
/// The options travel as far as they are data: mailbox, dispatcher (by its name there), supervision, passivation,
/// reentrancy, stash, role and dependencies. Interceptors, mailboxes of one's own and rules for types of errors are code, and
/// are an error here.
///
/// Cancel safe: whoever gives up has no answer, but the actor may start.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::{Directive, Props};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// let bob = remote
///     .spawn::<Account>("10.0.0.7:4242", "bob")
///     .props(Props::new().on_fault(Directive::Resume))
///     .argument(100_i64.to_be_bytes().to_vec())
///     .await?;
/// assert_eq!(bob.ask(Deposit { cents: 1 }).await?, 101);
/// # Ok(()) }
/// ```
#[must_use = "an actor is started when this is awaited"]
pub struct RemoteSpawn<A> {
    node: RemoteNode,
    parent: String,
    name: String,
    props: Option<Props>,
    argument: Bytes,
    actor: PhantomData<fn() -> A>,
}

impl<A: RemoteActor> RemoteSpawn<A> {
    pub(super) fn new(node: RemoteNode, parent: String, name: String) -> Self {
        RemoteSpawn {
            node,
            parent,
            name,
            props: None,
            argument: Bytes::new(),
            actor: PhantomData,
        }
    }

    /// With these options.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let props = Props::new().dependency(Branch("Ghent".to_owned()));
    /// remote.spawn::<Account>("10.0.0.7:4242", "bob").props(props).await?;
    /// assert_eq!(remote.at("10.0.0.7:4242").dependencies("/user/bob").await?, ["bank.v1.Branch"]);
    /// # Ok(()) }
    /// ```
    pub fn props(mut self, props: Props) -> Self {
        self.props = Some(props);
        self
    }

    /// With these bytes for its factory there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// let opening = 100_i64.to_be_bytes().to_vec(); // which the factory there takes for the balance
    /// let bob = remote.spawn::<Account>("10.0.0.7:4242", "bob").argument(opening).await?;
    /// assert_eq!(bob.ask(Deposit { cents: 1 }).await?, 101);
    /// # Ok(()) }
    /// ```
    pub fn argument(mut self, bytes: impl Into<Bytes>) -> Self {
        self.argument = bytes.into();
        self
    }

    async fn start(self) -> Result<ActorRef<A>, RemoteSpawnError> {
        let operation = OperationName::Spawn;
        let described = self.props.as_ref().map(PropsDescription::of).transpose()?;
        let message = described.as_ref().map(props::write).transpose();
        let message = message.map_err(|error| RemoteSpawnError::Option { option: error.option })?;
        let known = &self.node.remote.shared().registry;
        let kind = match known.kind_of(TypeId::of::<A>()) {
            Some(known) => known.name.to_string(),
            None => A::KIND.to_owned(),
        };
        let request = write(&SpawnRequest {
            kind: kind.clone(),
            name: self.name,
            parent: self.parent.clone(),
            props: message,
            argument: self.argument,
        });
        let answer = self.node.ask(operation, request).await.map_err(OperationError::from)?;
        let judged = self.node.judge(operation, answer, &self.parent);
        let payload = judged.map_err(|(error, reason)| explained(error, reason, kind))?;
        let answer: AddressAnswer = self.node.read(operation, payload)?;
        let address: Address = self.node.parse(operation, &answer.address)?;
        let of_it = address.node().is_some_and(|node| node.to_string() == self.node.node);
        let found = of_it.then(|| self.node.remote.shared().system.find(&address)).flatten();
        let actor = found.and_then(|found| found.downcast());
        actor.ok_or_else(|| {
            let why = format!("{address} cannot be referred to from here");
            self.node.unreadable(operation, why).into()
        })
    }
}

/// What a node said of an actor that did not start.
fn explained(error: OperationError, reason: u32, kind: String) -> RemoteSpawnError {
    let OperationError::Failed { node, why, operation } = error else {
        return error.into();
    };
    match SpawnProblem::from_wire(reason) {
        SpawnProblem::UnknownKind => RemoteSpawnError::NotSpawnable { node, kind, why },
        SpawnProblem::Taken => RemoteSpawnError::Taken { node, why },
        SpawnProblem::Name => RemoteSpawnError::Name { node, why },
        SpawnProblem::Start => RemoteSpawnError::Start { node, why },
        SpawnProblem::Parent => RemoteSpawnError::Parent { node, why },
        SpawnProblem::Options => RemoteSpawnError::Options { node, why },
        SpawnProblem::Other => OperationError::Failed { node, why, operation }.into(),
    }
}

impl<A: RemoteActor> IntoFuture for RemoteSpawn<A> {
    type Output = Result<ActorRef<A>, RemoteSpawnError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}

impl<A> fmt::Debug for RemoteSpawn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSpawn")
            .field("node", &self.node.node)
            .field("name", &self.name)
            .field("props", &self.props)
            .finish_non_exhaustive()
    }
}
