//! A small state machine for an actor: typed states, each with as much time as it says.
//!
//! It is a field of the actor, and nothing but its state, the moment of its entry, and the timer that ends the visit.
//! The timer is one of the actor's (`cell/timed.rs`), whose message counts only while it is set. Leaving the state
//! drops it; so does dropping the machine.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::context::Context;
use super::fault::{Failure, Fault};
use super::message::Message;
use super::traits::Respond;
use crate::cell::{Plan, TimerName, WeakCell};
use crate::time::Moment;

/// The states of an [`Fsm`]: usually an enum, with what each state needs to know.
///
/// ```
/// use std::time::Duration;
/// use volary_core::FsmState;
///
/// #[derive(Debug)]
/// enum Payment { Started, Authorised { cents: u64 }, Captured, Cancelled }
///
/// impl FsmState for Payment {
///     fn timeout(&self) -> Option<Duration> {
///         match self {
///             Payment::Started => Some(Duration::from_secs(60)),
///             Payment::Authorised { .. } => Some(Duration::from_secs(600)),
///             Payment::Captured | Payment::Cancelled => None,
///         }
///     }
///     fn may_go_to(&self, next: &Self) -> bool {
///         use Payment::*;
///         matches!(
///             (self, next),
///             (Started, Authorised { .. } | Cancelled) | (Authorised { .. }, Captured | Cancelled)
///         )
///     }
/// }
/// assert!(!Payment::Captured.may_go_to(&Payment::Cancelled));
/// ```
pub trait FsmState: fmt::Debug + Send + 'static {
    /// How long the actor may be in this state before it gets a [`StateTimeout`]; `None`: for ever. Looked at when the
    /// state is entered.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Whether this state may be left for `next`. Without it every state may follow every other.
    fn may_go_to(&self, next: &Self) -> bool {
        let _ = next;
        true
    }
}

/// A state machine in an actor: one state at a time, each for as long as it says.
///
/// Make it with the first state in the actor's factory, [`start`](Fsm::start) it in the hook `started`, and
/// [`goto`](Fsm::goto) the next state from handlers. A state that has a [timeout](FsmState::timeout) and is not left in
/// time sends the actor a [`StateTimeout`]. That never comes late: once the state is left, or the machine dropped, it
/// is not delivered, even if it waits in the mailbox already. After a restart the factory makes a new machine, and
/// nothing of the old one arrives.
///
/// ```
/// use std::time::Duration;
/// use volary_core::*;
///
/// #[derive(Debug)]
/// enum Door { Locked, Open }
///
/// impl FsmState for Door {
///     fn timeout(&self) -> Option<Duration> {
///         matches!(self, Door::Open).then_some(Duration::from_secs(5))
///     }
/// }
///
/// struct Lock { door: Fsm<Door> }
///
/// impl Actor for Lock {
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         self.door.start(ctx);
///         Ok(())
///     }
/// }
///
/// struct Unlock;
/// # impl Message for Unlock { type Reply = (); type Rejection = std::convert::Infallible; }
///
/// impl SyncHandler<Unlock> for Lock {
///     fn handle(&mut self, _: Unlock, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         self.door.goto(Door::Open, ctx)?;
///         Ok(())
///     }
/// }
/// impl SyncHandler<StateTimeout<Door>> for Lock {
///     fn handle(&mut self, _: StateTimeout<Door>, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         self.door.goto(Door::Locked, ctx)?; // five seconds are over
///         # ctx.system().events().publish(ctx.now());
///         Ok(())
///     }
/// }
/// # let env = SeededEnv::new(1);
/// # env.clone().block_on(async move {
/// # let system = ActorSystem::builder("demo").environment(env).start().await.unwrap();
/// # let (locked, began) = (system.events().subscribe::<Moment>(), system.now());
/// # let lock = system.spawn(|| Lock { door: Fsm::new(Door::Locked) }).await.unwrap();
/// # lock.tell(Unlock).unwrap();
/// # assert!(locked.next().await.unwrap().since(began) >= Duration::from_secs(5));
/// # system.stop().await.unwrap();
/// # });
/// ```
pub struct Fsm<S> {
    state: S,
    /// None until it is started.
    since: Option<Moment>,
    timeout: Option<Pending>,
}

/// The timeout of one visit to a state. Dropping it takes it back.
struct Pending {
    actor: WeakCell,
    number: u64,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(actor) = self.actor.upgrade() {
            actor.cancel_timer(&TimerName::Numbered(self.number));
        }
    }
}

