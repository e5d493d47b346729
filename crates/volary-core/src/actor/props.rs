//! Options of an actor, as data: the same for every way to start one.

use std::sync::Arc;

use super::reentrancy::Reentrancy;
use crate::extension::{Dependencies, Dependency, DependencyBytes, DependencyError, ReadDependencies};
use crate::intercept::{Interceptor, Layers};
use crate::mailbox::MailboxKind;
use crate::passivation::Passivation;
use crate::supervision::{Directive, Supervision};

/// Which dispatcher runs an actor.
///
/// ```
/// use volary_core::{Dispatcher, Props, PropsDescription};
/// let props = Props::new().dispatcher(Dispatcher::Blocking);
/// assert_eq!(PropsDescription::of(&props)?.dispatcher, Dispatcher::Blocking);
/// # Ok::<(), volary_core::UndescribableProps>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Dispatcher {
    /// The workers on the caller's runtime.
    #[default]
    Default,
    /// Threads that may block: they come and go with the work.
    Blocking,
    /// A thread of its own, for as long as the actor lives.
    Pinned,
    /// One that the builder was given under this name.
    Named(String),
}

/// Options of an actor. The default is an unbounded mailbox, the default dispatcher, and restart on
/// a fault.
///
/// ```
/// use volary_core::{Directive, MailboxKind, Props};
///
/// let props = Props::new()
///     .mailbox(MailboxKind::Bounded(1_024))
///     .on_fault(Directive::Stop);
/// assert_ne!(format!("{props:?}"), "");
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Props {
    pub(crate) mailbox: MailboxKind,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) on_fault: Directive,
    pub(crate) supervision: Option<Arc<Supervision>>,
    pub(crate) stash: Option<usize>,
    pub(crate) role: Option<Arc<str>>,
    pub(crate) reentrancy: Reentrancy,
    pub(crate) passivation: Passivation,
    pub(crate) layers: Option<Arc<Layers>>,
    pub(crate) dependencies: Option<Arc<Dependencies>>,
}

impl Props {
    /// The defaults.
    ///
    /// ```
    /// use volary_core::{Props, PropsDescription};
    /// assert_eq!(PropsDescription::of(&Props::new())?, PropsDescription::default());
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn new() -> Self {
        Props::default()
    }

    /// Chooses the mailbox.
    ///
    /// ```
    /// use volary_core::{MailboxDescription, MailboxKind, Props, PropsDescription};
    /// let props = Props::new().mailbox(MailboxKind::Bounded(16));
    /// assert_eq!(PropsDescription::of(&props)?.mailbox, MailboxDescription::Bounded(16));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn mailbox(mut self, mailbox: MailboxKind) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Chooses the dispatcher.
    ///
    /// ```
    /// use volary_core::{Dispatcher, Props, PropsDescription};
    /// let props = Props::new().dispatcher(Dispatcher::Pinned);
    /// assert_eq!(PropsDescription::of(&props)?.dispatcher, Dispatcher::Pinned);
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn dispatcher(mut self, dispatcher: Dispatcher) -> Self {
        self.dispatcher = dispatcher;
        self
    }

