//! The actors of the soak: workers that do as they are told, badly at times, and watchers that outlive them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{ActorId, Letter, Mailbox, SpawnError};

use crate::books::{Counted, Declined, Entry, Token, ask, count, send, tell};

/// What the panics of the soak say, so that others still show.
pub(crate) const PANIC: &str = "part of the soak";

/// Everybody who can be sent something.
#[derive(Default)]
pub(crate) struct Crowd(Mutex<Vec<ActorRef<Worker>>>);

impl Crowd {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<ActorRef<Worker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn pick(&self, dice: u64) -> Option<ActorRef<Worker>> {
        let crowd = self.lock();
        let at = dice as usize % crowd.len().max(1);
        crowd.get(at).cloned()
    }
}

/// What a worker does with a message.
pub(crate) enum Deed {
    Answer,
    Decline,
    Fault,
    Panic,
    Sleep(Duration),
    TokioSleep(Duration),
    Channel,
    Tell(ActorRef<Worker>),
    Send(ActorRef<Worker>),
    Ask(ActorRef<Worker>, Duration),
    DropAsk(ActorRef<Worker>),
    Child,
    Background(ActorRef<Worker>),
    Stop,
    Block,
}

/// How a worker starts and stops.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Plain,
    SlowStart,
    FailedStart,
    PanickyDrop,
    SlowStop,
}

pub(crate) struct Worker {
    crowd: Arc<Crowd>,
    manner: Manner,
    owed: Vec<(u64, ReplyTo<u64, Declined>)>,
}

#[derive(Message)]
#[message(reply = u64, rejection = Declined)]
pub(crate) struct Work(pub(crate) Token, pub(crate) Deed);

/// Handled without a future.
#[derive(Message)]
#[message(reply = u64, rejection = Declined)]
pub(crate) struct Quick(pub(crate) Token);

/// Answered with a later message, or never.
#[derive(Message)]
#[message(reply = u64, rejection = Declined)]
pub(crate) struct Later(pub(crate) Token);

/// Larger than the mailbox takes inline.
#[derive(Message)]
#[message(reply = u64, rejection = Declined)]
pub(crate) struct Bulk(pub(crate) Token, pub(crate) [u64; 50]);

macro_rules! counted {
    ($($message:ty),*) => { $(impl Counted for $message { fn id(&self) -> u64 { self.0.id } })* };
}
counted!(Work, Quick, Later, Bulk);

#[actor]
impl Worker {
    pub(crate) fn new(crowd: Arc<Crowd>, manner: Manner) -> Self {
        Worker {
            crowd,
            manner,
            owed: Vec::new(),
        }
    }

    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match self.manner {
            Manner::SlowStart => ctx.sleep(Duration::from_millis(2)).await,
            Manner::FailedStart => return Err(Fault::msg(PANIC)),
            _ => {}
        }
        Ok(())
    }

    async fn stopped(&mut self, ctx: &mut Context<Self>) {
        if self.manner == Manner::SlowStop {
            ctx.sleep(Duration::from_millis(3)).await;
        }
    }

    #[handles]
    fn quick(&mut self, quick: Quick) -> Result<u64, Declined> {
        let id = quick.0.handled();
        while let Some((owed, reply)) = self.owed.pop() {
            if owed.is_multiple_of(5) {
                drop(reply)
            } else {
                reply.send(owed)
            }
        }
        if id.is_multiple_of(16) { Err(Declined) } else { Ok(id) }
    }

    #[handles]
    fn bulk(&mut self, bulk: Bulk) -> Result<u64, Declined> {
        if bulk.1.iter().any(|word| *word != bulk.0.id) {
            count(Entry::WrongAnswer);
        }
        Ok(bulk.0.handled())
    }

    #[handles]
    fn later(&mut self, later: Later, reply: ReplyTo<u64, Declined>) {
        self.owed.push((later.0.handled(), reply));
    }

    #[handles]
    async fn work(&mut self, work: Work, ctx: &mut Context<Self>) -> Result<u64, Failure<Declined>> {
        let Work(token, deed) = work;
        let id = token.handled();
        match deed {
            Deed::Answer => {}
            Deed::Decline => return Err(Declined.into()),
            Deed::Fault => return Err(Fault::msg(PANIC).into()),
            Deed::Panic => panic!("{PANIC}"),
            Deed::Sleep(time) => ctx.sleep(time).await,
            Deed::TokioSleep(time) => tokio::time::sleep(time).await,
            Deed::Block => std::thread::sleep(Duration::from_millis(1)),
            Deed::Channel => {
                let (hand, wait) = oneshot::channel();
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    hand.send(id)
                });
                wait.await.or_fault()?;
            }
            Deed::Tell(peer) => tell(&peer, Quick(Token::new())),
            Deed::Send(peer) => send(&peer, Quick(Token::new())).await,
            Deed::Ask(peer, patience) => ask(&peer, Work(Token::new(), Deed::Answer), patience).await,
            Deed::DropAsk(peer) => drop(ask(&peer, Quick(Token::new()), Duration::from_secs(1))),
            Deed::Child => {
                let crowd = self.crowd.clone();
                let child = ctx.spawn_child(move || Worker::new(crowd.clone(), Manner::Plain)).await;
                match child {
                    Ok(child) => {
                        count(Entry::Spawned);
                        tell(&child, Work(Token::new(), Deed::Answer));
                        self.crowd.lock().push(child);
                    }
                    Err(SpawnError::Stopping { .. }) => _ = count(Entry::NotStarted),
                    Err(error) => return Err(Fault::new(error).into()),
                }
            }
            Deed::Background(peer) => {
                let nap = ctx.sleep(Duration::from_millis(id % 5));
                ctx.spawn(async move {
                    nap.await;
                    tell(&peer, Quick(Token::new()));
                });
            }
            Deed::Stop => ctx.stop(),
        }
        Ok(id)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.manner == Manner::PanickyDrop && !std::thread::panicking() {
            panic!("{PANIC}");
        }
    }
}

/// Hears of the end of others, of each exactly once.
#[derive(Default)]
pub(crate) struct Watcher {
    heard: BTreeMap<ActorId, u32>,
}

#[actor]
impl Watcher {
    pub(crate) fn observe(&mut self, worker: ActorRef<Worker>, ctx: &mut Context<Self>) {
        self.heard.insert(worker.id(), 0);
        count(Entry::Watched);
        ctx.watch(&worker);
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        count(Entry::Terminated);
        let times = self.heard.entry(gone.id()).or_insert(7);
        *times += 1;
        if *times > 1 {
            count(Entry::TerminatedTwice);
        }
    }
}

/// A mailbox of the user's own: newest first, and room for a few.
#[derive(Default)]
pub(crate) struct Stack(Mutex<Vec<Letter>>);

impl Mailbox for Stack {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let mut letters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if letters.len() >= 32 {
            return Err(letter);
        }
        letters.push(letter);
        Ok(())
    }

    fn pop(&self) -> Option<Letter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
