//! R5: nodes with certificates speak with those they know, and nobody else.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and may use the network"
)]

#[path = "common/authority.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each file uses its part, in tests only"
)]
mod authority;
mod common;

use std::sync::Arc;
use std::time::Duration;

use authority::{Authority, Valid};
use common::*;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::future::IntoFuture;
use tokio::io::AsyncReadExt;
use volary_remote::transport::{CertificateError, CertificateSource, Tls};
use volary_remote::{PeerEvent, Right, Rights};

const HOST: &str = "127.0.0.1";

async fn node(name: &str, tls: &Tls) -> Node {
    Node::start(name, builder().transport(tls.clone())).await
}

async fn node_with(name: &str, source: CertificateSource) -> Node {
    node(name, &Tls::new(source).unwrap()).await
}

async fn stop(nodes: impl IntoIterator<Item = Node>) {
    for node in nodes {
        node.system.stop().await.unwrap();
    }
}

/// Why `one` has no connection to `other` although it wants one.
async fn why_not(one: &Node, other: &Node) -> String {
    let events = one.system.events().subscribe::<PeerEvent>();
    // What waits for a connection arrives when there is one at last; here, with nobody.
    let far = one.far(other, "nobody");
    let ask = far.ask(Note { number: 1 });
    let hear = async {
        loop {
            match events.next().await.unwrap() {
                PeerEvent::NotConnected { why, .. } => break why,
                PeerEvent::Connected { .. } => panic!("connected"),
                _ => {}
            }
        }
    };
    let (asked, why) = soon("no connection", async {
        tokio::join!(ask.timeout(Duration::from_millis(300)).into_future(), hear)
    })
    .await;
    assert!(asked.is_err(), "{asked:?}");
    why
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_nodes_of_one_authority_speak_both_ways_and_beyond_loopback() {
    let authority = Authority::new();
    let start = |name| {
        let tls = Tls::new(authority.source(HOST)).unwrap();
        let builder = builder().transport(tls).advertise(HOST);
        // Plaintext would not be let out so.
        Node::start_at(name, builder, "0.0.0.0:0")
    };
    let (one, other) = (start("one").await, start("other").await);
    let near = one.desk("near").await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    assert_eq!(soon("an answer", desk.ask(Note { number: 1 })).await.unwrap(), 1);
    let large: Vec<u8> = (0..1 << 20).map(|n: u32| n as u8).collect();
    let echoed = soon("an echo", desk.ask(Echo { bytes: large.clone() })).await.unwrap();
    assert_eq!(echoed, large);
    let (to, number) = (near.recipient(), 42);
    assert!(soon("told", desk.ask(Tell { to, number })).await.unwrap());
    eventually("it comes back", || one.log.all() == ["42"]).await;
    desk.stop();
    soon("its end", desk.terminated()).await;
    stop([one, other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_certificates_that_are_not_valid_are_refused_on_both_sides_with_the_reason() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (chain, key) = theirs.sign(HOST, Valid::Now);
    let stranger = CertificateSource::pem(chain, key, ours.pem());
    // What a node with that certificate hears when it calls, and what those hear who call it.
    let not_taken = "it does not take the certificate of this node";
    let cases = [
        (
            ours.source_when(HOST, Valid::Once),
            not_taken,
            "its certificate has expired",
        ),
        (
            ours.source_when(HOST, Valid::Someday),
            not_taken,
            "its certificate is not valid yet",
        ),
        (stranger, not_taken, "signed by an authority that is not known here"),
        (
            ours.source("elsewhere.internal"),
            "the certificate is for elsewhere.internal, not for 127.0.0.1",
            "its certificate is not for 127.0.0.1",
        ),
    ];
    for (source, caller, called) in cases {
        for calls in ["bad", "good"] {
            let good = node_with("good", ours.source(HOST)).await;
            let bad = node_with("bad", source.clone()).await;
            let (why, expected) = match calls {
                "bad" => (why_not(&bad, &good).await, caller),
                _ => (why_not(&good, &bad).await, called),
            };
            assert!(why.contains(expected), "{why:?} does not say {expected:?}");
            assert!(good.remote.peers().iter().all(|peer| peer.connections == 0));
            let called = if calls == "bad" { &good } else { &bad };
            eventually("it is counted", || called.remote.refused_connections() > 0).await;
            stop([good, bad]).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_the_reason_is_said_once_however_often_it_is_tried() {
    let ours = Authority::new();
    let good = node_with("good", ours.source(HOST)).await;
    let bad = node_with("bad", ours.source_when(HOST, Valid::Once)).await;
    let events = good.system.events().subscribe::<PeerEvent>();
    let far = good.far(&bad, "desk");
    let ask = far.ask(Note { number: 1 });
    // Some five attempts fit in there.
    assert!(
        soon("no answer", ask.timeout(Duration::from_millis(800)))
            .await
            .is_err()
    );
    let said = std::iter::from_fn(|| events.try_next()).count();
    assert_eq!(said, 1);
    stop([good, bad]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_caller_without_certificate_is_refused() {
    let authority = Authority::new();
    let node = node_with("node", authority.source(HOST)).await;
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(node.remote.node()).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from(HOST).unwrap();
    let mut stream = soon("the server's half", connector.connect(name, stream))
        .await
        .unwrap();
    let error = soon("the refusal", stream.read_u8()).await.unwrap_err();
    assert!(error.to_string().contains("CertificateRequired"), "{error}");
    eventually("it is counted", || node.remote.refused_connections() > 0).await;
    stop([node]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_plaintext_and_tls_tell_each_other_apart() {
    let authority = Authority::new();
    let safe = node_with("safe", authority.source(HOST)).await;
    let plain = Node::start("plain", builder()).await;
    let why = why_not(&plain, &safe).await;
    assert!(why.contains("it speaks TLS, and this node does not"), "{why}");
    stop([safe, plain]).await;
    let safe = node_with("safe", authority.source(HOST)).await;
    let plain = Node::start("plain", builder()).await;
    let why = why_not(&safe, &plain).await;
    assert!(why.contains("it does not speak TLS"), "{why}");
    stop([safe, plain]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_certificates_change_under_traffic_without_loss() {
    let (old, new) = (Authority::new(), Authority::new());
    let both = old.pem() + &new.pem();
    let source = |authority: &Authority| {
        let (chain, key) = authority.sign(HOST, Valid::Now);
        CertificateSource::pem(chain, key, &both)
    };
    let (here, there) = (Tls::new(source(&old)).unwrap(), Tls::new(source(&old)).unwrap());
    let (one, other) = (node("one", &here).await, node("other", &there).await);
    other.desk("desk").await;
    // Knows the new authority only, so that it can speak with nobody who shows an old certificate.
    let late = node_with("late", new.source(HOST)).await;
    let why = why_not(&late, &other).await;
    assert!(why.contains("an authority that is not known here"), "{why}");

    let desk = one.far(&other, "desk");
    for number in 0..3_000 {
        while desk.tell(Note { number }).is_err() {
            tokio::task::yield_now().await;
        }
        match number {
            1_000 => there.replace(source(&new)).unwrap(),
            2_000 => here.replace(source(&new)).unwrap(),
            _ => {}
        }
    }
    assert_eq!(soon("the last", desk.ask(Note { number: 3_000 })).await.unwrap(), 3_001);
    eventually("all are confirmed", || one.remote.peers()[0].under_way == 0).await;
    let reading = one
        .remote
        .peers()
        .into_iter()
        .find(|peer| peer.node == other.remote.node())
        .unwrap();
    assert_eq!((reading.sent, reading.confirmed), (3_001, 3_001), "{reading:?}");
    assert_eq!(reading.connections, 1, "the connection goes on");
    let expected: Vec<String> = (0..=3_000).map(|n: u64| n.to_string()).collect();
    assert!(other.log.all() == expected, "all came, once and in order");

    let far = late.far(&other, "desk");
    let answer = far.ask(Note { number: 7 });
    assert_eq!(soon("new connections use the new one", answer).await.unwrap(), 3_002);
    stop([one, other, late]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_files_are_read_again_and_bad_ones_change_nothing() {
    let (old, new) = (Authority::new(), Authority::new());
    let folder = std::env::temp_dir().join(format!("volary-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (chain, key, authorities) = (folder.join("node.pem"), folder.join("node.key"), folder.join("all.pem"));
    let put = |authority: &Authority| {
        let (certificate, secret) = authority.sign(HOST, Valid::Now);
        std::fs::write(&chain, certificate).unwrap();
        std::fs::write(&key, secret).unwrap();
        std::fs::write(&authorities, old.pem() + &new.pem()).unwrap();
    };
    put(&old);
    let tls = Tls::new(CertificateSource::files(&chain, &key, &authorities)).unwrap();
    let other = node("other", &tls).await;
    other.desk("desk").await;
    let late = node_with("late", new.source(HOST)).await;
    let why = why_not(&late, &other).await;
    assert!(why.contains("an authority that is not known here"), "{why}");

    std::fs::write(&key, "nonsense").unwrap();
    assert!(matches!(
        tls.reload(),
        Err(CertificateError::Unreadable { what: "key", .. })
    ));
    std::fs::write(&key, new.sign(HOST, Valid::Now).1).unwrap();
    assert!(
        matches!(tls.reload(), Err(CertificateError::Unusable { .. })),
        "a key of another"
    );
    std::fs::write(&chain, "").unwrap();
    assert!(matches!(
        tls.reload(),
        Err(CertificateError::Missing { what: "certificate" })
    ));
    let old_friend = node_with("friend", old.source(HOST)).await;
    let far = old_friend.far(&other, "desk");
    let answer = far.ask(Note { number: 1 });
    assert_eq!(soon("the old ones stay", answer).await.unwrap(), 1);

    put(&new);
    tls.reload().unwrap();
    let far = late.far(&other, "desk");
    let answer = far.ask(Note { number: 2 });
    assert_eq!(soon("the new ones are used", answer).await.unwrap(), 2);
    std::fs::remove_dir_all(&folder).unwrap();
    stop([other, late, old_friend]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_rights_go_by_the_names_in_the_certificate() {
    let authority = Authority::new();
    let tls = Tls::new(authority.source("localhost")).unwrap();
    let strict = builder().transport(tls).rights(|peer| match peer.verified() {
        Some(names) if names.is_for("localhost") => Rights::all(),
        Some(_) => Rights::all().without(Right::Control),
        None => Rights::none(),
    });
    let other = Node::start_at("other", strict, "localhost:0").await;
    let guest = node_with("guest", authority.source(HOST)).await;
    let tls = Tls::new(authority.source("localhost")).unwrap();
    let admin = Node::start_at("admin", builder().transport(tls), "localhost:0").await;
    let real = other.desk("desk").await;
    let events = guest.system.events().subscribe::<PeerEvent>();
    let desk = guest.far(&other, "desk");
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    desk.stop();
    soon("it is forbidden", async {
        while !matches!(events.next().await.unwrap(), PeerEvent::Forbidden { right, .. } if right == Right::Control) {}
    })
    .await;
    assert!(real.is_alive());
    let desk = admin.far(&other, "desk");
    soon("an answer", desk.ask(Note { number: 2 })).await.unwrap();
    desk.stop();
    soon("it stops", real.terminated()).await;
    stop([other, guest, admin]).await;
}
