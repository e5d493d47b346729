//! Starting actors.
//!
//! The maker owns a new cell and runs its factory and `started` hook where it stands, so a start
//! that does not wait for anything is complete when the call returns. A hook that suspends is left
//! to the workers and the maker waits; actors of other dispatchers start on their own threads.

mod place;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

pub(crate) use place::{spawn_guardian, spawn_stand_in};

use place::place;

use super::actor_ref::ActorRef;
use super::ask::NESTING;
use super::errors::SpawnError;
use super::reply_slot::ReplySlot;
use crate::actor::{Actor, Dispatcher, Fault, Product, Props, Reentrancy};
use crate::cell::lifecycle::Phase;
use crate::cell::{CellRef, Header};
use crate::dispatch::{Host, TurnEnd, start_turn};
use crate::mailbox::MailboxKind;
use crate::passivation::Passivation;
use crate::supervision::{Directive, Supervision};
use crate::tree::{Path, hash_of_name, validate_name};

/// Why a start failed.
#[derive(Debug, Clone)]
pub(crate) struct StartError {
    pub(crate) attempts: u32,
    pub(crate) fault: Fault,
}

type Report = Result<(), StartError>;

/// The actor's end of a spawn that is still waited for.
pub(crate) struct StartReport(Option<NonNull<ReplySlot>>);

// SAFETY: a replier's share of a slot; see `ReplySlot`.
unsafe impl Send for StartReport {}

impl StartReport {
    pub(crate) fn send(mut self, report: Report) {
        if let Some(slot) = self.0.take() {
            // SAFETY: the replier's share, used once; the spawner expects a `Report`.
            unsafe { ReplySlot::complete::<Report>(slot, report) };
        }
    }
}

impl Drop for StartReport {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            let fault = Fault::msg("the system went away while it was starting");
            // SAFETY: as in `send`.
            unsafe { ReplySlot::complete::<Report>(slot, Err(StartError { attempts: 0, fault })) };
        }
    }
}

/// An actor about to be started: name it, give it options, and `.await` it.
///
/// ```
/// # use volary_core::*;
/// # struct Door; impl Actor for Door {}
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let front = system.spawn(|| Door).named("front").await?;
/// let back = system.spawn(|| Door).mailbox(MailboxKind::Bounded(16)).await?;
/// assert_eq!(front.path().to_string(), "/user/front");
/// assert!(back.name().starts_with('$')); // unnamed actors get a name of their own
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "an actor is started when this is awaited"]
pub struct Spawn<F> {
    /// None: the system has gone down.
    parent: Option<CellRef>,
    factory: F,
    name: Option<String>,
    /// Of the name.
    hash: u32,
    /// Apart: most actors have none, and a builder is moved with each call.
    props: Option<Box<Props>>,
}

impl<F> Spawn<F> {
    pub(crate) fn new(parent: Option<CellRef>, factory: F) -> Self {
        Spawn {
            parent,
            factory,
            name: None,
            hash: 0,
            props: None,
        }
    }

    fn with(mut self, change: impl FnOnce(Props) -> Props) -> Self {
        let props = self.props.take().map_or_else(Props::default, |props| *props);
        self.props(change(props))
    }

