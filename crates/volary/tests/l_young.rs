//! L14: actors that were just made run youngest first, so that a tree of them is grown and taken down branch by branch.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use common::*;
use tokio::sync::mpsc;
use volary::prelude::*;

/// How many nodes there are, and how many there were at most.
#[derive(Default)]
struct Alive {
    now: AtomicI64,
    most: AtomicI64,
}

/// Grows ten children until there are leaves, and ends with the last of them.
struct Node {
    above: Option<Recipient<Ended>>,
    missing: u32,
    alive: Arc<Alive>,
    end: mpsc::UnboundedSender<()>,
}

impl Node {
    fn new(above: Option<Recipient<Ended>>, alive: &Arc<Alive>, end: &mpsc::UnboundedSender<()>) -> Self {
        let now = alive.now.fetch_add(1, SeqCst) + 1;
        alive.most.fetch_max(now, SeqCst);
        Node {
            above,
            missing: 10,
            alive: alive.clone(),
            end: end.clone(),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.alive.now.fetch_sub(1, SeqCst);
    }
}

#[actor]
impl Node {
    async fn grow(&mut self, depth: u32, ctx: &mut Context<Self>) {
        if depth == 0 {
            return self.stop(ctx);
        }
        for _ in 0..10 {
            let (me, alive, end) = (ctx.me().recipient(), self.alive.clone(), self.end.clone());
            let child = ctx.spawn_child(move || Node::new(Some(me.clone()), &alive, &end));
            child.await.unwrap().tell(Grow { depth: depth - 1 }).unwrap();
        }
    }

    fn ended(&mut self, ctx: &mut Context<Self>) {
        self.missing -= 1;
        if self.missing == 0 {
            self.stop(ctx);
        }
    }

    #[actor(skip)]
    fn stop(&self, ctx: &Context<Self>) {
        match &self.above {
            Some(above) => above.tell(Ended).unwrap(),
            None => self.end.send(()).unwrap(),
        }
        ctx.stop();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l14_a_tree_of_actors_is_never_alive_as_a_whole() {
    let system = system().await;
    let (alive, (end, mut ended)) = (Arc::new(Alive::default()), mpsc::unbounded_channel());
    let counted = alive.clone();
    let root = system.spawn(move || Node::new(None, &counted, &end)).await.unwrap();
    root.tell(Grow { depth: 4 }).unwrap();
    soon("the whole tree", ended.recv()).await.unwrap();
    system.stop().await.unwrap();
    let most = alive.most.load(SeqCst);
    // A path and the siblings on it for each worker, and a few trees that were begun for being the oldest.
    assert!(most < 600, "{most} of 11,111 at once");
}
