//! The scenario `runtime`: twenty actors that tell, ask, crash, sleep, watch and stop each other.
//!
//! Checked: messages of one sender to one receiver arrive in order (S1), every message that was taken is handled or
//! becomes a dead letter (S2), each ask ends (S3), each watcher hears of each end once (S12).

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use volary::ActorId;
use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim;

const PANIC: &str = "part of the scenario";

const NODES: usize = 18;
const WATCHERS: usize = 2;
const STEPS: u32 = 25;

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let world = Arc::new(World::default());
    if let Err(error) = scenario(&sim, &world).await {
        world.wrong(format!("the scenario broke off: {error}"));
    }
    world.check();
    let wrong = std::mem::take(&mut world.open().wrong);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("; "))
    }
}

async fn scenario(sim: &Sim, world: &Arc<World>) -> volary::Result<()> {
    let machine = sim.node("sim");
    let system = machine.start().await;
    for number in 0..WATCHERS {
        let theirs = world.clone();
        let watcher = system.spawn(move || Watcher { world: theirs.clone() });
        let watcher = watcher.named(format!("watcher-{number}")).await?;
        world.open().watchers.push(watcher);
    }
    for number in 0..NODES {
        let directive = [Directive::Restart, Directive::Resume, Directive::Stop][number % 3];
        let mailbox = [MailboxKind::Bounded(8), MailboxKind::Unbounded][number % 4 / 3].clone();
        let node = system.spawn(Node::factory(number, world)).named(name(number));
        world.join(node.on_fault(directive).mailbox(mailbox).await?);
    }
    let nodes = world.open().nodes.clone();
    for node in &nodes {
        world.post(node, Step { left: STEPS });
    }
    // An hour of virtual time: everything that was going to happen has happened.
    system.sleep(Duration::from_secs(3_600)).await;
    let nodes = std::mem::take(&mut world.open().nodes); // the children, too
    for node in &nodes {
        node.stop();
        node.terminated().await;
    }
    let watchers = std::mem::take(&mut world.open().watchers);
    for watcher in &watchers {
        watcher.drain();
        watcher.terminated().await;
    }
    system.stop().await?;
    let metrics = system.metrics();
    machine.note(format_args!("{metrics:?}"));
    let mut books = world.open();
    books.dead_letters = metrics.dead_letters;
    books.left = (metrics.actors, metrics.timers, metrics.mailbox_bytes);
    Ok(())
}

fn name(number: usize) -> String {
    format!("node-{number}")
}

/// What all actors of a run share, to be checked in the end.
#[derive(Default)]
struct World {
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    nodes: Vec<ActorRef<Node>>,
    watchers: Vec<ActorRef<Watcher>>,
    children: usize,
    /// The last number that was sent from one node to another, and the last that arrived.
    sent: BTreeMap<(usize, usize), u64>,
    arrived: BTreeMap<(usize, usize), u64>,
    accepted: u64,
    handled: u64,
    dead_letters: u64,
    asked: u64,
    ended: u64,
    watched: Vec<ActorId>,
    gone: Vec<ActorId>,
    left: (usize, usize, u64),
    wrong: Vec<String>,
}

