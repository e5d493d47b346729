//! A probe for messages of several types.

use std::any::TypeId;
use std::fmt::{self, Debug};
use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use volary::{ActorInfo, ActorRef, Message, Path, Recipient, Target};

use super::actor::{MessageSet, ProbeActor};
use super::builder::{ProbeBuilder, in_words};
use super::inbox::{Inbox, ReplyFor};
use crate::sim::short;

/// An actor that takes messages of several types for a test, in order across types; see [the module](super).
///
/// Its methods are those of a [`Probe`](super::Probe), told for each message which type it should have.
///
/// ```
/// use volary::prelude::*;
/// use volary_testkit::{MultiProbe, TestKit};
///
/// #[derive(Debug, PartialEq, Message)]
/// struct Begun(u32);
/// #[derive(Debug, PartialEq, Message)]
/// struct Done;
///
/// let kit = TestKit::new();
/// kit.run(async {
///     let mut probe = MultiProbe::builder().takes::<Begun>().takes::<Done>().start(kit.system()).await;
///     probe.recipient::<Begun>().tell(Begun(1)).unwrap();
///     probe.recipient::<Done>().tell(Done).unwrap();
///     probe.expect(Begun(1)).await;
///     probe.expect(Done).await;
/// });
/// ```
pub struct MultiProbe<L: MessageSet> {
    pub(super) inbox: Inbox,
    pub(super) actor: ActorRef<ProbeActor<L>>,
    /// What it takes.
    pub(super) names: Vec<(TypeId, &'static str)>,
}

impl MultiProbe<()> {
    /// Begins to say what it takes.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let mut probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// probe.recipient::<Ping>().tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any::<Ping>().await, Ping(1));
    /// # });
    /// ```
    pub fn builder() -> ProbeBuilder<()> {
        ProbeBuilder::new()
    }
}

impl<L: MessageSet> MultiProbe<L> {
    /// A probe with this patience instead of three seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// let mut probe = probe.with_patience(Duration::from_secs(60));
    /// system.scheduler().once(Duration::from_secs(50)).tell(probe.recipient::<Ping>(), Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any::<Ping>().await, Ping(1));
    /// # });
    /// ```
    ///
    /// # Panics
    /// If there is no patience at all.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.inbox.set_patience(patience);
        self
    }

    /// Where to send messages of this type to.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// let to: Recipient<Ping> = probe.recipient();
    /// to.tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any::<Ping>().await, Ping(1));
    /// # });
    /// ```
    ///
    /// # Panics
    /// If it does not take them.
    #[must_use]
    #[track_caller]
    pub fn recipient<M: Message>(&self) -> Recipient<M> {
        assert!(
            self.names.iter().any(|(id, _)| *id == TypeId::of::<M>()),
            "probe {} takes {}, not {name}: add `.takes::<{name}>()`",
            self.path(),
            in_words(&self.names),
            name = short(std::any::type_name::<M>()),
        );
        self.actor.recipient()
    }

    /// The next expectation waits so long, and no longer.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// system.scheduler().once(Duration::from_secs(50)).tell(probe.recipient::<Ping>(), Ping(1)).unwrap();
    /// assert_eq!(probe.within(Duration::from_secs(60)).expect_any::<Ping>().await, Ping(1));
    /// # });
    /// ```
    pub fn within(&mut self, patience: Duration) -> &mut Self {
        self.inbox.wait_once(patience);
        self
    }

