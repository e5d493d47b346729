//! Options of an actor as plain data, for another machine. What is code stays behind, and is said so: interceptors,
//! mailboxes of one's own, rules for types of errors.

use super::props::{Dispatcher, Props};
use super::reentrancy::Reentrancy;
use crate::extension::{DependencyBytes, DependencyError, DependencyKinds};
use crate::mailbox::MailboxKind;
use crate::passivation::Passivation;
use crate::supervision::{Directive, RuleForType, SupervisionDescription};

/// The mailboxes that are data.
///
/// ```
/// # use volary_core::{MailboxDescription, MailboxKind};
/// let described = MailboxDescription::of(&MailboxKind::Bounded(16));
/// assert_eq!(described, Some(MailboxDescription::Bounded(16)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MailboxDescription {
    /// See [`MailboxKind::Unbounded`].
    #[default]
    Unbounded,
    /// See [`MailboxKind::Segmented`].
    Segmented,
    /// See [`MailboxKind::Bounded`].
    Bounded(usize),
    /// See [`MailboxKind::BoundedRefusing`].
    BoundedRefusing(usize),
}

impl MailboxDescription {
    /// What a mailbox is, unless it is one of the program's own.
    ///
    /// ```
    /// use volary_core::{MailboxDescription, MailboxKind};
    /// assert_eq!(MailboxDescription::of(&MailboxKind::Segmented), Some(MailboxDescription::Segmented));
    /// assert_eq!(MailboxDescription::of(&MailboxKind::priority(|_| 0)), None, "that is code");
    /// ```
    #[must_use]
    pub fn of(mailbox: &MailboxKind) -> Option<Self> {
        match mailbox {
            MailboxKind::Unbounded => Some(MailboxDescription::Unbounded),
            MailboxKind::Segmented => Some(MailboxDescription::Segmented),
            MailboxKind::Bounded(capacity) => Some(MailboxDescription::Bounded(*capacity)),
            MailboxKind::BoundedRefusing(capacity) => Some(MailboxDescription::BoundedRefusing(*capacity)),
            _ => None,
        }
    }
}

impl From<MailboxDescription> for MailboxKind {
    fn from(described: MailboxDescription) -> Self {
        match described {
            MailboxDescription::Unbounded => MailboxKind::Unbounded,
            MailboxDescription::Segmented => MailboxKind::Segmented,
            MailboxDescription::Bounded(capacity) => MailboxKind::Bounded(capacity),
            MailboxDescription::BoundedRefusing(capacity) => MailboxKind::BoundedRefusing(capacity),
        }
    }
}

/// What of [`Props`] is data.
///
/// ```
/// use volary_core::{DependencyKinds, Directive, MailboxKind, Props, PropsDescription};
///
/// let props = Props::new().mailbox(MailboxKind::Bounded(16)).on_fault(Directive::Stop).stash(8);
/// let described = PropsDescription::of(&props)?;
/// let again = described.props(&DependencyKinds::default())?;
/// assert_eq!(PropsDescription::of(&again)?, described);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PropsDescription {
    /// See [`Props::mailbox`].
    pub mailbox: MailboxDescription,
    /// See [`Props::dispatcher`].
    pub dispatcher: Dispatcher,
    /// See [`Props::on_fault`].
    pub on_fault: Directive,
    /// See [`Props::supervision`].
    pub supervision: Option<SupervisionDescription>,
    /// See [`Props::stash`].
    pub stash: Option<usize>,
    /// See [`Props::role`].
    pub role: Option<String>,
    /// See [`Props::reentrancy`].
    pub reentrancy: Reentrancy,
    /// See [`Props::passivation`].
    pub passivation: Passivation,
    /// See [`Props::dependency_bytes`].
    pub dependencies: Vec<DependencyBytes>,
}

/// The options hold something that is code, or cannot be written.
///
/// ```
/// # use volary_core::{MailboxKind, Props, PropsDescription, UndescribableProps};
/// let props = Props::new().mailbox(MailboxKind::priority(|_| 0));
/// let error = PropsDescription::of(&props).unwrap_err();
/// assert!(matches!(error, UndescribableProps::Mailbox));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndescribableProps {
    /// Mailboxes of one's own are code: choose one of the runtime's, or set it where the actor is made.
    #[error("a mailbox of one's own is code, which is not data")]
    Mailbox,
    /// Interceptors are code: give them to the system of that machine, or set them where the actor is made.
    #[error("interceptors are code, which is not data")]
    Interceptors,
    /// A rule is for a type of error.
    #[error(transparent)]
    Supervision(#[from] RuleForType),
    /// A dependency cannot be written.
    #[error(transparent)]
    Dependency(#[from] DependencyError),
}

impl TryFrom<&Props> for PropsDescription {
    type Error = UndescribableProps;

    fn try_from(props: &Props) -> Result<Self, UndescribableProps> {
        PropsDescription::of(props)
    }
}

impl PropsDescription {
    /// What options say.
    ///
    /// ```
    /// use volary_core::{Props, PropsDescription};
    /// assert_eq!(PropsDescription::of(&Props::new().stash(8))?.stash, Some(8));
    /// # Ok::<(), volary_core::UndescribableProps>(())
    /// ```
    ///
    /// # Errors
    /// What of it is code, or cannot be written.
    pub fn of(props: &Props) -> Result<Self, UndescribableProps> {
        if props.layers.is_some() {
            return Err(UndescribableProps::Interceptors);
        }
        let supervision = props
            .supervision
            .as_deref()
            .map(SupervisionDescription::of)
            .transpose()?;
        Ok(PropsDescription {
            mailbox: MailboxDescription::of(&props.mailbox).ok_or(UndescribableProps::Mailbox)?,
            dispatcher: props.dispatcher.clone(),
            on_fault: props.on_fault,
            supervision,
            stash: props.stash,
            role: props.role.as_deref().map(str::to_owned),
            reentrancy: props.reentrancy,
            passivation: props.passivation,
            dependencies: props.dependency_bytes()?,
        })
    }

    /// The options again, with dependencies made from their bytes.
    ///
    /// ```
    /// use volary_core::{DependencyKinds, Props, PropsDescription};
    /// let described = PropsDescription::of(&Props::new().stash(8))?;
    /// let props = described.props(&DependencyKinds::default())?;
    /// assert_eq!(PropsDescription::of(&props)?, described);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dependency is not registered, or its bytes make no sense.
    pub fn props(&self, kinds: &DependencyKinds) -> Result<Props, DependencyError> {
        let mut props = Props::new()
            .mailbox(self.mailbox.into())
            .dispatcher(self.dispatcher.clone())
            .on_fault(self.on_fault)
            .reentrancy(self.reentrancy)
            .passivation(self.passivation);
        if let Some(supervision) = &self.supervision {
            props = props.supervision(supervision.clone().into());
        }
        if let Some(capacity) = self.stash {
            props = props.stash(capacity);
        }
        if let Some(role) = self.role.as_deref() {
            props = props.role(role);
        }
        if !self.dependencies.is_empty() {
            props = props.dependencies(kinds.read(&self.dependencies)?);
        }
        Ok(props)
    }
}
