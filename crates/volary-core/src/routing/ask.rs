//! Asking through a router.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::plan::{Plan, Plans, Routing};
use super::race::{Answer, Race};
use super::strategy::Answers;
use super::switch::Switch;
use crate::actor::Message;
use crate::cell::CellRef;
use crate::reference::{Accepts, ActorId, ActorRef, AskError, KeptAsk, Target, settle, unasked};

/// A question to whoever a router chooses, not sent yet: `.await` it, perhaps after [`timeout`](RouterAsk::timeout).
///
/// Cancel safe: dropped, it cancels every ask that was made for it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let answer = accounts.ask(Deposit(5)).timeout(Duration::from_secs(2)).await;
/// assert_eq!(answer?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "an ask is sent when it is awaited"]
pub struct RouterAsk<'a, T: Target, S: Routing, M: Message> {
    pub(super) switch: &'a Arc<Switch<T, S>>,
    pub(super) head: &'a CellRef,
    pub(super) message: M,
    pub(super) timeout: Option<Duration>,
}

impl<T: Target, S: Routing, M: Message> RouterAsk<'_, T, S, M> {
    /// How long to wait for the answer; otherwise the system's `ask-timeout`, and never longer than what is left of the
    /// request that the asking handler serves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
    /// let answer = accounts.ask(Deposit(5)).timeout(Duration::from_secs(2)).await;
    /// assert_eq!(answer?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl<T: Accepts<M>, S: Answers<M>, M: Message> IntoFuture for RouterAsk<'_, T, S, M> {
    type Output = Answer<M>;
    type IntoFuture = RouterAskFuture<M>;

    fn into_future(self) -> RouterAskFuture<M> {
        let system = self.head.system();
        let plan = match self.switch.plan(&self.message, system) {
            Ok(plan) => plan,
            Err(fault) => {
                system.count_refused();
                system.report_hook_fault(self.head, "key", &fault);
                return RouterAskFuture(State::Ended(Some(AskError::Failed(fault))));
            }
        };
        RouterAskFuture(match race(self.switch, plan, self.message, self.timeout) {
            Ok(race) => State::Race(Box::new(race)),
            Err(message) => {
                let asked = self.switch.give(plan, message, |routee, message| {
                    KeptAsk::begin(routee.cell(), routee.table_for::<M>(), message, self.timeout)
                });
                match asked {
                    Ok(ask) => State::One(ask),
                    Err((refusal, message)) => {
                        let error = unasked::<M>(refusal);
                        system.count_refused();
                        drop(message); // the user's code, and last
                        State::Ended(Some(error))
                    }
                }
            }
        })
    }
}

/// Asks several of whom one is to answer, if that is the plan; otherwise the message comes back.
pub(super) fn race<T: Accepts<M>, S: Plans<M>, M: Message>(
    switch: &Switch<T, S>,
    plan: Plan,
    message: M,
    timeout: Option<Duration>,
) -> Result<Race<M>, M> {
    let (start, every) = match plan {
        Plan::First(start) => (start, None),
        Plan::Chop(start, every) => (start, Some(every)),
        Plan::One(_) | Plan::Idlest(_) | Plan::Key(_) | Plan::Each => return Err(message),
    };
    let runners = switch.table().routees_from(start).map(ActorRef::recipient).collect();
    Ok(Race::new(runners, message, S::copy, every, timeout))
}

impl<T: Target, S: Routing, M: Message> fmt::Debug for RouterAsk<'_, T, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterAsk")
            .field("router", &self.head.path())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// An ask through a router under way. Dropping it cancels it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, RouterAskFuture};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # use std::future::IntoFuture;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let asked: RouterAskFuture<Deposit> = accounts.ask(Deposit(5)).into_future();
/// assert_eq!(asked.await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct RouterAskFuture<M: Message>(State<M>);

enum State<M: Message> {
    One(KeptAsk<M>),
    Race(Box<Race<M>>),
    Ended(Option<AskError<M::Rejection>>),
}

impl<M: Message> Unpin for RouterAskFuture<M> {}

impl<M: Message> Future for RouterAskFuture<M> {
    type Output = Answer<M>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Answer<M>> {
        match &mut self.0 {
            State::One(ask) => Pin::new(ask).poll(task),
            State::Race(race) => Pin::new(race).poll(task),
            State::Ended(error) => match error.take() {
                Some(error) => Poll::Ready(Err(error)),
                None => panic!("an ask was polled after it had ended"),
            },
        }
    }
}

impl<M: Message> fmt::Debug for RouterAskFuture<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RouterAskFuture")
    }
}

/// A question to every routee, or to every member of a group; yields all answers, each with who gave it.
///
/// Cancel safe: dropped, it cancels every ask.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{FanOut, Pool};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(FanOut, Pool::of(2, Account::default)).await?;
/// for (_who, answer) in accounts.ask_each(Deposit(5)).await {
///     assert_eq!(answer?, 5);
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct AskEach<M: Message> {
    pending: Vec<(ActorId, Option<KeptAsk<M>>)>,
    answers: Vec<Option<Answer<M>>>,
}

impl<M: Message + Clone> AskEach<M> {
    pub(crate) fn new<'a, T: Accepts<M>>(whom: impl Iterator<Item = &'a ActorRef<T>>, message: &M) -> Self {
        let mut each = AskEach {
            pending: Vec::new(),
            answers: Vec::new(),
        };
        for who in whom {
            let asked = KeptAsk::begin(who.cell(), who.table_for::<M>(), message.clone(), None);
            let (ask, answer) = match asked {
                Ok(ask) => (Some(ask), None),
                Err((refusal, copy)) => {
                    let error = unasked::<M>(refusal);
                    who.cell().system().count_refused();
                    drop(copy);
                    (None, Some(Err(error)))
                }
            };
            each.pending.push((who.id(), ask));
            each.answers.push(answer);
        }
        each
    }
}

impl<M: Message> Unpin for AskEach<M> {}

impl<M: Message> Future for AskEach<M> {
    type Output = Vec<(ActorId, Answer<M>)>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let asks = this.pending.iter_mut().map(|(_, ask)| ask);
        ready!(settle(asks.zip(&mut this.answers), task));
        let answers = this.pending.drain(..).zip(this.answers.drain(..));
        Poll::Ready(answers.filter_map(|((id, _), answer)| Some((id, answer?))).collect())
    }
}

impl<M: Message> fmt::Debug for AskEach<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskEach").field("asked", &self.pending.len()).finish()
    }
}
