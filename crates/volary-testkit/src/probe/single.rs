//! A probe for messages of one type.

use std::fmt::{self, Debug};
use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use volary::{ActorInfo, ActorRef, ActorSystem, Message, Path, Recipient, Target};

use super::actor::ProbeActor;
use super::inbox::ReplyFor;
use super::multi::MultiProbe;

/// An actor that takes messages of type `M` for a test; see [the module](super).
///
/// An ask that nobody answered ends with `NoReply` when the next message is taken or the probe is dropped. The actor
/// lives on without its probe, and takes what comes without a word.
///
/// ```
/// use volary::prelude::*;
/// use volary_testkit::Probe;
///
/// #[derive(Debug, PartialEq, Message)]
/// struct Ping(u32);
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> volary::Result<()> {
///     let system = ActorSystem::builder("test").start().await?;
///     let mut probe = Probe::<Ping>::new(&system).await;
///     probe.recipient().tell(Ping(1))?;
///     probe.expect(Ping(1)).await;
///     Ok(system.stop().await?)
/// }
/// ```
pub struct Probe<M: Message> {
    probe: MultiProbe<(M, ())>,
}

impl<M: Message> Probe<M> {
    /// Starts a probe.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let mut probe = Probe::<Ping>::new(system).await;
    /// probe.recipient().tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any().await, Ping(1));
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the system does not start actors any more.
    pub async fn new(system: &ActorSystem) -> Self
    where
        M: Debug,
    {
        Probe {
            probe: MultiProbe::builder().takes::<M>().start(system).await,
        }
    }

    /// The same under a name of yours, as `/user/NAME`.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let probe = Probe::<Ping>::named(system, "bell").await;
    /// assert_eq!(probe.path().to_string(), "/user/bell");
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the name is taken, or is no name.
    pub async fn named(system: &ActorSystem, name: impl Into<String>) -> Self
    where
        M: Debug,
    {
        Probe {
            probe: MultiProbe::builder().takes::<M>().named(name).start(system).await,
        }
    }

    /// A probe for messages that cannot be shown: a failure names their type.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// #[derive(Message)]
    /// struct Secret;
    ///
    /// # let kit = TestKit::new();
    /// # kit.run(async {
    /// let mut probe = Probe::<Secret>::opaque(kit.system()).await;
    /// probe.recipient().tell(Secret).unwrap();
    /// let Secret = probe.expect_any().await;
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the system does not start actors any more.
    pub async fn opaque(system: &ActorSystem) -> Self {
        Probe {
            probe: MultiProbe::builder().takes_opaque::<M>().start(system).await,
        }
    }

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
    /// let mut probe = Probe::<Ping>::new(system).await.with_patience(Duration::from_secs(60));
    /// system.scheduler().once(Duration::from_secs(50)).tell(probe.recipient(), Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any().await, Ping(1));
    /// # });
    /// ```
    ///
    /// # Panics
    /// If there is no patience at all.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Probe {
            probe: self.probe.with_patience(patience),
        }
    }

    /// Where to send messages to.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// let to: Recipient<Ping> = probe.recipient();
    /// to.tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any().await, Ping(1));
    /// # });
    /// ```
    #[must_use]
    pub fn recipient(&self) -> Recipient<M> {
        self.probe.actor_ref().recipient()
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
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// system.scheduler().once(Duration::from_secs(50)).tell(probe.recipient(), Ping(1)).unwrap();
    /// assert_eq!(probe.within(Duration::from_secs(60)).expect_any().await, Ping(1));
    /// # });
    /// ```
    pub fn within(&mut self, patience: Duration) -> &mut Self {
        self.probe.within(patience);
        self
    }

    /// The next message is this one.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
    /// to.tell(Ping(1)).unwrap();
    /// probe.expect(Ping(1)).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect(&mut self, message: M) -> impl Future<Output = ()>
    where
        M: PartialEq + Debug,
    {
        let at = Location::caller();
        async move { self.probe.inbox.expect(at, &message).await }
    }

    /// The next message, whatever it is.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
    /// to.tell(Ping(7)).unwrap();
    /// let Ping(number) = probe.expect_any().await;
    /// assert_eq!(number, 7);
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_any(&mut self) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.probe.inbox.expect_any::<M>(at).await }
    }

    /// The next message, for which the condition holds.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
    /// to.tell(Ping(7)).unwrap();
    /// let ping = probe.expect_that(|Ping(number)| number % 2 == 1).await;
    /// # });
    /// ```
    ///
    /// Cancel safe: what has not been looked at stays.
    ///
    /// # Panics
    /// With what came instead.
    #[track_caller]
    pub fn expect_that(&mut self, condition: impl FnMut(&M) -> bool) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.probe.inbox.expect_that(at, condition).await }
    }

    /// The first message for which the condition holds; others are skipped.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
    /// (0..9).for_each(|number| to.tell(Ping(number)).unwrap());
    /// let ping = probe.fish(|Ping(number)| *number > 4).await;
    /// assert_eq!(ping, Ping(5));
    /// # });
    /// ```
    ///
    /// What was skipped is gone, also if this is cancelled.
    ///
    /// # Panics
    /// With all that came instead, if none comes in time: the patience is for the whole catch.
    #[track_caller]
    pub fn fish(&mut self, condition: impl FnMut(&M) -> bool) -> impl Future<Output = M> {
        let at = Location::caller();
        async move { self.probe.inbox.fish(at, condition).await }
    }

    /// Nothing comes for so long.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
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
        async move { self.probe.inbox.expect_none(at, within).await }
    }

    /// The next messages are these, in this order. The patience is for all of them together.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
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
    pub fn expect_in_order(&mut self, messages: impl IntoIterator<Item = M>) -> impl Future<Output = ()>
    where
        M: PartialEq + Debug,
    {
        let at = Location::caller();
        let messages: Vec<M> = messages.into_iter().collect();
        async move { self.probe.inbox.expect_in_order(at, messages).await }
    }

    /// The next messages are these, in any order. The patience is for all of them together.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// # let to = probe.recipient();
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
    pub fn expect_all_in_any_order(&mut self, messages: impl IntoIterator<Item = M>) -> impl Future<Output = ()>
    where
        M: PartialEq + Debug,
    {
        let at = Location::caller();
        let messages: Vec<M> = messages.into_iter().collect();
        async move { self.probe.inbox.expect_all_in_any_order(at, messages).await }
    }

    /// The next message, which somebody asks, and the right to answer it.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, Message)] #[message(reply = u32)] struct Count;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Count>::new(system).await;
    /// # let to = probe.recipient();
    /// let (answer, ()) = tokio::join!(to.ask(Count).into_future(), async {
    ///     let (Count, reply) = probe.expect_ask().await;
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
    pub fn expect_ask(&mut self) -> impl Future<Output = (M, ReplyFor<M>)> {
        let at = Location::caller();
        async move { self.probe.inbox.expect_ask::<M>(at).await }
    }

    /// Answers the message that was taken last.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, Message)] #[message(reply = u32)] struct Count;
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Count>::new(system).await;
    /// # let to = probe.recipient();
    /// let (answer, ()) = tokio::join!(to.ask(Count).into_future(), async {
    ///     probe.expect_any().await;
    ///     probe.reply(3);
    /// });
    /// assert_eq!(answer.unwrap(), 3);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If nobody waits for an answer to it.
    #[track_caller]
    pub fn reply(&mut self, answer: M::Reply) {
        self.probe.inbox.reply::<M>(Location::caller(), answer);
    }

    /// An actor ends, or has ended.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # struct Desk; #[actor] impl Desk { fn hire(&mut self, ctx: &mut Context<Self>) { let _ = ctx.spawn_child(|| Desk).named("aide").start(); } }
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
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
        async move { self.probe.inbox.expect_terminated(at, actor).await }
    }

    /// An actor of this name appears below another, or is there.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # struct Desk; #[actor] impl Desk { fn hire(&mut self, ctx: &mut Context<Self>) { let _ = ctx.spawn_child(|| Desk).named("aide").start(); } }
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
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
        async move { self.probe.inbox.expect_child(at, parent, name).await }
    }

    /// Where it lives.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// assert!(probe.path().to_string().starts_with("/user/"));
    /// # });
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        self.probe.path()
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
    /// # let mut probe = Probe::<Ping>::new(system).await;
    /// probe.actor_ref().tell(Ping(1)).unwrap();
    /// assert_eq!(probe.expect_any().await, Ping(1));
    /// # });
    /// ```
    #[must_use]
    pub fn actor_ref(&self) -> ActorRef<ProbeActor<(M, ())>> {
        self.probe.actor_ref()
    }
}

impl<M: Message> fmt::Debug for Probe<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.path())
    }
}
