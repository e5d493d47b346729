//! Supervision as plain data, for another machine.

use std::fmt;
use std::time::Duration;

use super::backoff::Backoff;
use super::policy::{ChildrenPolicy, Directive, Strategy, Supervision};

/// What of a [`Supervision`] is data: all but the rules for types of errors, which are code.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{Directive, Supervision, SupervisionDescription};
///
/// let supervision = Supervision::new().on_panic(Directive::Stop).limit(3, Duration::from_secs(10));
/// let described = SupervisionDescription::of(&supervision)?;
/// assert_eq!(described.on_panic, Some(Directive::Stop));
/// assert_eq!(SupervisionDescription::of(&Supervision::from(described.clone()))?, described);
/// # Ok::<(), volary_core::RuleForType>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SupervisionDescription {
    /// Whom it concerns beside the one that crashed.
    pub strategy: Strategy,
    /// What is done about a panic, if that is said apart.
    pub on_panic: Option<Directive>,
    /// What is done about everything else.
    pub otherwise: Directive,
    /// How many restarts there may be, within which time.
    pub limit: Option<(u32, Duration)>,
    /// How long to wait before a restart.
    pub backoff: Option<Backoff>,
    /// What becomes of the children.
    pub children: ChildrenPolicy,
}

/// The supervision has a rule for a type of error, which only this program knows: say it with
/// [`otherwise`](Supervision::otherwise) and [`on_panic`](Supervision::on_panic), or set it where the actor is made.
///
/// ```
/// # use volary_core::{Directive, Supervision, SupervisionDescription};
/// let supervision = Supervision::new().on::<std::io::Error>(Directive::Stop);
/// let error = SupervisionDescription::of(&supervision).unwrap_err();
/// assert!(error.to_string().contains("io::error::Error"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleForType {
    /// The type.
    pub error_type: &'static str,
}

impl fmt::Display for RuleForType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error_type = self.error_type;
        write!(f, "the rule for {error_type} is code, which is not data")
    }
}

impl std::error::Error for RuleForType {}

impl SupervisionDescription {
    /// What a supervision says.
    ///
    /// ```
    /// use volary_core::{Directive, Supervision, SupervisionDescription};
    /// let described = SupervisionDescription::of(&Supervision::new().otherwise(Directive::Resume))?;
    /// assert_eq!(described.otherwise, Directive::Resume);
    /// # Ok::<(), volary_core::RuleForType>(())
    /// ```
    ///
    /// # Errors
    /// If there is a rule for a type of error.
    pub fn of(supervision: &Supervision) -> Result<Self, RuleForType> {
        let mut on_panic = None;
        for rule in supervision.rules() {
            if !rule.is_for_panics() {
                return Err(RuleForType { error_type: rule.what });
            }
            // The first that fits counts.
            on_panic = on_panic.or(Some(rule.directive));
        }
        Ok(SupervisionDescription {
            strategy: supervision.whom(),
            on_panic,
            otherwise: supervision.for_the_rest(),
            limit: supervision.restart_limit(),
            backoff: supervision.delay().cloned(),
            children: if supervision.keeps_children() {
                ChildrenPolicy::Keep
            } else {
                ChildrenPolicy::Stop
            },
        })
    }
}

impl From<SupervisionDescription> for Supervision {
    fn from(described: SupervisionDescription) -> Self {
        let mut supervision = Supervision::new()
            .strategy(described.strategy)
            .otherwise(described.otherwise)
            .children(described.children);
        if let Some(directive) = described.on_panic {
            supervision = supervision.on_panic(directive);
        }
        if let Some((restarts, window)) = described.limit {
            supervision = supervision.limit(restarts, window);
        }
        if let Some(backoff) = described.backoff {
            supervision = supervision.backoff(backoff);
        }
        supervision
    }
}
