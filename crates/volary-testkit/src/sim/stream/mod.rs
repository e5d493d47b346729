//! Connections of bytes between nodes, as TCP would have them.
//!
//! `pipe.rs` is one direction, `connections.rs` the table of all of them and what happens to them; here is what a program
//! holds in its hands.

mod connections;
mod crash;
mod half;
mod held;
mod listener;
mod pipe;

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) use connections::Connections;
pub use half::HalfClose;
pub use listener::SimListener;

use super::node::Node;
use super::trace::NodeNumber;
use super::world::{Inner, World};
use connections::{Side, Standing};
use pipe::Item;

/// The longest piece that bytes travel in.
const LONGEST_PIECE: usize = 4 * 1024;

/// One end of a connection between two nodes: bytes arrive in order, after the latency of the
/// [`Link`](super::Link), in pieces drawn from the seed. Reads and writes are short now and then.
///
/// - A slow reader holds the writer up: 64 KiB may be on their way or unread.
/// - Loss is delay. A cut holds up what crosses it, without an error, until it is mended.
/// - [`reset`](SimStream::reset), [`Sim::reset`](super::Sim::reset) and [`Chaos::resets`](super::Chaos::resets) end it with
///   [`ConnectionReset`](io::ErrorKind::ConnectionReset) at both ends.
/// - [`Sim::half_close`](super::Sim::half_close) and [`Chaos::half_closes`](super::Chaos::half_closes) take one direction away
///   while the other lives.
/// - When a node crashes, its peers hear of it late, and not at all while they are cut off from it: their ends are half open.
/// - Shutting down the writing side gives the other end an end of file; its own bytes still come. Dropping the stream
///   closes both, and bytes that come then are answered with a reset.
///
/// ```
/// use std::pin::Pin;
/// use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim| async move {
///     let listener = sim.node("server").listen(80)?;
///     let mut client = sim.node("client").connect("server", 80).await?;
///     let (mut server, peer) = listener.accept().await?;
///     assert_eq!(peer.name(), "client");
///
///     let sent = std::future::poll_fn(|task| Pin::new(&mut client).poll_write(task, b"hello")).await?;
///     let mut room = [0; 5];
///     let mut room = ReadBuf::new(&mut room);
///     std::future::poll_fn(|task| Pin::new(&mut server).poll_read(task, &mut room)).await?;
///     assert!(b"hello"[..sent].starts_with(room.filled()));
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SimStream {
    socket: Arc<Socket>,
}

/// The reading half of a [`SimStream`], made by [`SimStream::into_split`].
///
/// ```
/// # use volary_testkit::Sim;
/// # Sim::new(7).run(|sim| async move {
/// # let listener = sim.node("server").listen(80)?;
/// let (reads, writes) = sim.node("client").connect("server", 80).await?.into_split();
/// drop(writes); // the server reads an end of file; what it sends is still read here
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct SimReadHalf {
    socket: Arc<Socket>,
}

/// The writing half of a [`SimStream`]; dropping it shuts the writing side down.
///
/// ```
/// # use volary_testkit::Sim;
/// # Sim::new(7).run(|sim| async move {
/// # let listener = sim.node("server").listen(80)?;
/// let (_, writes) = sim.node("client").connect("server", 80).await?.into_split();
/// # drop(writes);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct SimWriteHalf {
    socket: Arc<Socket>,
}

/// One end; gone when the last who holds it is.
struct Socket {
    world: Arc<World>,
    number: u64,
    side: Side,
    peer: NodeNumber,
}

impl Node {
    /// Listens on a port of this node; 0 for one that is free.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let listener = sim.node("a").listen(80).unwrap();
    /// assert_eq!(listener.port(), 80);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`AddrInUse`](io::ErrorKind::AddrInUse) if somebody listens there, [`NotConnected`](io::ErrorKind::NotConnected) if the
    /// node is down.
    pub fn listen(&self, port: u16) -> io::Result<SimListener> {
        SimListener::bind(&self.world, self.number, port)
    }

    /// Connects to a port of another node. Takes a latency there and one back, and as long as a link between the two is cut.
    ///
    /// Cancel safe: dropping it gives the connection up.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// # let _ = sim.node("b");
    /// let refused = sim.node("a").connect("b", 80).await.unwrap_err();
    /// assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) if nobody listens there or the node is down,
    /// [`ConnectionReset`](io::ErrorKind::ConnectionReset) if the connection was reset on the way,
    /// [`HostUnreachable`](io::ErrorKind::HostUnreachable) if no node has this name, and
    /// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) if this node is down.
    pub async fn connect(&self, to: &str, port: u16) -> io::Result<SimStream> {
        let (number, peer) = {
            let inner = &mut *self.world.inner();
            if !inner.nodes[self.number.0 as usize].up {
                return Err(crashed());
            }
            let Some(target) = inner.nodes.iter().position(|node| node.name == to) else {
                return Err(io::Error::new(
                    io::ErrorKind::HostUnreachable,
                    format!("there is no node `{to}`"),
                ));
            };
            let now = inner.now;
            inner
                .trace
                .note(now, Some(self.number), None, format_args!("connects to {to}:{port}"));
            let peer = NodeNumber(target as u32);
            (inner.begin_connection(self.number, peer, port), peer)
        };
        let socket = Arc::new(Socket {
            world: self.world.clone(),
            number,
            side: Side::Connector,
            peer,
        });
        poll_fn(|task| socket.poll_connected(task)).await?;
        Ok(SimStream { socket })
    }
}

