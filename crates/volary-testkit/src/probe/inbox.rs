//! The test's end of a probe: waiting for messages, and comparing them with what was expected.
//!
//! It knows messages of any type; [`Probe`](super::Probe) and [`MultiProbe`](super::MultiProbe) say which.

use std::any::Any;
use std::fmt::{self, Debug};
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use volary::{
    ActorInfo, ActorRef, ActorStarted, ActorSystem, Message, Moment, Path, ReplyTo, Sleep, Target, Termination,
};

use super::arrivals::{Arrival, Arrivals};
use super::unmet::Unmet;
use crate::sim::short;

/// How long a probe waits unless told otherwise.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Where in the test an expectation stands.
pub(super) type Place = &'static Location<'static>;

pub(super) struct Inbox {
    pub(super) system: ActorSystem,
    pub(super) path: Path,
    arrivals: Arc<Arrivals>,
    ended: Termination,
    patience: Duration,
    /// For the next expectation only.
    once: Option<Duration>,
    /// The right to answer the message that was taken last, a `ReplyTo` of its types.
    last: Option<Arrival>,
}

/// One expectation under way.
struct Attempt {
    at: Place,
    expected: String,
    began: Moment,
    patience: Duration,
    sleep: Sleep,
    remarks: Vec<String>,
    came: Vec<String>,
}

/// The right to answer an `M`.
pub(super) type ReplyFor<M> = ReplyTo<<M as Message>::Reply, <M as Message>::Rejection>;

impl Inbox {
    pub(super) fn new<T: Target>(actor: &ActorRef<T>, arrivals: Arc<Arrivals>, patience: Duration) -> Self {
        Inbox {
            system: actor.system(),
            path: actor.path(),
            arrivals,
            ended: actor.terminated(),
            patience,
            once: None,
            last: None,
        }
    }

    pub(super) fn set_patience(&mut self, patience: Duration) {
        assert!(
            !patience.is_zero(),
            "the patience of a probe is {patience:?}, but must be more than nothing: for a single look there is `within`"
        );
        self.patience = patience;
    }

    pub(super) fn wait_once(&mut self, patience: Duration) {
        self.once = Some(patience);
    }

    fn begin(&mut self, at: Place, expected: String) -> Attempt {
        let patience = self.once.take().unwrap_or(self.patience);
        Attempt {
            at,
            expected,
            began: self.system.now(),
            patience,
            sleep: self.system.sleep(patience),
            remarks: Vec::new(),
            came: Vec::new(),
        }
    }

    fn fail(&self, mut attempt: Attempt) -> ! {
        attempt.came.extend(self.arrivals.show_rest());
        let unmet = Unmet {
            probe: self.path.clone(),
            expected: attempt.expected,
            at: attempt.at,
            waited: self.system.now().since(attempt.began),
            patience: attempt.patience,
            remarks: attempt.remarks,
            came: attempt.came,
        };
        unmet.fail()
    }

    /// The next message, or nothing within the time there is.
    async fn next(&mut self, attempt: &mut Attempt) -> Option<Arrival> {
        let (ended, arrivals, sleep) = (&mut self.ended, &self.arrivals, &mut attempt.sleep);
        let arrival = poll_fn(|task| {
            // Asked first: what the actor took before its end is in the queue then.
            let over = Pin::new(&mut *ended).poll(task).is_ready();
            if let Some(arrival) = arrivals.take(task.waker()) {
                return Poll::Ready(Ok(arrival));
            }
            if over {
                return Poll::Ready(Err(Some("the probe was stopped meanwhile")));
            }
            Pin::new(&mut *sleep).poll(task).map(|()| Err(None))
        });
        match arrival.await {
            Ok(arrival) => Some(arrival),
            Err(remark) => {
                attempt.remarks.extend(remark.map(str::to_owned));
                None
            }
        }
    }

    /// The next message, which must be there in time.
    async fn must(&mut self, mut attempt: Attempt) -> (Arrival, Attempt) {
        match self.next(&mut attempt).await {
            Some(arrival) => (arrival, attempt),
            None => self.fail(attempt),
        }
    }

    fn show(&self, attempt: &mut Attempt, arrival: &Arrival) {
        attempt.came.push(self.arrivals.show(arrival));
    }

