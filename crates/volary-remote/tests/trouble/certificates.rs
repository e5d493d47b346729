//! Certificates that are expired, of another authority, or for another name: nothing is said, both sides know why, and
//! a good one mends it.

use volary_remote::PeerEvent;
use volary_remote::transport::Tls;

use crate::books::{End, balance_here, balance_there, dead_letters_at_home};
use crate::home::{Home, event, lasting, until};
use crate::program::Setup;
use crate::writer::Writer;
use authority::{Authority, Valid};

#[path = "../common/authority.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with other tests")]
mod authority;

const HOST: &str = "127.0.0.1";

/// A child with this certificate and trust in this authority.
fn with_certificate(setup: Setup, (chain, key): (String, String), authority: &Authority) -> Setup {
    setup
        .with("CHAIN", chain)
        .with("KEY", key)
        .with("AUTHORITY", authority.pem())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_bad_certificate_keeps_the_books_and_a_good_one_mends_it() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let cases = [
        (ours.sign(HOST, Valid::Once), "its certificate has expired"),
        (
            theirs.sign(HOST, Valid::Now),
            "signed by an authority that is not known here",
        ),
        (
            ours.sign("elsewhere.internal", Valid::Now),
            "its certificate is not for 127.0.0.1",
        ),
    ];
    for (certificate, expected) in cases {
        let home = Home::start(lasting(2_000, 1_000).transport(Tls::new(ours.source(HOST)).unwrap())).await;
        let events = home.events();
        let setup = || Setup::of(&home).with("SILENCE", 2_000);
        let mut bad = with_certificate(setup(), certificate, &ours).start().await;
        let node = bad.node.clone();
        home.watch(&bad).await;
        let mut writer = Writer::new(&home, &node, "a");
        writer.write(50).await;
        let why = event(&events, "a reason", |event| {
            matches!(event, PeerEvent::NotConnected { .. })
        })
        .await;
        assert!(
            format!("{why:?}").contains(expected),
            "{why:?} does not say {expected:?}"
        );
        // The child is not taken either, and hears why.
        bad.command("speak 10");
        until("its reason", || {
            bad.lines.find(&["event NotConnected", "certificate"]).is_some()
        })
        .await;
        until("they are given up", || home.reading(&node).unreachable == 50).await;
        until("whoever watches hears that it cannot be reached", || {
            home.heard.count("gone ") == 1
        })
        .await;
        assert_eq!(
            (bad.handled(), home.heard_of(&bad), home.reading(&node).connections),
            (0, 0, 0)
        );
        bad.kill();
        let good = with_certificate(setup().with("AT", &node), ours.sign(HOST, Valid::Now), &ours);
        let mut good = good.start().await;
        let flow = writer.flow();
        good.command("speak 1000000");
        until("traffic", || good.handled() > 50 && home.heard_of(&good) > 50).await;
        let writer = flow.stop().await;
        balance_there(
            &home,
            &[&writer],
            &mut [(&mut bad, End::Killed), (&mut good, End::Lives)],
        )
        .await;
        balance_here(&home, &mut good).await;
        dead_letters_at_home(&home).await;
        home.stop().await;
    }
}
