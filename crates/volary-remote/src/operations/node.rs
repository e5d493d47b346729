//! Another node, to ask it things.

use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use volary_core::foreign::Undeliverable;
use volary_core::{ActorStatus, Address, Passivation, RemoteError};
use volary_wire::RemoteActor;
use volary_wire::native::{Answer, Frame, Operation};

use super::error::OperationError;
use super::message::{
    ActorMetricsAnswer, AddressAnswer, ChildrenAnswer, CountAnswer, KindAnswer, KindsAnswer, NamesAnswer,
    NodeMetricsAnswer, PassivationMessage, ProblemMessage, StatusAnswer, actor_request,
};
use super::reading::{ActorKind, ActorMetrics, Children, NodeMetrics};
use super::serve::{Served, perform};
use super::spawn::RemoteSpawn;
use super::{OperationName, Status, props};
use crate::link;
use crate::remote::Remote;

/// How often is looked for a connection that is being made.
const LOOK: Duration = Duration::from_millis(5);

/// A node, as one that can be asked things: what lives there, and to change that. What it does depends on the
/// [rights](crate::Rights) that it gives to this node. This node itself can be asked as well.
///
/// Actors are said by their address or by their path there. Every operation is at most once, ends within
/// [`operation_timeout`](crate::RemoteOptions::operation_timeout), and is cancel safe: who gives up has no answer, but
/// it may have been done.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, _bank) = two_nodes().await?;
/// let there = remote.at("10.0.0.7:4242");
/// let alice = there.lookup("/user/alice").await?.expect("she has an account");
/// println!("{:?}", there.status(&alice).await?);
/// there.restart(&alice).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct RemoteNode {
    pub(super) remote: Remote,
    pub(super) node: String,
}

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident = $operation:ident;)+) => {
        impl RemoteNode {
            $($(#[$doc])*
            ///
            /// ```
            /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
            /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
            /// # let (remote, _bank) = two_nodes().await?;
            /// # let there = remote.at("10.0.0.7:4242");
            #[doc = concat!("there.", stringify!($name), "(\"/user/alice\").await?;")]
            /// # Ok(()) }
            /// ```
            ///
            /// # Errors
            /// If it could not be told; see [`OperationError`].
            pub async fn $name(&self, who: impl Display) -> Result<(), OperationError> {
                self.of_actor(OperationName::$operation, &who.to_string()).await.map(drop)
            })+
        }
    };
}

controls! {
    /// Tells an actor to stop after its present message. Needs the right to control; so do the next five.
    stop = Stop;
    /// Tells an actor to stop after what is in its mailbox.
    drain = Drain;
    /// Ends an actor at once.
    kill = Kill;
    /// Makes an actor anew from its factory.
    restart = Restart;
    /// Lets an actor that supervision holds go on.
    reinstate = Reinstate;
    /// Lets an actor go of its state until its next message.
    passivate = Passivate;
}

impl RemoteNode {
    pub(crate) fn new(remote: Remote, node: String) -> Self {
        RemoteNode { remote, node }
    }

