//! skynet on coerce: a node spawns ten children, each tells its sum to its
//! parent and stops itself, as coerce's actors must since their context holds
//! a reference to them.

use async_trait::async_trait;
use coerce::actor::context::ActorContext;
use coerce::actor::message::Handler;
use coerce::actor::scheduler::ActorType::Anonymous;
use coerce::actor::system::ActorSystem;
use coerce::actor::{Actor, LocalActorRef};
use tokio::sync::oneshot;

use super::actors::Tell;
use super::send;

/// Grows the tree from inside the runtime and awaits its sum.
pub async fn sum(system: ActorSystem, leaves: u64) -> u64 {
    let (result_tx, result_rx) = oneshot::channel();
    let root = Node::spawn_below(Parent::Caller(Some(result_tx)), 0, &system).await;
    send(&root, Grow(0, leaves));
    result_rx.await.expect("the sum")
}

message! {
    /// First leaf and number of leaves to grow.
    Grow(u64, u64) -> ()
}

/// A node of the tree: reports the sum of its leaves to its parent.
pub struct Node {
    parent: Parent,
    missing: u64,
    sum: u64,
}
impl Actor for Node {}

/// Where a node reports to.
enum Parent {
    Node(LocalActorRef<Node>),
    Caller(Option<oneshot::Sender<u64>>),
}

impl Node {
    async fn spawn_below(parent: Parent, id: u64, system: &ActorSystem) -> LocalActorRef<Self> {
        let node = Self {
            parent,
            missing: 10,
            sum: 0,
        };
        system.new_actor_deferred(id, node, Anonymous).await
    }

    fn report(&mut self, sum: u64, ctx: &mut ActorContext) {
        match &mut self.parent {
            Parent::Node(parent) => send(parent, Tell(sum)),
            Parent::Caller(caller) => {
                if let Some(caller) = caller.take() {
                    let _ = caller.send(sum);
                }
            }
        }
        ctx.stop(None);
    }
}

#[async_trait]
impl Handler<Grow> for Node {
    async fn handle(&mut self, Grow(first, leaves): Grow, ctx: &mut ActorContext) {
        if leaves == 1 {
            return self.report(first, ctx);
        }
        let share = leaves / 10;
        let myself = self.actor_ref(ctx);
        for index in 0..10 {
            let first = first + index * share;
            let parent = Parent::Node(myself.clone());
            let child = Self::spawn_below(parent, first, ctx.system()).await;
            send(&child, Grow(first, share));
        }
    }
}

#[async_trait]
impl Handler<Tell> for Node {
    async fn handle(&mut self, Tell(sum): Tell, ctx: &mut ActorContext) {
        self.sum += sum;
        self.missing -= 1;
        if self.missing == 0 {
            self.report(self.sum, ctx);
        }
    }
}