    /// How many messages the actor may put aside at a time; 1,024 unless said otherwise.
    ///
    /// ```
    /// use volary_core::{Props, PropsDescription};
    /// let props = Props::new().stash(16);
    /// assert_eq!(PropsDescription::of(&props)?.stash, Some(16));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn stash(mut self, capacity: usize) -> Self {
        self.stash = Some(capacity);
        self
    }

    /// Says what part the actor plays, for whoever places actors by it; see [`AnyRef::role`](crate::AnyRef::role). An
    /// empty one is none.
    ///
    /// ```
    /// use volary_core::{Props, PropsDescription};
    /// let props = Props::new().role("ledger");
    /// assert_eq!(PropsDescription::of(&props)?.role.as_deref(), Some("ledger"));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn role(mut self, role: impl Into<Arc<str>>) -> Self {
        self.role = Some(role.into()).filter(|role| !role.is_empty());
        self
    }

    /// Says what happens to other messages while answers to [requests](crate::Context::request) are due.
    ///
    /// ```
    /// use volary_core::{Props, PropsDescription, Reentrancy};
    /// let props = Props::new().reentrancy(Reentrancy::hold_others());
    /// assert!(PropsDescription::of(&props)?.reentrancy.holds_others());
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn reentrancy(mut self, reentrancy: Reentrancy) -> Self {
        self.reentrancy = reentrancy;
        self
    }

    /// Says when the actor lets go of its state, to start anew with its next message.
    ///
    /// ```
    /// use std::time::Duration;
    /// use volary_core::{Passivation, Props, PropsDescription};
    /// let props = Props::new().passivation(Passivation::after(Duration::from_secs(60)));
    /// assert_eq!(PropsDescription::of(&props)?.passivation.idle(), Some(Duration::from_secs(60)));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn passivation(mut self, passivation: Passivation) -> Self {
        self.passivation = passivation;
        self
    }

    /// Puts a layer around what the actor handles and sends, within those of the system and those given before.
    ///
    /// ```
    /// # use volary_core::{Arriving, Interceptor, Props, Verdict};
    /// struct OnlyFromActors;
    /// impl Interceptor for OnlyFromActors {
    ///     fn receiving(&self, message: &Arriving<'_>) -> Verdict {
    ///         if message.sender().is_some() { Verdict::Pass } else { Verdict::Refuse("not from outside") }
    ///     }
    /// }
    /// let _ = Props::new().intercept(OnlyFromActors);
    /// ```
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        Arc::make_mut(self.layers.get_or_insert_default()).push(interceptor);
        self
    }

    /// Gives the actor something that it can get at with [`Context::dependency`](crate::Context::dependency), in the
    /// place of one of the same type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/database.rs"));
    /// # fn main() {
    /// let props = Props::new().dependency(Database("db:5432"));
    /// assert_eq!(props.find_dependency::<Database>().map(|found| found.0), Some("db:5432"));
    /// # }
    /// ```
    pub fn dependency<D: Dependency>(mut self, dependency: D) -> Self {
        Arc::make_mut(self.dependencies.get_or_insert_default()).insert(Arc::new(dependency));
        self
    }

    /// Gives the actor dependencies that were made from bytes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/database.rs"));
    /// # fn main() -> Result<(), DependencyError> {
    /// let mut kinds = DependencyKinds::default();
    /// kinds.add::<Database>()?;
    /// let bytes = Props::new().dependency(Database("db:5432")).dependency_bytes()?;
    /// let props = Props::new().dependencies(kinds.read(&bytes)?);
    /// assert!(props.find_dependency::<Database>().is_some());
    /// # Ok(()) }
    /// ```
    pub fn dependencies(mut self, made: ReadDependencies) -> Self {
        Arc::make_mut(self.dependencies.get_or_insert_default()).merge(&made.0);
        self
    }

    /// One of the dependencies.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/database.rs"));
    /// # fn main() {
    /// let props = Props::new().dependency(Database("db:5432"));
    /// assert_eq!(props.find_dependency::<Database>().map(|found| found.0), Some("db:5432"));
    /// # }
    /// ```
    #[must_use]
    pub fn find_dependency<D: Dependency>(&self) -> Option<Arc<D>> {
        self.dependencies.as_ref()?.get()
    }

    /// The dependencies as bytes, for another machine.
    ///
    /// ```
    /// # use volary_core::Props;
    /// assert_eq!(Props::new().dependency_bytes().unwrap(), []);
    /// ```
    ///
    /// # Errors
    /// If one cannot be written, or two have one name.
    pub fn dependency_bytes(&self) -> Result<Vec<DependencyBytes>, DependencyError> {
        self.dependencies.as_ref().map_or(Ok(Vec::new()), |given| given.write())
    }

    /// Says in detail what happens on a fault; takes the place of [`on_fault`](Props::on_fault).
    ///
    /// ```
    /// use volary_core::{Directive, Props, PropsDescription, Supervision};
    /// let props = Props::new().supervision(Supervision::new().otherwise(Directive::Resume));
    /// let described = PropsDescription::of(&props)?.supervision;
    /// assert_eq!(described.map(|supervision| supervision.otherwise), Some(Directive::Resume));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.supervision = Some(Arc::new(supervision));
        self
    }

    /// Says what happens on a fault.
    ///
    /// ```
    /// use volary_core::{Directive, Props, PropsDescription};
    /// let props = Props::new().on_fault(Directive::Stop);
    /// assert_eq!(PropsDescription::of(&props)?.on_fault, Directive::Stop);
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    pub fn on_fault(mut self, directive: Directive) -> Self {
        self.on_fault = directive;
        self
    }
}
