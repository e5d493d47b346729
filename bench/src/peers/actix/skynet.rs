//! skynet on actix: a node starts ten children, each tells its sum to its
//! parent and stops. The root deals its children to all arbiters; below it a
//! subtree stays on its arbiter.

use actix::{Actor, ActorContext, Addr, AsyncContext, Context, Handler};
use actix_rt::ArbiterHandle;
use tokio::sync::oneshot;

use super::actors::Tell;

/// Starts the tree on the current arbiter; the sum goes to `result`.
pub fn grow(leaves: u64, arbiters: Vec<ArbiterHandle>, result: oneshot::Sender<u64>) {
    let root = Node::below(Parent::Caller(Some(result)), arbiters).start();
    root.do_send(Grow(0, leaves));
}

message! {
    /// First leaf and number of leaves to grow.
    Grow(u64, u64) -> ()
}

/// A node of the tree: reports the sum of its leaves to its parent.
pub struct Node {
    parent: Parent,
    arbiters: Vec<ArbiterHandle>,
    missing: u64,
    sum: u64,
}
actor!(Node);

/// Where a node reports to.
enum Parent {
    Node(Addr<Node>),
    Caller(Option<oneshot::Sender<u64>>),
}

impl Node {
    /// A node whose children go to `arbiters` in turn, or stay on its own
    /// arbiter if there are none given.
    fn below(parent: Parent, arbiters: Vec<ArbiterHandle>) -> Self {
        Self {
            parent,
            arbiters,
            missing: 10,
            sum: 0,
        }
    }

    fn report(&mut self, sum: u64, ctx: &mut Context<Self>) {
        match &mut self.parent {
            Parent::Node(parent) => parent.do_send(Tell(sum)),
            Parent::Caller(caller) => {
                if let Some(caller) = caller.take() {
                    let _ = caller.send(sum);
                }
            }
        }
        ctx.stop();
    }
}

impl Handler<Grow> for Node {
    type Result = ();

    fn handle(&mut self, Grow(first, leaves): Grow, ctx: &mut Context<Self>) {
        if leaves == 1 {
            return self.report(first, ctx);
        }
        let share = leaves / 10;
        for index in 0..10 {
            let parent = Parent::Node(ctx.address());
            let child = if self.arbiters.is_empty() {
                Self::below(parent, Vec::new()).start()
            } else {
                let arbiter = &self.arbiters[index as usize % self.arbiters.len()];
                Self::start_in_arbiter(arbiter, |_| Self::below(parent, Vec::new()))
            };
            child.do_send(Grow(first + index * share, share));
        }
    }
}

impl Handler<Tell> for Node {
    type Result = ();

    fn handle(&mut self, Tell(sum): Tell, ctx: &mut Context<Self>) {
        self.sum += sum;
        self.missing -= 1;
        if self.missing == 0 {
            self.report(self.sum, ctx);
        }
    }
}
