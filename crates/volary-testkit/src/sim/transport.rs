//! The byte streams of the simulator as a transport of remoting, so that whole nodes talk over a network of the seed.

use std::fmt;
use std::io;

use volary_remote::transport::{BoxFuture, Connection, Listener, Transport};

use super::node::Node;
use super::stream::{SimListener, SimStream};

/// Connects the remoting of a node with that of others over the simulated network; made by [`Node::transport`]. The names
/// of nodes are the hosts.
///
/// ```
/// use volary_remote::Remote;
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim| async move {
///     let node = sim.node("bank");
///     let system = node.start().await;
///     let remote = Remote::builder().transport(node.transport()).start(&system, "bank:4242").await?;
///     assert_eq!(remote.node(), "bank:4242");
///     Ok::<(), volary_remote::RemoteStartError>(())
/// })?;
/// # Ok::<(), volary_remote::RemoteStartError>(())
/// ```
#[derive(Clone)]
pub struct SimTransport {
    node: Node,
}

impl Node {
    /// What the remoting of a system on this node takes as its
    /// [transport](volary_remote::RemoteBuilder::transport).
    ///
    /// ```
    /// # use volary_remote::Remote;
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let builder = Remote::builder().transport(sim.node("a").transport());
    /// # drop(builder);
    /// # });
    /// ```
    #[must_use]
    pub fn transport(&self) -> SimTransport {
        SimTransport { node: self.clone() }
    }
}

fn host_and_port(of: &str) -> io::Result<(&str, u16)> {
    let (host, port) = of.rsplit_once(':').ok_or(io::ErrorKind::InvalidInput)?;
    let port = port.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok((host, port))
}

fn connection(stream: SimStream, from: String) -> Connection {
    let (reader, writer) = stream.into_split();
    Connection {
        reader: Box::new(reader),
        writer: Box::new(writer),
        from,
        identity: None,
    }
}

impl Transport for SimTransport {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let (host, port) = host_and_port(at)?;
            if host != self.node.name() {
                return Err(io::ErrorKind::AddrNotAvailable.into());
            }
            let listener: Box<dyn Listener> = Box::new(Door(self.node.listen(port)?));
            Ok(listener)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let (host, port) = host_and_port(to)?;
            Ok(connection(self.node.connect(host, port).await?, to.to_owned()))
        })
    }

    /// Nobody but the nodes of the run is there.
    fn is_encrypted(&self) -> bool {
        true
    }
}

impl fmt::Debug for SimTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimTransport({})", self.node.name())
    }
}

struct Door(SimListener);

impl Listener for Door {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            let (stream, peer) = self.0.accept().await?;
            Ok(connection(stream, peer.name()))
        })
    }

    fn port(&self) -> u16 {
        self.0.port()
    }
}
