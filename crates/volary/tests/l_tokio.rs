//! Tokio: inside its runtimes, and without any.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use volary::DispatcherOptions;
use volary::prelude::*;

fn single() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn several() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Uses all of tokio in its hooks and handlers.
struct Client {
    from_start: u64,
}

#[actor]
impl Client {
    async fn started(&mut self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.from_start = 1;
    }
    async fn stopped(&mut self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    async fn timer(&mut self) -> u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let late = tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
        assert!(late.is_err());
        self.from_start
    }
    async fn channel(&mut self) -> u64 {
        let (send, mut receive) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            for n in 0..100_u64 {
                send.send(n).await.unwrap();
            }
        });
        let mut sum = 0;
        while let Some(n) = receive.recv().await {
            sum += n;
        }
        sum
    }
    async fn network(&mut self) -> Result<String, Fault> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.or_fault()?;
        let address = listener.local_addr().or_fault()?;
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = [0; 5];
            stream.read_exact(&mut text).await.unwrap();
            stream.write_all(&text).await.unwrap();
        });
        let mut stream = tokio::net::TcpStream::connect(address).await.or_fault()?;
        stream.write_all(b"hello").await.or_fault()?;
        let mut text = [0; 5];
        stream.read_exact(&mut text).await.or_fault()?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
    async fn blocking(&mut self) -> u64 {
        tokio::task::spawn_blocking(|| 11).await.unwrap()
    }
    async fn clock(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(1)).await;
    }
    fn plain(&mut self) -> bool {
        tokio::runtime::Handle::try_current().is_ok()
    }
    async fn slow(&mut self, time: Duration) -> u64 {
        tokio::time::sleep(time).await;
        12
    }
}

/// A story with all of tokio, told by whoever polls this.
async fn story() {
    let system = builder("tokio")
        .settings(|s| s.init_retries(0))
        .dispatcher("own", DispatcherOptions::new().workers(2))
        .start()
        .await
        .unwrap();
    let dispatchers = [
        Dispatcher::Default,
        Dispatcher::Blocking,
        Dispatcher::Pinned,
        Dispatcher::Named("own".to_owned()),
    ];
    for dispatcher in dispatchers {
        let client = system
            .spawn(|| Client { from_start: 0 })
            .dispatcher(dispatcher.clone())
            .await;
        let client = client.unwrap_or_else(|error| panic!("{dispatcher:?}: {error}"));
        for _ in 0..3 {
            assert_eq!(client.ask(Timer).await.unwrap(), 1, "{dispatcher:?}");
            assert_eq!(client.ask(Channel).await.unwrap(), 4_950);
            assert_eq!(client.ask(Network).await.unwrap(), "hello");
            assert_eq!(client.ask(Blocking).await.unwrap(), 11);
            client.ask(Clock).await.unwrap();
            assert!(
                client.ask(Plain).await.unwrap(),
                "{dispatcher:?}: no runtime around a plain handler"
            );
            // Queued, so that a worker runs it and not the asker.
            client.tell(Timer).unwrap();
            client.tell(Network).unwrap();
        }
        client.drain();
        client.terminated().await;
    }
    assert_eq!(system.metrics().faults, 0);
    system.stop().await.unwrap();
}

#[test]
fn l14_tokio_works_in_handlers_inside_a_current_thread_runtime() {
    within("the story", || single().block_on(story()));
}

#[test]
fn l14_tokio_works_in_handlers_inside_a_multi_thread_runtime() {
    within("the story", || several().block_on(story()));
    within("the story in a task", || {
        several().block_on(async { tokio::spawn(story()).await.unwrap() })
    });
}

#[test]
fn l14_tokio_works_in_handlers_without_any_runtime_around() {
    within("the story", || block_on(story()));
}

#[test]
fn l14_a_system_started_from_plain_code_brings_its_own_runtime() {
    within("plain code", || {
        let system = builder("plain").start_now().unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).start().unwrap();
        for number in 0..100 {
            desk.tell(Note { number }).unwrap();
        }
        eventually("all messages", || log.len() == 101);
        assert_eq!(block_on(desk.ask(Note { number: 100 }).into_future()).unwrap(), 101);
        block_on(system.stop()).unwrap();
    });
}

