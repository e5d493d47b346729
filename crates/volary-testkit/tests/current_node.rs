//! T5: static functions find the node that they are called on.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use volary::prelude::*;
use volary_testkit::sim::{Clock, Link, Node};
use volary_testkit::{Sim, sim};

const MS: Duration = Duration::from_millis(1);

fn here() -> Option<String> {
    sim::current().map(|node| node.name())
}

struct Asked;

#[actor]
impl Asked {
    fn plain(&mut self) -> Option<String> {
        here()
    }
    async fn later(&mut self, ctx: &mut Context<Self>) -> (Option<String>, Option<String>) {
        let before = here();
        ctx.sleep(MS).await;
        (before, here())
    }
}

#[test]
fn t5_handlers_and_tasks_are_on_their_node_and_the_scenario_on_none() {
    Sim::check(100, |sim| async move {
        assert_eq!(here(), None);
        sim.invariant("what looks on is on no node", || {
            here().map_or(Ok(()), |node| Err(format!("it is on {node}")))
        });
        let seen = Arc::new(Mutex::new(Vec::new()));
        for name in ["a", "b", "c"] {
            let node = sim.node(name);
            let actor = node.start().await.spawn(|| Asked).await.unwrap();
            let seen = seen.clone();
            node.spawn(async move {
                let asked = (actor.ask(Plain).await.unwrap(), actor.ask(Later).await.unwrap());
                // As a library would, from a function without arguments.
                sim::current().unwrap().spawn(async move {
                    let node = sim::current().unwrap();
                    node.sleep(MS).await;
                    seen.lock().unwrap().push((name, asked, here()));
                });
            });
        }
        sim.sleep(1_000 * MS).await;
        assert_eq!(here(), None);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 3);
        for (name, asked, task) in seen.iter() {
            let own = Some((*name).to_owned());
            assert_eq!(*asked, (own.clone(), (own.clone(), own.clone())));
            assert_eq!(*task, own);
        }
    });
    assert_eq!(here(), None);
}

#[test]
fn t5_a_sleep_goes_by_the_nodes_clock_also_when_that_is_changed() {
    Sim::check(50, |sim| async move {
        // From slow to right and from right to slow: half of the time each.
        for (first, then) in [(-500_000, 0), (0, -500_000)] {
            let (node, world) = (sim.node("a"), sim.clone());
            node.set_clock(Clock::true_time().drifting(first));
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let began = sim.now();
            node.spawn(async move {
                sim::current().unwrap().sleep(2_000 * MS).await;
                let _ = sender.send(world.now());
            });
            sim.sleep(1_000 * MS).await;
            node.set_clock(Clock::true_time().drifting(then));
            let passed = receiver.await.unwrap() - began;
            let wanted = if first < 0 { 2_500 * MS } else { 3_000 * MS };
            assert!(
                passed >= wanted - MS && passed <= wanted + MS,
                "{passed:?}, not {wanted:?}"
            );
        }
    });
}

/// How often each end of a link heard of the other.
async fn ping(sim: &Sim, link: Link) -> (usize, usize) {
    let (a, b) = (sim.node("a"), sim.node("b"));
    sim.set_network(link);
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    for _ in 0..50 {
        let heard = heard.clone();
        a.send(&b, "ping", move |a: Node, b: Node| {
            heard.lock().unwrap().push(here().unwrap());
            let heard = heard.clone();
            b.send(&a, "pong", move |_, _| heard.lock().unwrap().push(here().unwrap()));
        });
    }
    sim.sleep(1_000 * MS).await;
    let heard = heard.lock().unwrap();
    let count = |name: &str| heard.iter().filter(|heard| *heard == name).count();
    (count("b"), count("a"))
}

#[test]
fn t5_packets_arrive_on_the_other_node_as_the_link_says() {
    Sim::check(20, |sim| async move {
        assert_eq!(ping(&sim, Link::default()).await, (50, 50));
        assert_eq!(ping(&sim, Link::default().loss(1.0)).await, (0, 0));
        assert_eq!(ping(&sim, Link::default().duplication(1.0)).await, (100, 200));
        sim.cut(&sim.node("b"), &sim.node("a"));
        assert_eq!(ping(&sim, Link::default()).await, (50, 0));
        sim.heal();
        sim.node("b").crash();
        assert_eq!(ping(&sim, Link::default()).await, (0, 0));
    });
}