    /// Hands a message over, and keeps the right to answer it.
    fn hand_over<M: Message>(&mut self, mut arrival: Arrival) -> Option<M> {
        let message = std::mem::replace(&mut arrival.message, Box::new(()));
        self.last = Some(arrival);
        message.downcast().ok().map(|message| *message)
    }

    pub(super) async fn expect<M: Message + PartialEq + Debug>(&mut self, at: Place, wanted: &M) {
        let attempt = self.begin(at, format!("{wanted:?}"));
        self.matching::<M>(attempt, |message| message == wanted).await;
    }

    pub(super) async fn expect_that<M: Message>(&mut self, at: Place, holds: impl FnMut(&M) -> bool) -> M {
        let attempt = self.begin(at, format!("{} for which the condition holds", a::<M>()));
        self.matching(attempt, holds).await
    }

    pub(super) async fn expect_any<M: Message>(&mut self, at: Place) -> M {
        let attempt = self.begin(at, a::<M>().to_string());
        self.matching(attempt, |_| true).await
    }

    /// The next message must be a certain one.
    async fn matching<M: Message>(&mut self, attempt: Attempt, mut holds: impl FnMut(&M) -> bool) -> M {
        let (arrival, mut attempt) = self.must(attempt).await;
        let fits = arrival.message.downcast_ref().is_some_and(&mut holds);
        self.show(&mut attempt, &arrival);
        match fits.then(|| self.hand_over(arrival)).flatten() {
            Some(message) => message,
            None => self.fail(attempt),
        }
    }

    pub(super) async fn fish<M: Message>(&mut self, at: Place, mut holds: impl FnMut(&M) -> bool) -> M {
        let mut attempt = self.begin(
            at,
            format!("{}, sooner or later, for which the condition holds", a::<M>()),
        );
        while let Some(arrival) = self.next(&mut attempt).await {
            let fits = arrival.message.downcast_ref().is_some_and(&mut holds);
            self.show(&mut attempt, &arrival);
            if let Some(message) = fits.then(|| self.hand_over(arrival)).flatten() {
                return message;
            }
        }
        attempt.remarks.push(format!("skipped {}", attempt.came.len()));
        self.fail(attempt)
    }

    pub(super) async fn expect_none(&mut self, at: Place, within: Duration) {
        self.once = Some(within);
        let mut attempt = self.begin(at, format!("nothing for {within:?}"));
        if let Some(arrival) = self.next(&mut attempt).await {
            self.show(&mut attempt, &arrival);
            self.fail(attempt);
        }
        if !attempt.remarks.is_empty() {
            self.fail(attempt); // one who is gone hears nothing, which proves nothing
        }
    }

    pub(super) async fn expect_in_order<M: Message + PartialEq + Debug>(&mut self, at: Place, wanted: Vec<M>) {
        let mut attempt = self.begin(at, format!("{wanted:?}, in this order"));
        for (number, one) in wanted.iter().enumerate() {
            let arrival = self.next(&mut attempt).await;
            let fits = arrival.as_ref().and_then(|arrival| arrival.message.downcast_ref()) == Some(one);
            if let Some(arrival) = &arrival {
                self.show(&mut attempt, arrival);
            }
            match arrival {
                Some(arrival) if fits => self.last = Some(arrival),
                _ => {
                    attempt
                        .remarks
                        .push(format!("missed at number {}: {one:?}", number + 1));
                    self.fail(attempt)
                }
            }
        }
    }

    pub(super) async fn expect_all_in_any_order<M: Message + PartialEq + Debug>(&mut self, at: Place, wanted: Vec<M>) {
        let mut attempt = self.begin(at, format!("{wanted:?}, in any order"));
        let mut missing = wanted;
        while !missing.is_empty() {
            let arrival = self.next(&mut attempt).await;
            let message = arrival.as_ref().and_then(|arrival| arrival.message.downcast_ref::<M>());
            let found = missing.iter().position(|one| Some(one) == message);
            if let Some(arrival) = &arrival {
                self.show(&mut attempt, arrival);
            }
            match found {
                Some(found) => {
                    missing.remove(found);
                    self.last = arrival;
                }
                None => {
                    attempt.remarks.push(format!("still missing: {missing:?}"));
                    self.fail(attempt)
                }
            }
        }
    }

