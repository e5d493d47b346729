//! Stands between two nodes and does to bytes what a network can do: lets them pass, swallows them in one direction,
//! or ends one direction.
//!
//! A node that is to be reached through a proxy listens at one loopback address and is known at another, with the same
//! port.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Where the node behind the proxy listens.
pub(crate) const BEHIND: &str = "127.0.0.2";
/// Where it is known.
pub(crate) const BEFORE: &str = "127.0.0.1";

/// What becomes of the bytes of one direction.
#[derive(Default)]
pub(crate) struct Way {
    swallowed: AtomicBool,
    /// What was open when this was rung ends in this direction.
    ended: Notify,
}

impl Way {
    /// Bytes vanish from now on, as they do behind a dead router: who sends them hears nothing of it.
    pub(crate) fn swallow(&self) {
        self.swallowed.store(true, Release);
    }

    pub(crate) fn pass(&self) {
        self.swallowed.store(false, Release);
    }

    /// The receiver hears that nothing more comes; the other direction goes on.
    pub(crate) fn end(&self) {
        self.ended.notify_waiters();
    }
}

#[derive(Clone)]
pub(crate) struct Proxy {
    /// To the node behind, and from it.
    pub(crate) to: Arc<Way>,
    pub(crate) from: Arc<Way>,
}

impl Proxy {
    /// Before the node that listens at this port. An error if the port is taken.
    pub(crate) async fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((BEFORE, port)).await?;
        let proxy = Proxy {
            to: Arc::default(),
            from: Arc::default(),
        };
        let serving = proxy.clone();
        tokio::spawn(async move {
            while let Ok((caller, _)) = listener.accept().await {
                if let Ok(called) = TcpStream::connect((BEHIND, port)).await {
                    serving.join(caller, called);
                }
            }
        });
        Ok(proxy)
    }

    fn join(&self, caller: TcpStream, called: TcpStream) {
        let (from_caller, to_caller) = caller.into_split();
        let (from_called, to_called) = called.into_split();
        tokio::spawn(carry(from_caller, to_called, self.to.clone()));
        tokio::spawn(carry(from_called, to_caller, self.from.clone()));
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, way: Arc<Way>) {
    let mut buffer = vec![0; 16 << 10];
    let ended = way.ended.notified();
    let mut ended = std::pin::pin!(ended);
    loop {
        let read = {
            let mut reading = std::pin::pin!(from.read(&mut buffer));
            std::future::poll_fn(|task| {
                if ended.as_mut().poll(task).is_ready() {
                    return std::task::Poll::Ready(Ok(0));
                }
                reading.as_mut().poll(task)
            })
            .await
        };
        let Ok(read) = read else { break };
        if read == 0 {
            break;
        }
        if !way.swallowed.load(Acquire) && to.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
    // Whoever goes on sending meets no reset: that would end the other direction too.
    while !matches!(from.read(&mut buffer).await, Ok(0) | Err(_)) {}
}