/// A thread without a runtime asks an actor whose handler needs one, of a system on somebody's runtime.
#[test]
fn l14_an_ask_from_a_thread_without_a_runtime_may_need_one() {
    within("a foreign thread", || {
        let runtime = several();
        let (system, client) = runtime.block_on(async {
            let system = system().await;
            let client = system.spawn(|| Client { from_start: 0 }).await.unwrap();
            (system, client)
        });
        for _ in 0..20 {
            assert_eq!(block_on(client.ask(Timer).into_future()).unwrap(), 1);
            assert_eq!(block_on(client.ask(Network).into_future()).unwrap(), "hello");
        }
        let late = block_on(system.spawn(|| Client { from_start: 0 }).into_future());
        assert_eq!(block_on(late.unwrap().ask(Timer).into_future()).unwrap(), 1);
        runtime.block_on(system.stop()).unwrap();
    });
}

/// The asker's runtime goes away while the handler that began on it waits for a timer.
#[test]
fn l14_a_handler_does_not_depend_on_the_runtime_of_its_asker() {
    within("a short-lived runtime", || {
        let runtime = several();
        let (system, client) = runtime.block_on(async {
            let system = system().await;
            let client = system.spawn(|| Client { from_start: 0 }).await.unwrap();
            (system, client)
        });
        let other = single();
        let late = other.block_on(async {
            client
                .ask(Slow {
                    time: Duration::from_millis(50),
                })
                .timeout(Duration::from_millis(5))
                .await
        });
        assert!(matches!(late, Err(AskError::Timeout { .. })));
        drop(other);
        // The handler ends in its own time, and the next message is handled.
        let next = runtime.block_on(async { client.ask(Timer).timeout(Duration::from_secs(10)).await });
        assert_eq!(
            next.unwrap_or_else(|error| panic!("the actor hangs on a dead runtime: {error}")),
            1
        );
        assert_eq!(system.metrics().faults, 0);
        runtime.block_on(system.stop()).unwrap();
    });
}

/// A runtime that is dropped under a living system: nothing hangs, nothing crashes.
#[test]
fn l14_a_runtime_dropped_under_a_system_hangs_nobody() {
    within("a dropped runtime", || {
        let runtime = several();
        let (system, desk, client) = runtime.block_on(async {
            let system = system().await;
            let desk = system.spawn(|| Desk::new(&Log::new())).await.unwrap();
            let client = system.spawn(|| Client { from_start: 0 }).await.unwrap();
            client
                .tell(Slow {
                    time: Duration::from_secs(3_600),
                })
                .unwrap();
            (system, desk, client)
        });
        eventually("it is suspended", || client.mailbox_len() == 0);
        drop(runtime);
        let _ = desk.tell(Note { number: 1 });
        let ended = block_on(
            desk.ask(Note { number: 2 })
                .timeout(Duration::from_millis(100))
                .into_future(),
        );
        assert!(
            matches!(ended, Ok(2) | Err(AskError::Timeout { .. } | AskError::Stopped)),
            "{ended:?}"
        );
        let ended = block_on(client.ask(Timer).timeout(Duration::from_millis(100)).into_future());
        assert!(ended.is_err(), "{ended:?}");
        drop(system);
    });
}

/// Stopping a system whose runtime is gone returns.
#[test]
fn l14_the_stop_of_a_system_whose_runtime_is_gone_returns() {
    within("the stop", || {
        let runtime = several();
        let system = runtime.block_on(async {
            let system = system().await;
            system.spawn(|| Desk::new(&Log::new())).await.unwrap();
            system
        });
        drop(runtime);
        let _ = block_on(system.stop());
    });
}

/// `block_in_place` in a handler on a multi-thread runtime gives its core away.
#[test]
fn l14_block_in_place_works_in_a_handler() {
    within("block_in_place", || {
        several().block_on(async {
            let system = system().await;
            let placer = system.spawn(|| Placer).await.unwrap();
            placer.tell(InPlace).unwrap();
            assert_eq!(soon("an ask", placer.ask(InPlace)).await.unwrap(), 5);
            let desk = system.spawn(|| Desk::new(&Log::new())).await.unwrap();
            assert_eq!(soon("another", desk.ask(Note { number: 1 })).await.unwrap(), 1);
            system.stop().await.unwrap();
        });
    });
}

struct Placer;

#[actor]
impl Placer {
    fn in_place(&mut self) -> u32 {
        tokio::task::block_in_place(|| 5)
    }
}

/// Tells two others, and waits in place until both have done it.
struct Patron {
    helpers: [ActorRef<Helper>; 2],
}

