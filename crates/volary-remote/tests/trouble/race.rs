//! Both sides call at the same time, again and again.

use crate::books::{End, balance_here, balance_there, dead_letters_at_home, nothing_behind_the_end};
use crate::cutting::Cutting;
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;

const ROUNDS: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_calls_that_cross_become_one_connection() {
    let cutting = Cutting::default();
    let home = Home::start(lasting(10_000, 60_000).transport(cutting.clone())).await;
    let mut child = Setup::of(&home).with("SILENCE", 10_000).start().await;
    home.watch(&child).await;
    child.command("speak 1000000");
    let flow = Writer::new(&home, &child.node, "a").flow();
    for _ in 0..ROUNDS {
        let (handled, heard) = (child.handled(), home.heard_of(&child));
        // What waits on both sides makes both call.
        cutting.cut();
        until("both are heard", || {
            child.handled() > handled + 5 && home.heard_of(&child) > heard + 5
        })
        .await;
    }
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    balance_here(&home, &mut child).await;
    dead_letters_at_home(&home).await;
    let reading = home.reading(&child.node);
    assert!(reading.connected && reading.connections <= 2 * ROUNDS, "{reading:?}");
    nothing_behind_the_end(&home, &child, 0);
    child.command("end");
    until("the end", || home.heard.count("gone ") == 1).await;
    nothing_behind_the_end(&home, &child, 1);
    home.stop().await;
}
