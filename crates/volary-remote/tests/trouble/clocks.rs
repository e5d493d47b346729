//! Clocks that are wrong: the calendar of the child is another, and its seconds are longer or shorter.

use std::time::Duration;

use crate::books::{End, balance_here, balance_there, balance_two_lives, nothing_behind_the_end};
use crate::counter::{Count, Counter};
use crate::home::{Home, lasting, quick, soon, until};
use crate::program::Setup;
use crate::writer::Writer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_nodes_whose_clocks_differ_speak_as_others_do() {
    for (hours, percent) in [(-24, 80), (24, 125)] {
        let home = Home::start(lasting(5_000, 60_000)).await;
        let skewed = Setup::of(&home)
            .with("SILENCE", 5_000)
            .with("HOURS", hours)
            .with("PERCENT", percent);
        let mut child = skewed.start().await;
        home.watch(&child).await;
        home.connected(&child).await;
        child.command("speak 500");
        let mut writer = Writer::new(&home, &child.node, "a");
        writer.write(500).await;
        // A deadline travels as the time that is left, so that it means the same there.
        let far = home.far::<Counter>(&child, "b");
        let count = Count {
            from: "asker".to_owned(),
            number: 1,
            padding: Vec::new(),
        };
        let answer = far.ask(count).timeout(Duration::from_secs(20));
        assert_eq!(soon("an answer", answer).await.unwrap(), 1);
        let mut asker = Writer::new(&home, &child.node, "b");
        asker.taken = 1;
        until("all words", || home.heard_of(&child) == 500).await;
        balance_there(&home, &[&writer, &asker], &mut [(&mut child, End::Lives)]).await;
        balance_here(&home, &mut child).await;
        let reading = home.reading(&child.node);
        assert_eq!((reading.connections, reading.confirmed), (1, 501), "{reading:?}");
        nothing_behind_the_end(&home, &child, 0);
        home.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_a_node_that_starts_again_with_its_clock_set_back_is_spoken_to() {
    let home = Home::start(quick()).await;
    let mut child = Setup::of(&home).start().await;
    let node = child.node.clone();
    home.watch(&child).await;
    let mut writer = Writer::new(&home, &node, "a");
    writer.write(100).await;
    home.connected(&child).await;
    child.command("speak 100");
    until("traffic", || child.handled() == 100 && home.heard_of(&child) == 100).await;
    child.kill();
    let back = Setup::of(&home)
        .with("AT", &node)
        .with("HOURS", -24)
        .with("PERCENT", 100);
    let mut next = back.start().await;
    until("the end of the first life", || home.heard.count("gone ") == 1).await;
    let flow = writer.flow();
    next.command("speak 1000000");
    until("traffic again", || next.handled() > 100 && home.heard_of(&next) > 100).await;
    let writer = flow.stop().await;
    balance_two_lives(&home, &writer, &mut child, &mut next).await;
    home.stop().await;
}
