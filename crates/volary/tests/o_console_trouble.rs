//! O3: clients that misbehave, and a stop while they do.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use volary::console::{Console, Running};
use volary::prelude::*;

const SHORT: Duration = Duration::from_millis(50);

async fn serving(console: impl FnOnce(Console) -> Console) -> (ActorSystem, Running) {
    let system = system().await;
    let running = console(Console::bind("127.0.0.1:0")).serve(&system).unwrap();
    (system, running)
}

async fn connect(address: SocketAddr) -> TcpStream {
    soon("a connection", TcpStream::connect(address)).await.unwrap()
}

/// All that comes, until the other side ends; what was there before a reset counts.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = soon("the end of a connection", stream.read_to_end(&mut bytes)).await;
    String::from_utf8(bytes).unwrap()
}

async fn healthy(address: SocketAddr) -> bool {
    let mut stream = connect(address).await;
    stream.write_all(b"GET /health HTTP/1.1\r\n\r\n").await.unwrap();
    rest(&mut stream).await.starts_with("HTTP/1.1 200 ")
}

#[tokio::test]
async fn o3_garbage_is_refused_and_the_next_client_is_served() {
    let (system, console) = serving(|console| console).await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = connect(console.local_addr()).await;
        stream.write_all(garbage).await.unwrap();
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 400 "), "{garbage:?}");
    }
    let mut stream = connect(console.local_addr()).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 505 "));
    assert!(healthy(console.local_addr()).await);
    assert_eq!(console.traffic().malformed, 7);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_a_head_that_never_ends_is_cut_at_its_bound() {
    let (system, console) = serving(|console| console).await;
    let mut stream = connect(console.local_addr()).await;
    let (mut read, mut write) = stream.split();
    let flood = async {
        let _ = write.write_all(b"GET / HTTP/1.1\r\n").await;
        while write.write_all(&[b'a'; 4096]).await.is_ok() {}
    };
    let answer = async {
        let mut bytes = vec![0; 16];
        read.read_exact(&mut bytes).await.unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let (_, answer) = soon("both", async { tokio::join!(flood, answer) }).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert!(healthy(console.local_addr()).await);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_a_client_that_drips_or_says_nothing_is_shown_out() {
    let (system, console) = serving(|console| console.request_timeout(SHORT)).await;
    let mut silent = connect(console.local_addr()).await;
    assert!(rest(&mut silent).await.starts_with("HTTP/1.1 408 "));
    let mut dripping = connect(console.local_addr()).await;
    let (mut read, mut write) = dripping.split();
    let drip = async {
        let mut sent = 0;
        let _ = write.write_all(b"GET / HTTP/1.1\r\nA: ").await;
        while write.write_all(b"x").await.is_ok() {
            sent += 1;
            tokio::task::yield_now().await;
            if sent > 4_000 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    };
    let answer = async {
        let mut bytes = vec![0; 16];
        let _ = read.read_exact(&mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (_, answer) = soon("both", async { tokio::join!(drip, answer) }).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    eventually_async("all are gone", || console.connections() == 0).await;
    assert!(console.traffic().timed_out >= 1);
    assert!(healthy(console.local_addr()).await);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn o3_connections_are_bounded_and_who_waits_is_served_in_the_end() {
    let (system, console) = serving(|console| console.connections(4).request_timeout(SHORT)).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(connect(console.local_addr()).await);
    }
    eventually_async("it is full", || console.connections() == 4).await;
    assert!(healthy(console.local_addr()).await, "after the others ran out of time");
    assert!(console.traffic().timed_out >= 17, "{:?}", console.traffic());
    drop(idle);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn o3_many_clients_at_once_all_get_their_answer() {
    let (system, console) = serving(|console| console.connections(8)).await;
    let address = console.local_addr();
    let clients: Vec<_> = (0..200).map(|_| tokio::spawn(healthy(address))).collect();
    for client in clients {
        assert!(soon("a client", client).await.unwrap());
    }
    eventually_async("all are counted", || console.traffic().answered == 200).await;
    system.stop().await.unwrap();
}

/// A client with a small window that asks and never reads.
async fn deaf(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(1024).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn o3_a_client_that_never_reads_is_dropped_in_time() {
    let (system, console) = serving(|console| console.connections(2).answer_timeout(SHORT)).await;
    let mut deaf_ones = Vec::new();
    for _ in 0..10 {
        deaf_ones.push(deaf(console.local_addr()).await);
    }
    assert!(healthy(console.local_addr()).await);
    eventually_async("none is left", || console.connections() == 0).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn o3_a_stop_answers_who_has_asked_cuts_off_who_has_not_and_does_not_wait_for_either() {
    for _ in 0..10 {
        let (system, console) = serving(|console| console.answer_timeout(SHORT)).await;
        let address = console.local_addr();
        let mut idle = connect(address).await;
        let mut half = connect(address).await;
        half.write_all(b"GET /metr").await.unwrap();
        let _deaf = deaf(address).await;
        eventually_async("they are in", || console.connections() >= 2).await;
        let asking: Vec<_> = (0..20)
            .map(|_| {
                tokio::spawn(async move {
                    let Ok(mut stream) = TcpStream::connect(address).await else {
                        return String::new();
                    };
                    let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").await;
                    rest(&mut stream).await
                })
            })
            .collect();
        soon("the stop", system.stop()).await.unwrap();
        assert_eq!(
            (rest(&mut idle).await.as_str(), rest(&mut half).await.as_str()),
            ("", "")
        );
        for client in asking {
            let answer = soon("a client", client).await.unwrap();
            let whole = || {
                let (head, body) = answer.split_once("\r\n\r\n")?;
                let length = head.split("Content-Length: ").nth(1)?.split("\r\n").next()?;
                Some(length.parse() == Ok(body.len()))
            };
            assert!(answer.is_empty() || whole() == Some(true), "all or nothing: {answer}");
        }
        assert_eq!(console.connections(), 0);
        assert!(TcpStream::connect(address).await.is_err());
    }
}

#[tokio::test]
async fn o3_the_handle_may_be_dropped_and_the_console_goes_on() {
    let (system, console) = serving(|console| console).await;
    let address = console.local_addr();
    drop(console);
    assert!(healthy(address).await);
    system.stop().await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
