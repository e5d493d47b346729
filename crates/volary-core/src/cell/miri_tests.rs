//! Whole actors under Miri: every way a handler can end, every kind of message, on one thread with
//! virtual time, so that each `unsafe` block of the crate is run under its eyes.

mod heirs;
mod parcels;
mod times;

use std::cell::Cell;
use std::convert::Infallible;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

use crate::*;

const HOUR: Duration = Duration::from_secs(3600);

fn in_system<F: Future<Output = ()>>(body: impl FnOnce(ActorSystem) -> F) {
    in_system_with(|builder| builder, body);
}

#[expect(clippy::unwrap_used, reason = "a test")]
fn in_system_with<F: Future<Output = ()>>(
    more: impl FnOnce(SystemBuilder) -> SystemBuilder,
    body: impl FnOnce(ActorSystem) -> F,
) {
    let env = SeededEnv::new(11);
    env.block_on(async {
        let system = ActorSystem::builder("miri")
            .environment(env.clone())
            .settings(|s| s.log_config(false));
        let system = more(system).start().await.unwrap();
        body(system.clone()).await;
        system.stop().await.unwrap();
        assert_eq!(system.metrics().mailbox_bytes, 0);
    });
}

#[derive(Clone, Default)]
struct Drops(Arc<AtomicUsize>);
impl Drops {
    fn token(&self) -> Token {
        Token(self.0.clone())
    }
    fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

struct Token(Arc<AtomicUsize>);
impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What a handler is told to do with the token it is given.
enum Do {
    Answer,
    Suspend,
    Panic,
    SuspendThenPanic,
}

struct Job(Do, Token);
impl Message for Job {
    type Reply = Box<u32>;
    type Rejection = Infallible;
}

struct Worker {
    state: Box<u32>,
}
impl Actor for Worker {}

impl Handler<Job> for Worker {
    async fn handle(&mut self, job: Job, ctx: &mut Context<Self>) -> Result<Box<u32>, Failure> {
        let borrowed = &mut self.state; // across an await: the frame borrows the cell
        match job.0 {
            Do::Answer => {}
            Do::Suspend => ctx.sleep(HOUR).await,
            Do::Panic => panic!("on purpose"),
            Do::SuspendThenPanic => {
                ctx.sleep(HOUR).await;
                panic!("on purpose, later");
            }
        }
        **borrowed += 1;
        Ok(borrowed.clone())
    }
}

fn worker() -> Worker {
    Worker { state: Box::new(0) }
}

#[test]
fn miri_handler_answers_suspends_panics_and_is_dropped_in_place() {
    in_system(|system| async move {
        let drops = Drops::default();
        let actor = system.spawn(worker).await.unwrap();
        assert_eq!(*actor.ask(Job(Do::Answer, drops.token())).await.unwrap(), 1);
        assert_eq!(
            *actor
                .ask(Job(Do::Suspend, drops.token()))
                .timeout(2 * HOUR)
                .await
                .unwrap(),
            2
        );
        let failed = actor.ask(Job(Do::Panic, drops.token())).await.unwrap_err();
        assert!(matches!(failed, AskError::Failed(fault) if fault.is_panic()));
        let failed = actor
            .ask(Job(Do::SuspendThenPanic, drops.token()))
            .timeout(2 * HOUR)
            .await
            .unwrap_err();
        assert!(matches!(failed, AskError::Failed(_)));
        assert_eq!(
            *actor.ask(Job(Do::Answer, drops.token())).await.unwrap(),
            1,
            "rebuilt by the factory"
        );
        assert_eq!(drops.count(), 5);
    });
}

#[test]
fn miri_suspended_handler_is_killed_and_stopped() {
    in_system(|system| async move {
        let drops = Drops::default();
        for end in [ActorRef::<Worker>::kill, ActorRef::<Worker>::stop] {
            let actor = system.spawn(worker).await.unwrap();
            let mut ask = pin!(
                actor
                    .ask(Job(Do::Suspend, drops.token()))
                    .timeout(9 * HOUR)
                    .into_future()
            );
            assert!(
                ask.as_mut()
                    .poll(&mut TaskContext::from_waker(Waker::noop()))
                    .is_pending()
            );
            actor.tell(Job(Do::Answer, drops.token())).unwrap(); // stays behind: a dead letter
            system.sleep(Duration::from_millis(1)).await;
            end(&actor);
            assert!(matches!(ask.await, Err(AskError::Stopped)));
            actor.terminated().await;
        }
        assert_eq!(drops.count(), 4);
        assert_eq!(system.metrics().dead_letters, 2);
    });
}

#[test]
fn miri_ask_is_cancelled_before_during_and_after() {
    in_system(|system| async move {
        let drops = Drops::default();
        let actor = system.spawn(worker).await.unwrap();
        drop(actor.ask(Job(Do::Answer, drops.token())).into_future());
        {
            let mut ask = pin!(actor.ask(Job(Do::Suspend, drops.token())).into_future());
            assert!(
                ask.as_mut()
                    .poll(&mut TaskContext::from_waker(Waker::noop()))
                    .is_pending()
            );
            system.sleep(Duration::from_millis(1)).await; // begun, wherever the seed lets it run
        }
        let late = actor
            .ask(Job(Do::Answer, drops.token()))
            .timeout(Duration::from_millis(5))
            .await;
        assert!(
            matches!(late, Err(AskError::Timeout { .. })),
            "the suspended handler is in front of it"
        );
        system.sleep(2 * HOUR).await;
        assert_eq!(*actor.ask(Job(Do::Answer, drops.token())).await.unwrap(), 2);
        assert_eq!(drops.count(), 4);
        assert_eq!(system.metrics().late_replies, 1);
    });
}

#[derive(Default)]
struct Shapes;
impl Actor for Shapes {}

#[repr(align(64))]
struct Aligned([u8; 64]);
struct Large([u64; 64]);
struct NotSync(Cell<u8>);
struct Nothing;

macro_rules! shape {
    ($($message:ty => $reply:ty, $body:expr;)*) => {$(
        impl Message for $message { type Reply = $reply; type Rejection = Infallible; }
        impl SyncHandler<$message> for Shapes {
            fn handle(&mut self, message: $message, _: &mut Context<Self>) -> Result<$reply, Failure> {
                let body: fn($message) -> $reply = $body;
                Ok(body(message))
            }
        }
    )*};
}

shape! {
    Aligned => usize, |m| std::ptr::from_ref(&m).addr() % 64 + usize::from(m.0[63]);
    Large => [u64; 64], |m| m.0;
    NotSync => u8, |m| m.0.get();
    Nothing => (), |_| ();
}

#[test]
fn miri_messages_of_every_shape_arrive() {
    in_system(|system| async move {
        let actor = system.spawn(Shapes::default).await.unwrap();
        assert_eq!(actor.ask(Aligned([7; 64])).await.unwrap(), 7);
        assert_eq!(actor.ask(Large([9; 64])).await.unwrap(), [9; 64]);
        assert_eq!(actor.ask(NotSync(Cell::new(5))).await.unwrap(), 5);
        actor.ask(Nothing).await.unwrap();
        // More than the inline region holds: blocks, pads, and back.
        for _ in 0..3 {
            for n in 0..60 {
                actor.tell(NotSync(Cell::new(n))).unwrap();
                actor.tell(Nothing).unwrap();
                actor.tell(Aligned([n; 64])).unwrap();
            }
            actor.ask(Nothing).await.unwrap();
        }
    });
}

#[test]
fn miri_mailbox_dropped_with_its_messages() {
    in_system(|system| async move {
        let drops = Drops::default();
        let actor = system.spawn(worker).await.unwrap();
        actor.tell(Job(Do::Suspend, drops.token())).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for _ in 0..50 {
            actor.tell(Job(Do::Answer, drops.token())).unwrap();
        }
        actor.kill();
        actor.terminated().await;
        assert_eq!(drops.count(), 51);
        assert!(actor.tell(Job(Do::Answer, drops.token())).is_err());
        let weak = actor.downgrade();
        assert!(weak.upgrade().is_none());
        drop(actor);
        assert!(weak.upgrade().is_none());
    });
}

/// A pile: the last letter first.
#[derive(Default)]
struct Pile(parking_lot::Mutex<Vec<Letter>>);
impl Mailbox for Pile {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let mut pile = self.0.lock();
        if pile.len() == 2 {
            return Err(letter);
        }
        pile.push(letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.0.lock().pop()
    }
    fn len(&self) -> usize {
        self.0.lock().len()
    }
}

#[test]
fn miri_letters_are_delivered_refused_and_discarded() {
    in_system(|system| async move {
        let drops = Drops::default();
        let mailbox = MailboxKind::Custom(Arc::new(|| Box::<Pile>::default()));
        let actor = system.spawn(worker).mailbox(mailbox).await.unwrap();
        assert_eq!(*actor.ask(Job(Do::Answer, drops.token())).await.unwrap(), 1);
        actor.tell(Job(Do::Suspend, drops.token())).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        actor.tell(Job(Do::Answer, drops.token())).unwrap();
        actor.tell(Job(Do::Answer, drops.token())).unwrap();
        assert!(actor.tell(Job(Do::Answer, drops.token())).unwrap_err().is_full());
        actor.kill();
        actor.terminated().await;
        assert_eq!(drops.count(), 5);
        assert_eq!(system.metrics().dead_letters, 2);
    });
}

/// A parent whose children come, are watched, and go.
struct Parent {
    gone: usize,
}
impl Actor for Parent {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        for n in 0..3 {
            let child = ctx.spawn_child(worker).named(format!("c{n}")).await.or_fault()?;
            ctx.watch(&child);
        }
        Ok(())
    }
}
impl SyncHandler<Terminated> for Parent {
    fn handle(&mut self, _: Terminated, _: &mut Context<Self>) -> Result<(), Failure> {
        self.gone += 1;
        Ok(())
    }
}
struct Gone;
impl Message for Gone {
    type Reply = usize;
    type Rejection = Infallible;
}
impl SyncHandler<Gone> for Parent {
    fn handle(&mut self, _: Gone, _: &mut Context<Self>) -> Result<usize, Failure> {
        Ok(self.gone)
    }
}

