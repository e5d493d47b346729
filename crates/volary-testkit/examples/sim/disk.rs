//! The scenario `disk`: an actor keeps a log on the disk of its node, which crashes and whose disk fails.
//!
//! Checked: what was acknowledged is in the log, in order and once.

#[path = "../../tests/disk/mod.rs"]
#[allow(dead_code, reason = "the careless log is for the tests")]
mod log;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::{Care, Log};
use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Node};

const TROUBLE: Duration = Duration::from_millis(400);
const PAUSE: Duration = Duration::from_millis(2);

/// What the client has asked for and what was acknowledged.
#[derive(Default)]
struct Books {
    next: u64,
    acknowledged: Vec<u64>,
}

fn open(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens its log when it starts, and anew after an error: then nobody knows what was written.
struct Keeper {
    log: Option<Log>,
}

#[actor]
impl Keeper {
    fn keep(&mut self, number: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let mut log = match self.log.take() {
            Some(log) => log,
            None => Log::open(&*ctx.system().disk(), Care::Synced).map_err(Fault::new)?.0,
        };
        let record = number.to_le_bytes().repeat(1 + number as usize % 200);
        log.append(&record).map_err(Fault::new)?;
        self.log = Some(log);
        Ok(())
    }
}

async fn boot(node: Node, books: Arc<Mutex<Books>>) {
    let system = node.start().await;
    let Ok(keeper) = system.spawn(|| Keeper { log: None }).named("keeper").await else {
        return;
    };
    node.clone().spawn(async move {
        loop {
            let number = {
                let mut books = open(&books);
                books.next += 1;
                books.next
            };
            if keeper.ask(Keep { number }).await.is_ok() {
                open(&books).acknowledged.push(number);
            }
            node.sleep(PAUSE).await;
        }
    });
}

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let (node, books) = (sim.node("a"), Arc::new(Mutex::new(Books::default())));
    let theirs = books.clone();
    node.boot(move |node| boot(node, theirs.clone())).await;
    let chaos = Chaos::within(TROUBLE).crashes(1..=3).disk_faults(0..=4);
    sim.chaos(&chaos.lasting(TROUBLE / 8));
    sim.sleep(TROUBLE + PAUSE).await;
    node.crash();
    node.disk().recover_all();
    let (_, records) = Log::open(&node.disk(), Care::Synced).map_err(|error| error.to_string())?;
    let number = |record: &Vec<u8>| record.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let found: Vec<u64> = records.iter().map(number).collect();
    if !found.is_sorted_by(|one, two| one < two) {
        return Err(format!("out of order, or twice: {found:?}"));
    }
    let acknowledged = &open(&books).acknowledged;
    sim.note(format_args!(
        "{} acknowledged, {} found",
        acknowledged.len(),
        found.len()
    ));
    let lost = acknowledged.iter().find(|number| found.binary_search(number).is_err());
    lost.map_or(Ok(()), |number| Err(format!("{number} was acknowledged and is lost")))
}
