//! Where the stories take place: a clerk whose mailbox is the candidate, couriers that bring pages, and a ledger
//! that knows where each page ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use volary::Letter;
use volary::prelude::*;

use super::Candidate;
use crate::common::{StoryEnv, gate, simulated};

/// How many pages a backlog has. Candidates with a bound have room for exactly so many.
pub const BACKLOG: usize = 24;
const COURIERS: u64 = 3;
const OUTSIDE: u64 = COURIERS;

/// A page that was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filed {
    pub sender: u64,
    pub number: u64,
    pub weight: u8,
}

#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    filed: Vec<Filed>,
    /// How often each page was dropped, by sender and number.
    drops: BTreeMap<(u64, u64), usize>,
}

impl Ledger {
    fn with<R>(&self, look: impl FnOnce(&mut Pages) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// A new page; no other has its number from this sender.
    pub fn page(&self, sender: u64, number: u64) -> Page {
        let before = self.with(|pages| pages.drops.insert((sender, number), 0));
        assert_eq!(before, None, "the story made this page twice");
        let what = Filed {
            sender,
            number,
            weight: (number % 3) as u8,
        };
        Page {
            what,
            ledger: self.clone(),
        }
    }

    /// What was handled, in order.
    pub fn filed(&self) -> Vec<Filed> {
        self.with(|pages| pages.filed.clone())
    }

    pub fn made(&self) -> usize {
        self.with(|pages| pages.drops.len())
    }

    /// Nothing was handled twice; says how much was handled.
    pub fn filed_once(&self) -> usize {
        let mut filed = self.filed();
        filed.sort_unstable();
        let all = filed.len();
        filed.dedup();
        assert_eq!(filed.len(), all, "handled twice: {:?}", self.filed());
        all
    }

    pub fn check_drops(&self) {
        self.with(|pages| {
            let wrong: Vec<_> = pages.drops.iter().filter(|(_, drops)| **drops != 1).collect();
            assert!(wrong.is_empty(), "not dropped exactly once: {wrong:?}");
        });
    }
}

/// A message that tells when it is dropped.
pub struct Page {
    pub what: Filed,
    ledger: Ledger,
}

impl Drop for Page {
    fn drop(&mut self) {
        let key = (self.what.sender, self.what.number);
        self.ledger.with(|pages| *pages.drops.entry(key).or_default() += 1);
    }
}

/// The priority of a page; everything else has none.
pub fn weight(letter: &Letter) -> u8 {
    letter.message::<File>().map_or(0, |file| file.page.what.weight)
}

/// Files pages.
pub struct Clerk;

#[actor]
impl Clerk {
    /// Answers with the page's number.
    pub fn file(&mut self, page: Page) -> u64 {
        page.ledger.with(|pages| pages.filed.push(page.what));
        page.what.number
    }

    pub fn tear(&mut self, page: Page) -> u64 {
        panic!("page {} is torn", page.what.number)
    }

    /// Suspended until the gate opens, or for ever.
    pub async fn hold(&mut self, gate: oneshot::Receiver<()>) {
        let _ = gate.await;
    }
}

/// A sender that is an actor.
struct Courier;

#[actor]
impl Courier {
    fn carry(&mut self, pages: Vec<Page>, to: ActorRef<Clerk>) {
        for page in pages {
            assert!(to.tell(File { page }).is_ok(), "a backlog has room");
        }
    }
}

/// A system with one clerk.
pub struct Office {
    pub system: ActorSystem,
    pub clerk: ActorRef<Clerk>,
    pub ledger: Ledger,
}

impl Office {
    pub async fn open(system: ActorSystem, candidate: &Candidate) -> Office {
        let clerk = system.spawn(|| Clerk).mailbox(candidate.kind.clone()).await.unwrap();
        Office {
            system,
            clerk,
            ledger: Ledger::default(),
        }
    }

    pub async fn simulated(env: &StoryEnv, candidate: &Candidate) -> Office {
        Office::open(simulated(env).await, candidate).await
    }

    /// Keeps the clerk busy, so that what follows has to wait.
    pub async fn hold(&self) -> oneshot::Sender<()> {
        let (open, gate) = gate();
        self.clerk.tell(Hold { gate }).unwrap();
        self.settle().await;
        open
    }

    /// Until nobody has anything to do: time stands still before.
    pub async fn settle(&self) {
        self.system.sleep(Duration::from_millis(1)).await;
    }

    /// `BACKLOG` pages, from several actors and from outside. They wait if the clerk is held.
    pub async fn backlog(&self) {
        let each = BACKLOG as u64 / (COURIERS + 1);
        for courier in 0..COURIERS {
            let pages = (0..each).map(|number| self.ledger.page(courier, number)).collect();
            let to = self.clerk.clone();
            let courier = self.system.spawn(|| Courier).await.unwrap();
            courier.tell(Carry { pages, to }).unwrap();
        }
        for number in 0..each {
            self.clerk.tell(self.file(number)).unwrap();
        }
        self.settle().await;
    }

    /// A page from outside.
    pub fn page(&self, number: u64) -> Page {
        self.ledger.page(OUTSIDE, number)
    }

    pub fn file(&self, number: u64) -> File {
        File {
            page: self.page(number),
        }
    }

    /// Ends the system and looks where each page went.
    pub async fn close(&self) {
        self.system.stop().await.unwrap();
        self.ledger.filed_once();
        self.ledger.check_drops();
    }
}