    /// The next message is this one.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// probe.recipient::<Ping>().tell(Ping(1)).unwrap();
    /// probe.expect(Ping(1)).await;
    /// # probe.expect_none(std::time::Duration::from_secs(1)).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect<M: Message + PartialEq + Debug>(&mut self, message: M) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.inbox.expect(at, &message).await }
    }

    /// The next message, which is an `M`.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// # let to = probe.recipient::<Ping>();
    /// to.tell(Ping(7)).unwrap();
    /// let Ping(number) = probe.expect_any::<Ping>().await;
    /// assert_eq!(number, 7);
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_any<M: Message>(&mut self) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.inbox.expect_any::<M>(at).await }
    }

    /// The next message, for which the condition holds.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// # let to = probe.recipient::<Ping>();
    /// to.tell(Ping(7)).unwrap();
    /// let ping = probe.expect_that(|Ping(number): &Ping| number % 2 == 1).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_that<M: Message>(&mut self, condition: impl FnMut(&M) -> bool) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.inbox.expect_that(at, condition).await }
    }

    /// The first message for which the condition holds; others are skipped.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// # let to = probe.recipient::<Ping>();
    /// (0..9).for_each(|number| to.tell(Ping(number)).unwrap());
    /// let ping = probe.fish(|Ping(number): &Ping| *number > 4).await;
    /// assert_eq!(ping, Ping(5));
    /// # });
    /// ```
    ///
    /// What was skipped is gone, also if this is cancelled.
    ///
    /// # Panics
    /// With all that came instead, if none comes in time: the patience is for the whole catch.
    #[track_caller]
    pub fn fish<M: Message>(&mut self, condition: impl FnMut(&M) -> bool) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.inbox.fish(at, condition).await }
    }

    /// Nothing comes for so long.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// probe.expect_none(Duration::from_secs(10)).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_none(&mut self, within: Duration) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.inbox.expect_none(at, within).await }
    }

    /// The next messages are these, in this order. The patience is for all of them together.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// # let to = probe.recipient::<Ping>();
    /// to.tell(Ping(1)).unwrap();
    /// to.tell(Ping(2)).unwrap();
    /// probe.expect_in_order([Ping(1), Ping(2)]).await;
    /// # });
    /// ```
    ///
    /// Not cancel safe: what came so far is gone.
    ///
    /// # Panics
    /// With what came instead, and which was missed.
    #[track_caller]
    pub fn expect_in_order<M: Message + PartialEq + Debug>(
        &mut self,
        messages: impl IntoIterator<Item = M>,
    ) -> impl Future<Output = ()> {
        let at = Location::caller();
        let messages: Vec<M> = messages.into_iter().collect();
        async move { self.inbox.expect_in_order(at, messages).await }
    }

    /// The next messages are these, in any order. The patience is for all of them together.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// # let to = probe.recipient::<Ping>();
    /// to.tell(Ping(1)).unwrap();
    /// to.tell(Ping(2)).unwrap();
    /// probe.expect_all_in_any_order([Ping(2), Ping(1)]).await;
    /// # });
    /// ```
    ///
    /// Not cancel safe: what came so far is gone.
    ///
    /// # Panics
    /// With what came instead, and which are missing.
    #[track_caller]
    pub fn expect_all_in_any_order<M: Message + PartialEq + Debug>(
        &mut self,
        messages: impl IntoIterator<Item = M>,
    ) -> impl Future<Output = ()> {
        let at = Location::caller();
        let messages: Vec<M> = messages.into_iter().collect();
        async move { self.inbox.expect_all_in_any_order(at, messages).await }
    }

    /// The next message, which somebody asks, and the right to answer it.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, Message)] #[message(reply = u32)] struct Count;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Count>().start(system).await;
    /// # let to = probe.recipient::<Count>();
    /// let (answer, ()) = tokio::join!(to.ask(Count).into_future(), async {
    ///     let (Count, reply) = probe.expect_ask::<Count>().await;
    ///     reply.send(3);
    /// });
    /// assert_eq!(answer.unwrap(), 3);
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_ask<M: Message>(&mut self) -> impl Future<Output = (M, ReplyFor<M>)> {
        let at = Location::caller();
        async move { self.inbox.expect_ask::<M>(at).await }
    }

    /// Answers the message that was taken last.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, Message)] #[message(reply = u32)] struct Count;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Count>().start(system).await;
    /// # let to = probe.recipient::<Count>();
    /// let (answer, ()) = tokio::join!(to.ask(Count).into_future(), async {
    ///     probe.expect_any::<Count>().await;
    ///     probe.reply::<Count>(3);
    /// });
    /// assert_eq!(answer.unwrap(), 3);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If nobody waits for an answer to it.
    #[track_caller]
    pub fn reply<M: Message>(&mut self, answer: M::Reply) {
        self.inbox.reply::<M>(Location::caller(), answer);
    }

    /// An actor ends, or has ended.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # struct Desk; #[actor] impl Desk { fn hire(&mut self, ctx: &mut Context<Self>) { let _ = ctx.spawn_child(|| Desk).named("aide").start(); } }
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// let desk = system.spawn(|| Desk).await.unwrap();
    /// desk.stop();
    /// probe.expect_terminated(&desk).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_terminated<T: Target>(&mut self, actor: &ActorRef<T>) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move { self.inbox.expect_terminated(at, actor).await }
    }

    /// An actor of this name appears below another, or is there.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # struct Desk; #[actor] impl Desk { fn hire(&mut self, ctx: &mut Context<Self>) { let _ = ctx.spawn_child(|| Desk).named("aide").start(); } }
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// let desk = system.spawn(|| Desk).await.unwrap();
    /// desk.tell(Hire).unwrap();
    /// let aide = probe.expect_child(&desk, "aide").await;
    /// assert_eq!(aide.path.name(), "aide");
    /// # });
    /// ```
    ///
    /// Cancel safe.
    ///
    /// # Panics
    /// With the children there are instead.
    #[track_caller]
    pub fn expect_child<T: Target>(&mut self, parent: &ActorRef<T>, name: &str) -> impl Future<Output = ActorInfo> {
        let at = Location::caller();
        async move { self.inbox.expect_child(at, parent, name).await }
    }

    /// Where it lives.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # #[derive(Debug, PartialEq, Message)] struct Pong;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().start(system).await;
    /// assert!(probe.path().to_string().starts_with("/user/"));
    /// # });
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inbox.path
    }

    /// Its reference, to be watched, stopped, or narrowed to a protocol.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = MultiProbe::builder().takes::<Ping>().start(system).await;
    /// probe.actor_ref().tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any::<Ping>().await, Ping(1));
    /// # });
    /// ```
    #[must_use]
    pub fn actor_ref(&self) -> ActorRef<ProbeActor<L>> {
        self.actor.clone()
    }
}

impl<L: MessageSet> fmt::Debug for MultiProbe<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MultiProbe({} takes {})", self.path(), in_words(&self.names))
    }
}