impl<S: FsmState> Fsm<S> {
    /// A machine in its first state. Its time begins with [`start`](Fsm::start).
    ///
    /// ```
    /// # use volary_core::{Fsm, FsmState};
    /// #[derive(Debug, PartialEq)]
    /// enum Light { Red, Green }
    /// impl FsmState for Light {}
    /// assert_eq!(*Fsm::new(Light::Red).state(), Light::Red);
    /// ```
    pub fn new(first: S) -> Self {
        Fsm {
            state: first,
            since: None,
            timeout: None,
        }
    }

    /// Enters the first state: call it in the hook `started`. Without it the first state has no timeout.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { let open = open_until(|door, ctx| {
    /// door.start(ctx); // it is open, which it may be for five seconds
    /// # Ok(()) }, |_, _, _| ());
    /// # assert!(open >= Duration::from_secs(5)); }
    /// ```
    pub fn start<A>(&mut self, ctx: &mut Context<A>)
    where
        A: Respond<StateTimeout<S>>,
    {
        self.timeout = arm(self.state.timeout(), ctx);
        self.since = Some(ctx.now());
    }

    /// Goes to another state, or to the same once more: the timeout of the one it leaves is taken back, that of the next
    /// is set. Returns what changed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { inside(Door::Closed, |door, ctx| {
    /// let change = door.goto(Door::Open, ctx)?;
    /// assert_eq!((change.from, change.to), (Door::Closed, &Door::Open));
    /// # Ok(()) }) }
    /// ```
    ///
    /// # Errors
    /// If the state [may not](FsmState::may_go_to) be followed by that one; it is then in the state it was in, and its
    /// time runs on. With `?` this crashes the actor; look at [`state`](Fsm::state) first where a caller may be wrong.
    pub fn goto<A>(&mut self, next: S, ctx: &mut Context<A>) -> Result<StateChange<'_, S>, ForbiddenChange>
    where
        A: Respond<StateTimeout<S>>,
    {
        if !self.state.may_go_to(&next) {
            return Err(ForbiddenChange::new(&self.state, &next));
        }
        let after = self.time_in_state(ctx);
        // The user's code first: should it panic, nothing has changed.
        let timeout = next.timeout();
        self.timeout = arm(timeout, ctx);
        self.since = Some(ctx.now());
        let from = std::mem::replace(&mut self.state, next);
        Ok(StateChange {
            from,
            to: &self.state,
            after,
        })
    }

    /// Stays, and gives the state its whole time again: somebody is still there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { let open = open_until(|door, ctx| {
    /// door.stay(ctx); // another five seconds
    /// # Ok(()) }, |_, _, _| ());
    /// # assert!(open >= Duration::from_secs(5)); }
    /// ```
    pub fn stay<A>(&mut self, ctx: &mut Context<A>)
    where
        A: Respond<StateTimeout<S>>,
    {
        self.timeout = arm(self.state.timeout(), ctx);
    }

    /// The state it is in.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() {
    /// let door = Fsm::new(Door::Open);
    /// assert_eq!(*door.state(), Door::Open);
    /// # }
    /// ```
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }

    /// The state it is in, to change what it carries. That is no change of state: its time runs on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() {
    /// # let mut door = Fsm::new(Door::Locked { wrong: 0 });
    /// if let Door::Locked { wrong } = door.state_mut() {
    ///     *wrong += 1;
    /// }
    /// assert_eq!(*door.state(), Door::Locked { wrong: 1 });
    /// # }
    /// ```
    pub fn state_mut(&mut self) -> &mut S {
        &mut self.state
    }

    /// How long it has been in this state; nothing before it is started.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { open_until(|door, ctx| Ok(door.start(ctx)), |door, _, ctx| {
    /// assert!(door.time_in_state(ctx) >= Duration::from_secs(5)); // in the handler of its timeout
    /// # }); }
    /// ```
    #[must_use]
    pub fn time_in_state<A>(&self, ctx: &Context<A>) -> Duration {
        self.since.map_or(Duration::ZERO, |since| ctx.now().since(since))
    }

    /// Whether this timeout is of this machine and of its visit to the state it is in: for an actor that has several
    /// machines with the same states, or that puts timeouts aside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { open_until(|door, ctx| Ok(door.start(ctx)), |door, timeout, _| {
    /// assert!(door.has_timed_out(timeout));
    /// assert!(!Fsm::new(Door::Open).has_timed_out(timeout), "it is of another door");
    /// # }); }
    /// ```
    #[must_use]
    pub fn has_timed_out(&self, timeout: &StateTimeout<S>) -> bool {
        self.timeout.as_ref().is_some_and(|mine| mine.number == timeout.number)
    }
}