#[test]
fn miri_tree_is_watched_restarted_and_torn_down() {
    in_system(|system| async move {
        let parent = system.spawn(|| Parent { gone: 0 }).named("p").await.unwrap();
        let child = system.lookup::<Worker>("/user/p/c1").unwrap();
        child.stop();
        child.terminated().await;
        assert_eq!(parent.ask(Gone).await.unwrap(), 1);
        parent.restart();
        assert_eq!(parent.ask(Gone).await.unwrap(), 0);
        assert!(
            system.lookup::<Worker>("/user/p/c1").is_some(),
            "the new incarnation has children of its own"
        );
    });
}

/// Switches its behaviour, makes requests, and sleeps.
struct Shifter {
    other: ActorRef<Worker>,
    seen: u32,
    #[expect(dead_code, reason = "it is there to be dropped")]
    token: Token,
}
impl Actor for Shifter {}

struct Shift;
impl Message for Shift {
    type Reply = Box<u32>;
    type Rejection = Infallible;
}

async fn shifted(shifter: &mut Shifter, _: Shift, ctx: &mut Context<Shifter>) -> Result<Box<u32>, Failure> {
    let seen = &mut shifter.seen;
    ctx.sleep(HOUR).await;
    *seen += 100;
    Ok(Box::new(*seen))
}

