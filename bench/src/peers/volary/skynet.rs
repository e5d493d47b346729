//! skynet on Volary: a node spawns ten children, each tells its sum to its
//! parent and stops, as Volary's actors live until stopped.

use tokio::sync::oneshot;
use volary::prelude::*;

/// Grows the tree and awaits its sum.
pub async fn sum(system: &ActorSystem, leaves: u64) -> u64 {
    let (sender, receiver) = oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let top = system
        .spawn(move || Top(sender.lock().expect("sender lock").take()))
        .await
        .expect("the root");
    let top = top.recipient();
    let root = system.spawn(move || Node::new(top.clone())).await.expect("a node");
    root.tell(Grow { first: 0, leaves }).expect("the root lives");
    receiver.await.expect("the sum")
}

/// Receives the final sum.
struct Top(Option<oneshot::Sender<u64>>);

#[actor]
impl Top {
    #[handles]
    fn total(&mut self, total: Total, ctx: &mut Context<Self>) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(total.0);
        }
        ctx.stop();
    }
}

/// The sum of a subtree.
#[derive(Message)]
struct Total(u64);

/// A node of the tree.
struct Node {
    parent: Recipient<Total>,
    missing: u64,
    sum: u64,
}

impl Node {
    fn new(parent: Recipient<Total>) -> Self {
        Self { parent, missing: 10, sum: 0 }
    }
}

#[actor]
impl Node {
    #[actor(skip)]
    fn report(&self, sum: u64, ctx: &Context<Self>) {
        let _ = self.parent.tell(Total(sum));
        ctx.stop();
    }

    async fn grow(&mut self, first: u64, leaves: u64, ctx: &mut Context<Self>) {
        if leaves == 1 {
            return self.report(first, ctx);
        }
        let share = leaves / 10;
        for index in 0..10 {
            let me = ctx.me().recipient();
            let child = ctx.spawn_child(move || Node::new(me.clone())).await.expect("a node");
            let _ = child.tell(Grow { first: first + index * share, leaves: share });
        }
    }

    #[handles]
    fn total(&mut self, total: Total, ctx: &mut Context<Self>) {
        self.sum += total.0;
        self.missing -= 1;
        if self.missing == 0 {
            self.report(self.sum, ctx);
        }
    }
}
