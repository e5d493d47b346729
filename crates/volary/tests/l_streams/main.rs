//! L31: streams into and out of actors.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod answers;
mod attached;
#[path = "../common/mod.rs"]
mod common;
mod sinks;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use common::*;
use futures_core::Stream;
use futures_sink::Sink;
use tokio::sync::mpsc;
use volary::prelude::*;
use volary::{ActorFailed, DeadLetter, SendError, StreamEnd, StreamError, StreamReply, Streaming, TrySendItemError};

const MOMENT: Duration = Duration::from_millis(1);

/// Fed by a test.
struct Fed<T>(
    mpsc::UnboundedReceiver<T>,
    #[allow(dead_code, reason = "dropped with it")] Option<OnDrop>,
);

impl<T> Stream for Fed<T> {
    type Item = T;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(task)
    }
}

#[derive(Debug, volary::Message)]
struct Add(u64);

#[derive(Debug, volary::Message)]
struct Ended(&'static str);

struct Tally {
    log: Log,
    handled: Arc<AtomicUsize>,
    naps: bool,
}

#[actor]
impl Tally {
    #[handles]
    async fn add(&mut self, add: Add, ctx: &mut Context<Self>) {
        if self.naps {
            ctx.sleep(Duration::from_micros(100)).await;
        }
        self.log.push(add.0);
        self.handled.fetch_add(1, Ordering::SeqCst);
    }
    #[handles]
    fn ended(&mut self, ended: Ended) {
        self.log.push(ended.0);
    }
    fn feed(&mut self, stream: Fed<u64>, ctx: &mut Context<Self>) {
        ctx.attach(stream).on_end(how).each(Add);
    }
    async fn pause(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
    fn ping(&mut self) -> &'static str {
        "pong"
    }
}

fn how(end: StreamEnd) -> Ended {
    Ended(match end {
        StreamEnd::Completed => "completed",
        StreamEnd::Panicked(_) => "panicked",
        _ => "otherwise",
    })
}

fn tally(log: &Log, handled: &Arc<AtomicUsize>, naps: bool) -> impl Fn() -> Tally + Send + Sync + 'static {
    let (log, handled) = (log.clone(), handled.clone());
    move || Tally {
        log: log.clone(),
        handled: handled.clone(),
        naps,
    }
}

fn numbers(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

/// Answers with streams.
struct Source {
    open: Vec<StreamReply<u64>>,
    log: Log,
}

#[actor]
impl Source {
    /// From a task.
    fn count(&mut self, to: u64, capacity: usize, ctx: &mut Context<Self>) -> Streaming<u64> {
        let (mut reply, stream) = Streaming::channel(capacity);
        let log = self.log.clone();
        ctx.spawn(async move {
            for n in 0..to {
                if reply.send(n).await.is_err() {
                    log.push(format!("unread at {n}"));
                    return;
                }
                log.push(format!("sent {n}"));
            }
        });
        stream
    }
    /// From its state, as things happen.
    fn follow(&mut self) -> Streaming<u64> {
        let (reply, stream) = Streaming::channel(4);
        self.open.push(reply);
        stream
    }
    fn happen(&mut self, n: u64) -> usize {
        self.open.retain_mut(|reply| reply.try_send(n).is_ok());
        self.open.len()
    }
    fn close(&mut self) {
        self.open.clear();
    }
    fn break_down(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("broken down"))
    }
    fn panicking(&mut self, ctx: &mut Context<Self>) -> Streaming<u64> {
        let (mut reply, stream) = Streaming::channel(4);
        ctx.spawn(async move {
            reply.send(1).await.unwrap();
            panic!("a producer, as told");
        });
        stream
    }
    async fn slowly(&mut self, ctx: &mut Context<Self>) -> Streaming<u64> {
        ctx.sleep(Duration::from_secs(60)).await;
        Streaming::channel(1).1
    }
}

fn source(log: &Log) -> impl Fn() -> Source + Send + Sync + 'static {
    let log = log.clone();
    move || Source {
        open: Vec::new(),
        log: log.clone(),
    }
}

async fn all(stream: &mut Streaming<u64>) -> (Vec<u64>, Option<StreamError>) {
    let mut items = Vec::new();
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) => items.push(item),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error comes once");
                return (items, Some(error));
            }
        }
    }
    assert!(stream.next().await.is_none());
    (items, None)
}
