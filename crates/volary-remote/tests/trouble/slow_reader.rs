//! One actor of the peer takes nothing: those who write to it are told, and the others go on.

use volary_core::ActorRef;

use crate::books::{End, balance_there, dead_letters_at_home};
use crate::counter::{Counter, Hold};
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;

const SHARE: u64 = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_an_actor_that_takes_nothing_is_busy_and_stalls_nobody_else() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let mut child = Setup::of(&home)
        .with("SILENCE", 10_000)
        .with("SHARE", SHARE)
        .start()
        .await;
    let stuck: ActorRef<Counter> = home.far(&child, "stuck");
    stuck.tell(Hold { number: 1 }).unwrap();
    until("it is stuck", || child.lines.count("h stuck holder") == 1).await;
    let mut to_stuck = Writer::new(&home, &child.node, "stuck");
    to_stuck.write(500).await;
    until("that the rest is refused", || {
        home.reading(&child.node).busy == 500 - SHARE
    })
    .await;
    let mut to_a = Writer::new(&home, &child.node, "a");
    for _ in 0..40 {
        // No more at a time than one actor may have waiting.
        to_a.write(50).await;
        until("the others go on", || child.lines.count("h a ") as u64 == to_a.taken).await;
    }
    assert_eq!(child.lines.count("h stuck writer"), 0);
    until("only its mail is under way", || {
        home.reading(&child.node).under_way == SHARE
    })
    .await;
    assert_eq!(home.reading(&child.node).busy, 500 - SHARE);
    child.command("release");
    until("it goes on", || child.lines.count("h stuck writer") as u64 == SHARE).await;
    // What was refused left a gap, and what comes behind it keeps its order.
    to_stuck.write(SHARE / 2).await;
    until("and takes more", || {
        child.lines.count("h stuck writer") as u64 == SHARE + SHARE / 2
    })
    .await;
    let mut held = Writer::new(&home, &child.node, "stuck");
    held.taken = 1; // the one that holds
    balance_there(&home, &[&to_stuck, &to_a, &held], &mut [(&mut child, End::Lives)]).await;
    dead_letters_at_home(&home).await;
    assert_eq!(home.reading(&child.node).connections, 1);
    home.stop().await;
}