fn arm<S: FsmState, A: Respond<StateTimeout<S>>>(after: Option<Duration>, ctx: &Context<A>) -> Option<Pending> {
    let after = after?;
    let actor = ctx.here();
    let number = actor.number_for_timer();
    let message = StateTimeout {
        after,
        number,
        states: PhantomData,
    };
    actor.set_timer::<A, _>(TimerName::Numbered(number), Plan::Once(after), message, |_| None);
    Some(Pending {
        actor: actor.to_ref().downgrade(),
        number,
    })
}

impl<S: FsmState + Default> Default for Fsm<S> {
    fn default() -> Self {
        Fsm::new(S::default())
    }
}

impl<S: fmt::Debug> fmt::Debug for Fsm<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fsm")
            .field("state", &self.state)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

/// An [`Fsm`] has been in one state for as long as that allows. Comes only while it still is.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
/// struct Alarm { door: Fsm<Door> }
/// impl Actor for Alarm {
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         self.door.start(ctx);
///         Ok(())
///     }
/// }
/// impl SyncHandler<StateTimeout<Door>> for Alarm {
///     fn handle(&mut self, timeout: StateTimeout<Door>, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         println!("{:?} for {:?}", self.door.state(), timeout.after());
///         ctx.stop();
///         Ok(())
///     }
/// }
/// # fn main() {
/// # let env = SeededEnv::new(1);
/// # env.clone().block_on(async move {
/// # let system = ActorSystem::builder("doc").environment(env).start().await.unwrap();
/// let alarm = system.spawn(|| Alarm { door: Fsm::new(Door::Open) }).await.unwrap();
/// alarm.terminated().await; // five seconds later
/// # assert!(system.uptime() >= Duration::from_secs(5));
/// # system.stop().await.unwrap();
/// # }); }
/// ```
pub struct StateTimeout<S> {
    after: Duration,
    number: u64,
    states: PhantomData<fn() -> S>,
}

impl<S> StateTimeout<S> {
    /// The time that the state had.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
    /// # fn main() { open_until(|door, ctx| Ok(door.start(ctx)), |_, timeout, _| {
    /// assert_eq!(timeout.after(), Duration::from_secs(5));
    /// # }); }
    /// ```
    #[must_use]
    pub fn after(&self) -> Duration {
        self.after
    }
}

impl<S: 'static> Message for StateTimeout<S> {
    type Reply = ();
    type Rejection = Infallible;
}

impl<S> fmt::Debug for StateTimeout<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateTimeout")
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}

/// What [`Fsm::goto`] has changed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
/// # fn main() { inside(Door::Closed, |door, ctx| {
/// let change = door.goto(Door::Open, ctx)?;
/// assert_eq!(change.to_string(), "Closed -> Open");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct StateChange<'a, S> {
    /// The state it was in.
    pub from: S,
    /// The state it is in now.
    pub to: &'a S,
    /// How long it was in the one before.
    pub after: Duration,
}

impl<S: fmt::Debug> fmt::Display for StateChange<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} -> {:?}", self.from, self.to)
    }
}

/// A state may not be followed by that one, says [`FsmState::may_go_to`]. As a [`Fault`] it crashes the actor.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/fsm.rs"));
/// # fn main() { inside(Door::Locked { wrong: 0 }, |door, ctx| {
/// let forbidden = door.goto(Door::Open, ctx).unwrap_err();
/// assert_eq!(forbidden.to_string(), "the state `Locked { wrong: 0 }` may not be followed by `Open`");
/// # Ok(()) }) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the state `{from}` may not be followed by `{to}`")]
#[non_exhaustive]
pub struct ForbiddenChange {
    /// The state it is in, as `Debug` shows it.
    pub from: String,
    /// The state it was to go to.
    pub to: String,
}

impl ForbiddenChange {
    fn new(from: &impl fmt::Debug, to: &impl fmt::Debug) -> Self {
        ForbiddenChange {
            from: format!("{from:?}"),
            to: format!("{to:?}"),
        }
    }
}

impl From<ForbiddenChange> for Fault {
    fn from(forbidden: ForbiddenChange) -> Self {
        Fault::new(forbidden)
    }
}

impl<R> From<ForbiddenChange> for Failure<R> {
    fn from(forbidden: ForbiddenChange) -> Self {
        Failure::Fault(forbidden.into())
    }
}
