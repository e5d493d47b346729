//! Connections over TCP.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

use super::{BoxFuture, Connection, Listener, Transport};

/// TCP, without encryption.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// use volary_remote::transport::Tcp; // what is taken if nothing is said
///
/// # let (first, second) = (system("one").await?, system("other").await?);
/// let one = Remote::builder().transport(Tcp::default()).start(&first, "127.0.0.1:0").await?;
/// let other = Remote::builder().start(&second, "127.0.0.1:0").await?;
/// assert_eq!(other.at(one.node()).metrics().await?.system, "one");
/// # Ok(()) }
/// ```
#[derive(Debug, Default, Clone)]
pub struct Tcp(());

#[expect(clippy::disallowed_methods, reason = "a transport is where sockets are")]
impl Transport for Tcp {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        Box::pin(async move {
            let listener = TcpListener::bind(at).await?;
            let port = listener.local_addr()?.port();
            let listening: Box<dyn Listener> = Box::new(Listening { listener, port });
            Ok(listening)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            // Batches are made by the writer; waiting for more would only add delay.
            stream.set_nodelay(true)?;
            let from = stream.peer_addr()?;
            Ok(connection(stream, from))
        })
    }
}

struct Listening {
    listener: TcpListener,
    port: u16,
}

impl Listener for Listening {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move {
            // Nothing is asked of a stream that may be over by now, or a caller who leaves at once would look like a listener
            // that does not work. Whoever reads finds out.
            let (stream, from) = self.listener.accept().await?;
            let _ = stream.set_nodelay(true);
            Ok(connection(stream, from))
        })
    }

    fn port(&self) -> u16 {
        self.port
    }
}

fn connection(stream: TcpStream, from: SocketAddr) -> Connection {
    let (reader, writer) = stream.into_split();
    Connection {
        reader: Box::new(reader),
        writer: Box::new(writer),
        from: from.to_string(),
        identity: None,
    }
}
