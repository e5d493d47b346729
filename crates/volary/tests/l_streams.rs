//! L31: streams into and out of actors.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

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

/// Numbers from zero on, and how many were pulled.
struct Numbers {
    next: u64,
    until: u64,
    pulled: Arc<AtomicUsize>,
    _gone: Option<OnDrop>,
}

impl Numbers {
    fn until(until: u64, pulled: &Arc<AtomicUsize>) -> Self {
        Numbers {
            next: 0,
            until,
            pulled: pulled.clone(),
            _gone: None,
        }
    }
}

impl Stream for Numbers {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        if self.next == self.until {
            return Poll::Ready(None);
        }
        self.pulled.fetch_add(1, Ordering::SeqCst);
        self.next += 1;
        Poll::Ready(Some(self.next - 1))
    }
}

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

fn fed<T>(log: &Log) -> (mpsc::UnboundedSender<T>, Fed<T>) {
    let (send, receive) = mpsc::unbounded_channel();
    (send, Fed(receive, Some(OnDrop(log.clone(), "stream dropped"))))
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

#[test]
fn l31_elements_arrive_in_order_and_the_end_behind_them() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let attached = actor
            .attach(Numbers::until(300, &Arc::default()))
            .window(7)
            .on_end(how)
            .each(Add);
        system.sleep(MOMENT).await;
        let mut expected = numbers(0..300);
        expected.push("completed".into());
        assert_eq!(log.all(), expected);
        assert!(attached.is_finished());
        system.stop().await.unwrap();
    });
}

/// Never more pulled than handled and the window together, whether the handler suspends or not.
#[test]
fn l31_a_slow_actor_slows_the_stream() {
    for naps in [false, true] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let (log, handled) = (Log::new(), Arc::new(AtomicUsize::new(0)));
            let actor = system.spawn(tally(&log, &handled, naps)).await.unwrap();
            let pulled = Arc::new(AtomicUsize::new(0));
            let (open, closed) = gate();
            actor.tell(Pause { gate: closed }).unwrap();
            let most = Arc::new(AtomicUsize::new(0));
            let (seen, done, ahead) = (pulled.clone(), handled.clone(), most.clone());
            actor.attach(Numbers::until(50, &pulled)).window(4).each(move |n| {
                ahead.fetch_max(
                    seen.load(Ordering::SeqCst) - done.load(Ordering::SeqCst),
                    Ordering::SeqCst,
                );
                Add(n)
            });
            system.sleep(MOMENT).await;
            assert_eq!(pulled.load(Ordering::SeqCst), 4, "the window is full");
            open.send(()).unwrap();
            system.sleep(Duration::from_secs(1)).await;
            assert_eq!(log.all(), numbers(0..50));
            assert_eq!(most.load(Ordering::SeqCst), 4);
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn l31_a_window_of_one_is_enough() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system
            .spawn(tally(&log, &count, true))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        actor.attach(Numbers::until(20, &Arc::default())).window(0).each(Add);
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), numbers(0..20));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_other_messages_get_their_turn_beside_an_endless_stream() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let attached = actor.attach(Numbers::until(100_000, &Arc::default())).each(Add);
        for _ in 0..3 {
            assert_eq!(actor.ask(Ping).await.unwrap(), "pong");
        }
        attached.cancel();
        system.sleep(MOMENT).await;
        assert!(attached.is_finished());
        assert_eq!(
            log.all(),
            numbers(0..log.len() as u64),
            "what was in the mailbox was handled"
        );
        assert!(log.len() < 100_000);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_stream_is_dropped_when_its_actor_stops_or_it_is_cancelled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for cancel in [false, true] {
            let (log, count) = (Log::new(), Arc::default());
            let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
            let (feed, stream) = fed::<u64>(&log);
            let attached = actor.attach(stream).on_end(how).each(Add);
            feed.send(1).unwrap();
            system.sleep(MOMENT).await;
            if cancel {
                attached.cancel();
            } else {
                actor.stop();
            }
            system.sleep(MOMENT).await;
            assert_eq!(log.all(), ["1", "stream dropped"]);
            assert!(attached.is_finished() && feed.send(2).is_err());
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_restart_ends_what_the_actor_attached_itself_and_nothing_else() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let (own, stream) = fed::<u64>(&Log::new());
        actor.ask(Feed { stream }).await.unwrap();
        let (outside, stream) = fed::<u64>(&Log::new());
        actor.attach(stream).each(Add);
        own.send(1).unwrap();
        system.sleep(MOMENT).await;
        actor.tell(Crash).unwrap();
        system.sleep(MOMENT).await;
        assert!(own.send(2).is_err());
        outside.send(3).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["1", "3"]);
        system.stop().await.unwrap();
    });
}