    /// `host:port`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, bank) = two_nodes().await?;
    /// assert_eq!(remote.at("10.0.0.7:4242").node(), "10.0.0.7:4242");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The address of whoever lives somewhere now, with its uid. Needs the right to inspect; so do the rest that only
    /// look.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert!(there.lookup("/user/alice").await?.is_some());
    /// assert_eq!(there.lookup("/user/nobody").await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked; that nobody is there is no error here.
    pub async fn lookup(&self, who: impl Display) -> Result<Option<Address>, OperationError> {
        match self.of_actor(OperationName::Lookup, &who.to_string()).await {
            Ok(payload) => self.address(OperationName::Lookup, payload),
            Err(OperationError::Nobody { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The kinds of actors that the node takes messages for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.kinds().await?, ["bank.v1.Account"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked.
    pub async fn kinds(&self) -> Result<Vec<String>, OperationError> {
        Ok(self.all_kinds().await?.kinds)
    }

    /// The kinds of actors that can be started there from outside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.spawnable_kinds().await?, ["bank.v1.Account"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked.
    pub async fn spawnable_kinds(&self) -> Result<Vec<String>, OperationError> {
        Ok(self.all_kinds().await?.spawnable)
    }

    async fn all_kinds(&self) -> Result<KindsAnswer, OperationError> {
        let payload = self.operate(OperationName::Kinds, Bytes::new(), "").await?;
        self.read(OperationName::Kinds, payload)
    }

    /// What kind of actor somebody is.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.kind("/user/alice").await?.kind.as_deref(), Some("bank.v1.Account"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn kind(&self, who: impl Display) -> Result<ActorKind, OperationError> {
        let answer: KindAnswer = self.inspect(OperationName::Kind, who).await?;
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(ActorKind {
            kind: said(answer.kind),
            actor_type: answer.actor_type,
            role: said(answer.role),
        })
    }

    /// Whoever somebody lives below.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// let parent = there.parent("/user/alice").await?.expect("everybody but the root has one");
    /// assert_eq!(parent.path().map(ToString::to_string).as_deref(), Some("/user"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn parent(&self, who: impl Display) -> Result<Option<Address>, OperationError> {
        let payload = self.of_actor(OperationName::Parent, &who.to_string()).await?;
        self.address(OperationName::Parent, payload)
    }

    /// Those who live below somebody.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.children("/user").await?.addresses.len(), 1); // alice
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn children(&self, who: impl Display) -> Result<Children, OperationError> {
        let answer: ChildrenAnswer = self.inspect(OperationName::Children, who).await?;
        let parse = |text: &String| self.parse(OperationName::Children, text);
        Ok(Children {
            addresses: answer.addresses.iter().map(parse).collect::<Result<_, _>>()?,
            total: answer.total,
        })
    }

    /// What somebody is doing.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// println!("{:?}", there.status("/user/alice").await?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn status(&self, who: impl Display) -> Result<ActorStatus, OperationError> {
        let answer: StatusAnswer = self.inspect(OperationName::Status, who).await?;
        Ok(answer.into())
    }

    /// How many messages somebody has put aside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.stash_size("/user/alice").await?, 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn stash_size(&self, who: impl Display) -> Result<u64, OperationError> {
        let answer: CountAnswer = self.inspect(OperationName::Stash, who).await?;
        Ok(answer.count)
    }

    /// The kinds of the dependencies that somebody was given.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert!(there.dependencies("/user/alice").await?.is_empty());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn dependencies(&self, who: impl Display) -> Result<Vec<String>, OperationError> {
        let answer: NamesAnswer = self.inspect(OperationName::Dependencies, who).await?;
        Ok(answer.names)
    }

