//! R3: callers who are gone before they are looked at keep nobody else waiting.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and may use the network"
)]

#[cfg(feature = "tls")]
#[path = "common/authority.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each file uses its part, in tests only"
)]
mod authority;
mod common;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use common::*;
use tokio::net::TcpStream;
use volary_remote::transport::{BoxFuture, Connection, Listener, Memory, Transport};

/// As many as a listener keeps that has not come to them yet, on any system.
const MANY: u64 = 120;

/// Connects and resets the connection, again and again, before anybody on this thread can look.
fn reset(at: &str) {
    for _ in 0..MANY {
        let stream = std::net::TcpStream::connect(at).unwrap();
        stream.set_nonblocking(true).unwrap();
        TcpStream::from_std(stream).unwrap().set_zero_linger().unwrap();
    }
}

/// An honest caller who comes behind them is greeted with its first call, and not in vain for the time that it has for that.
async fn an_honest_caller_is_heard(one: Node, bank: Node) {
    bank.desk("desk").await;
    let far = one.far(&bank, "desk");
    reset(bank.remote.node());
    soon("an answer", far.ask(Note { number: 1 })).await.unwrap();
    assert_eq!((reading(&one).attempts, reading(&one).failed_attempts), (1, 0));
    eventually("all are counted", || bank.remote.refused_connections() == MANY).await;
    stop(one, bank).await;
}

#[tokio::test]
async fn r3_who_calls_behind_many_who_reset_their_connections_is_heard() {
    let (one, bank) = (
        Node::start("one", builder()).await,
        Node::start("bank", builder()).await,
    );
    an_honest_caller_is_heard(one, bank).await;
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn r5_who_calls_behind_many_who_reset_their_connections_is_heard_with_certificates() {
    use volary_remote::transport::Tls;

    let authority = authority::Authority::new();
    let start = async |name| {
        let tls = Tls::new(authority.source("127.0.0.1")).unwrap();
        Node::start(name, builder().transport(tls)).await
    };
    let (one, bank) = (start("one").await, start("bank").await);
    an_honest_caller_is_heard(one, bank).await;
}

/// Of its callers the first so many are gone, as it says.
#[derive(Clone, Default)]
struct Forsaken(Memory, Arc<AtomicUsize>);

struct ForsakenDoor(Box<dyn Listener>, Arc<AtomicUsize>);

impl Listener for ForsakenDoor {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async {
            let left = self.1.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
            match left {
                Ok(_) => Err(io::ErrorKind::ConnectionAborted.into()),
                Err(_) => self.0.accept().await,
            }
        })
    }
    fn port(&self) -> u16 {
        self.0.port()
    }
}

impl Transport for Forsaken {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let door: Box<dyn Listener> = Box::new(ForsakenDoor(self.0.listen(at).await?, self.1.clone()));
            Ok(door)
        })
    }
    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        self.0.connect(to)
    }
    fn is_encrypted(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn r3_a_listener_that_says_that_callers_are_gone_is_listened_to_all_the_same() {
    let network = Forsaken::default();
    network.1.store(2_000, SeqCst);
    let one = Node::start("one", builder().transport(network.clone())).await;
    let bank = Node::start("bank", builder().transport(network)).await;
    bank.desk("desk").await;
    soon("an answer", one.far(&bank, "desk").ask(Note { number: 1 }))
        .await
        .unwrap();
    let gone = || one.remote.refused_connections() + bank.remote.refused_connections();
    eventually("all are counted", || gone() == 2_000).await;
    stop(one, bank).await;
}
