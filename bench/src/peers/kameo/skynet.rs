//! skynet on kameo: a node spawns ten children, each tells its sum to its
//! parent. A node ends by itself when the last reference to it is gone, which
//! is when it has reported.

use kameo::actor::ActorRef;
use kameo::message::{Context, Message};
use tokio::sync::oneshot;

use super::{send, spawn};

/// Grows the tree from inside the runtime and awaits its sum.
pub async fn sum(leaves: u64) -> u64 {
    let (result_tx, result_rx) = oneshot::channel();
    let root = Node::spawn_below(Parent::Caller(Some(result_tx)));
    send(root.tell(Grow { first: 0, leaves }).try_send());
    drop(root);
    result_rx.await.expect("the sum")
}

/// A node of the tree: reports the sum of its leaves to its parent.
pub struct Node {
    parent: Parent,
    missing: u64,
    sum: u64,
}
actor!(Node);

/// Where a node reports to.
pub enum Parent {
    /// A node above.
    Node(ActorRef<Node>),
    /// Nobody: the root hands the result out.
    Caller(Option<oneshot::Sender<u64>>),
}

/// Tells a node to grow `leaves` leaves, numbered from `first`.
pub struct Grow {
    first: u64,
    leaves: u64,
}

/// A child's result.
pub struct Total(u64);

impl Node {
    fn spawn_below(parent: Parent) -> ActorRef<Self> {
        spawn(Self {
            parent,
            missing: 10,
            sum: 0,
        })
    }

    fn report(&mut self, sum: u64) {
        match &mut self.parent {
            Parent::Node(parent) => send(parent.tell(Total(sum)).try_send()),
            Parent::Caller(caller) => {
                if let Some(caller) = caller.take() {
                    let _ = caller.send(sum);
                }
            }
        }
    }
}

impl Message<Grow> for Node {
    type Reply = ();

    async fn handle(&mut self, Grow { first, leaves }: Grow, ctx: &mut Context<Self, ()>) {
        if leaves == 1 {
            return self.report(first);
        }
        let share = leaves / 10;
        for index in 0..10 {
            let child = Self::spawn_below(Parent::Node(ctx.actor_ref().clone()));
            let grow = Grow {
                first: first + index * share,
                leaves: share,
            };
            send(child.tell(grow).try_send());
        }
    }
}

impl Message<Total> for Node {
    type Reply = ();

    async fn handle(&mut self, Total(sum): Total, _: &mut Context<Self, ()>) {
        self.sum += sum;
        self.missing -= 1;
        if self.missing == 0 {
            self.report(self.sum);
        }
    }
}
