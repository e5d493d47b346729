//! The loopback TCP echo server of `io-handler`: its own thread, its own
//! single-threaded tokio runtime, one task per connection, the same for every
//! contender.

use std::net::{SocketAddr, TcpStream as StdStream};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The bytes of one round trip.
pub const FRAME: usize = 64;

/// Starts the server and opens `count` connections to it, ready to be
/// registered with the runtime of the actor that will own them.
pub fn connections(count: usize) -> Vec<StdStream> {
    let address = start();
    (0..count)
        .map(|_| {
            let stream = StdStream::connect(address).expect("connect to the echo server");
            stream.set_nodelay(true).expect("nodelay");
            stream.set_nonblocking(true).expect("nonblocking");
            stream
        })
        .collect()
}

/// One round trip on a connection: what an `io-handler` actor awaits.
pub async fn round_trip(stream: &mut TcpStream, value: u64) -> u64 {
    let mut frame = [0; FRAME];
    frame[..8].copy_from_slice(&value.to_le_bytes());
    stream.write_all(&frame).await.expect("write a frame");
    stream.read_exact(&mut frame).await.expect("read a frame");
    u64::from_le_bytes(*frame.first_chunk().expect("a frame has 64 bytes"))
}

fn start() -> SocketAddr {
    let (address_tx, address_rx) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("echo runtime");
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
            address_tx
                .send(listener.local_addr().expect("local address"))
                .expect("hand over the address");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(echo(stream));
            }
        });
    });
    address_rx.recv().expect("echo server address")
}

async fn echo(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut frame = [0; FRAME];
    while stream.read_exact(&mut frame).await.is_ok() {
        if stream.write_all(&frame).await.is_err() {
            return;
        }
    }
}