impl SyncHandler<Shift> for Shifter {
    fn handle(&mut self, _: Shift, ctx: &mut Context<Self>) -> Result<Box<u32>, Failure> {
        self.seen += 1;
        ctx.becomes(shifted);
        Ok(Box::new(self.seen))
    }
}

/// Asks the worker, and answers in the continuation.
struct Relay(Do, Token);
impl Message for Relay {
    type Reply = Box<u32>;
    type Rejection = Infallible;
}

impl Respond<Relay> for Shifter {
    async fn respond(&mut self, relay: Relay, reply: ReplyTo<Box<u32>>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let request = ctx.request(&self.other, Job(relay.0, relay.1)).timeout(2 * HOUR);
        let pending = request.then(move |shifter: &mut Shifter, answer, _| {
            shifter.seen += *answer.or_fault()?;
            reply.send(Box::new(shifter.seen));
            Ok(())
        })?;
        assert!(pending.is_pending());
        Ok(())
    }
}

#[test]
fn miri_behaviours_requests_and_sleep() {
    let drops = Drops::default();
    let tokens = drops.clone();
    in_system(|system| async move {
        let worker = system.spawn(worker).await.unwrap();
        let (other, made) = (worker.clone(), tokens.clone());
        let shifter = system
            .spawn(move || Shifter {
                other: other.clone(),
                seen: 0,
                token: made.token(),
            })
            .passivation(Passivation::after(4 * HOUR))
            .await
            .unwrap();
        assert_eq!(*shifter.ask(Shift).await.unwrap(), 1);
        assert_eq!(*shifter.ask(Shift).timeout(2 * HOUR).await.unwrap(), 101);
        assert_eq!(*shifter.ask(Relay(Do::Answer, tokens.token())).await.unwrap(), 102);
        let late = shifter.ask(Relay(Do::Suspend, tokens.token())).timeout(3 * HOUR).await;
        assert_eq!(*late.unwrap(), 104);
        assert_eq!(tokens.count(), 2);
        system.sleep(5 * HOUR).await;
        assert!(shifter.status().asleep);
        assert_eq!(tokens.count(), 3, "the actor is gone, its cell is not");
        assert_eq!(*shifter.ask(Shift).await.unwrap(), 1, "its own handler again");
        // An answer that is due when the system stops.
        let relay = shifter.ask(Relay(Do::Suspend, tokens.token())).timeout(3 * HOUR);
        let mut due = pin!(relay.into_future());
        assert!(
            due.as_mut()
                .poll(&mut TaskContext::from_waker(Waker::noop()))
                .is_pending()
        );
        system.sleep(HOUR / 2).await;
    });
    assert_eq!(drops.count(), 5);
}