/// Panics at its third element, or when it is dropped.
struct Rotten(u64, bool);

impl Stream for Rotten {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        self.0 += 1;
        assert!(self.0 < 3 || self.1, "a stream, as told");
        Poll::Ready((self.0 < 3).then_some(self.0))
    }
}

impl Drop for Rotten {
    fn drop(&mut self) {
        assert!(!self.1, "the drop of a stream, as told");
    }
}

#[test]
fn l31_a_stream_that_panics_is_contained_and_told() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for (stream_drops, map_panics) in [(false, false), (true, false), (false, true)] {
            let (log, count) = (Log::new(), Arc::default());
            let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
            let failures = system.events().subscribe::<ActorFailed>();
            actor.attach(Rotten(0, stream_drops)).on_end(how).each(move |n| {
                assert!(!(map_panics && n == 2), "a map, as told");
                Add(n)
            });
            system.sleep(MOMENT).await;
            let expected: &[&str] = match (stream_drops, map_panics) {
                (true, _) => &["1", "2", "completed"],
                (_, true) => &["1", "panicked"],
                _ => &["1", "2", "panicked"],
            };
            assert_eq!(log.all(), expected);
            assert_eq!(failures.try_next().unwrap().unwrap().id, actor.id());
            assert!(failures.try_next().is_none(), "once");
            assert_eq!(actor.ask(Ping).await.unwrap(), "pong");
        }
        assert_eq!(system.metrics().restarts, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_elements_in_the_mailbox_of_an_actor_that_stops_are_dead_letters() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let actor = system.spawn(tally(&Log::new(), &Arc::default(), false)).await.unwrap();
        let (_open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        let pulled = Arc::new(AtomicUsize::new(0));
        actor.attach(Numbers::until(50, &pulled)).window(5).each(Add);
        system.sleep(MOMENT).await;
        actor.kill();
        actor.terminated().await;
        system.sleep(MOMENT).await;
        let mut letters = 0;
        while let Some(letter) = dead.try_next() {
            assert_eq!(letter.unwrap().take::<Add>().unwrap().0, letters);
            letters += 1;
        }
        assert_eq!(letters as usize, pulled.load(Ordering::SeqCst), "each that was pulled");
        assert!(letters >= 5);
        system.stop().await.unwrap();
    });
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

