//! The cable is pulled: two network namespaces, a pair of interfaces between them, and one end that goes down.

use std::io::Write;
use std::process::{Command, Stdio};

use volary_remote::PeerEvent;

use crate::books::{End, balance_here, balance_there, dead_letters_at_home, nothing_behind_the_end};
use crate::home::{Home, event, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;

/// A namespace with one interface, and the other end of it here. Gone when it is dropped.
struct Cable {
    name: String,
    net: u8,
}

fn ip(words: &str) -> bool {
    let call = Command::new("ip").args(words.split(' ')).stderr(Stdio::null()).status();
    call.is_ok_and(|status| status.success())
}

impl Cable {
    /// `None` where that is not allowed.
    fn lay() -> Option<Self> {
        let id = std::process::id();
        let cable = Cable {
            name: format!("vol{id}"),
            net: (id % 250) as u8,
        };
        let Cable { name, net } = &cable;
        let laid = ip(&format!("netns add {name}"))
            && ip(&format!("link add {name}a type veth peer name {name}b netns {name}"))
            && ip(&format!("addr add {}/30 dev {name}a", cable.here()))
            && ip(&format!("link set {name}a up"))
            && ip(&format!("-n {name} addr add 10.213.{net}.2/30 dev {name}b"))
            && ip(&format!("-n {name} link set {name}b up"))
            && ip(&format!("-n {name} link set lo up"));
        laid.then_some(cable)
    }

    fn here(&self) -> String {
        format!("10.213.{}.1", self.net)
    }

    fn there(&self) -> String {
        format!("10.213.{}.2", self.net)
    }

    fn pull(&self) {
        assert!(ip(&format!("-n {0} link set {0}b down", self.name)));
    }

    fn plug(&self) {
        assert!(ip(&format!("-n {0} link set {0}b up", self.name)));
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        ip(&format!("link del {}a", self.name));
        ip(&format!("netns del {}", self.name));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_pulled_cable_is_noticed_on_both_sides_and_survived() {
    let Some(cable) = Cable::lay() else {
        let line = "skipped: r3_a_pulled_cable_is_noticed_on_both_sides_and_survived: needs root and `ip netns`\n";
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        return;
    };
    let builder = lasting(700, 4_000).plaintext_beyond_loopback();
    let home = Home::start_at(builder, &format!("{}:0", cable.here())).await;
    let events = home.events();
    let setup = Setup::of(&home)
        .with("AT", format!("{}:0", cable.there()))
        .with("BEYOND", 1)
        .with("LOST", 4_000);
    let mut child = setup.run_by(&["ip", "netns", "exec", &cable.name]).start().await;
    home.watch(&child).await;
    child.command("speak 1000000");
    let flow = Writer::new(&home, &child.node, "a").padded(20_000).flow();
    for round in 1..=2 {
        let (before, heard) = (child.handled(), home.heard_of(&child));
        until("traffic", || {
            child.handled() > before + 200 && home.heard_of(&child) > heard + 200
        })
        .await;
        cable.pull();
        event(&events, "that it is noticed here", |event| {
            matches!(event, PeerEvent::Disconnected { .. })
        })
        .await;
        until("and there", || child.lines.count("event Disconnected") >= round).await;
        assert_eq!(home.heard.count("gone "), 0);
        cable.plug();
    }
    let (before, heard) = (child.handled(), home.heard_of(&child));
    until("traffic", || {
        child.handled() > before + 200 && home.heard_of(&child) > heard + 200
    })
    .await;
    // For good.
    cable.pull();
    until("the loss", || home.heard.count("gone ") == 1).await;
    cable.plug();
    until("that it is refused", || {
        child.lines.find(&["event NotConnected", "it refused"]).is_some()
    })
    .await;
    let writer = flow.stop().await;
    nothing_behind_the_end(&home, &child, 1);
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    balance_here(&home, &mut child).await;
    dead_letters_at_home(&home).await;
    let reading = home.reading(&child.node);
    assert!(reading.connections >= 3 && reading.unconfirmed > 0, "{reading:?}");
    home.stop().await;
}
