//! Tokio inside handlers: sockets, timers and channels, as in any other async code.
//!
//! `cargo run --example tokio_inside`

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use volary::prelude::*;

/// A client of a line-based server: the connection is its state.
struct Client {
    server: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    log: mpsc::Sender<String>,
}

#[actor]
impl Client {
    fn of(server: SocketAddr, log: mpsc::Sender<String>) -> Self {
        let stream = None;
        Client { server, stream, log }
    }

    /// A hook: runs before the first message, and again after a restart. So a broken connection is made anew.
    async fn started(&mut self) -> Result<(), Fault> {
        self.stream = Some(BufReader::new(TcpStream::connect(self.server).await.or_fault()?));
        Ok(())
    }

    /// While this waits for the network, its worker runs other actors.
    async fn shout(&mut self, line: String) -> Result<(), Fault> {
        let stream = self.stream.as_mut().ok_or_else(|| Fault::msg("not connected"))?;
        stream.write_all(format!("{line}\n").as_bytes()).await.or_fault()?;
        let mut echo = String::new();
        let read = tokio::time::timeout(Duration::from_secs(1), stream.read_line(&mut echo));
        if read.await.or_fault()?.or_fault()? == 0 {
            return Err(Fault::msg("the server hung up"));
        }
        self.log.send(format!("{line} -> {}", echo.trim())).await.or_fault()
    }
}

/// A server that answers in capitals and hangs up after every third line.
async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let mut stream = BufReader::new(stream);
        for _ in 0..3 {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            stream.write_all(line.to_uppercase().as_bytes()).await?;
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let server = listener.local_addr()?;
    tokio::spawn(serve(listener));
    let (log, mut lines) = mpsc::channel(16);
    let system = ActorSystem::builder("shouting").start().await?;
    let client = system.spawn(move || Client::of(server, log.clone())).await?;

    for line in ["one", "two", "three", "four", "five"] {
        if let Err(error) = client.ask(Shout { line: line.to_owned() }).await {
            println!("{line}: {error}; the client restarts and connects again");
        }
    }
    system.stop().await?;
    drop(client); // the last reference to the factory, and with it to the channel
    while let Some(line) = lines.recv().await {
        println!("{line}");
    }
    Ok(())
}
