//! What a user says about crashes when an actor is spawned.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::backoff::Backoff;
use crate::actor::Fault;

/// What happens when an actor crashes. The failing message is never retried.
///
/// ```
/// use volary_core::{Directive, Props, PropsDescription};
/// let props = Props::new().on_fault(Directive::Stop);
/// assert_eq!(PropsDescription::of(&props)?.on_fault, Directive::Stop);
/// # Ok::<(), volary_core::UndescribableProps>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Directive {
    /// Keep the state and go on with the next message.
    Resume,
    /// Rebuild the actor from its factory; address, mailbox and watchers stay.
    #[default]
    Restart,
    /// Stop the actor.
    Stop,
    /// Hold the actor as it is. Its mail waits until somebody [reinstates](crate::ActorRef::reinstate),
    /// restarts or stops it.
    Suspend,
    /// The parent fails with this fault, and what its own supervision says is done. The actor waits for
    /// it. An actor directly below `/user` is stopped: there is nobody above it to decide.
    Escalate,
}

/// Whom a directive applies to.
///
/// ```
/// use volary_core::{Strategy, Supervision, SupervisionDescription};
/// let pipeline = Supervision::new().strategy(Strategy::RestForOne);
/// assert_eq!(SupervisionDescription::of(&pipeline)?.strategy, Strategy::RestForOne);
/// # Ok::<(), volary_core::RuleForType>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// The one that failed.
    #[default]
    OneForOne,
    /// The one that failed and all its siblings.
    OneForAll,
    /// The one that failed and the siblings that were started after it.
    RestForOne,
}

/// What becomes of an actor's children when it restarts.
///
/// ```
/// use volary_core::{ChildrenPolicy, Supervision, SupervisionDescription};
/// let keeps = Supervision::new().children(ChildrenPolicy::Keep);
/// assert_eq!(SupervisionDescription::of(&keeps)?.children, ChildrenPolicy::Keep);
/// # Ok::<(), volary_core::RuleForType>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ChildrenPolicy {
    /// They stop before the actor is rebuilt, which may then start its own.
    #[default]
    Stop,
    /// They live on. The new incarnation finds them by [`Context::child`](crate::Context::child).
    Keep,
}

/// How an actor is supervised: a directive per type of error, a limit, a backoff, and who else is
/// concerned.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{Backoff, Directive, Supervision};
///
/// let supervision = Supervision::new()
///     .on::<std::io::Error>(Directive::Restart)   // this type, anywhere in the chain of sources
///     .on_panic(Directive::Stop)
///     .otherwise(Directive::Resume)
///     .limit(5, Duration::from_secs(60))          // a sixth restart within a minute suspends it
///     .backoff(Backoff::new(Duration::from_millis(100), Duration::from_secs(10)));
/// # let _ = supervision;
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Supervision {
    strategy: Strategy,
    rules: Vec<Rule>,
    otherwise: Directive,
    limit: Option<(u32, Duration)>,
    backoff: Option<Backoff>,
    children: ChildrenPolicy,
}

#[derive(Clone)]
pub(super) struct Rule {
    matches: fn(&Fault) -> bool,
    pub(super) what: &'static str,
    pub(super) directive: Directive,
}

/// What a rule for panics is called; names of types have a path.
const PANIC: &str = "panic";

impl Rule {
    pub(super) fn is_for_panics(&self) -> bool {
        self.what == PANIC
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} => {:?}", self.what, self.directive)
    }
}

/// A value of a [`Supervision`] that makes no sense; the spawn is refused.
///
/// ```
/// # use std::time::Duration;
/// use volary_core::Supervision;
/// let error = Supervision::new().limit(5, Duration::ZERO).validate().unwrap_err();
/// assert_eq!(error.to_string(), "the supervision's limit has a window of 0ns; it must be longer than that");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the supervision's {setting} {problem}")]
pub struct SupervisionError {
    pub(super) setting: &'static str,
    pub(super) problem: String,
}

impl Supervision {
    /// Every fault restarts the actor, as often as it happens.
    ///
    /// ```
    /// use volary_core::{Supervision, SupervisionDescription};
    /// assert_eq!(SupervisionDescription::of(&Supervision::new())?, SupervisionDescription::default());
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn new() -> Self {
        Supervision::default()
    }

