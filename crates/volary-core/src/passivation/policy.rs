//! When an actor lets go of its state.

use std::time::Duration;

use crate::reference::SpawnError;

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_hours(10 * 365 * 24);

/// When an actor is passivated: its hooks run as for a stop and its state is dropped, but its address stays, and the next
/// message starts it anew from its factory.
///
/// It is left alone while there is something to do: messages that wait, in the mailbox or put aside, tasks of
/// [`Context::spawn`](crate::Context::spawn), [requests](crate::Context::request) whose answer is due, or children that are
/// busy. Children end with it. Timers end with it as well, and do not keep it awake.
///
/// Whoever watches it hears nothing, since it has not ended. With [`ending`](Passivation::ending) it does end.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{Passivation, Props};
///
/// let session = Props::new().passivation(Passivation::after(Duration::from_secs(120)));
/// # let _ = session;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Passivation {
    pub(crate) allowed: bool,
    pub(crate) idle: Option<Duration>,
    pub(crate) messages: Option<u64>,
    pub(crate) ends: bool,
}

impl Passivation {
    /// Not at all; the default. The actor is not evicted either.
    ///
    /// ```
    /// # use volary_core::Passivation;
    /// assert_eq!(Passivation::never(), Passivation::default());
    /// ```
    pub const fn never() -> Self {
        Passivation {
            allowed: false,
            idle: None,
            messages: None,
            ends: false,
        }
    }

    /// Only when the system needs room, see [`Eviction`](crate::Eviction), or when somebody says so.
    ///
    /// ```
    /// let passivation = volary_core::Passivation::on_demand();
    /// assert!(passivation.is_allowed() && passivation.idle().is_none());
    /// ```
    pub const fn on_demand() -> Self {
        Passivation {
            allowed: true,
            ..Passivation::never()
        }
    }

    /// When no message was handled for `idle`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Passivation;
    /// let passivation = Passivation::after(Duration::from_secs(60));
    /// assert_eq!(passivation.idle(), Some(Duration::from_secs(60)));
    /// ```
    pub const fn after(idle: Duration) -> Self {
        Passivation {
            idle: Some(idle),
            ..Passivation::on_demand()
        }
    }

    /// When so many messages were handled, whether more wait or not: those go to the next incarnation.
    ///
    /// ```
    /// assert_eq!(volary_core::Passivation::after_messages(100).messages(), Some(100));
    /// ```
    pub const fn after_messages(messages: u64) -> Self {
        Passivation {
            messages: Some(messages),
            ..Passivation::on_demand()
        }
    }

    /// Or when so many messages were handled, if that comes first.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Passivation;
    /// let passivation = Passivation::after(Duration::from_secs(60)).or_after_messages(100);
    /// assert_eq!((passivation.idle(), passivation.messages()), (Some(Duration::from_secs(60)), Some(100)));
    /// ```
    pub const fn or_after_messages(mut self, messages: u64) -> Self {
        self.messages = Some(messages);
        self
    }

    /// The actor ends instead, as if it were [drained](crate::ActorRef::drain): watchers hear of it, its name is free, and
    /// messages sent later go back to their senders.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Passivation;
    /// assert!(Passivation::after(Duration::from_secs(60)).ending().is_ending());
    /// ```
    pub const fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    /// Whether the actor may be passivated at all.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Passivation;
    /// let passivation = Passivation::after(Duration::from_secs(60)).or_after_messages(100).ending();
    /// assert!(passivation.is_allowed() && passivation.is_ending());
    /// assert_eq!(passivation.idle(), Some(Duration::from_secs(60)));
    /// assert_eq!(passivation.messages(), Some(100));
    /// ```
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// After how much time without messages; see [`is_allowed`](Passivation::is_allowed).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Passivation;
    /// assert_eq!(Passivation::after(Duration::from_secs(60)).idle(), Some(Duration::from_secs(60)));
    /// ```
    #[must_use]
    pub const fn idle(&self) -> Option<Duration> {
        self.idle
    }

    /// After how many messages; see [`is_allowed`](Passivation::is_allowed).
    ///
    /// ```
    /// assert_eq!(volary_core::Passivation::after_messages(100).messages(), Some(100));
    /// ```
    #[must_use]
    pub const fn messages(&self) -> Option<u64> {
        self.messages
    }

    /// Whether it ends then; see [`is_allowed`](Passivation::is_allowed).
    ///
    /// ```
    /// assert!(volary_core::Passivation::after_messages(100).ending().is_ending());
    /// ```
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        self.ends
    }

    pub(crate) fn validate(&self) -> Result<(), SpawnError> {
        let wrong = |value, allowed| {
            Err(SpawnError::Option {
                option: "passivation",
                value,
                allowed,
            })
        };
        if let Some(idle) = self.idle
            && !(SHORTEST..=LONGEST).contains(&idle)
        {
            return wrong(format!("after {idle:?}"), "a millisecond to ten years without messages");
        }
        if self.messages == Some(0) {
            return wrong("after 0 messages".to_owned(), "at least one message");
        }
        Ok(())
    }
}
