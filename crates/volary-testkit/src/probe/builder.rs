//! What a probe is told before it starts.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

use volary::{ActorSystem, Message, Passivation};

use super::actor::{MessageSet, ProbeActor};
use super::arrivals::{Arrivals, Show, show};
use super::inbox::{Inbox, PATIENCE};
use super::multi::MultiProbe;
use crate::sim::short;

/// Says what a probe takes; made by [`MultiProbe::builder`].
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
/// probe.expect(Ping(1)).await;
/// # assert_eq!(probe.path().to_string().matches("/user/").count(), 1);
/// # });
/// ```
#[must_use = "`start` starts the probe"]
pub struct ProbeBuilder<L> {
    shows: BTreeMap<TypeId, Show>,
    names: Vec<(TypeId, &'static str)>,
    name: Option<String>,
    takes: PhantomData<fn(L)>,
}

impl ProbeBuilder<()> {
    pub(super) fn new() -> Self {
        ProbeBuilder {
            shows: BTreeMap::new(),
            names: Vec::new(),
            name: None,
            takes: PhantomData,
        }
    }
}

impl<L: MessageSet> ProbeBuilder<L> {
    /// It takes messages of this type, too.
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
    /// probe.expect(Ping(1)).await;
    /// # assert_eq!(probe.path().to_string().matches("/user/").count(), 1);
    /// # });
    /// ```
    pub fn takes<M: Message + Debug>(mut self) -> ProbeBuilder<(M, L)> {
        self.shows.insert(TypeId::of::<M>(), show::<M>);
        self.takes_opaque()
    }

    /// It takes messages of this type, too, which cannot be shown: a failure names the type.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, TestKit};
    /// #[derive(Message)]
    /// struct Secret(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let mut probe = MultiProbe::builder().takes_opaque::<Secret>().start(system).await;
    /// probe.recipient().tell(Secret(7)).unwrap();
    /// assert_eq!(probe.expect_any::<Secret>().await.0, 7);
    /// # });
    /// ```
    pub fn takes_opaque<M: Message>(mut self) -> ProbeBuilder<(M, L)> {
        self.names.push((TypeId::of::<M>(), short(std::any::type_name::<M>())));
        ProbeBuilder {
            shows: self.shows,
            names: self.names,
            name: self.name,
            takes: PhantomData,
        }
    }

    /// It lives at `/user/NAME`.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::{MultiProbe, Probe, TestKit};
    /// # #[derive(Debug, PartialEq, Message)] struct Ping(u32);
    /// # let kit = TestKit::new();
    /// # let system = kit.system();
    /// # kit.run(async {
    /// let probe = MultiProbe::builder().takes::<Ping>().named("bell").start(system).await;
    /// assert_eq!(probe.path().to_string(), "/user/bell");
    /// # });
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Starts it.
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
    /// probe.expect(Ping(1)).await;
    /// # assert_eq!(probe.path().to_string().matches("/user/").count(), 1);
    /// # });
    /// ```
    ///
    /// # Panics
    /// If the name is taken or is no name, or the system does not start actors any more.
    pub async fn start(self, system: &ActorSystem) -> MultiProbe<L> {
        let arrivals = Arc::new(Arrivals::new(self.shows));
        let weak = Arc::downgrade(&arrivals);
        let mut spawn = system
            .spawn(move || ProbeActor::<L>::new(weak.clone()))
            .passivation(Passivation::never());
        if let Some(name) = self.name {
            spawn = spawn.named(name);
        }
        let actor = match spawn.await {
            Ok(actor) => actor,
            Err(error) => panic!("the probe does not start: {error}"),
        };
        MultiProbe {
            inbox: Inbox::new(&actor, arrivals, PATIENCE),
            actor,
            names: self.names,
        }
    }
}

impl<L> fmt::Debug for ProbeBuilder<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProbeBuilder({})", in_words(&self.names))
    }
}

pub(super) fn in_words(names: &[(TypeId, &'static str)]) -> String {
    let names: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    }
}