    /// Whom a directive applies to.
    ///
    /// ```
    /// use volary_core::{Strategy, Supervision, SupervisionDescription};
    /// let supervision = Supervision::new().strategy(Strategy::OneForAll);
    /// assert_eq!(SupervisionDescription::of(&supervision)?.strategy, Strategy::OneForAll);
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// What to do about faults that are an `E`, or have one among their sources. The first rule that
    /// fits counts.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Scribble; impl Message for Scribble { type Reply = (); type Rejection = Infallible; }
    /// # impl SyncHandler<Scribble> for Account {
    /// #     fn handle(&mut self, _: Scribble, _: &mut Context<Self>) -> Result<(), Failure> { Err(Fault::new(std::fmt::Error).into()) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let supervision = Supervision::new().on::<std::fmt::Error>(Directive::Stop);
    /// let bob = system.spawn(Account::default).supervision(supervision).await?;
    /// # bob.tell(Scribble)?;
    /// bob.terminated().await; // having crashed with that error
    /// # assert!(!bob.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn on<E: Error + 'static>(self, directive: Directive) -> Self {
        self.rule(Fault::is::<E>, std::any::type_name::<E>(), directive)
    }

    /// What to do about panics.
    ///
    /// ```
    /// use volary_core::{Directive, Supervision, SupervisionDescription};
    /// let supervision = Supervision::new().on_panic(Directive::Stop);
    /// assert_eq!(SupervisionDescription::of(&supervision)?.on_panic, Some(Directive::Stop));
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn on_panic(self, directive: Directive) -> Self {
        self.rule(Fault::is_panic, PANIC, directive)
    }

    /// What to do about every fault that no rule fits.
    ///
    /// ```
    /// use volary_core::{Directive, Supervision, SupervisionDescription};
    /// let supervision = Supervision::new().otherwise(Directive::Resume);
    /// assert_eq!(SupervisionDescription::of(&supervision)?.otherwise, Directive::Resume);
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn otherwise(mut self, directive: Directive) -> Self {
        self.otherwise = directive;
        self
    }

    /// How many restarts there may be within a window. One more suspends the actor: its mail waits until
    /// somebody [reinstates](crate::ActorRef::reinstate), restarts or stops it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use volary_core::{Supervision, SupervisionDescription};
    /// let supervision = Supervision::new().limit(3, Duration::from_secs(10));
    /// assert_eq!(SupervisionDescription::of(&supervision)?.limit, Some((3, Duration::from_secs(10))));
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn limit(mut self, restarts: u32, window: Duration) -> Self {
        self.limit = Some((restarts, window));
        self
    }

    /// How long to wait before a restart. The mail waits as well; siblings that restart with it do so at once.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use volary_core::{Backoff, Supervision, SupervisionDescription};
    /// let backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// let supervision = Supervision::new().backoff(backoff.clone());
    /// assert_eq!(SupervisionDescription::of(&supervision)?.backoff, Some(backoff));
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = Some(backoff);
        self
    }

    /// What becomes of the children when the actor restarts.
    ///
    /// ```
    /// use volary_core::{ChildrenPolicy, Supervision, SupervisionDescription};
    /// let supervision = Supervision::new().children(ChildrenPolicy::Keep);
    /// assert_eq!(SupervisionDescription::of(&supervision)?.children, ChildrenPolicy::Keep);
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    pub fn children(mut self, policy: ChildrenPolicy) -> Self {
        self.children = policy;
        self
    }

    /// Looks for values that make no sense; a spawn does so by itself.
    ///
    /// ```
    /// assert!(volary_core::Supervision::new().validate().is_ok());
    /// ```
    ///
    /// # Errors
    /// The first such value, named.
    pub fn validate(&self) -> Result<(), SupervisionError> {
        if let Some((_, window)) = self.limit
            && window.is_zero()
        {
            let problem = format!("has a window of {window:?}; it must be longer than that");
            return Err(SupervisionError {
                setting: "limit",
                problem,
            });
        }
        self.backoff.as_ref().map_or(Ok(()), Backoff::validate)
    }

    fn rule(mut self, matches: fn(&Fault) -> bool, what: &'static str, directive: Directive) -> Self {
        self.rules.push(Rule {
            matches,
            what,
            directive,
        });
        self
    }

    pub(crate) fn directive_for(&self, fault: &Fault) -> Directive {
        let rule = self.rules.iter().find(|rule| (rule.matches)(fault));
        rule.map_or(self.otherwise, |rule| rule.directive)
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn for_the_rest(&self) -> Directive {
        self.otherwise
    }

    pub(crate) fn whom(&self) -> Strategy {
        self.strategy
    }

    pub(crate) fn keeps_children(&self) -> bool {
        self.children == ChildrenPolicy::Keep
    }

    pub(super) fn restart_limit(&self) -> Option<(u32, Duration)> {
        self.limit
    }

    pub(super) fn delay(&self) -> Option<&Backoff> {
        self.backoff.as_ref()
    }
}
