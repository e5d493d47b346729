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
/// use volary_core::{Dispatcher, Props};
/// let props = Props::new().dispatcher(Dispatcher::Blocking);
/// # let _ = props;
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
    /// let _ = volary_core::Props::new();
    /// ```
    pub fn new() -> Self {
        Props::default()
    }

    /// Chooses the mailbox.
    ///
    /// ```
    /// # use volary_core::{MailboxKind, Props};
    /// let _ = Props::new().mailbox(MailboxKind::BoundedRefusing(16));
    /// ```
    pub fn mailbox(mut self, mailbox: MailboxKind) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Chooses the dispatcher.
    ///
    /// ```
    /// # use volary_core::{Dispatcher, Props};
    /// let _ = Props::new().dispatcher(Dispatcher::Pinned);
    /// ```
    pub fn dispatcher(mut self, dispatcher: Dispatcher) -> Self {
        self.dispatcher = dispatcher;
        self
    }

    /// How many messages the actor may put aside at a time; 1,024 unless said otherwise.
    ///
    /// ```
    /// # use volary_core::Props;
    /// let _ = Props::new().stash(10_000);
    /// ```
    pub fn stash(mut self, capacity: usize) -> Self {
        self.stash = Some(capacity);
        self
    }

    /// Says what part the actor plays, for whoever places actors by it; see [`AnyRef::role`](crate::AnyRef::role). An
    /// empty one is none.
    ///
    /// ```
    /// # use volary_core::Props;
    /// let _ = Props::new().role("billing");
    /// ```
    pub fn role(mut self, role: impl Into<Arc<str>>) -> Self {
        self.role = Some(role.into()).filter(|role| !role.is_empty());
        self
    }

    /// Says what happens to other messages while answers to [requests](crate::Context::request) are due.
    ///
    /// ```
    /// # use volary_core::{Props, Reentrancy};
    /// let _ = Props::new().reentrancy(Reentrancy::hold_others());
    /// ```
    pub fn reentrancy(mut self, reentrancy: Reentrancy) -> Self {
        self.reentrancy = reentrancy;
        self
    }

    /// Says when the actor lets go of its state, to start anew with its next message.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::{Passivation, Props};
    /// let _ = Props::new().passivation(Passivation::after(Duration::from_secs(120)));
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
    /// # use volary_core::{Dependency, Props};
    /// fn with<D: Dependency>(database: D) -> Props {
    ///     Props::new().dependency(database)
    /// }
    /// ```
    pub fn dependency<D: Dependency>(mut self, dependency: D) -> Self {
        Arc::make_mut(self.dependencies.get_or_insert_default()).insert(Arc::new(dependency));
        self
    }

    /// Gives the actor dependencies that were made from bytes.
    ///
    /// ```
    /// # use volary_core::{Props, ReadDependencies};
    /// fn with(made: ReadDependencies) -> Props {
    ///     Props::new().dependencies(made)
    /// }
    /// ```
    pub fn dependencies(mut self, made: ReadDependencies) -> Self {
        Arc::make_mut(self.dependencies.get_or_insert_default()).merge(&made.0);
        self
    }

    /// One of the dependencies.
    ///
    /// ```
    /// # use volary_core::{Dependency, Props};
    /// # fn f<Database: Dependency>(props: &Props) {
    /// let database = props.find_dependency::<Database>();
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
    /// # use std::time::Duration;
    /// # use volary_core::{Props, Supervision};
    /// let _ = Props::new().supervision(Supervision::new().limit(3, Duration::from_secs(10)));
    /// ```
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.supervision = Some(Arc::new(supervision));
        self
    }

    /// Says what happens on a fault.
    ///
    /// ```
    /// # use volary_core::{Directive, Props};
    /// let _ = Props::new().on_fault(Directive::Resume);
    /// ```
    pub fn on_fault(mut self, directive: Directive) -> Self {
        self.on_fault = directive;
        self
    }
}
