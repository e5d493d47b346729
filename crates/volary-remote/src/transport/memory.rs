//! Connections within one process.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{BoxFuture, Connection, Listener, Transport};

/// How many bytes are on their way in one direction.
const PIPE: usize = 256 * 1024;

type Doors = Mutex<BTreeMap<String, mpsc::UnboundedSender<Connection>>>;

/// Connects nodes of one process that share it: each clone leads to the same nodes.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// let network = Memory::default();
/// # let (first, second) = (system("one").await?, system("other").await?);
/// let one = Remote::builder().transport(network.clone()).start(&first, "one:1").await?;
/// let other = Remote::builder().transport(network).start(&second, "other:1").await?;
/// assert_eq!(one.at("other:1").metrics().await?.system, "other");
/// # Ok(()) }
/// ```
#[derive(Debug, Default, Clone)]
pub struct Memory {
    doors: Arc<Doors>,
}

impl Transport for Memory {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let (host, port) = at.rsplit_once(':').ok_or(io::ErrorKind::InvalidInput)?;
            let mut port: u16 = port.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
            let mut doors = self.doors.lock();
            if port == 0 {
                let free = (1..u16::MAX).find(|port| !doors.contains_key(&format!("{host}:{port}")));
                port = free.ok_or(io::ErrorKind::AddrInUse)?;
            }
            let name = format!("{host}:{port}");
            if doors.contains_key(&name) {
                return Err(io::ErrorKind::AddrInUse.into());
            }
            let (send, incoming) = mpsc::unbounded_channel();
            doors.insert(name.clone(), send);
            let door: Box<dyn Listener> = Box::new(Door {
                incoming,
                name,
                port,
                doors: Arc::downgrade(&self.doors),
            });
            Ok(door)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let door = self
                .doors
                .lock()
                .get(to)
                .cloned()
                .ok_or(io::ErrorKind::ConnectionRefused)?;
            let (here, there) = tokio::io::duplex(PIPE);
            let halves = |stream| {
                let (reader, writer) = tokio::io::split(stream);
                Connection {
                    reader: Box::new(reader),
                    writer: Box::new(writer),
                    from: "memory".to_owned(),
                    identity: None,
                }
            };
            door.send(halves(there)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
            Ok(halves(here))
        })
    }

    /// Nothing leaves the process.
    fn is_encrypted(&self) -> bool {
        true
    }
}

struct Door {
    incoming: mpsc::UnboundedReceiver<Connection>,
    name: String,
    port: u16,
    doors: Weak<Doors>,
}

impl Listener for Door {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            self.incoming
                .recv()
                .await
                .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
        })
    }

    fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(doors) = self.doors.upgrade() {
            doors.lock().remove(&self.name);
        }
    }
}
