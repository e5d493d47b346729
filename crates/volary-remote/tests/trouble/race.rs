//! Both sides call at the same time, again and again.

use crate::books::{End, balance_here, balance_there, dead_letters_at_home, nothing_behind_the_end};
use crate::cutting::Cutting;
use crate::home::{Home, lasting, soon, until};
use crate::program::{Child, Setup};
use crate::writer::Writer;

const ROUNDS: u64 = 100;
/// In every so many rounds both sides have called before either is heard, whatever the threads do.
const CROSSED: u64 = 4;

/// Longer than anything is waited for: a connection that nobody lets go of stays open.
const SILENCE: u64 = 60_000;

/// Waits until each side has one connection, and holds no other; how many each has had.
async fn settled(home: &Home, child: &mut Child, cutting: &Cutting, alone: usize) -> [u64; 2] {
    loop {
        until("one connection on each side, and no other", || {
            home.reading(&child.node).connected && (cutting.open(), child.open_sockets()) == (1, alone + 1)
        })
        .await;
        // Only home may have taken it for its connection. Who answers on it has, too.
        let looked = soon("an answer", home.remote.lookup(&child.node, "/user/a")).await;
        if looked.is_ok() {
            break;
        }
    }
    let there = child.report().await.get("connections");
    [home.reading(&child.node).connections, there]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_calls_that_cross_become_one_connection() {
    let cutting = Cutting::default();
    let home = Home::start(lasting(SILENCE, 2 * SILENCE).transport(cutting.clone())).await;
    let mut child = Setup::of(&home)
        .with("SILENCE", SILENCE)
        .with("LOST", 2 * SILENCE)
        .start()
        .await;
    let alone = child.open_sockets();
    home.watch(&child).await;
    child.command("speak 1000000");
    let flow = Writer::new(&home, &child.node, "a").flow();
    let mut crossed = 0;
    let mut before = settled(&home, &mut child, &cutting, alone).await;
    for round in 0..ROUNDS {
        let (handled, heard) = (child.handled(), home.heard_of(&child));
        // What waits on both sides makes both call.
        let crosses = round % CROSSED == 0;
        if crosses {
            cutting.cut_and_cross();
        } else {
            cutting.cut();
        }
        until("both are heard", || {
            child.handled() > handled + 5 && home.heard_of(&child) > heard + 5
        })
        .await;
        let after = settled(&home, &mut child, &cutting, alone).await;
        if crosses {
            crossed += 1;
            assert_eq!(cutting.crossed(), crossed, "both have called");
            assert_eq!(after, before.map(|count| count + 1), "one of the two calls was taken");
        }
        before = after;
    }
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    balance_here(&home, &mut child).await;
    dead_letters_at_home(&home).await;
    assert_eq!(settled(&home, &mut child, &cutting, alone).await, before);
    nothing_behind_the_end(&home, &child, 0);
    child.command("end");
    until("the end", || home.heard.count("gone ") == 1).await;
    nothing_behind_the_end(&home, &child, 1);
    home.stop().await;
}