    pub(super) async fn expect_ask<M: Message>(&mut self, at: Place) -> (M, ReplyFor<M>) {
        let attempt = self.begin(at, format!("{} that somebody asks", a::<M>()));
        let (arrival, mut attempt) = self.must(attempt).await;
        self.show(&mut attempt, &arrival);
        let Arrival { message, reply, .. } = arrival;
        match (message.downcast::<M>(), reply.downcast::<ReplyFor<M>>()) {
            (Ok(message), Ok(reply)) if reply.is_wanted() => (*message, *reply),
            (Ok(_), _) => {
                let remark = "it was told, or nobody waits for the answer any more";
                attempt.remarks.push(remark.to_owned());
                self.fail(attempt)
            }
            _ => self.fail(attempt),
        }
    }

    /// Answers the message that was taken last.
    pub(super) fn reply<M: Message>(&mut self, at: Place, answer: M::Reply) {
        let path = self.path.clone();
        let fail = |why: fmt::Arguments<'_>| -> ! { panic!("probe {path} cannot reply: {why}\n  at {at}") };
        let Some(last) = self.last.take() else {
            fail(format_args!("no message was taken, or it was answered already"));
        };
        let name = last.type_name;
        let reply: Box<dyn Any + Send> = last.reply;
        match reply.downcast::<ReplyFor<M>>() {
            Ok(reply) if reply.is_wanted() => reply.send(answer),
            Ok(_) => fail(format_args!(
                "the last message, {}, was told, or nobody waits for the answer any more",
                a_named(name)
            )),
            Err(_) => fail(format_args!(
                "the last message was {}, which is not answered like {}",
                a_named(name),
                a::<M>()
            )),
        }
    }

    pub(super) async fn expect_terminated<T: Target>(&mut self, at: Place, actor: &ActorRef<T>) {
        let mut attempt = self.begin(at, format!("the end of {}", actor.path()));
        let mut end = actor.terminated();
        let ended = poll_fn(|task| {
            if Pin::new(&mut end).poll(task).is_ready() {
                return Poll::Ready(true);
            }
            Pin::new(&mut attempt.sleep).poll(task).map(|()| false)
        });
        if !ended.await {
            let status = actor.status();
            let remark = match (status.stopping, status.asleep, status.suspended) {
                (true, ..) => "it was told to stop, and has not ended",
                (_, true, _) => "it is passivated, which is not an end",
                (.., true) => "it has crashed, and supervision holds it",
                _ => "it is alive",
            };
            attempt.remarks.push(remark.to_owned());
            self.fail(attempt);
        }
    }

    pub(super) async fn expect_child<T: Target>(&mut self, at: Place, parent: &ActorRef<T>, name: &str) -> ActorInfo {
        let below = parent.path();
        let mut attempt = self.begin(at, format!("a child `{name}` of {below}"));
        let system = parent.system();
        // Heard of from here on: one that starts between two looks is not missed.
        let started = system.events().subscribe::<ActorStarted>();
        loop {
            let mut children: Vec<ActorInfo> = system.actors();
            children.retain(|actor| actor.path.parent().as_ref() == Some(&below));
            if let Some(child) = children.iter().position(|child| child.path.name() == name) {
                return children.swap_remove(child);
            }
            let in_time = {
                let mut heard = std::pin::pin!(started.next());
                poll_fn(|task| {
                    if heard.as_mut().poll(task).is_ready() {
                        return Poll::Ready(true);
                    }
                    Pin::new(&mut attempt.sleep).poll(task).map(|()| false)
                })
                .await
            };
            if !in_time {
                let mut names: Vec<&str> = children.iter().map(|child| child.path.name()).collect();
                names.sort_unstable();
                let remark = match names.as_slice() {
                    [] => "it has no children".to_owned(),
                    names => format!("its children: {}", names.join(", ")),
                };
                attempt.remarks.push(remark);
                self.fail(attempt);
            }
        }
    }
}

/// A type with its article, for a sentence.
fn a<M>() -> impl fmt::Display {
    a_named(short(std::any::type_name::<M>()))
}

fn a_named(name: &'static str) -> impl fmt::Display {
    fmt::from_fn(move |f| match name.starts_with(['A', 'E', 'I', 'O', 'U']) {
        true => write!(f, "an {name}"),
        false => write!(f, "a {name}"),
    })
}
