//! L23: where requests meet panics, restarts, sleep and each other.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Directive, Eviction, MailboxKind, Passivation, Props, Reentrancy, Supervision};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

struct Blow(Bomb);

impl Message for Blow {
    type Reply = ();
    type Rejection = std::convert::Infallible;
}

struct Full;
#[actor]
impl Full {
    async fn occupy(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(HOUR).await;
    }
    #[handles]
    fn blow(&mut self, mut blow: Blow) {
        blow.0.0 = false;
    }
}

struct Holder(ActorRef<Full>);
#[actor]
impl Holder {
    fn hold(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&self.0, Blow(Bomb(true))).then(|_: &mut Holder, _, _| ())?;
        Ok(())
    }
    fn hello(&mut self) -> u64 {
        7
    }
}

/// S11, S3: a message that panics in its drop, refused by a full mailbox, in a request that holds others.
#[test]
fn l23_a_request_that_panics_while_it_is_made_does_not_hold_other_messages_for_ever() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let full = system.spawn(|| Full).mailbox(MailboxKind::Bounded(1)).await.unwrap();
        full.tell(Occupy).unwrap();
        system.sleep(MS).await;
        while full.tell(Occupy).is_ok() {}
        let whom = full.clone();
        let holder = system
            .spawn(move || Holder(whom.clone()))
            .props(Props::new().reentrancy(Reentrancy::hold_others()))
            .supervision(Supervision::new().otherwise(Directive::Resume))
            .await
            .unwrap();
        assert!(holder.ask(Hold).await.is_err());
        assert_eq!(
            holder.ask(Hello).await.ok(),
            Some(7),
            "the actor was resumed, and nothing is due"
        );
        full.kill();
        let _ = system.stop().await;
    });
}

struct Stress {
    other: ActorRef<Echo>,
    pending: Vec<volary::PendingRequest>,
    seen: Arc<AtomicUsize>,
}
struct Echo;
#[actor]
impl Echo {
    async fn reflect(&mut self, number: u64) -> u64 {
        if number.is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
        number
    }
}
#[actor]
impl Stress {
    fn go(&mut self, number: u64, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let request = ctx.request(&self.other, Reflect { number });
        let request = if number.is_multiple_of(2) {
            request.hold_others()
        } else {
            request
        };
        let pending = request.then(move |me: &mut Stress, answer, _| {
            me.seen.fetch_add(1, Ordering::SeqCst);
            if let Ok(answer) = answer {
                reply.send(answer);
            }
        })?;
        if number.is_multiple_of(5) {
            self.pending.push(pending);
        }
        if number.is_multiple_of(97) {
            return Err(Fault::msg("now and then"));
        }
        Ok(())
    }
    fn pending(&mut self) -> Vec<volary::PendingRequest> {
        std::mem::take(&mut self.pending)
    }
}

