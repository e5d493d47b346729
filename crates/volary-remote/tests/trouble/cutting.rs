//! TCP whose connections a test can cut, all at once.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use volary_remote::transport::{BoxFuture, Connection, Listener, Tcp, Transport};

#[derive(Clone, Default)]
pub(crate) struct Cutting {
    tcp: Tcp,
    cuts: Arc<Mutex<Cuts>>,
}

#[derive(Default)]
struct Cuts {
    /// How often all connections were cut.
    count: u64,
    waiting: Vec<Waker>,
}

impl Cutting {
    pub(crate) fn cut(&self) {
        let mut cuts = self.cuts.lock().unwrap();
        cuts.count += 1;
        cuts.waiting.drain(..).for_each(Waker::wake);
    }

    fn around(&self, connection: Connection) -> Connection {
        let since = self.cuts.lock().unwrap().count;
        let cuts = || self.cuts.clone();
        Connection {
            reader: Box::new(Cut {
                inner: connection.reader,
                cuts: cuts(),
                since,
            }),
            writer: Box::new(Cut {
                inner: connection.writer,
                cuts: cuts(),
                since,
            }),
            from: connection.from,
            identity: connection.identity,
        }
    }
}

impl Transport for Cutting {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.tcp.listen(at)
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move { Ok(self.around(self.tcp.connect(to).await?)) })
    }

    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(std::future::ready(Ok(self.around(connection))))
    }
}

struct Cut<S> {
    inner: S,
    cuts: Arc<Mutex<Cuts>>,
    since: u64,
}

impl<S> Cut<S> {
    /// An error if it was cut; else it is heard when it is.
    fn look(&self, task: &Context<'_>) -> io::Result<()> {
        let mut cuts = self.cuts.lock().unwrap();
        if cuts.count > self.since {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if !cuts.waiting.iter().any(|waker| waker.will_wake(task.waker())) {
            cuts.waiting.push(task.waker().clone());
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Cut<S> {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.look(task)?;
        Pin::new(&mut self.inner).poll_read(task, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Cut<S> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.look(task)?;
        Pin::new(&mut self.inner).poll_write(task, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(task)
    }
}
