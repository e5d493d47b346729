//! L14: actors that were just made run youngest first, so that a tree of them is grown and taken down branch by branch.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};

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

/// Tells its partner as often as it is told, until there is nothing to wait for.
struct Player {
    turns: Arc<AtomicI64>,
    over: Arc<AtomicBool>,
}

#[actor]
impl Player {
    fn ball(&mut self, back: Recipient<Ball>, ctx: &mut Context<Self>) {
        self.turns.fetch_add(1, SeqCst);
        if !self.over.load(SeqCst) {
            let me = ctx.me().recipient();
            back.tell(Ball { back: me }).unwrap();
        }
    }
}

/// Makes actors, and tells each once.
struct Maker;

#[actor]
impl Maker {
    async fn make(&mut self, count: i64, made: Arc<AtomicI64>, ctx: &mut Context<Self>) {
        for _ in 0..count {
            let made = made.clone();
            let child = ctx.spawn_child(move || Child { made: made.clone() }).await.unwrap();
            child.tell(Cry).unwrap();
        }
    }
}

struct Child {
    made: Arc<AtomicI64>,
}

#[actor]
impl Child {
    fn cry(&mut self) {
        self.made.fetch_add(1, SeqCst);
    }
}

/// Every worker has two who converse, each in the place of the one that was made ready last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l14_two_who_converse_do_not_pass_over_all_who_were_just_made() {
    const COUNT: i64 = 200;
    let system = system().await;
    let (turns, over, made) = (
        Arc::new(AtomicI64::new(0)),
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicI64::new(0)),
    );
    for _ in 0..2 {
        let (turns, over) = (turns.clone(), over.clone());
        let player = move || Player {
            turns: turns.clone(),
            over: over.clone(),
        };
        let (one, other) = (
            system.spawn(player.clone()).await.unwrap(),
            system.spawn(player).await.unwrap(),
        );
        one.tell(Ball {
            back: other.recipient(),
        })
        .unwrap();
    }
    eventually_async("they play", || turns.load(SeqCst) > 10_000).await;
    let maker = system.spawn(|| Maker).await.unwrap();
    let before = turns.load(SeqCst);
    maker
        .tell(Make {
            count: COUNT,
            made: made.clone(),
        })
        .unwrap();
    eventually_async("all have cried", || made.load(SeqCst) == COUNT).await;
    let turns = turns.load(SeqCst) - before;
    over.store(true, SeqCst);
    system.stop().await.unwrap();
    assert!(turns < 200_000, "{turns} turns of others before {COUNT} had one");
}

/// Makes one of its kind, tells it to do the same, and ends.
struct Line {
    begotten: Arc<AtomicI64>,
    over: Arc<AtomicBool>,
}

#[actor]
impl Line {
    async fn beget(&mut self, ctx: &mut Context<Self>) {
        self.begotten.fetch_add(1, SeqCst);
        if !self.over.load(SeqCst) {
            let (begotten, over) = (self.begotten.clone(), self.over.clone());
            let heir = ctx.system().spawn(move || Line {
                begotten: begotten.clone(),
                over: over.clone(),
            });
            heir.await.unwrap().tell(Beget).unwrap();
        }
        ctx.stop();
    }
}

/// One worker, and always somebody who is younger than all who wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn s6_an_endless_line_of_newborns_keeps_none_who_was_made_before_from_its_turn() {
    const COUNT: i64 = 20;
    let system = system().await;
    let (begotten, made) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
    let over = Arc::new(AtomicBool::new(false));
    let first = {
        let (begotten, over) = (begotten.clone(), over.clone());
        system.spawn(move || Line {
            begotten: begotten.clone(),
            over: over.clone(),
        })
    };
    first.await.unwrap().tell(Beget).unwrap();
    eventually_async("the line goes on", || begotten.load(SeqCst) > 1_000).await;
    let maker = system.spawn(|| Maker).await.unwrap();
    let (count, counted) = (COUNT, made.clone());
    maker.tell(Make { count, made: counted }).unwrap();
    eventually_async("all have cried", || made.load(SeqCst) == COUNT).await;
    let then = begotten.load(SeqCst);
    eventually_async("the line goes on still", || begotten.load(SeqCst) > then + 1_000).await;
    over.store(true, SeqCst);
    soon("stop", system.stop()).await.unwrap();
}