/// S3, S7: requests that hold others, cancelled from other threads, with restarts between: every ask ends soon.
#[test]
fn l23_requests_cancels_and_restarts_on_threads_leave_nobody_waiting() {
    within("requests", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let other = system.spawn(|| Echo).await.unwrap();
            let seen = Arc::new(AtomicUsize::new(0));
            let (its_other, its_seen) = (other.clone(), seen.clone());
            let actor = system
                .spawn(move || Stress {
                    other: its_other.clone(),
                    pending: Vec::new(),
                    seen: its_seen.clone(),
                })
                .await
                .unwrap();
            let mut tasks = Vec::new();
            for lane in 0..4u64 {
                let actor = actor.clone();
                tasks.push(tokio::spawn(async move {
                    for number in 0..3_000u64 {
                        let ask = actor
                            .ask(Go {
                                number: number * 4 + lane,
                            })
                            .timeout(Duration::from_secs(5))
                            .await;
                        assert!(
                            !matches!(ask, Err(volary::AskError::Timeout { .. })),
                            "{lane} {number}: {ask:?}"
                        );
                    }
                }));
            }
            let canceller = actor.clone();
            let cancel = tokio::spawn(async move {
                for _ in 0..2_000 {
                    if let Ok(pending) = canceller.ask(Pending).await {
                        for one in pending {
                            one.cancel();
                        }
                    }
                }
            });
            for task in tasks {
                soon("the asks", task).await.unwrap();
            }
            soon("the cancels", cancel).await.unwrap();
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}

/// Does a bit of everything.
struct Mad {
    other: ActorRef<Echo>,
    opened: bool,
}

#[derive(Message)]
#[message(reply = u64)]
struct Put(u64);

#[derive(Message, Clone)]
struct Tock;

fn stand_in(_: &mut Mad, put: Put, ctx: &mut Context<Mad>) -> Result<u64, Failure> {
    ctx.unbecome_stacked::<Put>();
    Ok(put.0)
}

#[actor]
impl Mad {
    #[handles]
    fn put(&mut self, put: Put, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        match put.0 % 4 {
            0 if !self.opened => return Err(ctx.stash(put).map_err(Fault::from)?.into()),
            1 => ctx.becomes_stacked(stand_in),
            2 => ctx.set_interval("tock", MS, Tock),
            _ => {}
        }
        Ok(put.0)
    }
    #[handles]
    fn tock(&mut self, _: Tock, ctx: &mut Context<Self>) {
        self.opened = !self.opened;
        ctx.unstash_all();
    }
    fn ask_other(&mut self, number: u64, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let request = ctx.request(&self.other, Reflect { number });
        let request = if number.is_multiple_of(2) {
            request.hold_others()
        } else {
            request
        };
        request.then(move |me: &mut Mad, answer, ctx| {
            me.opened = true;
            ctx.unstash_all();
            if let Ok(answer) = answer {
                reply.send(answer);
            }
        })?;
        Ok(())
    }
    async fn wait_a_bit(&mut self, number: u64) -> u64 {
        tokio::task::yield_now().await;
        number
    }
    fn break_down(&mut self) -> Result<u64, Fault> {
        Err(Fault::msg("now and then"))
    }
    fn unlock(&mut self, ctx: &mut Context<Self>) -> usize {
        self.opened = true;
        ctx.unstash_all()
    }
}

#[test]
fn s14_a_bit_of_everything_on_threads_and_every_ask_ends_by_itself() {
    within("everything", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("mad")
                .eviction(Eviction::lfu().at_most(3))
                .start()
                .await
                .unwrap();
            let other = system.spawn(|| Echo).await.unwrap();
            let mut actors = Vec::new();
            for n in 0..6u64 {
                let other = other.clone();
                let passivation = match n % 3 {
                    0 => Passivation::after_messages(5),
                    1 => Passivation::after(MS),
                    _ => Passivation::on_demand(),
                };
                let mut props = Props::new().passivation(passivation);
                if n == 4 {
                    props = props.mailbox(MailboxKind::fair());
                }
                actors.push(
                    system
                        .spawn(move || Mad {
                            other: other.clone(),
                            opened: false,
                        })
                        .props(props)
                        .await
                        .unwrap(),
                );
            }
            let mut tasks = Vec::new();
            for lane in 0..6usize {
                let actors = actors.clone();
                tasks.push(tokio::spawn(async move {
                    let mut random = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(lane as u64 + 1);
                    for _ in 0..1_500u64 {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        let actor = actors[(random >> 8) as usize % actors.len()].clone();
                        let number = random >> 20;
                        let timeout = Duration::from_secs(6);
                        let ended = match random % 8 {
                            0 | 1 => actor.ask(AskOther { number }).timeout(timeout).await,
                            2 => actor.ask(WaitABit { number }).timeout(timeout).await,
                            3 => actor.ask(BreakDown).timeout(timeout).await,
                            4 => {
                                actor.passivate();
                                continue;
                            }
                            5 => {
                                let ask = actor.ask(Put(number)).timeout(timeout).into_future();
                                let _ = actor.tell(Unlock);
                                let waiter = actor.clone();
                                // Somebody unlocks later what was put aside by a new incarnation.
                                let ended = tokio::time::timeout(Duration::from_secs(20), async move {
                                    let mut ask = std::pin::pin!(ask);
                                    loop {
                                        match tokio::time::timeout(5 * MS, &mut ask).await {
                                            Ok(ended) => break ended,
                                            Err(_) => {
                                                let _ = waiter.tell(Unlock);
                                            }
                                        }
                                    }
                                });
                                ended.await.unwrap()
                            }
                            6 => {
                                actor.restart();
                                continue;
                            }
                            _ => {
                                let _ = actor.tell(Unlock);
                                continue;
                            }
                        };
                        assert!(
                            !matches!(ended, Err(volary::AskError::Timeout { .. })),
                            "{}: {ended:?}",
                            random % 8
                        );
                    }
                }));
            }
            for task in tasks {
                tokio::time::timeout(Duration::from_secs(25), task)
                    .await
                    .expect("never ended")
                    .unwrap();
            }
            for actor in &actors {
                assert!(actor.is_alive());
                soon("the last", actor.ask(WaitABit { number: 1 })).await.unwrap();
            }
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}

struct Ring {
    next: Option<ActorRef<Ring>>,
}
#[actor]
impl Ring {
    fn link(&mut self, next: ActorRef<Ring>) {
        self.next = Some(next);
    }
    fn round(&mut self, left: u32, reply: ReplyTo<String>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if left == 0 {
            reply.send("the end".to_owned());
            return Ok(());
        }
        let next = self.next.clone().unwrap();
        ctx.request(&next, Round { left: left - 1 })
            .then(move |_: &mut Ring, answer, _| match answer {
                Ok(answer) => reply.send(answer),
                Err(error) => reply.send(format!("{error:?}")),
            })?;
        Ok(())
    }
}

/// S3: actors that wait for each other are found. Requests that hold others wait as much as a suspended handler.
#[test]
fn l23_a_ring_of_requests_that_hold_others_is_found() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = || Props::new().reentrancy(Reentrancy::hold_others());
        let a = system.spawn(|| Ring { next: None }).props(props()).await.unwrap();
        let b = system.spawn(|| Ring { next: None }).props(props()).await.unwrap();
        a.ask(Link { next: b.clone() }).await.unwrap();
        b.ask(Link { next: a.clone() }).await.unwrap();
        let begun = system.now();
        let answer = a.ask(Round { left: 2 }).timeout(HOUR).await.unwrap();
        assert!(answer.contains("Cycle"), "{answer}");
        assert!(system.now().since(begun) < SECOND);
        system.stop().await.unwrap();
    });
}

struct Narrow {
    other: ActorRef<Echo>,
}
#[actor]
impl Narrow {
    async fn request_nap_and_doze(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        for number in [1, 2, 4] {
            ctx.request(&self.other, Reflect { number })
                .then(|_: &mut Narrow, _, _| ())?;
        }
        ctx.sleep(SECOND).await;
        ctx.passivate();
        Ok(())
    }
    fn note(&mut self) {}
}

/// S4: `send` waits for room. The room is there as soon as the actor sleeps, and nobody says so.
#[test]
fn s4_a_sender_that_waits_for_room_is_called_when_answers_of_a_sleeping_actor_are_discarded() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let other = system.spawn(|| Echo).await.unwrap();
        let actor = system
            .spawn(move || Narrow { other: other.clone() })
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        actor.tell(RequestNapAndDoze).unwrap();
        system.sleep(100 * MS).await;
        let begun = system.now();
        let sent = actor.send(Note).await;
        assert!(sent.is_ok(), "{sent:?} after {:?}", system.now().since(begun));
        assert!(
            system.now().since(begun) < 2 * SECOND,
            "{:?}",
            system.now().since(begun)
        );
        system.stop().await.unwrap();
    });
}