    /// When somebody lets go of its state.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert!(there.passivation("/user/alice").await?.is_allowed());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn passivation(&self, who: impl Display) -> Result<Passivation, OperationError> {
        let answer: PassivationMessage = self.inspect(OperationName::Passivation, who).await?;
        Ok(props::read_passivation(&answer))
    }

    /// Figures of somebody.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.actor_metrics("/user/alice").await?.waiting, 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If nobody is there, or the node could not be asked.
    pub async fn actor_metrics(&self, who: impl Display) -> Result<ActorMetrics, OperationError> {
        let answer: ActorMetricsAnswer = self.inspect(OperationName::ActorMetrics, who).await?;
        Ok(ActorMetrics {
            waiting: answer.waiting,
            stashed: answer.stashed,
            taken: answer.taken,
            children: answer.children,
        })
    }

    /// Figures of the node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// assert_eq!(there.metrics().await?.system, "bank");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node could not be asked.
    pub async fn metrics(&self) -> Result<NodeMetrics, OperationError> {
        let payload = self.operate(OperationName::NodeMetrics, Bytes::new(), "").await?;
        let answer: NodeMetricsAnswer = self.read(OperationName::NodeMetrics, payload)?;
        Ok(answer.into())
    }

    /// Begins to start an actor there, under a name; an empty one lets the node choose. Needs the right to spawn, and
    /// the kind must be [spawnable](crate::RemoteBuilder::spawnable) there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// let bob = there.spawn::<Account>("bob").await?;
    /// assert_eq!(bob.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    pub fn spawn<A: RemoteActor>(&self, name: impl Into<String>) -> RemoteSpawn<A> {
        RemoteSpawn::new(self.clone(), String::new(), name.into())
    }

    /// The same, below an actor that lives there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (remote, _bank) = two_nodes().await?;
    /// # let there = remote.at("10.0.0.7:4242");
    /// let savings = there.spawn_child::<Account>("/user/alice", "savings").await?;
    /// assert_eq!(savings.ask(Deposit { cents: 500 }).await?, 500);
    /// # Ok(()) }
    /// ```
    pub fn spawn_child<A: RemoteActor>(&self, parent: impl Display, name: impl Into<String>) -> RemoteSpawn<A> {
        RemoteSpawn::new(self.clone(), parent.to_string(), name.into())
    }

    async fn inspect<T: Message + Default>(
        &self,
        operation: OperationName,
        who: impl Display,
    ) -> Result<T, OperationError> {
        let payload = self.of_actor(operation, &who.to_string()).await?;
        self.read(operation, payload)
    }

    async fn of_actor(&self, operation: OperationName, who: &str) -> Result<Bytes, OperationError> {
        self.operate(operation, actor_request(who), who).await
    }

    /// What a node answers to an operation that it has done.
    pub(super) async fn operate(
        &self,
        operation: OperationName,
        payload: Bytes,
        who: &str,
    ) -> Result<Bytes, OperationError> {
        let answer = self.ask(operation, payload).await?;
        self.judge(operation, answer, who).map_err(|(error, _)| error)
    }

    /// What a node answered, or why it did not do it; with the reason of a spawn.
    pub(super) fn judge(
        &self,
        operation: OperationName,
        answer: Answer,
        who: &str,
    ) -> Result<Bytes, (OperationError, u32)> {
        let (node, name) = (self.node.clone(), operation.as_str());
        let status = Status::from_wire(answer.status);
        if status == Some(Status::Ok) {
            return Ok(answer.payload);
        }
        let problem = ProblemMessage::decode(answer.payload).unwrap_or_default();
        let (why, operation) = (problem.text, name);
        let error = match status {
            Some(Status::Nobody) => OperationError::Nobody {
                node,
                who: who.to_owned(),
            },
            Some(Status::Unknown) => OperationError::Unknown { node, operation },
            Some(Status::Forbidden) => OperationError::Forbidden { node, operation, why },
            Some(Status::BadRequest) => OperationError::BadRequest { node, operation, why },
            Some(Status::Failed) => OperationError::Failed { node, operation, why },
            Some(Status::Ok) | None => OperationError::Unreadable {
                node,
                operation,
                why: format!("its status is {}", answer.status),
            },
        };
        Err((error, problem.reason))
    }

    pub(super) async fn ask(&self, operation: OperationName, payload: Bytes) -> Result<Answer, RemoteError> {
        let shared = self.remote.shared();
        let unreachable = |why: &str| RemoteError::Unreachable {
            node: self.node.clone(),
            why: why.to_owned(),
        };
        if self.node == shared.node {
            let (status, payload) = match perform(shared, operation.as_str(), &payload) {
                Served::Now(told) => told,
                Served::Later(told) => {
                    let told = link::within(&shared.system, shared.options.operation_timeout, told).await;
                    // It was begun, and may still come to its end.
                    told.ok_or_else(|| RemoteError::Unconfirmed {
                        node: self.node.clone(),
                    })?
                }
            };
            let (correlation, status) = (0, status as u8);
            return Ok(Answer {
                correlation,
                status,
                payload,
            });
        }
        let limit = shared.options.max_message - 1_024;
        if payload.len() > limit {
            return Err(too_large(operation, payload.len(), limit));
        }
        let peer = shared
            .peer(&self.node)
            .ok_or_else(|| unreachable("this node is stopping, or may not speak with it"))?;
        let mut was_written = false;
        let answered = link::within(&shared.system, shared.options.operation_timeout, async {
            loop {
                let (place, answer) = shared.waiting.expect(&self.node);
                let frame = Frame::Operation(Operation {
                    correlation: place.correlation,
                    name: operation.as_str().into(),
                    payload: payload.clone(),
                });
                // Asked on it before it could be lost: whoever closes it comes for those that were.
                match peer.write_if_connected(&frame) {
                    Ok(None) => {}
                    Ok(Some(epoch)) => {
                        was_written = true;
                        place.asked_on(epoch);
                        if !peer.outbound.lock().is_on(epoch) {
                            return None;
                        }
                        return answer.await.ok().map(Ok);
                    }
                    Err(Undeliverable::TooLarge { bytes, most }) => {
                        return Some(Err(too_large(operation, bytes, most)));
                    }
                    Err(why) => return Some(Err(unreachable(why.why()))),
                }
                drop(place);
                if shared.is_stopping() {
                    return None;
                }
                peer.want_connection();
                shared.system.sleep(LOOK).await;
            }
        })
        .await;
        match answered.flatten() {
            Some(answer) => answer,
            None if was_written => Err(RemoteError::Unconfirmed {
                node: self.node.clone(),
            }),
            None => Err(unreachable("there was no connection in time")),
        }
    }

    fn address(&self, operation: OperationName, payload: Bytes) -> Result<Option<Address>, OperationError> {
        let answer: AddressAnswer = self.read(operation, payload)?;
        if answer.address.is_empty() {
            return Ok(None);
        }
        self.parse(operation, &answer.address).map(Some)
    }

    pub(super) fn parse(&self, operation: OperationName, text: &str) -> Result<Address, OperationError> {
        text.parse()
            .map_err(|error| self.unreadable(operation, format!("{text}: {error}")))
    }

    pub(super) fn read<T: Message + Default>(
        &self,
        operation: OperationName,
        payload: Bytes,
    ) -> Result<T, OperationError> {
        T::decode(payload).map_err(|error| self.unreadable(operation, error.to_string()))
    }

    pub(super) fn unreadable(&self, operation: OperationName, why: String) -> OperationError {
        OperationError::Unreadable {
            node: self.node.clone(),
            operation: operation.as_str(),
            why,
        }
    }
}

fn too_large(operation: OperationName, bytes: usize, most: usize) -> RemoteError {
    let name = operation.as_str().to_owned();
    RemoteError::TooLarge { name, bytes, most }
}
