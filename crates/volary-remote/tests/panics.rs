//! S11, R3: what panics in a transport or codec of the user's costs an attempt or a connection, never the association.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context as Task, Poll};

use common::*;
use tokio::io::{AsyncRead, ReadBuf};
use volary_remote::transport::{BoxFuture, Connection, Listener, Memory, Transport};

/// Panics as often as it is told to, then does as it should.
#[derive(Clone, Default)]
struct Shaky {
    inner: Memory,
    connecting: Arc<AtomicUsize>,
    accepting: Arc<AtomicUsize>,
    taking: Arc<AtomicUsize>,
    reading: Arc<AtomicUsize>,
}

fn falter(times: &AtomicUsize, what: &str) {
    let left = times.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
    assert!(left.is_err(), "{what} as told");
}

struct ShakyDoor(Box<dyn Listener>, Shaky);

impl Listener for ShakyDoor {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async {
            let connection = self.0.accept().await;
            falter(&self.1.accepting, "accept");
            connection
        })
    }
    fn port(&self) -> u16 {
        self.0.port()
    }
}

struct ShakyReader(Box<dyn AsyncRead + Send + Unpin>, Shaky);

impl AsyncRead for ShakyReader {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Task<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        falter(&self.1.reading, "read");
        Pin::new(&mut self.0).poll_read(task, out)
    }
}

impl Transport for Shaky {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let door: Box<dyn Listener> = Box::new(ShakyDoor(self.inner.listen(at).await?, self.clone()));
            Ok(door)
        })
    }
    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            falter(&self.connecting, "connect");
            let mut connection = self.inner.connect(to).await?;
            connection.reader = Box::new(ShakyReader(connection.reader, self.clone()));
            Ok(connection)
        })
    }
    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            falter(&self.taking, "take");
            Ok(connection)
        })
    }
    fn is_encrypted(&self) -> bool {
        true
    }
}

async fn shaky_pair(network: &Shaky) -> (Node, Node) {
    let make = || {
        builder()
            .transport(network.clone())
            .options(options().handshakes(4).silence(PATIENCE * 100))
    };
    let one = Node::start("one", make()).await;
    let other = Node::start("other", make()).await;
    other.desk("desk").await;
    one.desk("desk").await;
    (one, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_transport_that_panics_is_tried_again() {
    let network = Shaky::default();
    let (one, other) = shaky_pair(&network).await;
    network.connecting.store(2, SeqCst);
    network.accepting.store(2, SeqCst);
    // More often than handshakes may be open at a time.
    network.taking.store(6, SeqCst);
    let far = one.far(&other, "desk");
    let answer = far.ask(Note { number: 1 }).timeout(PATIENCE);
    assert_eq!(soon("an answer", answer).await.unwrap(), 1);
    assert_eq!(network.taking.load(SeqCst), 0);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_connection_that_panics_is_replaced_by_another() {
    let network = Shaky::default();
    let (one, other) = shaky_pair(&network).await;
    let far = one.far(&other, "desk");
    soon("an answer", far.ask(Note { number: 1 })).await.unwrap();
    network.reading.store(1, SeqCst);
    // Whichever of the two reads next.
    eventually("the end of it", || {
        let _ = far.tell(Note { number: 2 });
        one.remote.peers()[0].connections > 1
    })
    .await;
    assert!(
        soon("an answer", far.ask(Note { number: 3 }).timeout(PATIENCE))
            .await
            .is_ok()
    );
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}
