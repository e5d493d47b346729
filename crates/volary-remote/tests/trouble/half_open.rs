//! One direction of a connection ends, or dies without a word: both sides notice, and another connection is made.

use volary_remote::PeerEvent;

use crate::books::{End, balance_there, dead_letters_at_home, nothing_behind_the_end};
use crate::home::{Home, event, lasting, until};
use crate::program::{Child, Setup};
use crate::proxy::{Proxy, behind_a_proxy};
use crate::writer::{Flow, Writer};

struct Scene {
    home: Home,
    child: Child,
    proxy: Proxy,
    flow: Flow,
}

/// A child behind a proxy that it cannot go around: it does not call by itself, but answers on what is there.
async fn scene(lost_after: u64) -> Scene {
    let home = Home::start(lasting(700, lost_after)).await;
    let (child, proxy) = behind_a_proxy(&Setup::of(&home)).await;
    home.watch(&child).await;
    let flow = Writer::new(&home, &child.node, "a").padded(20_000).flow();
    let scene = Scene {
        home,
        child,
        proxy,
        flow,
    };
    scene.traffic().await;
    scene
}

impl Scene {
    async fn traffic(&self) {
        let (before, confirmed) = (self.child.handled(), self.home.reading(&self.child.node).confirmed);
        until("traffic and receipts", || {
            self.child.handled() > before + 200 && self.home.reading(&self.child.node).confirmed > confirmed + 200
        })
        .await;
    }

    async fn check(mut self, gone: usize) {
        let writer = self.flow.stop().await;
        balance_there(&self.home, &[&writer], &mut [(&mut self.child, End::Lives)]).await;
        dead_letters_at_home(&self.home).await;
        nothing_behind_the_end(&self.home, &self.child, gone);
        self.home.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_connection_that_is_half_closed_is_replaced() {
    let scene = scene(60_000).await;
    let events = scene.home.events();
    for way in [&scene.proxy.to, &scene.proxy.from, &scene.proxy.to] {
        way.end();
        event(&events, "its end", |event| {
            matches!(event, PeerEvent::Disconnected { .. })
        })
        .await;
        scene.traffic().await;
    }
    scene.check(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_direction_that_is_dead_without_a_word_is_noticed_on_both_sides() {
    let scene = scene(60_000).await;
    let events = scene.home.events();
    for (at, way) in [&scene.proxy.to, &scene.proxy.from].into_iter().enumerate() {
        way.swallow();
        event(&events, "the silence", |event| {
            matches!(event, PeerEvent::Disconnected { .. })
        })
        .await;
        until("the other side's", || {
            scene.child.lines.count("event Disconnected") > at
        })
        .await;
        way.pass();
        scene.traffic().await;
    }
    scene.check(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s12_a_direction_that_stays_dead_is_a_loss_that_watchers_hear_once() {
    let scene = scene(2_000).await;
    scene.proxy.from.swallow();
    until("the loss", || scene.home.heard.count("gone ") == 1).await;
    scene.proxy.from.pass();
    // It was said to be lost, and so it stays.
    let events = scene.home.events();
    let again = |event: &PeerEvent| matches!(event, PeerEvent::NotConnected { why, .. } if why.contains("incarnation"));
    event(&events, "that it is not spoken to", again).await;
    let handled = scene.child.handled();
    event(&events, "that it is lost again", |event| {
        matches!(event, PeerEvent::Lost { .. })
    })
    .await;
    assert_eq!(scene.child.handled(), handled);
    scene.check(1).await;
}