    /// Names the actor: `[A-Za-z0-9][A-Za-z0-9_.-]*`, at most 255 bytes, unique among its siblings.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).named("bob.1").await?;
    /// assert_eq!(bob.name(), "bob.1");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.hash = hash_of_name(name.as_bytes());
        // Where it is looked up may be far away; until then there is an actor to be made.
        if let Some(extras) = self.parent.as_deref().and_then(Header::extras_if_any) {
            extras.family.fetch(self.hash);
        }
        self.name = Some(name);
        self
    }

    /// Sets all options at once.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let props = Props::new().on_fault(Directive::Stop);
    /// let bob = system.spawn(Account::default).props(props).await?;
    /// assert!(bob.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn props(mut self, props: Props) -> Self {
        self.props = Some(Box::new(props));
        self
    }

    /// Chooses the mailbox.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::Bounded(64)).await?;
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn mailbox(self, mailbox: MailboxKind) -> Self {
        self.with(|props| props.mailbox(mailbox))
    }

    /// Chooses the dispatcher.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).dispatcher(Dispatcher::Blocking).await?;
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn dispatcher(self, dispatcher: Dispatcher) -> Self {
        self.with(|props| props.dispatcher(dispatcher))
    }

    /// How many messages the actor may put aside; see [`Context::stash`](crate::Context::stash).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).stash(1).await?;
    /// # inside(&bob, |ctx| {
    /// let _stashed = ctx.stash(Deposit(5))?;
    /// assert!(ctx.stash(Deposit(6)).is_err(), "it is full");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stash(self, capacity: usize) -> Self {
        self.with(|props| props.stash(capacity))
    }

    /// Says what part the actor plays; see [`Props::role`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).role("customer").await?;
    /// assert_eq!(AnyRef::from(&bob).role(), Some("customer"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn role(self, role: impl Into<std::sync::Arc<str>>) -> Self {
        self.with(|props| props.role(role))
    }

    /// Says what happens to other messages while answers are due; see [`Context::request`](crate::Context::request).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).reentrancy(Reentrancy::hold_others()).await?;
    /// assert!(bob.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn reentrancy(self, reentrancy: Reentrancy) -> Self {
        self.with(|props| props.reentrancy(reentrancy))
    }

    /// Says when the actor lets go of its state, to start anew with its next message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let idle = Passivation::after(Duration::from_secs(60));
    /// let bob = system.spawn(Account::default).passivation(idle).await?;
    /// assert!(bob.pause_passivation(), "it could have fallen asleep");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivation(self, passivation: Passivation) -> Self {
        self.with(|props| props.passivation(passivation))
    }

    /// Says in detail what happens on a fault: directives by type, limit, backoff, siblings.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let supervision = Supervision::new().on_panic(Directive::Stop).limit(3, Duration::from_secs(10));
    /// let bob = system.spawn(Account::default).supervision(supervision).await?;
    /// assert!(bob.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn supervision(self, supervision: Supervision) -> Self {
        self.with(|props| props.supervision(supervision))
    }

    /// Says what happens on a fault.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).on_fault(Directive::Stop).await?;
    /// # let crashed = inside(&bob, |_| Err("a fault".into())).await;
    /// # assert!(crashed.is_err());
    /// bob.terminated().await; // after its first fault
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn on_fault(self, directive: Directive) -> Self {
        self.with(|props| props.on_fault(directive))
    }
}

impl<P, F> Spawn<F>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    /// Starts the actor without waiting for its `started` hook: for plain `fn` handlers, which
    /// cannot wait. A start that fails later is reported on the event stream and the log.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).start()?; // it may not have begun yet
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What is wrong with name or options, or why the start failed if that is known at once.
    pub fn start(self) -> Result<ActorRef<P::Actor>, SpawnError> {
        let (cell, progress) = launch::<P, F>(self, Wait::No)?;
        match progress {
            Progress::Failed(error) => Err(failed(&cell, error)),
            Progress::Started | Progress::Waiting(_) => Ok(ActorRef::from_cell(cell, ())),
        }
    }
}

impl<P, F> IntoFuture for Spawn<F>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    type Output = Result<ActorRef<P::Actor>, SpawnError>;
    type IntoFuture = SpawnFuture<P::Actor>;

    fn into_future(self) -> SpawnFuture<P::Actor> {
        SpawnFuture {
            state: Some(launch::<P, F>(self, Wait::Yes)),
            actor: PhantomData,
        }
    }
}

impl<F> fmt::Debug for Spawn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("parent", &self.parent.as_ref().map(|parent| parent.path()))
            .field("name", &self.name)
            .field("props", &self.props)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Yes,
    No,
}

enum Progress {
    Started,
    Failed(StartError),
    Waiting(NonNull<ReplySlot>),
}

/// A start under way. Dropping it does not stop the actor: it goes on starting.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # use std::future::IntoFuture;
/// let begun: SpawnFuture<Account> = system.spawn(Account::default).into_future();
/// let bob = begun.await?;
/// # assert!(bob.is_alive());
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct SpawnFuture<A: Actor> {
    state: Option<Result<(CellRef, Progress), SpawnError>>,
    actor: PhantomData<fn() -> A>,
}