struct Nosy;
impl Interceptor for Nosy {
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        let _ = message.set_header("seen", "yes");
        Verdict::Pass
    }
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        match message.message().downcast_ref::<Job>() {
            Some(Job(Do::SuspendThenPanic, _)) => Verdict::Refuse("not that"),
            _ => Verdict::Pass,
        }
    }
}

#[test]
fn miri_baggage_and_layers_around_every_way_a_handler_can_end() {
    let drops = Drops::default();
    let tokens = drops.clone();
    in_system(|system| async move {
        let props = Props::new().mailbox(MailboxKind::BoundedRefusing(2)).intercept(Nosy);
        let worker = system.spawn(worker).props(props).await.unwrap();
        let scope = Baggage::new().with_header("user", "ada").unwrap();
        let around = |job| scope.clone().around(worker.ask(job).timeout(9 * HOUR).into_future());
        assert!(around(Job(Do::Answer, tokens.token())).await.is_ok());
        assert!(around(Job(Do::Suspend, tokens.token())).await.is_ok());
        assert!(around(Job(Do::Panic, tokens.token())).await.is_err());
        assert!(around(Job(Do::SuspendThenPanic, tokens.token())).await.is_err());
        // One is suspended, two wait, one is refused; then all of them end with the actor.
        for _ in 0..3 {
            scope
                .in_scope(|| worker.tell(Job(Do::Suspend, tokens.token())))
                .unwrap();
            system.sleep(Duration::from_millis(1)).await;
        }
        assert!(
            scope
                .in_scope(|| worker.tell(Job(Do::Suspend, tokens.token())))
                .is_err()
        );
        worker.kill();
        worker.terminated().await;
        assert!(
            scope
                .in_scope(|| worker.tell(Job(Do::Suspend, tokens.token())))
                .is_err()
        );
    });
    assert_eq!(drops.count(), 9);
}

