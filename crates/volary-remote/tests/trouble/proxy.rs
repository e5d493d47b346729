//! Stands between two nodes and does to bytes what a network can do: lets them pass, swallows them in one direction,
//! ends one direction, or reads so slowly that whoever writes must wait.
//!
//! A node that is to be reached through a proxy listens at one loopback address and is known at another, with the same
//! port.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::program::{Child, Setup};

/// Where the node behind the proxy listens.
const BEHIND: &str = "127.0.0.2";
/// Where it is known.
const BEFORE: &str = "127.0.0.1";

/// How many bytes are read at a time, which may be one time more than is allowed when a bound is set.
pub(crate) const BUFFER: usize = 16 << 10;

/// What becomes of the bytes of one direction.
#[derive(Default)]
pub(crate) struct Way {
    swallowed: AtomicBool,
    /// What was open when this was rung ends in this direction.
    ended: Notify,
    /// How many bytes may still be read, if that is bounded.
    allowance: Mutex<Option<usize>>,
    /// There may be more of it.
    allowed: Notify,
    /// How many bytes were read.
    read: AtomicUsize,
}

impl Way {
    /// Bytes vanish from now on, as they do behind a dead router: who sends them hears nothing of it.
    pub(crate) fn swallow(&self) {
        self.swallowed.store(true, Release);
    }

    pub(crate) fn pass(&self) {
        self.swallowed.store(false, Release);
    }

    /// Nothing is read from now on but what is allowed, so that what is sent stays in the sockets.
    pub(crate) fn throttle(&self) {
        *self.allowance.lock().unwrap() = Some(0);
    }

    /// So many bytes more may be read.
    pub(crate) fn tick(&self, bytes: usize) {
        if let Some(left) = &mut *self.allowance.lock().unwrap() {
            *left += bytes;
        }
        self.allowed.notify_waiters();
    }

    /// Everything may be read again.
    pub(crate) fn unthrottle(&self) {
        *self.allowance.lock().unwrap() = None;
        self.allowed.notify_waiters();
    }

    /// How many bytes were read.
    pub(crate) fn read(&self) -> usize {
        self.read.load(Acquire)
    }

    /// Waits until something may be read, and takes up to so much of the allowance; none if there is no bound.
    async fn take(&self, most: usize) -> Option<usize> {
        loop {
            let mut allowed = std::pin::pin!(self.allowed.notified());
            allowed.as_mut().enable();
            match &mut *self.allowance.lock().unwrap() {
                None => return None,
                Some(0) => {}
                Some(left) => {
                    let taken = most.min(*left);
                    *left -= taken;
                    return Some(taken);
                }
            }
            allowed.await;
        }
    }

    /// The receiver hears that nothing more comes; the other direction goes on.
    pub(crate) fn end(&self) {
        self.ended.notify_waiters();
    }
}

/// A child that is reached through a proxy only.
pub(crate) async fn behind_a_proxy(setup: &Setup) -> (Child, Proxy) {
    let setup = setup
        .clone()
        .with("AT", format!("{BEHIND}:0"))
        .with("ADVERTISE", BEFORE);
    loop {
        let child = setup.start().await;
        let port = child.node.rsplit_once(':').unwrap().1.parse().unwrap();
        // Somebody may have that port at the other address.
        if let Ok(proxy) = Proxy::start(port).await {
            return (child, proxy);
        }
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
    let mut buffer = vec![0; BUFFER];
    let ended = way.ended.notified();
    let mut ended = std::pin::pin!(ended);
    loop {
        let read = {
            let mut reading = std::pin::pin!(async {
                let taken = way.take(BUFFER).await;
                let read = from.read(&mut buffer[..taken.unwrap_or(BUFFER)]).await?;
                if let Some(taken) = taken {
                    way.tick(taken - read); // less came
                }
                way.read.fetch_add(read, AcqRel);
                Ok::<usize, io::Error>(read)
            });
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
