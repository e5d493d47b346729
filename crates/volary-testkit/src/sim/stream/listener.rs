//! Where connections come in.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::super::node::Node;
use super::super::trace::NodeNumber;
use super::super::world::World;
use super::connections::{Listener, Side};
use super::{SimStream, Socket, crashed};

/// The first port that is given out when none is asked for.
const FIRST_FREE_PORT: u16 = 49_152;

/// Takes connections on a port of a node; made by [`Node::listen`].
///
/// The port is free again when it is dropped or its node crashes. Connections that wait to be accepted are reset then; 128 may
/// wait, and more are refused.
///
/// ```
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim| async move {
///     let (server, client) = (sim.node("server"), sim.node("client"));
///     let listener = server.listen(80)?;
///     client.spawn(async {
///         let client = volary_testkit::sim::current().unwrap();
///         client.connect("server", 80).await.unwrap();
///     });
///     let (stream, peer) = listener.accept().await?;
///     assert_eq!(peer.name(), "client");
///     # drop(stream);
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SimListener {
    world: Arc<World>,
    node: NodeNumber,
    port: u16,
    /// Tells it apart from one that listens there after a crash.
    number: u64,
}

impl SimListener {
    pub(super) fn bind(world: &Arc<World>, node: NodeNumber, port: u16) -> io::Result<Self> {
        let inner = &mut *world.inner();
        if !inner.nodes[node.0 as usize].up {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the node is down"));
        }
        let listeners = &inner.connections.listeners;
        let is_free = |port: &u16| !listeners.contains_key(&(node, *port));
        let port = match port {
            0 => (FIRST_FREE_PORT..).find(is_free),
            port => Some(port).filter(is_free),
        };
        let Some(port) = port else {
            return Err(io::ErrorKind::AddrInUse.into());
        };
        let number = inner.connections.next_number();
        let listener = Listener {
            number,
            ..Listener::default()
        };
        inner.connections.listeners.insert((node, port), listener);
        let now = inner.now;
        inner
            .trace
            .note(now, Some(node), None, format_args!("listens on {port}"));
        Ok(SimListener {
            world: world.clone(),
            node,
            port,
            number,
        })
    }

    /// The port.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// assert_ne!(sim.node("a").listen(0).unwrap().port(), 0);
    /// # });
    /// ```
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the next connection, and says who is at its other end.
    ///
    /// Cancel safe: a connection that was not handed over waits for the next call. If several wait at once, only the last of
    /// them is told.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// # let listener = sim.node("a").listen(80).unwrap();
    /// # let _client = sim.node("b").connect("a", 80).await;
    /// let (stream, peer) = listener.accept().await.unwrap();
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) if the node has crashed: listen again when it is back.
    pub async fn accept(&self) -> io::Result<(SimStream, Node)> {
        poll_fn(|task| self.poll_accept(task)).await
    }

    fn poll_accept(&self, task: &mut Context<'_>) -> Poll<io::Result<(SimStream, Node)>> {
        let inner = &mut *self.world.inner();
        let place = (self.node, self.port);
        let Some(listener) = inner
            .connections
            .listeners
            .get_mut(&place)
            .filter(|one| one.number == self.number)
        else {
            return Poll::Ready(Err(crashed()));
        };
        let Some(number) = listener.waiting.pop_front() else {
            listener.acceptor = Some(task.waker().clone());
            return Poll::Pending;
        };
        let peer = match inner.connections.get(number) {
            Some(connection) => {
                connection.end(Side::Acceptor).is_held = true;
                connection.end(Side::Connector).node
            }
            None => self.node,
        };
        inner.say(self.node, peer, "accepts");
        let socket = Socket {
            world: self.world.clone(),
            number,
            side: Side::Acceptor,
            peer,
        };
        let peer = Node {
            world: self.world.clone(),
            number: peer,
        };
        let stream = SimStream {
            socket: Arc::new(socket),
        };
        Poll::Ready(Ok((stream, peer)))
    }
}

impl Drop for SimListener {
    fn drop(&mut self) {
        self.world.with_wakers(|inner, wakers| {
            let place = (self.node, self.port);
            let listeners = &mut inner.connections.listeners;
            if listeners.get(&place).is_none_or(|one| one.number != self.number) {
                return;
            }
            let waiting = listeners.remove(&place).map(|listener| listener.waiting);
            for number in waiting.into_iter().flatten() {
                inner.abort(number, Side::Acceptor, wakers);
                inner.close(number, Side::Acceptor);
            }
        });
    }
}

impl fmt::Debug for SimListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimListener({})", self.port)
    }
}