/// Looks into every job, and does not let all of them pass.
#[derive(Default)]
struct Inspector {
    seen: AtomicUsize,
    answers: AtomicUsize,
}
impl Tap for Inspector {
    fn input(&self, input: &Input<'_>) -> Passage {
        if input.origin() == Origin::Answer {
            self.answers.fetch_add(1, SeqCst);
            return Passage::Handle;
        }
        let job = input.message().and_then(|message| message.downcast_ref::<Job>());
        let Some(Job(what, token)) = job else {
            return Passage::Handle;
        };
        assert!(Arc::strong_count(&token.0) > 1, "the message is whole");
        let before = self.seen.fetch_add(1, SeqCst);
        assert!(!matches!(what, Do::Panic), "on purpose, in the tap");
        if before.is_multiple_of(2) {
            Passage::Handle
        } else {
            Passage::Discard
        }
    }
}

#[test]
fn miri_tap_sees_messages_lets_them_pass_and_discards_them() {
    in_system(|system| async move {
        let drops = Drops::default();
        let pile = MailboxKind::Custom(Arc::new(|| Box::<Pile>::default()));
        for (before, mailbox) in [MailboxKind::Unbounded, pile].into_iter().enumerate() {
            let actor = system.spawn(worker).mailbox(mailbox).await.unwrap();
            let inspector = Arc::new(Inspector::default());
            let tapped = actor.tap(inspector.clone()).unwrap();
            assert!(matches!(actor.tap(inspector.clone()), Err(TapError::Taken { .. })));
            assert_eq!(*actor.ask(Job(Do::Answer, drops.token())).await.unwrap(), 1);
            let discarded = actor.ask(Job(Do::Answer, drops.token())).await;
            assert!(discarded.is_err(), "nobody will answer");
            // A tap that panics lets the message pass, which panics as well, and stays on through the restart.
            let failed = actor.ask(Job(Do::Panic, drops.token())).await.unwrap_err();
            assert!(matches!(failed, AskError::Failed(fault) if fault.is_panic()));
            assert!(actor.ask(Job(Do::Answer, drops.token())).await.is_err());
            let suspended = actor.ask(Job(Do::Suspend, drops.token())).timeout(2 * HOUR);
            let mut suspended = pin!(suspended.into_future());
            let mut task = TaskContext::from_waker(Waker::noop());
            assert!(suspended.as_mut().poll(&mut task).is_pending());
            system.sleep(HOUR / 2).await;
            drop(tapped); // while a handler that it has let pass is under way
            assert_eq!(*suspended.await.unwrap(), 1);
            assert_eq!(*actor.ask(Job(Do::Answer, drops.token())).await.unwrap(), 2);
            assert_eq!(inspector.seen.load(SeqCst), 5);
            assert_eq!(Arc::strong_count(&inspector), 1);
            assert_eq!(drops.count(), 6 * (before + 1));
            drop(actor.tap(inspector).unwrap());
            actor.stop();
            actor.terminated().await;
        }
    });
}

#[test]
fn miri_tap_sees_answers_and_ends_with_its_actor() {
    in_system(|system| async move {
        let drops = Drops::default();
        let other = system.spawn(worker).await.unwrap();
        let token = drops.clone();
        let shifter = system.spawn(move || Shifter {
            other: other.clone(),
            seen: 0,
            token: token.token(),
        });
        let shifter = shifter.await.unwrap();
        let inspector = Arc::new(Inspector::default());
        let tapped = shifter.tap(inspector.clone()).unwrap();
        assert_eq!(*shifter.ask(Relay(Do::Answer, drops.token())).await.unwrap(), 1);
        assert_eq!(inspector.answers.load(SeqCst), 1);
        shifter.kill();
        shifter.terminated().await;
        drop(tapped);
        assert!(matches!(shifter.tap(inspector.clone()), Err(TapError::Ended { .. })));
        assert_eq!(Arc::strong_count(&inspector), 1);
        assert_eq!(drops.count(), 2);
    });
}