impl World {
    fn open(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wrong(&self, what: String) {
        self.open().wrong.push(what);
    }

    /// Takes a node in: others may talk to it, and a watcher looks after it.
    fn join(&self, node: ActorRef<Node>) {
        let mut books = self.open();
        let watcher = books.watchers[books.nodes.len() % WATCHERS].clone();
        if watcher.tell(Observe { node: node.clone() }).is_err() {
            books.wrong.push("a watcher has gone".to_owned());
        }
        books.nodes.push(node);
    }

    fn next_child(&self) -> usize {
        let mut books = self.open();
        books.children += 1;
        books.children - 1
    }

    fn post<M: Message>(&self, to: &ActorRef<Node>, message: M)
    where
        Node: Respond<M>,
    {
        let accepted = to.tell(message).is_ok();
        self.open().accepted += u64::from(accepted);
    }

    /// Runs what may put one message into a mailbox, and counts it if it did. Nobody else can have: there is but one
    /// thread.
    fn posting<R>(&self, to: &ActorRef<Node>, post: impl FnOnce() -> R) -> R {
        let before = to.mailbox_len();
        let result = post();
        self.open().accepted += u64::from(to.mailbox_len() > before);
        result
    }

    fn check(&self) {
        let books = &mut *self.open();
        let (accepted, handled, dead) = (books.accepted, books.handled, books.dead_letters);
        let mut wrong = Vec::new();
        if accepted != handled + dead {
            wrong.push(format!(
                "{accepted} messages accepted, {handled} handled and {dead} dead letters"
            ));
        }
        if books.asked != books.ended {
            wrong.push(format!("{} asks begun, {} ended", books.asked, books.ended));
        }
        books.watched.sort();
        books.gone.sort();
        if books.watched != books.gone {
            wrong.push(format!("watched {:?}, heard of {:?}", books.watched, books.gone));
        }
        if books.left != (0, 0, 0) {
            wrong.push(format!("actors, timers and mailbox bytes left: {:?}", books.left));
        }
        books.wrong.append(&mut wrong);
    }
}

struct Node {
    number: usize,
    world: Arc<World>,
    owed: Vec<ReplyTo<u64, Busy>>,
}

#[derive(Debug, Rejection)]
struct Busy;

#[derive(Clone, Copy, Debug)]
enum Deed {
    Answer,
    Refuse,
    Fault,
    Panic,
    Nap(u64),
    /// Ask a third one before answering.
    Pass(u32),
}

/// An ask that is counted also if its asker is dropped while it waits.
struct Counted<'a>(&'a World);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.open().ended += 1;
    }
}

