//! Which mailbox an actor has, as data.

use std::fmt;
use std::sync::Arc;

use super::bound::Bound;
use super::custom::{Letter, Mailbox};
use super::fair::Fair;
use super::priority::{Priority, StablePriority};

type Make = Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>;

/// Which mailbox an actor has.
///
/// ```
/// use volary_core::{MailboxKind, Props};
/// # struct Alarm { level: u8 }
/// let props = Props::new().mailbox(MailboxKind::Bounded(1_000));
/// let props = Props::new().mailbox(MailboxKind::fair().bounded(1_000));
/// let urgent_first = MailboxKind::priority(|letter| letter.message::<Alarm>().map_or(0, |alarm| alarm.level));
/// # let _ = (props, urgent_first);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum MailboxKind {
    /// Takes everything; the system warns when it grows beyond the high-water mark.
    #[default]
    Unbounded,
    /// The same queue as `Unbounded`, called by what it is made of: a chain of fixed blocks that are
    /// taken from a pool as mail comes and given back as it is read. For those who look for it under
    /// this name.
    Segmented,
    /// Takes so many messages. `tell` is refused when it is full, `send` waits for room.
    Bounded(usize),
    /// Takes so many messages. `tell` and `send` are both refused when it is full.
    BoundedRefusing(usize),
    /// A mailbox of your own, made anew for each actor.
    Custom(Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
    /// A mailbox of your own that is given so many messages at a time; full, it is as `Bounded`.
    BoundedCustom(usize, Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
    /// A mailbox of your own that is given so many messages at a time; full, it is as
    /// `BoundedRefusing`.
    BoundedRefusingCustom(usize, Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
}

impl MailboxKind {
    /// The highest priority first, equals in any order; see [`Priority`].
    ///
    /// ```
    /// # use volary_core::MailboxKind;
    /// struct Alarm { level: u8 }
    /// let kind = MailboxKind::priority(|letter| letter.message::<Alarm>().map_or(0, |alarm| alarm.level));
    /// # let _ = kind;
    /// ```
    #[must_use]
    pub fn priority<K, F>(priority: F) -> Self
    where
        K: Ord + Send + 'static,
        F: Fn(&Letter) -> K + Send + Sync + 'static,
    {
        let priority = Arc::new(priority);
        MailboxKind::custom(move || {
            let priority = priority.clone();
            Priority::new(move |letter: &Letter| priority(letter))
        })
    }

    /// The highest priority first, equals in the order in which they came; see [`StablePriority`].
    ///
    /// ```
    /// # use volary_core::MailboxKind;
    /// struct Cancel;
    /// let kind = MailboxKind::stable_priority(|letter| letter.message::<Cancel>().is_some());
    /// # let _ = kind;
    /// ```
    #[must_use]
    pub fn stable_priority<K, F>(priority: F) -> Self
    where
        K: Ord + Send + 'static,
        F: Fn(&Letter) -> K + Send + Sync + 'static,
    {
        let priority = Arc::new(priority);
        MailboxKind::custom(move || {
            let priority = priority.clone();
            StablePriority::new(move |letter: &Letter| priority(letter))
        })
    }

    /// One message of each sender in turn; see [`Fair`].
    ///
    /// ```
    /// # use volary_core::{MailboxKind, Props};
    /// let props = Props::new().mailbox(MailboxKind::fair());
    /// # let _ = props;
    /// ```
    #[must_use]
    pub fn fair() -> Self {
        MailboxKind::custom(Fair::new)
    }

    /// A mailbox of your own, made anew for each actor.
    ///
    /// ```
    /// # use volary_core::{Fair, MailboxKind};
    /// let kind = MailboxKind::custom(Fair::new); // or a type of yours
    /// # let _ = kind;
    /// ```
    #[must_use]
    pub fn custom<M: Mailbox>(make: impl Fn() -> M + Send + Sync + 'static) -> Self {
        MailboxKind::Custom(Arc::new(move || Box::new(make())))
    }

    /// The same order, but room for so many messages only: then `tell` and `ask` are refused, and
    /// `send` waits. Another bound is replaced. What waits is counted in front of the mailbox, so the
    /// least urgent message in it takes a place like any other.
    ///
    /// ```
    /// # use volary_core::{MailboxKind, Props};
    /// let props = Props::new().mailbox(MailboxKind::fair().bounded(1_000));
    /// # let _ = props;
    /// ```
    #[must_use]
    pub fn bounded(self, capacity: usize) -> Self {
        match self.into_make() {
            None => MailboxKind::Bounded(capacity),
            Some(make) => MailboxKind::BoundedCustom(capacity, make),
        }
    }

    /// As [`bounded`](Self::bounded), but `send` is refused too.
    ///
    /// ```
    /// # use volary_core::MailboxKind;
    /// struct Cancel;
    /// let kind = MailboxKind::priority(|letter| letter.message::<Cancel>().is_some()).bounded_refusing(64);
    /// # let _ = kind;
    /// ```
    #[must_use]
    pub fn bounded_refusing(self, capacity: usize) -> Self {
        match self.into_make() {
            None => MailboxKind::BoundedRefusing(capacity),
            Some(make) => MailboxKind::BoundedRefusingCustom(capacity, make),
        }
    }

    /// The bound of a new mailbox of this kind.
    pub(crate) fn bound(&self) -> Option<Bound> {
        match self {
            MailboxKind::Unbounded | MailboxKind::Segmented | MailboxKind::Custom(_) => None,
            MailboxKind::Bounded(capacity) | MailboxKind::BoundedCustom(capacity, _) => {
                Some(Bound::new(*capacity as u64, true))
            }
            MailboxKind::BoundedRefusing(capacity) | MailboxKind::BoundedRefusingCustom(capacity, _) => {
                Some(Bound::new(*capacity as u64, false))
            }
        }
    }

    /// What orders the letters of a new mailbox of this kind, if not the log. Runs code of the user.
    pub(crate) fn make(&self) -> Option<Box<dyn Mailbox>> {
        self.clone().into_make().map(|make| make())
    }

    fn into_make(self) -> Option<Make> {
        match self {
            MailboxKind::Custom(make)
            | MailboxKind::BoundedCustom(_, make)
            | MailboxKind::BoundedRefusingCustom(_, make) => Some(make),
            _ => None,
        }
    }
}

impl fmt::Debug for MailboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailboxKind::Unbounded => f.write_str("Unbounded"),
            MailboxKind::Segmented => f.write_str("Segmented"),
            MailboxKind::Bounded(n) => write!(f, "Bounded({n})"),
            MailboxKind::BoundedRefusing(n) => write!(f, "BoundedRefusing({n})"),
            MailboxKind::Custom(_) => f.write_str("Custom"),
            MailboxKind::BoundedCustom(n, _) => write!(f, "BoundedCustom({n})"),
            MailboxKind::BoundedRefusingCustom(n, _) => write!(f, "BoundedRefusingCustom({n})"),
        }
    }
}