#[test]
fn l31_an_ask_is_answered_with_a_stream_that_waits_for_its_reader() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(source(&log)).await.unwrap();
        let mut stream = actor.ask(Count { to: 20, capacity: 3 }).await.unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.len(), 3, "no more than there is room for");
        assert_eq!(actor.ask(Happen { n: 0 }).await.unwrap(), 0, "the actor goes on");
        let (items, end) = all(&mut stream).await;
        assert_eq!(items, (0..20).collect::<Vec<_>>());
        assert!(end.is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_the_deadline_of_the_ask_is_for_the_first_answer_only() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(source(&Log::new())).await.unwrap();
        let ask = actor.ask(Follow).timeout(Duration::from_secs(1));
        let mut stream = ask.await.unwrap();
        system.sleep(Duration::from_secs(30)).await;
        actor.tell(Happen { n: 7 }).unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), 7);
        let late = actor.ask(Slowly).timeout(Duration::from_secs(1)).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_reader_that_goes_ends_the_producer() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(source(&log)).await.unwrap();
        let mut stream = actor.ask(Count { to: 1_000, capacity: 2 }).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), 0);
        drop(stream);
        system.sleep(MOMENT).await;
        let last = log.all().pop().unwrap();
        assert!(last.starts_with("unread at "), "{last}");
        let stream = actor.ask(Follow).await.unwrap();
        assert_eq!(actor.ask(Happen { n: 1 }).await.unwrap(), 1);
        drop(stream);
        assert_eq!(actor.ask(Happen { n: 2 }).await.unwrap(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_crash_a_stop_and_a_clean_end_are_told_apart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let spawn = || system.spawn(source(&log));
        // From the state: completed, crashed, stopped.
        let actor = spawn().await.unwrap();
        let mut stream = actor.ask(Follow).await.unwrap();
        actor.tell(Happen { n: 1 }).unwrap();
        actor.tell(Close).unwrap();
        let (items, end) = all(&mut stream).await;
        assert!(items == [1] && end.is_none());

        let mut stream = actor.ask(Follow).await.unwrap();
        actor.tell(Happen { n: 1 }).unwrap();
        actor.tell(BreakDown).unwrap();
        let (items, end) = all(&mut stream).await;
        assert_eq!(items, [1]);
        assert!(
            matches!(&end, Some(StreamError::Failed(fault)) if fault.to_string().contains("broken down")),
            "{end:?}"
        );

        let mut stream = actor.ask(Follow).await.unwrap();
        actor.stop();
        assert!(matches!(all(&mut stream).await.1, Some(StreamError::Stopped)));

        // From a task: crashed with its actor, stopped with it, and by its own panic.
        for crash in [true, false] {
            let actor = spawn().await.unwrap();
            let mut stream = actor.ask(Count { to: 10, capacity: 2 }).await.unwrap();
            system.sleep(MOMENT).await;
            if crash {
                actor.tell(BreakDown).unwrap();
            } else {
                actor.stop();
            }
            system.sleep(MOMENT).await;
            let (items, end) = all(&mut stream).await;
            assert_eq!(items, [0, 1], "what was there is read first");
            match end {
                Some(StreamError::Failed(fault)) if crash => assert!(fault.to_string().contains("broken down")),
                Some(StreamError::Stopped) if !crash => {}
                other => panic!("{other:?}"),
            }
        }
        let actor = spawn().await.unwrap();
        let mut stream = actor.ask(Panicking).await.unwrap();
        let (items, end) = all(&mut stream).await;
        assert!(items == [1] && matches!(end, Some(StreamError::Failed(_))));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_an_idle_stream_ends_when_its_time_is_over() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(source(&Log::new())).await.unwrap();
        let stream = actor.ask(Follow).await.unwrap();
        let mut stream = stream.idle_timeout(&system, Duration::from_secs(1));
        for n in 0..3 {
            let began = system.now();
            system.sleep(Duration::from_millis(900)).await;
            actor.tell(Happen { n }).unwrap();
            assert_eq!(stream.next().await.unwrap().unwrap(), n);
            assert!(system.now().since(began) < Duration::from_secs(1));
        }
        let (items, end) = all(&mut stream).await;
        assert!(items.is_empty() && matches!(end, Some(StreamError::Idle { .. })));
        assert_eq!(actor.ask(Happen { n: 9 }).await.unwrap(), 0, "the producer is told");
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_send_that_is_dropped_has_sent_nothing() {
    let (mut reply, mut stream) = Streaming::channel(1);
    reply.try_send(1).unwrap();
    assert_eq!(reply.try_send(2), Err(TrySendItemError::Full(2)));
    let bell = Bell::new();
    {
        let mut send = Box::pin(reply.send(3));
        assert!(poll_with(&mut send, &bell).is_pending());
    }
    assert!(poll_with(&mut Box::pin(stream.next()), &bell).is_ready());
    assert!(
        poll_with(&mut Box::pin(stream.next()), &bell).is_pending(),
        "neither 2 nor 3"
    );
    reply.finish();
    assert!(matches!(
        poll_with(&mut Box::pin(stream.next()), &bell),
        Poll::Ready(None)
    ));
}

async fn sink_send<S: Sink<M> + Unpin, M>(sink: &mut S, message: M) -> Result<(), S::Error> {
    poll_fn(|task| Pin::new(&mut *sink).poll_ready(task)).await?;
    Pin::new(sink).start_send(message)
}

#[test]
fn l31_an_actor_is_a_sink_that_waits_for_room_and_keeps_the_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system
            .spawn(tally(&log, &count, true))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        let mut sink = actor.clone().into_sink::<Add>();
        for n in 0..30 {
            sink_send(&mut sink, Add(n)).await.unwrap();
            assert!(actor.mailbox_len() <= 2);
        }
        poll_fn(|task| Pin::new(&mut sink).poll_close(task)).await.unwrap();
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), numbers(0..30));
        assert_eq!(system.metrics().refused, 0, "waiting is no refusal");
        actor.stop();
        actor.terminated().await;
        let refused = sink_send(&mut sink, Add(30)).await.unwrap_err();
        assert!(matches!(refused, SendError::Refused(TellError::Stopped(Add(30)))));
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l31_streams_on_threads_keep_their_order_both_ways() {
    let system = system().await;
    let (log, count) = (Log::new(), Arc::default());
    let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
    let source = system.spawn(source(&Log::new())).await.unwrap();
    let ask = Count { to: 5_000, capacity: 8 };
    let stream = source.ask(ask).await.unwrap();
    actor
        .attach(stream)
        .window(16)
        .on_end(how)
        .each(|item| Add(item.unwrap()));
    eventually_async("the end", || log.has("completed")).await;
    let mut expected = numbers(0..5_000);
    expected.push("completed".into());
    assert_eq!(log.all(), expected);
    system.stop().await.unwrap();
}
