//! Connections over TCP.

use std::io;

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
        Box::pin(async move { connection(TcpStream::connect(to).await?) })
    }
}

struct Listening {
    listener: TcpListener,
    port: u16,
}

impl Listener for Listening {
    fn accept(&mut self) -> BoxFuture<'_, io::Result<Connection>> {
        Box::pin(async move { connection(self.listener.accept().await?.0) })
    }

    fn port(&self) -> u16 {
        self.port
    }
}

fn connection(stream: TcpStream) -> io::Result<Connection> {
    // Batches are made by the writer; waiting for more would only add delay.
    stream.set_nodelay(true)?;
    let from = stream.peer_addr()?.to_string();
    let (reader, writer) = stream.into_split();
    Ok(Connection {
        reader: Box::new(reader),
        writer: Box::new(writer),
        from,
        identity: None,
    })
}
