//! R3: more actors than a connection has numbers for.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Node, eventually, reading, stop};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::Remote;

/// So many actors are called by numbers at a time.
const NUMBERS: usize = 8_192;
const ALL: usize = NUMBERS + 500;

/// Notes what it gets beside what the others get.
struct Spot {
    index: usize,
    seen: Arc<Vec<Mutex<Vec<u64>>>>,
}

#[actor(kind = "test.Spot", remote(Mark))]
impl Spot {
    #[message(remote = "test.Mark", codec = postcard, derive(Serialize, Deserialize))]
    fn mark(&mut self, index: usize, number: u64) {
        assert_eq!(index, self.index, "it is for another");
        self.seen[index].lock().unwrap().push(number);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_beyond_the_numbers_of_a_connection_everything_arrives_in_order_and_short() {
    let builder = || Remote::builder().kind::<Spot>();
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder()).await;
    let seen: Arc<Vec<Mutex<Vec<u64>>>> = Arc::new((0..ALL).map(|_| Mutex::default()).collect());
    let mut spots = Vec::new();
    for index in 0..ALL {
        let seen = seen.clone();
        let spot = move || Spot {
            index,
            seen: seen.clone(),
        };
        other.system.spawn(spot).named(format!("spot-{index}")).await.unwrap();
        let far: ActorRef<Spot> = one.remote.actor(&other.address(&format!("spot-{index}"))).unwrap();
        spots.push(far);
    }
    let settled = || reading(&one).under_way == 0;
    // Only what is said on a connection has a number there.
    spots[0].tell(Mark { index: 0, number: 0 }).unwrap();
    eventually("a connection", settled).await;
    // A number for each that there is one for; then those without one are told, and then all again.
    for number in 1..=3 {
        for (index, spot) in spots.iter().enumerate() {
            spot.tell(Mark { index, number }).unwrap();
        }
        eventually("all is confirmed", settled).await;
    }
    let seldom = &spots[NUMBERS..];
    for number in 4..=6 {
        for (index, spot) in (NUMBERS..).zip(seldom) {
            spot.tell(Mark { index, number }).unwrap();
        }
    }
    eventually("all is confirmed", settled).await;
    let before = reading(&one).bytes_written;
    for number in 7..=16 {
        for (index, spot) in (NUMBERS..).zip(seldom) {
            spot.tell(Mark { index, number }).unwrap();
        }
    }
    eventually("all is confirmed", settled).await;
    let each = (reading(&one).bytes_written - before) / (10 * seldom.len() as u64);
    assert!(each < 40, "{each} bytes for a message: its address stands in full");
    let all = 1 + 3 * ALL + 13 * seldom.len();
    let count = || seen.iter().map(|seen| seen.lock().unwrap().len()).sum::<usize>();
    eventually("all is handled", || count() == all).await;
    for (index, seen) in seen.iter().enumerate() {
        let last = if index < NUMBERS { 3 } else { 16 };
        let expected: Vec<u64> = (u64::from(index != 0)..=last).collect();
        assert_eq!(*seen.lock().unwrap(), expected, "of {index}");
    }
    stop(one, other).await;
}