#[actor]
impl Node {
    fn factory(number: usize, world: &Arc<World>) -> impl Fn() -> Node + Send + Sync + 'static {
        let world = world.clone();
        move || {
            let (world, owed) = (world.clone(), Vec::new());
            Node { number, world, owed }
        }
    }

    /// Does something, and comes back for the next step.
    async fn step(&mut self, left: u32, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.world.open().handled += 1;
        if left > 0 {
            self.world.post(&ctx.me(), Step { left: left - 1 });
        }
        let peer = self.peer(ctx);
        let to = peer.name();
        match ctx.random() % 22 {
            0..=6 => {
                let note = self.note(&peer, ctx);
                self.say(format!("tells {to} {} {:?}", note.number, note.deed));
                self.world.post(&peer, note);
            }
            7..=11 => self.question(&peer, 3, ctx).await,
            12 => {
                let note = self.note(&peer, ctx);
                self.say(format!("sends {to} {}", note.number));
                let sent = peer.send(note).await.is_ok();
                self.world.open().accepted += u64::from(sent);
            }
            13..=14 => {
                let time = Duration::from_micros(ctx.random() % 20_000);
                self.say(format!("sleeps {time:?}"));
                ctx.sleep(time).await;
            }
            15 => {
                self.say("goes on in the background".to_owned());
                let (world, note) = (self.world.clone(), self.note(&peer, ctx));
                let nap = ctx.system().sleep(Duration::from_millis(ctx.random() % 30));
                ctx.spawn(async move {
                    nap.await;
                    world.post(&peer, Late { from: note.from });
                });
            }
            16 if ctx.random().is_multiple_of(4) => {
                self.say(format!("ends {to}"));
                match ctx.random() % 3 {
                    0 => peer.stop(),
                    1 => peer.drain(),
                    _ => peer.kill(),
                }
            }
            17 => {
                self.say("faults".to_owned());
                return Err(Fault::msg(PANIC));
            }
            18 => {
                self.say(format!("restarts {to}"));
                peer.restart();
            }
            19 => {
                let number = NODES + self.world.next_child();
                self.say(format!("has a child, node-{number}"));
                // Refused if this one is stopping.
                let child = ctx.spawn_child(Node::factory(number, &self.world)).named(name(number));
                if let Ok(child) = child.await {
                    self.world.join(child);
                }
            }
            _ => self.owed.drain(..).for_each(|reply| reply.send(u64::MAX)),
        }
        Ok(())
    }

    /// A numbered message: those of one sender must arrive in the order of their numbers.
    async fn letter(
        &mut self,
        from: usize,
        number: u64,
        deed: Deed,
        ctx: &mut Context<Self>,
    ) -> Result<u64, Failure<Busy>> {
        self.arrived(from, number);
        self.say(format!("handles {number} of node-{from}: {deed:?}"));
        match deed {
            Deed::Answer => {}
            Deed::Refuse => return Err(Busy.into()),
            Deed::Fault => return Err(Fault::msg(PANIC).into()),
            Deed::Panic => panic!("{PANIC}"),
            Deed::Nap(micros) => ctx.sleep(Duration::from_micros(micros)).await,
            Deed::Pass(0) => {}
            Deed::Pass(hops) => {
                let peer = self.peer(ctx);
                self.question(&peer, hops - 1, ctx).await;
            }
        }
        Ok(number)
    }

    /// Not numbered: sent by a task, beside the actor.
    fn late(&mut self, from: usize) {
        self.world.open().handled += 1;
        self.say(format!("hears late of node-{from}"));
    }

    /// Answered by a later step, or not at all.
    fn owe(&mut self, from: usize, number: u64, reply: ReplyTo<u64, Busy>) {
        self.arrived(from, number);
        self.say(format!("owes node-{from} an answer to {number}"));
        self.owed.push(reply);
    }

    #[actor(skip)]
    async fn question(&self, peer: &ActorRef<Node>, hops: u32, ctx: &Context<Self>) {
        let patience = Duration::from_millis(1 + ctx.random() % 60);
        let mut note = self.note(peer, ctx);
        if ctx.random().is_multiple_of(3) {
            note.deed = Deed::Pass(hops);
        }
        let (number, to) = (note.number, peer.name());
        self.say(format!("asks {to} {number} {:?} within {patience:?}", note.deed));
        self.world.open().asked += 1;
        let counted = Counted(&self.world);
        let answer = if ctx.random().is_multiple_of(5) {
            let owe = Owe {
                from: note.from,
                number,
            };
            self.world
                .posting(peer, || peer.ask(owe).timeout(patience).into_future())
                .await
        } else {
            self.world
                .posting(peer, || peer.ask(note).timeout(patience).into_future())
                .await
        };
        drop(counted);
        let answer = answer.map_or_else(|error| error.to_string(), |answer| format!("{answer}"));
        self.say(format!("hears of {to} about {number}: {answer}"));
    }

    /// Somebody at random, perhaps itself.
    #[actor(skip)]
    fn peer(&self, ctx: &Context<Self>) -> ActorRef<Node> {
        let books = self.world.open();
        books.nodes[ctx.random() as usize % books.nodes.len()].clone()
    }

    /// The next letter to a peer.
    #[actor(skip)]
    fn note(&self, peer: &ActorRef<Node>, ctx: &Context<Self>) -> Letter {
        let mut books = self.world.open();
        let to = books.nodes.iter().position(|node| node == peer).unwrap_or(usize::MAX);
        let number = books.sent.entry((self.number, to)).or_insert(0);
        *number += 1;
        let deed = match ctx.random() % 12 {
            0 => Deed::Refuse,
            1 if ctx.random().is_multiple_of(2) => Deed::Fault,
            2 if ctx.random().is_multiple_of(2) => Deed::Panic,
            3..=5 => Deed::Nap(ctx.random() % 30_000),
            _ => Deed::Answer,
        };
        Letter {
            from: self.number,
            number: *number,
            deed,
        }
    }

    #[actor(skip)]
    fn arrived(&self, from: usize, number: u64) {
        let mut books = self.world.open();
        books.handled += 1;
        let last = books.arrived.insert((from, self.number), number).unwrap_or(0);
        if last >= number {
            books.wrong.push(format!(
                "node-{}: {number} of node-{from} came after {last}",
                self.number
            ));
        }
    }

    #[actor(skip)]
    fn say(&self, what: String) {
        note(format!("node-{} {what}", self.number));
    }
}

/// A line of the timeline.
fn note(what: String) {
    if let Some(machine) = sim::current() {
        machine.note(what);
    }
}

struct Watcher {
    world: Arc<World>,
}

#[actor]
impl Watcher {
    fn observe(&mut self, node: ActorRef<Node>, ctx: &mut Context<Self>) {
        self.world.open().watched.push(node.id());
        ctx.watch(&node);
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.world.open().gone.push(gone.id());
        note(format!("a watcher hears that {} has ended", gone.path()));
    }
}
