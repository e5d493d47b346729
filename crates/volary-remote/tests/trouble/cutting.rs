//! TCP whose connections a test can cut, all at once, and whose calls it can make cross.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use volary_remote::transport::{BoxFuture, Connection, Listener, Tcp, Transport};

#[derive(Clone, Default)]
pub(crate) struct Cutting {
    tcp: Tcp,
    cuts: Arc<Mutex<Cuts>>,
    met: Arc<Notify>,
}

#[derive(Default)]
struct Cuts {
    /// How often all connections were cut.
    count: u64,
    waiting: Vec<Waker>,
    /// Connections that this side makes, or has and did not let go of.
    open: usize,
    /// How often both had called before anything was said.
    crossed: u64,
    /// Who has called, while nothing may be said before both have.
    meeting: Option<Meeting>,
}

#[derive(Default)]
struct Meeting {
    we: bool,
    they: bool,
}

impl Cutting {
    pub(crate) fn cut(&self) {
        let mut cuts = self.cuts.lock().unwrap();
        cuts.count += 1;
        cuts.waiting.drain(..).for_each(Waker::wake);
    }

    /// The same; then neither side hears the other before both have called, if both will.
    pub(crate) fn cut_and_cross(&self) {
        self.cuts.lock().unwrap().meeting = Some(Meeting::default());
        self.cut();
    }

    /// How many connections this side makes, or has and did not let go of.
    pub(crate) fn open(&self) -> usize {
        self.cuts.lock().unwrap().open
    }

    /// How often both had called before anything was said.
    pub(crate) fn crossed(&self) -> u64 {
        self.cuts.lock().unwrap().crossed
    }

    fn hold(&self) -> Arc<Held> {
        self.cuts.lock().unwrap().open += 1;
        Arc::new(Held(self.cuts.clone()))
    }

    fn around(&self, connection: Connection, held: Arc<Held>) -> Connection {
        let since = self.cuts.lock().unwrap().count;
        Connection {
            reader: Box::new(Cut {
                inner: connection.reader,
                held: held.clone(),
                since,
            }),
            writer: Box::new(Cut {
                inner: connection.writer,
                held,
                since,
            }),
            from: connection.from,
            identity: connection.identity,
        }
    }

    /// One side has called; waits for the other, if it is to.
    async fn meet(&self, call: impl FnOnce(&mut Meeting)) {
        let mut met = std::pin::pin!(self.met.notified());
        met.as_mut().enable();
        {
            let cuts = &mut *self.cuts.lock().unwrap();
            let Some(meeting) = &mut cuts.meeting else { return };
            call(meeting);
            if meeting.we && meeting.they {
                cuts.meeting = None;
                cuts.crossed += 1;
                return self.met.notify_waiters();
            }
        }
        met.await;
    }
}

impl Transport for Cutting {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.tcp.listen(at)
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let held = self.hold();
            let connection = self.around(self.tcp.connect(to).await?, held);
            self.meet(|meeting| meeting.we = true).await;
            Ok(connection)
        })
    }

    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            let connection = self.around(connection, self.hold());
            self.meet(|meeting| meeting.they = true).await;
            Ok(connection)
        })
    }
}

/// A connection that is open, or will be.
struct Held(Arc<Mutex<Cuts>>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().unwrap().open -= 1;
    }
}

struct Cut<S> {
    inner: S,
    held: Arc<Held>,
    since: u64,
}

impl<S> Cut<S> {
    /// An error if it was cut; else it is heard when it is.
    fn look(&self, task: &Context<'_>) -> io::Result<()> {
        let mut cuts = self.held.0.lock().unwrap();
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