impl SimStream {
    /// The node at the other end.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(7).run(|sim| async move {
    /// # let listener = sim.node("server").listen(80)?;
    /// let stream = sim.node("client").connect("server", 80).await?;
    /// assert_eq!(stream.peer().name(), "server");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn peer(&self) -> Node {
        Node {
            world: self.socket.world.clone(),
            number: self.socket.peer,
        }
    }

    /// Ends the connection the hard way: this end sees a reset at once, the other one when it hears of it. What is on its
    /// way is lost.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(7).run(|sim| async move {
    /// # let listener = sim.node("server").listen(80)?;
    /// sim.node("client").connect("server", 80).await?.reset();
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn reset(&self) {
        let Socket {
            world, number, side, ..
        } = &*self.socket;
        world.with_wakers(|inner, wakers| inner.abort(*number, *side, wakers));
    }

    /// Takes it apart, for a task that reads and one that writes.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(7).run(|sim| async move {
    /// # let listener = sim.node("server").listen(80)?;
    /// let (reads, writes) = sim.node("client").connect("server", 80).await?.into_split();
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn into_split(self) -> (SimReadHalf, SimWriteHalf) {
        let socket = self.socket.clone();
        (SimReadHalf { socket }, SimWriteHalf { socket: self.socket })
    }
}

impl Socket {
    fn poll_connected(&self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|inner| {
            let Some(connection) = inner.connections.get(self.number) else {
                return Poll::Ready(Err(crashed()));
            };
            let standing = connection.end(self.side).standing;
            match standing {
                Standing::Waiting => {
                    connection.from(self.side.other()).reader = Some(task.waker().clone());
                    Poll::Pending
                }
                Standing::Refused => Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
                other => Poll::Ready(usable(other)),
            }
        })
    }

    fn poll_read(&self, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|inner| {
            let Inner {
                connections, chance, ..
            } = inner;
            let Some(connection) = connections.get(self.number) else {
                return Poll::Ready(Err(crashed()));
            };
            usable(connection.end(self.side).standing)?;
            let pipe = connection.from(self.side.other());
            let most = pipe.readable().min(buffer.remaining());
            if most > 0 {
                let count = short(most, chance);
                pipe.take(count, |bytes| buffer.put_slice(bytes));
                let writer = pipe.writer.take();
                return Poll::Ready(Ok(writer));
            }
            if pipe.finished || buffer.remaining() == 0 {
                return Poll::Ready(Ok(None));
            }
            pipe.reader = Some(task.waker().clone());
            Poll::Pending
        })
        .map_ok(|writer| {
            if let Some(writer) = writer {
                writer.wake();
            }
        })
    }

    fn poll_write(&self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|inner| {
            let Some(connection) = inner.connections.get(self.number) else {
                return Poll::Ready(Err(crashed()));
            };
            usable(connection.end(self.side).standing)?;
            let pipe = connection.from(self.side);
            if pipe.ended {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let most = pipe.room().min(bytes.len());
            if most == 0 && !bytes.is_empty() {
                pipe.writer = Some(task.waker().clone());
                return Poll::Pending;
            }
            let count = short(most, &mut inner.chance);
            let mut rest = &bytes[..count];
            while !rest.is_empty() {
                let length = short(rest.len().min(LONGEST_PIECE), &mut inner.chance);
                let (piece, after) = rest.split_at(length);
                inner.send_item(self.number, self.side, Item::Bytes(piece.to_vec()));
                rest = after;
            }
            Poll::Ready(Ok(count))
        })
    }

    fn poll_shutdown(&self) -> Poll<io::Result<()>> {
        self.with(|inner| {
            let Some(connection) = inner.connections.get(self.number) else {
                return Poll::Ready(Err(crashed()));
            };
            usable(connection.end(self.side).standing)?;
            inner.send_end(self.number, self.side);
            Poll::Ready(Ok(()))
        })
    }

    fn with<R>(&self, look: impl FnOnce(&mut Inner) -> R) -> R {
        look(&mut self.world.inner())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.world.inner().close(self.number, self.side);
    }
}

impl Drop for SimWriteHalf {
    fn drop(&mut self) {
        let Socket {
            world, number, side, ..
        } = &*self.socket;
        let inner = &mut *world.inner();
        let open = inner
            .connections
            .get(*number)
            .map(|connection| connection.end(*side).standing);
        if open == Some(Standing::Open) {
            inner.send_end(*number, *side);
        }
    }
}

/// All of it half of the time, and otherwise less; at least one byte of any.
fn short(most: usize, random: &mut super::choice::Random) -> usize {
    if most <= 1 || random.below(2) == 0 {
        most
    } else {
        1 + random.below(most as u64) as usize
    }
}

fn crashed() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the node has crashed")
}

fn usable(standing: Standing) -> io::Result<()> {
    match standing {
        Standing::Open => Ok(()),
        Standing::Reset => Err(io::ErrorKind::ConnectionReset.into()),
        Standing::Dead => Err(crashed()),
        Standing::Waiting | Standing::Refused | Standing::Closed => Err(io::ErrorKind::NotConnected.into()),
    }
}

impl AsyncRead for SimStream {
    fn poll_read(self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_read(task, buffer)
    }
}

impl AsyncRead for SimReadHalf {
    fn poll_read(self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_read(task, buffer)
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_write(task, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_shutdown()
    }
}

impl AsyncWrite for SimWriteHalf {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.poll_write(task, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_shutdown()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {} ({:?})", self.number, self.side)
    }
}

impl fmt::Debug for SimStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimStream({:?})", self.socket)
    }
}

impl fmt::Debug for SimReadHalf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimReadHalf({:?})", self.socket)
    }
}

impl fmt::Debug for SimWriteHalf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimWriteHalf({:?})", self.socket)
    }
}