#[actor]
impl Patron {
    fn have_done(&mut self, tell: tokio::sync::oneshot::Sender<bool>) {
        let (done, helped) = std::sync::mpsc::channel();
        for helper in &self.helpers {
            helper.tell(Help { done: done.clone() }).unwrap();
        }
        let wait = || (0..2).all(|_| helped.recv_timeout(Duration::from_secs(5)).is_ok());
        tell.send(tokio::task::block_in_place(wait)).unwrap();
    }
}

/// The workers of a runtime with one thread wake each other once in a poll, which gains nothing unless that is blocked.
#[test]
fn l14_who_blocks_the_only_thread_in_place_keeps_nobody_whom_it_told() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    within("two helpers", || {
        runtime.unwrap().block_on(async {
            let system = system().await;
            let helpers = [
                system.spawn(|| Helper).await.unwrap(),
                system.spawn(|| Helper).await.unwrap(),
            ];
            let make = move || Patron {
                helpers: helpers.clone(),
            };
            let patron = system.spawn(make).await.unwrap();
            for _ in 0..5 {
                let (tell, done) = tokio::sync::oneshot::channel();
                patron.tell(HaveDone { tell }).unwrap();
                assert_eq!(soon("both", done).await, Ok(true));
            }
            system.stop().await.unwrap();
        });
    });
}

/// As an axum service would: tasks of the runtime ask many actors at once.
#[test]
fn l14_many_tasks_ask_many_actors() {
    within("the service", || {
        several().block_on(async {
            let system = system().await;
            let sum = Arc::new(AtomicU64::new(0));
            let mut desks = Vec::new();
            for _ in 0..100 {
                desks.push(system.spawn(|| Desk::new(&Log::new())).await.unwrap());
            }
            let tasks: Vec<_> = (0..64)
                .map(|n| {
                    let (desks, sum) = (desks.clone(), sum.clone());
                    tokio::spawn(async move {
                        for i in 0..100 {
                            desks[(n * 7 + i) % desks.len()].ask(Note { number: 1 }).await.unwrap();
                            sum.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for task in tasks {
                soon("a task", task).await.unwrap();
            }
            assert_eq!(sum.load(Ordering::SeqCst), 6_400);
            system.stop().await.unwrap();
        });
    });
}

/// Its asks are answered at once, on its own thread, so that it never has to wait.
#[test]
fn l14_a_task_that_only_asks_lets_others_run() {
    const MANY: u64 = 1_000_000;
    within("the other task", || {
        single().block_on(async {
            let system = system().await;
            let desk = system.spawn(|| Desk::new(&Log::new())).await.unwrap();
            desk.ask(Note { number: 0 }).await.unwrap();
            let other_ran = Arc::new(AtomicU64::new(0));
            let seen = other_ran.clone();
            let asking = tokio::spawn(async move {
                let mut asked = 0;
                while seen.load(Ordering::SeqCst) == 0 && asked < MANY {
                    desk.ask(Note { number: 1 }).await.unwrap();
                    asked += 1;
                }
                asked
            });
            let other = tokio::spawn(async move { other_ran.store(1, Ordering::SeqCst) });
            let asked = asking.await.unwrap();
            assert!((1..2_000).contains(&asked), "{asked} asks before another task ran");
            other.await.unwrap();
            system.stop().await.unwrap();
        });
    });
}

/// Wakes another actor, and keeps its thread until that one has answered.
struct Impatient {
    helper: ActorRef<Helper>,
}

#[actor]
impl Impatient {
    fn begin(&mut self) -> bool {
        let (done, helped) = std::sync::mpsc::channel();
        self.helper.tell(Help { done }).unwrap();
        helped.recv_timeout(Duration::from_secs(5)).is_ok()
    }
}

struct Helper;

#[actor]
impl Helper {
    fn help(&mut self, done: std::sync::mpsc::Sender<()>) {
        done.send(()).unwrap();
    }
}

#[test]
fn l14_a_handler_that_blocks_where_it_was_asked_keeps_nobody_whom_it_told() {
    let story = async {
        let system = system().await;
        let helper = system.spawn(|| Helper).await.unwrap();
        for _ in 0..20 {
            let helper = helper.clone();
            let impatient = system.spawn(move || Impatient { helper: helper.clone() });
            let impatient = impatient.await.unwrap();
            assert!(impatient.ask(Begin).timeout(PATIENCE).await.unwrap());
        }
        system.stop().await.unwrap();
    };
    // On a thread of the runtime, where whoever is woken lands in a slot of that thread.
    within("all of them", || {
        several().block_on(async { tokio::spawn(story).await.unwrap() });
    });
}
