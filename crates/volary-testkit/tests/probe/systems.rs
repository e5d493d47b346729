//! T3: several systems in one test.

use super::*;

#[test]
fn t3_three_systems_in_one_test_send_a_message_around() {
    Sim::check(100, |sim| async move {
        let nodes = ["a", "b", "c"].map(|name| sim.node(name));
        let mut systems = Vec::new();
        for node in &nodes {
            systems.push(node.start().await);
        }
        // From a to b to c, and back to a, where the probe is.
        for (from, to, path) in [(0, 1, "/user/relay"), (1, 2, "/user/relay"), (2, 0, "/user/home")] {
            let next = sim.wire::<Ping>(&nodes[from], &nodes[to], path);
            let relay = move || Relay { next: next.clone() };
            systems[from].spawn(relay).named("relay").await.unwrap();
        }
        let mut home = Probe::<Ping>::named(&systems[0], "home").await;
        systems[0].tell("/user/relay", Ping(0)).unwrap();
        home.expect(Ping(3)).await;
        sim.cut(&nodes[1], &nodes[2]);
        systems[0].tell("/user/relay", Ping(0)).unwrap();
        home.expect_none(SECOND).await;
        sim.heal();
        systems[0].tell("/user/relay", Ping(10)).unwrap();
        home.expect(Ping(13)).await;
        for system in systems {
            system.stop().await.unwrap();
        }
    });
}
