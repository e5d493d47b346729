//! skynet on ractor: a node spawns ten children, each tells its sum to its
//! parent and stops itself, as ractor's actors must since they live until
//! stopped.

use std::sync::Mutex;

use ractor::{Actor, ActorRef};
use tokio::sync::oneshot;

use super::actors::Handled;
use super::{send, spawn};

/// Grows the tree from inside the runtime and awaits its sum.
pub async fn sum(leaves: u64) -> u64 {
    let (result_tx, result_rx) = oneshot::channel();
    let root = Node::spawn_below(Parent::Caller(Mutex::new(Some(result_tx)))).await;
    send(&root, NodeMessage::Grow { first: 0, leaves });
    result_rx.await.expect("the sum")
}

/// A node of the tree: reports the sum of its leaves to its parent.
struct Node(Parent);

/// Where a node reports to.
enum Parent {
    Node(ActorRef<NodeMessage>),
    Caller(Mutex<Option<oneshot::Sender<u64>>>),
}

/// What `Node` takes.
enum NodeMessage {
    Grow { first: u64, leaves: u64 },
    Total(u64),
}

/// How many children are missing, and the sum of the others.
struct Tally {
    missing: u64,
    sum: u64,
}

impl Node {
    async fn spawn_below(parent: Parent) -> ActorRef<NodeMessage> {
        let tally = Tally {
            missing: 10,
            sum: 0,
        };
        spawn(Self(parent), tally).await
    }

    fn report(&self, myself: &ActorRef<NodeMessage>, sum: u64) {
        match &self.0 {
            Parent::Node(parent) => send(parent, NodeMessage::Total(sum)),
            Parent::Caller(caller) => {
                if let Some(caller) = caller.lock().expect("caller lock").take() {
                    let _ = caller.send(sum);
                }
            }
        }
        myself.stop(None);
    }
}

impl Actor for Node {
    starts_with!(NodeMessage, Tally);

    async fn handle(
        &self,
        myself: ActorRef<NodeMessage>,
        message: NodeMessage,
        tally: &mut Tally,
    ) -> Handled {
        match message {
            NodeMessage::Grow { first, leaves: 1 } => self.report(&myself, first),
            NodeMessage::Grow { first, leaves } => {
                let share = leaves / 10;
                for index in 0..10 {
                    let child = Self::spawn_below(Parent::Node(myself.clone())).await;
                    let grow = NodeMessage::Grow {
                        first: first + index * share,
                        leaves: share,
                    };
                    send(&child, grow);
                }
            }
            NodeMessage::Total(sum) => {
                tally.sum += sum;
                tally.missing -= 1;
                if tally.missing == 0 {
                    self.report(&myself, tally.sum);
                }
            }
        }
        Ok(())
    }
}
