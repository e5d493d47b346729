//! No actors and no messages: bytes over one loopback connection between two processes, with tokio. It is the limit of a
//! round trip (`remote-ask/one`: 100 bytes there and back) and of bandwidth (`remote-bulk`: a MiB there, 8 bytes back).

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use volary_bench_duet::remoting::Work;
use volary_bench_duet::{Remoting, parcel};

use crate::contender::{Contender, Duet, Role};

/// The row of the bare connection.
pub const CONTENDER: Contender = Contender {
    name: "echo",
    role: Role::Reference,
    bench: Duet::of::<Echo>,
};

/// The bytes of one exchange.
#[derive(Clone, Copy)]
struct Exchange {
    there: usize,
    back: usize,
}

impl Exchange {
    fn of(workload: &str) -> Self {
        match workload {
            "remote-bulk" => Self {
                there: parcel::LARGE,
                back: 8,
            },
            _ => Self {
                there: parcel::SMALL,
                back: parcel::SMALL,
            },
        }
    }
}

/// The measuring side of the connection.
pub struct Echo(Line);

/// Both directions. Whoever has written waits in line for one answer: they come in the order of the questions.
#[derive(Clone)]
pub struct Line {
    exchange: Exchange,
    out: Arc<Mutex<OwnedWriteHalf>>,
    back: Arc<Mutex<OwnedReadHalf>>,
}

impl Remoting for Echo {
    type Far = Line;

    fn offers(workload: &str) -> bool {
        matches!(workload, "remote-ask/one" | "remote-bulk")
    }

    async fn serve(workload: &str) -> String {
        let exchange = Exchange::of(workload);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("nodelay");
            let mut frame = vec![0; exchange.there];
            while stream.read_exact(&mut frame).await.is_ok() {
                stream.write_all(&frame[..exchange.back]).await.expect("somebody reads");
            }
        });
        address
    }

    async fn call(workload: &str, invitation: &str) -> Self {
        let stream = TcpStream::connect(invitation).await.expect("a connection");
        stream.set_nodelay(true).expect("nodelay");
        let (back, out) = stream.into_split();
        Self(Line {
            exchange: Exchange::of(workload),
            out: Arc::new(Mutex::new(out)),
            back: Arc::new(Mutex::new(back)),
        })
    }

    async fn act(&self, work: Work) {
        tokio::spawn(work);
    }

    async fn far(&self, _: usize) -> Line {
        self.0.clone()
    }

    async fn tell(_: &Line, _: u64, _: &Bytes) {
        unreachable!("not offered")
    }

    async fn ask(line: &Line, number: u64, body: &Bytes) -> u64 {
        let mut frame = [0; parcel::SMALL];
        let bytes = if body.len() == line.exchange.there {
            body
        } else {
            &frame[..]
        };
        line.out.lock().await.write_all(bytes).await.expect("somebody reads");
        let answer = &mut frame[..line.exchange.back];
        line.back.lock().await.read_exact(answer).await.expect("an answer");
        number
    }

    async fn handled(_: &Line) -> u64 {
        unreachable!("not offered")
    }
}
