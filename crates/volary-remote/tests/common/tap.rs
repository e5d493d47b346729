//! A transport that stands on another: it writes down what this side says on each of its connections, when it dials, and
//! how many connections are open.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use volary::prelude::*;
use volary_core::Moment;
use volary_remote::transport::{BoxFuture, Connection, Listener, Transport};
use volary_wire::native::{Assembler, Frame, FrameDecoder, Limits};

#[derive(Clone)]
pub struct Tap {
    inner: Arc<dyn Transport>,
    system: Arc<OnceLock<ActorSystem>>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// What this side said, connection by connection.
    said: Vec<Vec<u8>>,
    /// When an attempt to connect began, and when it was over.
    attempts: Vec<(Moment, Moment)>,
    open: usize,
}

impl Tap {
    pub fn on(inner: impl Transport) -> Self {
        Tap {
            inner: Arc::new(inner),
            system: Arc::default(),
            seen: Arc::default(),
        }
    }

    /// How many connections were made, by either side.
    pub fn connections(&self) -> usize {
        self.seen.lock().unwrap().said.len()
    }

    /// How many of them this side has not let go of.
    pub fn open(&self) -> usize {
        self.seen.lock().unwrap().open
    }

    /// When each attempt to connect began, and when it was over.
    pub fn attempts(&self) -> Vec<(Moment, Moment)> {
        self.seen.lock().unwrap().attempts.clone()
    }

    /// What this side has said on a connection by now. A frame that went in pieces stands behind the last of them as well.
    pub fn said(&self, connection: usize) -> Vec<Frame> {
        let mut decoder = FrameDecoder::new(Limits::default());
        decoder.feed(&self.seen.lock().unwrap().said[connection]);
        let mut assembler = Assembler::new(Limits::default());
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(frame.clone());
            if let Frame::Chunk(chunk) = frame {
                frames.extend(assembler.accept(chunk, 0).unwrap());
            }
        }
        frames
    }

    fn now(&self) -> Moment {
        self.system.get().unwrap().now()
    }

    fn around(&self, connection: Connection) -> Connection {
        let mut seen = self.seen.lock().unwrap();
        seen.said.push(Vec::new());
        seen.open += 1;
        let writer = Box::new(Tapped {
            inner: connection.writer,
            number: seen.said.len() - 1,
            seen: self.seen.clone(),
        });
        Connection { writer, ..connection }
    }
}

impl Transport for Tap {
    fn attach(&self, system: &ActorSystem) {
        let _ = self.system.set(system.clone());
        self.inner.attach(system);
    }

    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.inner.listen(at)
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let began = self.now();
            let connected = self.inner.connect(to).await;
            self.seen.lock().unwrap().attempts.push((began, self.now()));
            Ok(self.around(connected?))
        })
    }

    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move { Ok(self.around(self.inner.accepted(connection).await?)) })
    }

    fn is_encrypted(&self) -> bool {
        self.inner.is_encrypted()
    }
}

struct Tapped {
    inner: Box<dyn AsyncWrite + Send + Unpin>,
    number: usize,
    seen: Arc<Mutex<Seen>>,
}

impl AsyncWrite for Tapped {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(task, bytes);
        if let Poll::Ready(Ok(count)) = written {
            self.seen.lock().unwrap().said[self.number].extend(&bytes[..count]);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(task)
    }
}

impl Drop for Tapped {
    fn drop(&mut self) {
        self.seen.lock().unwrap().open -= 1;
    }
}
