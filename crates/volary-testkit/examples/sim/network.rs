//! The scenario `network`: four nodes send each other numbered letters over links that lose, double and reorder them, while
//! nodes crash, stand still and are cut off. Each letter is sent again until its receipt comes.
//!
//! Checked by the ledger: every letter is handled, once, and those of one sender to one receiver in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use volary::prelude::*;
use volary_testkit::sim::{Chaos, Link, Node, Wire};
use volary_testkit::{Ledger, Sim};

const NODES: usize = 4;
const LETTERS: u64 = 20;
/// How many letters may be without a receipt.
const WINDOW: u64 = 4;
const TICK: Duration = Duration::from_millis(20);
const TROUBLE: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Message, Clone)]
struct Letter {
    from: usize,
    number: u64,
}

/// All letters below this number have come.
#[derive(Message, Clone)]
struct Receipt {
    from: usize,
    below: u64,
}

/// What one node knows of another; on paper, so that it outlives a crash.
#[derive(Default, Clone, Copy)]
struct Page {
    sent: u64,
    confirmed: u64,
    expected: u64,
}

#[derive(Default)]
struct Paper {
    pages: [[Page; NODES]; NODES],
    ledger: Ledger<usize, (usize, usize, u64)>,
}

type Books = Arc<Mutex<Paper>>;

fn open(books: &Books) -> MutexGuard<'_, Paper> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Courier {
    me: usize,
    books: Books,
    letters: Vec<Wire<Letter>>,
    receipts: Vec<Wire<Receipt>>,
}

#[actor]
impl Courier {
    async fn tick(&mut self, ctx: &mut Context<Self>) {
        for peer in (0..NODES).filter(|peer| *peer != self.me) {
            let books = &mut *open(&self.books);
            let page = &mut books.pages[self.me][peer];
            if page.sent < LETTERS && page.sent - page.confirmed < WINDOW {
                books.ledger.sent(self.me, peer, (self.me, peer, page.sent));
                page.sent += 1;
            }
            for number in page.confirmed..page.sent {
                self.letters[peer].tell(Letter { from: self.me, number });
            }
        }
        ctx.sleep(TICK).await;
        let _ = ctx.me().tell(Tick); // refused when the node stops
    }

    #[handles]
    fn letter(&mut self, letter: Letter) {
        let books = &mut *open(&self.books);
        let page = &mut books.pages[self.me][letter.from];
        if letter.number == page.expected {
            page.expected += 1;
            books.ledger.handled((letter.from, self.me, letter.number));
        }
        let (from, below) = (self.me, page.expected);
        self.receipts[letter.from].tell(Receipt { from, below });
    }

    #[handles]
    fn receipt(&mut self, receipt: Receipt) {
        let page = &mut open(&self.books).pages[self.me][receipt.from];
        page.confirmed = page.confirmed.max(receipt.below);
    }
}

async fn boot(sim: Sim, node: Node, me: usize, books: Books) {
    let peers: Vec<Node> = (0..NODES).map(|peer| sim.node(format!("n{peer}"))).collect();
    let to = |peer: &Node| sim.wire(&node, peer, "/user/courier");
    let letters: Vec<Wire<Letter>> = peers.iter().map(to).collect();
    let receipts: Vec<Wire<Receipt>> = peers
        .iter()
        .map(|peer| sim.wire(&node, peer, "/user/courier"))
        .collect();
    let courier = move || Courier {
        me,
        books: books.clone(),
        letters: letters.clone(),
        receipts: receipts.clone(),
    };
    let system = node.start().await;
    match system.spawn(courier).named("courier").await {
        Ok(courier) => drop(courier.tell(Tick)),
        Err(error) => sim.fail(format_args!("no courier: {error}")),
    }
}

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let books = Books::default();
    let nodes: Vec<Node> = (0..NODES).map(|number| sim.node(format!("n{number}"))).collect();
    for (me, node) in nodes.iter().enumerate() {
        let (sim, books) = (sim.clone(), books.clone());
        node.boot(move |node| boot(sim.clone(), node, me, books.clone())).await;
    }
    sim.set_network(Link::default().loss(0.1).duplication(0.1).reordering(0.2));
    let chaos = Chaos::within(TROUBLE)
        .crashes(0..=3)
        .partitions(0..=2)
        .one_way_cuts(0..=2);
    sim.chaos(&chaos.pauses(0..=2).clock_drifts(0..=2));
    sim.sleep(TROUBLE).await;
    let done = || {
        let paper = open(&books);
        let pages = (0..NODES).flat_map(|me| (0..NODES).map(move |peer| (me, peer)));
        pages
            .filter(|(me, peer)| me != peer)
            .all(|(me, peer)| paper.pages[me][peer].confirmed == LETTERS)
    };
    while !done() {
        if sim.now() > PATIENCE {
            return Err("some letters never arrive".to_owned());
        }
        sim.sleep(TICK).await;
    }
    open(&books).ledger.check().map_err(|violation| violation.to_string())
}
