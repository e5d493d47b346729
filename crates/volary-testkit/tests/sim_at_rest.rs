//! T5: what must be true when nothing is left to do but timers.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Check, Link, Wire};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Money on its way is nowhere.
#[derive(Message, Clone)]
struct Coin;

struct Purse {
    coins: Arc<AtomicU64>,
    to: Wire<Coin>,
}

#[actor]
impl Purse {
    #[handles]
    fn coin(&mut self, _: Coin) {
        self.coins.fetch_add(1, SeqCst);
    }
    fn pay(&mut self) {
        self.coins.fetch_sub(1, SeqCst);
        self.to.tell(Coin);
    }
}

/// Two purses of ten coins; the sum must be twenty at rest, and is not while a coin is under way.
async fn purses(sim: Sim, link: Link) {
    let (a, b) = (sim.node("a"), sim.node("b"));
    let books: [Arc<AtomicU64>; 2] = [Arc::new(AtomicU64::new(10)), Arc::new(AtomicU64::new(10))];
    let mut purses = Vec::new();
    for (index, (from, to)) in [(&a, &b), (&b, &a)].into_iter().enumerate() {
        let (coins, wire) = (books[index].clone(), sim.wire(from, to, "/user/purse"));
        let purse = move || Purse {
            coins: coins.clone(),
            to: wire.clone(),
        };
        purses.push(from.start().await.spawn(purse).named("purse").await.unwrap());
    }
    sim.set_network(link);
    let looked_at = books.clone();
    sim.at_rest("no coin is lost", move || {
        match looked_at.iter().map(|coins| coins.load(SeqCst)).sum::<u64>() {
            20 => Ok(()),
            sum => Err(format!("there are {sum} coins")),
        }
    });
    for round in 0..10 {
        purses[round % 2].tell(Pay).unwrap();
        sim.sleep(MS / 2).await; // now and then while a coin is under way
    }
    sim.sleep(SECOND).await;
}

#[test]
fn t5_what_is_on_its_way_is_no_rest() {
    Sim::check(200, |sim| purses(sim, Link::default()));
}

#[test]
fn t5_what_does_not_hold_at_rest_fails_the_run() {
    let failed = Check::new().seeds(50).run(|sim| purses(sim, Link::default().loss(0.2)));
    let failed = failed.unwrap_err();
    let why = "`no coin is lost` does not hold at rest: there are 19 coins";
    assert_eq!(failed.why(), why, "{failed}");
    assert!(failed.timeline().contains("sends Coin to"), "{failed}");
}

#[test]
fn t5_rest_is_looked_at_once_for_every_time_that_it_comes() {
    Sim::check(20, |sim| async move {
        let rests = Arc::new(Mutex::new(Vec::new()));
        let (seen, clock) = (rests.clone(), sim.clone());
        sim.at_rest("count", move || {
            seen.lock().unwrap().push(clock.now());
            Ok(())
        });
        for _ in 0..3 {
            sim.sleep(SECOND).await;
        }
        assert_eq!(rests.lock().unwrap().len(), 3, "before each of the timers");
    });
}

#[test]
fn t5_bytes_behind_a_cut_do_not_keep_the_world_from_resting() {
    Sim::check(20, |sim| async move {
        let (a, b) = (sim.node("a"), sim.node("b"));
        let listener = b.listen(1).unwrap();
        let mut stream = a.connect("b", 1).await.unwrap();
        let (_held, _) = listener.accept().await.unwrap();
        sim.cut(&a, &b);
        stream.write_all(b"stuck").await.unwrap();
        let rests = Arc::new(AtomicU64::new(0));
        let seen = rests.clone();
        sim.at_rest("count", move || {
            seen.fetch_add(1, SeqCst);
            Ok(())
        });
        sim.sleep(SECOND).await;
        assert!(rests.load(SeqCst) >= 1);
    });
}

#[test]
fn t5_a_scenario_that_never_rests_does_not_pass_unseen() {
    let failed = Check::new().seeds(3).run(|sim| async move {
        sim.at_rest("all is well", || Ok(()));
        let system = sim.node("a").start().await;
        let _ = system; // and off it goes, without a pause
    });
    let failed = failed.unwrap_err();
    assert!(failed.why().contains("`all is well` was never looked at"), "{failed}");
}