// SAFETY: the slot's asker share may move between threads.
unsafe impl<A: Actor> Send for SpawnFuture<A> {}

impl<A: Actor> Unpin for SpawnFuture<A> {}

impl<A: Actor> Future for SpawnFuture<A> {
    type Output = Result<ActorRef<A>, SpawnError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let (cell, progress) = match self.state.take() {
            Some(Ok(state)) => state,
            Some(Err(error)) => return Poll::Ready(Err(error)),
            None => panic!("a spawn was polled after it had ended"),
        };
        let failure = match progress {
            Progress::Started => return Poll::Ready(Ok(ActorRef::from_cell(cell, ()))),
            Progress::Failed(error) => error,
            // SAFETY: we are the asker of this slot, and forget it when it is ready.
            Progress::Waiting(slot) => match unsafe { ReplySlot::poll::<Report>(slot, task.waker()) } {
                Poll::Pending => {
                    self.state = Some(Ok((cell, Progress::Waiting(slot))));
                    return Poll::Pending;
                }
                Poll::Ready(Ok(())) => return Poll::Ready(Ok(ActorRef::from_cell(cell, ()))),
                Poll::Ready(Err(error)) => error,
            },
        };
        Poll::Ready(Err(failed(&cell, failure)))
    }
}

impl<A: Actor> Drop for SpawnFuture<A> {
    fn drop(&mut self) {
        if let Some(Ok((_, Progress::Waiting(slot)))) = self.state.take() {
            // SAFETY: we are the asker and forget the slot.
            drop(unsafe { ReplySlot::close::<Report>(slot) });
        }
    }
}

impl<A: Actor> fmt::Debug for SpawnFuture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpawnFuture")
    }
}

fn failed(cell: &CellRef, error: StartError) -> SpawnError {
    SpawnError::Start {
        path: cell.path(),
        attempts: error.attempts,
        fault: error.fault,
    }
}

fn launch<P, F>(spawn: Spawn<F>, wait: Wait) -> Result<(CellRef, Progress), SpawnError>
where
    P: Product,
    F: Fn() -> P + Send + Sync + 'static,
{
    let Spawn {
        parent,
        factory,
        name,
        hash,
        props,
    } = spawn;
    let parent = parent.ok_or_else(|| SpawnError::Stopping { parent: Path::user() })?;
    if let Some(name) = &name {
        validate_name(name).map_err(|reason| SpawnError::Name {
            name: name.clone(),
            reason,
        })?;
    }
    let known = name.as_deref().map(|name| (name, hash));
    let cell = place::<P, F>(parent, factory, known, props)?;
    Ok(begin(cell, wait))
}

/// Starts a cell that has its place.
fn begin(cell: CellRef, wait: Wait) -> (CellRef, Progress) {
    let report = |cell: &CellRef| {
        if wait == Wait::No {
            return None;
        }
        let slot = ReplySlot::take(0, cell.system().number);
        cell.with_links(|links| links.starter = Some(StartReport(Some(slot))));
        Some(slot)
    };
    // As with asks: actors that start each other must not pile up on one stack.
    let here =
        Host::with(|host| host.ambient().depth < NESTING && cell.system().runs_inline(cell.dispatcher, host, None));
    if here != Some(true) {
        let slot = report(&cell);
        cell.phase.set(Phase::Unborn);
        cell.state.set(crate::cell::state::CONTROL);
        cell.schedule();
        return (cell, slot.map_or(Progress::Started, Progress::Waiting));
    }
    let mut progress = Progress::Started;
    let graves = Host::with(Host::graves).unwrap_or(0);
    let end = Host::with(|host| {
        start_turn(&cell, host, |phase| {
            // Still the owner: what is put into the cell now is seen by whoever goes on.
            let fault = || {
                cell.extras_if_any()
                    .and_then(|extras| extras.links.lock().start_fault.take())
            };
            if phase == Phase::Gone
                && let Some(error) = fault()
            {
                progress = Progress::Failed(error);
            } else if phase != Phase::Running {
                progress = report(&cell).map_or(Progress::Started, Progress::Waiting);
            }
        })
    });
    if end == Some(TurnEnd::Yielded) {
        cell.schedule();
    }
    Host::with(|host| host.bury(graves));
    (cell, progress)
}
