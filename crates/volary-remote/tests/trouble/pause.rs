//! The peer stands still and goes on: for less than the silence that ends a connection, for more, and for so long that
//! it is said to be lost.

use volary_remote::PeerEvent;

use crate::books::{End, balance_here, balance_there, balance_two_lives, dead_letters_at_home, nothing_behind_the_end};
use crate::counter::LAST_WORDS;
use crate::home::{Home, event, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_a_pause_below_the_silence_loses_nothing() {
    let home = Home::start(lasting(20_000, 60_000)).await;
    let mut child = Setup::of(&home).with("SILENCE", 20_000).start().await;
    home.watch(&child).await;
    home.connected(&child).await;
    child.command("speak 3000");
    let flow = Writer::new(&home, &child.node, "a").padded(20_000).flow();
    for _ in 0..3 {
        let before = child.handled();
        until("traffic", || child.handled() > before + 200).await;
        child.signal("-STOP");
        until("that it takes nothing", || home.reading(&child.node).under_way > 500).await;
        child.signal("-CONT");
    }
    until("the speaker has spoken", || home.heard_of(&child) == 3_000).await;
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    balance_here(&home, &mut child).await;
    let reading = home.reading(&child.node);
    assert_eq!(
        (reading.connections, reading.confirmed),
        (1, writer.taken),
        "{reading:?}"
    );
    nothing_behind_the_end(&home, &child, 0);
    child.command("end");
    until("the end", || home.heard.count("gone ") == 1).await;
    assert_eq!(
        home.heard_of(&child),
        3_000 + LAST_WORDS,
        "with the last word before it"
    );
    nothing_behind_the_end(&home, &child, 1);
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_a_pause_beyond_the_silence_ends_the_connection_and_another_is_made() {
    let home = Home::start(lasting(500, 60_000)).await;
    let events = home.events();
    let mut child = Setup::of(&home).with("SILENCE", 500).with("LOST", 60_000).start().await;
    home.watch(&child).await;
    child.command("speak 1000000");
    let flow = Writer::new(&home, &child.node, "a").padded(20_000).flow();
    for _ in 0..2 {
        let (before, heard) = (child.handled(), home.heard_of(&child));
        until("traffic", || {
            child.handled() > before + 200 && home.heard_of(&child) > heard + 200
        })
        .await;
        child.signal("-STOP");
        event(&events, "the end of the connection", |event| {
            matches!(event, PeerEvent::Disconnected { .. })
        })
        .await;
        child.signal("-CONT");
    }
    let (before, heard) = (child.handled(), home.heard_of(&child));
    until("traffic", || {
        child.handled() > before + 200 && home.heard_of(&child) > heard + 200
    })
    .await;
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    dead_letters_at_home(&home).await;
    balance_here(&home, &mut child).await;
    assert!(home.reading(&child.node).connections > 1);
    assert_eq!(home.heard.count("gone "), 0, "nobody has ended");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s12_a_peer_that_stood_still_until_it_was_lost_does_not_speak_again_in_this_life() {
    let home = Home::start(lasting(500, 1_000)).await;
    let mut child = Setup::of(&home).with("SILENCE", 500).start().await;
    home.watch(&child).await;
    child.command("speak 1000000");
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200 && home.heard_of(&child) > 200).await;
    child.signal("-STOP");
    until("the loss", || home.heard.count("gone ") == 1).await;
    child.signal("-CONT");
    // It calls, having much to say.
    until("that it is refused", || {
        child.lines.find(&["event NotConnected", "it refused"]).is_some()
    })
    .await;
    nothing_behind_the_end(&home, &child, 1);
    let node = child.node.clone();
    child.kill();
    let mut next = Setup::of(&home).with("AT", &node).start().await;
    next.command("speak 1000000");
    until("the next life speaks and hears", || {
        next.handled() > 100 && home.heard_of(&next) > 100
    })
    .await;
    let writer = flow.stop().await;
    balance_two_lives(&home, &writer, &mut child, &mut next).await;
    home.stop().await;
}
