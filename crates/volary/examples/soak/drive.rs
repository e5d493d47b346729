//! The drivers: tasks outside of any actor that do one random thing after the other.

use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use volary::SpawnError;
use volary::prelude::*;

use crate::books::{Entry, Token, ask, count, send, tell};
use crate::crowd::{Bulk, Crowd, Deed, Later, Manner, Observe, Quick, Stack, Watcher, Work, Worker};

/// Actors alive at a time, more or less.
const CROWD: usize = 300;
/// Nobody is told more when so many messages wait there.
const BACKLOG: usize = 1_000;

/// Random numbers of one seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn time(&mut self, up_to_micros: u64) -> Duration {
        Duration::from_micros(self.roll(up_to_micros))
    }
}

pub(crate) async fn drive(
    mut dice: Dice,
    until: Instant,
    system: ActorSystem,
    crowd: Arc<Crowd>,
    watchers: Vec<ActorRef<Watcher>>,
) {
    while Instant::now() < until {
        tokio::task::yield_now().await;
        crowd.lock().retain(|worker| worker.is_alive() || dice.roll(4) == 0); // some of the dead stay, to be talked to
        for _ in 0..32 {
            let size = crowd.lock().len();
            if size < CROWD / 2 || (size < CROWD && dice.roll(20) == 0) {
                spawn(&mut dice, &system, &crowd, &watchers).await;
            } else if size > CROWD || dice.roll(40) == 0 {
                let worker = {
                    let mut crowd = crowd.lock();
                    let at = dice.roll(crowd.len().max(1) as u64) as usize;
                    (at < crowd.len()).then(|| crowd.swap_remove(at))
                };
                if let Some(worker) = worker {
                    end(&worker, &mut dice);
                    if dice.roll(8) == 0 {
                        tell(&worker, Quick(Token::new())); // too late, or just in time
                    }
                }
            } else if let Some(worker) = crowd.pick(dice.roll(u64::MAX)) {
                talk(&mut dice, &worker, &crowd).await;
            }
        }
    }
}

/// Stops, drains or kills.
pub(crate) fn end(worker: &ActorRef<Worker>, dice: &mut Dice) {
    match dice.roll(3) {
        0 => worker.stop(),
        1 => worker.drain(),
        _ => worker.kill(),
    }
}

async fn spawn(dice: &mut Dice, system: &ActorSystem, crowd: &Arc<Crowd>, watchers: &[ActorRef<Watcher>]) {
    let manner = match dice.roll(20) {
        0 => Manner::SlowStart,
        1 => Manner::FailedStart,
        2 => Manner::PanickyDrop,
        3 => Manner::SlowStop,
        _ => Manner::Plain,
    };
    let mailbox = match dice.roll(8) {
        0..=1 => MailboxKind::Bounded(1 + dice.roll(16) as usize),
        2 => MailboxKind::BoundedRefusing(1 + dice.roll(64) as usize),
        3 => MailboxKind::Custom(Arc::new(|| Box::new(Stack::default()))),
        _ => MailboxKind::Unbounded,
    };
    let dispatcher = match dice.roll(64) {
        0 => Dispatcher::Pinned,
        1..=4 => Dispatcher::Blocking,
        5..=12 => Dispatcher::Named("own".to_owned()),
        _ => Dispatcher::Default,
    };
    let on_fault = match dice.roll(3) {
        0 => Directive::Resume,
        1 => Directive::Stop,
        _ => Directive::Restart,
    };
    let mine = crowd.clone();
    let props = Props::new().mailbox(mailbox).dispatcher(dispatcher).on_fault(on_fault);
    match system
        .spawn(move || Worker::new(mine.clone(), manner))
        .props(props)
        .await
    {
        Ok(worker) => {
            count(Entry::Spawned);
            if dice.roll(3) == 0 {
                let watcher = &watchers[dice.roll(watchers.len() as u64) as usize];
                watcher
                    .tell(Observe { worker: worker.clone() })
                    .expect("watchers outlive the drivers");
            }
            crowd.lock().push(worker);
        }
        Err(SpawnError::Start { .. }) => _ = count(Entry::NotStarted),
        Err(error) => panic!("a spawn failed that should not: {error}"),
    }
}

async fn talk(dice: &mut Dice, worker: &ActorRef<Worker>, crowd: &Crowd) {
    let busy = worker.mailbox_len() > BACKLOG;
    match dice.roll(18) {
        _ if busy => {}
        0..=3 => tell(worker, Quick(Token::new())),
        4..=6 => tell(worker, Work(Token::new(), deed(dice, crowd))),
        7 => tell(worker, bulk()),
        8 => send(worker, Quick(Token::new())).await,
        9 => {
            // Perhaps given up before there is room.
            let patience = dice.time(2_000);
            let _ = tokio::time::timeout(patience, send(worker, bulk())).await;
        }
        10 => ask(worker, Quick(Token::new()), Duration::from_secs(1)).await,
        11 => {
            let patience = dice.time(1_500);
            ask(worker, Work(Token::new(), deed(dice, crowd)), patience).await;
        }
        12 => drop(ask(
            worker,
            Work(Token::new(), deed(dice, crowd)),
            Duration::from_secs(1),
        )),
        13 => {
            // Polled once, and dropped.
            let mut asking = ask(worker, Work(Token::new(), deed(dice, crowd)), Duration::from_secs(1));
            std::future::poll_fn(|task| {
                let _ = std::pin::Pin::new(&mut asking).poll(task);
                Poll::Ready(())
            })
            .await;
        }
        14 => {
            let asks: Vec<_> = (0..8)
                .map(|_| ask(worker, Quick(Token::new()), Duration::from_millis(100)))
                .collect();
            for ask in asks {
                ask.await;
            }
        }
        15 => (0..32).for_each(|_| tell(worker, Quick(Token::new()))),
        16 => {
            for _ in 0..32 {
                send(worker, Quick(Token::new())).await;
            }
        }
        _ => ask(worker, Later(Token::new()), dice.time(5_000)).await,
    }
    if dice.roll(200) == 0 {
        worker.restart();
    }
}

fn bulk() -> Bulk {
    let token = Token::new();
    let words = [token.id; 50];
    Bulk(token, words)
}

fn deed(dice: &mut Dice, crowd: &Crowd) -> Deed {
    let Some(peer) = crowd.pick(dice.roll(u64::MAX)) else {
        return Deed::Answer;
    };
    match dice.roll(28) {
        0..=5 => Deed::Answer,
        6..=7 => Deed::Decline,
        8 => Deed::Fault,
        9 => Deed::Panic,
        10..=12 => Deed::Sleep(dice.time(3_000)),
        13..=14 => Deed::TokioSleep(dice.time(3_000)),
        15..=17 => Deed::Channel,
        18..=19 => Deed::Tell(peer),
        20..=21 => Deed::Send(peer),
        22..=23 => Deed::Ask(peer, dice.time(20_000)),
        24 => Deed::DropAsk(peer),
        25 => Deed::Child,
        26 => Deed::Background(peer),
        _ if dice.roll(4) == 0 => Deed::Stop,
        _ if dice.roll(8) == 0 => Deed::Block,
        _ => Deed::Answer,
    }
}
