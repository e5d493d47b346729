//! One connection: one request, one answer, each within its time.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use volary_core::ActorSystem;

use crate::closing::Closing;
use crate::request::{self, MAX_HEAD, Malformed, Method, Request};
use crate::response::Response;
use crate::routes;
use crate::traffic::{Counters, count};

/// How much of what a refused client still sends is read, so that it gets to see the refusal.
const LINGER_BYTES: usize = 64 * 1024;

/// How long the steps of a connection may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) request: Duration,
    pub(crate) answer: Duration,
}

/// How reading a request ended.
enum Asked {
    For(Request),
    Badly(Malformed),
    /// The client is gone.
    Nothing,
}

pub(crate) async fn serve(
    mut stream: TcpStream,
    system: ActorSystem,
    patience: Patience,
    mut closing: Closing,
    traffic: &Counters,
) {
    // Only who has not asked yet is cut off by the close.
    let asked = match closing.or(timeout(patience.request, read(&mut stream))).await {
        None => return count(&traffic.broken),
        Some(asked) => asked,
    };
    let (response, method, refused) = match asked {
        Ok(Asked::For(request)) => (routes::answer(&system, &request).await, request.method, false),
        Ok(Asked::Badly(malformed)) => {
            count(&traffic.malformed);
            (routes::refusal(malformed), Method::Get, true)
        }
        Ok(Asked::Nothing) => return count(&traffic.broken),
        Err(_) => {
            count(&traffic.timed_out);
            let _ = timeout(patience.answer, write(&mut stream, routes::too_slow(), Method::Get)).await;
            return;
        }
    };
    // Held no longer than needed: a client that never reads should not keep a system.
    drop(system);
    match timeout(patience.answer, write(&mut stream, response, method)).await {
        Ok(Ok(())) => count(&traffic.answered),
        Ok(Err(_)) => count(&traffic.broken),
        Err(_) => return count(&traffic.timed_out),
    }
    if refused {
        let _ = closing.or(timeout(patience.answer, linger(&mut stream))).await;
    }
}

async fn read(stream: &mut TcpStream) -> Asked {
    let mut bytes = Vec::with_capacity(1024);
    let mut piece = [0; 1024];
    loop {
        let length = match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return Asked::Nothing,
            Ok(length) => length,
        };
        bytes.extend_from_slice(&piece[..length]);
        match request::read(&bytes) {
            Ok(Some(request)) => return Asked::For(request),
            Ok(None) => debug_assert!(bytes.len() < MAX_HEAD),
            Err(malformed) => return Asked::Badly(malformed),
        }
    }
}

async fn write(stream: &mut TcpStream, response: Response, method: Method) -> std::io::Result<()> {
    stream.write_all(&response.into_bytes(method)).await?;
    stream.shutdown().await
}

/// Reads on for a while: closing a socket with unread bytes would take back the answer.
async fn linger(stream: &mut TcpStream) {
    let mut piece = [0; 1024];
    let mut left = LINGER_BYTES;
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        left = left.saturating_sub(length);
        if left == 0 {
            return;
        }
    }
}
