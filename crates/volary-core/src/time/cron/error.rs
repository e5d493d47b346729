//! What can be wrong with a schedule, and where.

use thiserror::Error;

use super::CronField;

/// Why something is no schedule.
///
/// ```
/// use volary_core::Cron;
/// use volary_core::time::{CronError, CronField};
///
/// let refused = Cron::parse("0 0 22-2 * * *").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "cron \"0 0 22-2 * * *\": hour `22-2`: the range 22-2 runs backwards; write 22-23,0-2",
/// );
/// assert_eq!(refused.field(), Some(CronField::Hour));
/// assert_eq!(refused.position(), Some(4));
/// assert!(matches!(refused, CronError::Field { text, .. } if text == "22-2"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CronError {
    /// Mend the field.
    #[error("cron {expression:?}: {field} `{text}`: {problem}")]
    Field {
        /// The whole expression.
        expression: String,
        /// The field.
        field: CronField,
        /// The field as it was written.
        text: String,
        /// Where the field begins, in bytes from the start of the expression.
        position: usize,
        /// What is wrong with it.
        problem: CronProblem,
    },
    /// Write five fields, or six with seconds.
    #[error(
        "cron {expression:?}: it has {count} fields; write 5 (minute, hour, day of month, month, day of week), or 6 with the second first"
    )]
    FieldCount {
        /// The whole expression.
        expression: String,
        /// How many fields it has.
        count: usize,
    },
    /// Use a name that is known, or write the fields.
    #[error(
        "cron {expression:?}: unknown name; known are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly"
    )]
    UnknownName {
        /// The whole expression.
        expression: String,
    },
    /// Use a name of the IANA time zone database, such as `Europe/Berlin`.
    #[error("unknown time zone `{zone}`; {}", suggest(.suggestion.as_deref()))]
    UnknownZone {
        /// The name that was asked for.
        zone: String,
        /// The zone that may have been meant.
        suggestion: Option<String>,
    },
}

impl CronError {
    /// The field that is wrong; none if it is not a single one.
    ///
    /// ```
    /// # use volary_core::{Cron, time::CronField};
    /// assert_eq!(Cron::parse("* * * 13 *").unwrap_err().field(), Some(CronField::Month));
    /// assert_eq!(Cron::parse("* *").unwrap_err().field(), None);
    /// ```
    #[must_use]
    pub fn field(&self) -> Option<CronField> {
        match self {
            Self::Field { field, .. } => Some(*field),
            _ => None,
        }
    }

    /// Where the field that is wrong begins, in bytes from the start of the expression.
    ///
    /// ```
    /// # use volary_core::Cron;
    /// assert_eq!(Cron::parse("0  99 * * *").unwrap_err().position(), Some(3));
    /// ```
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Field { position, .. } => Some(*position),
            _ => None,
        }
    }
}

/// What is wrong with a field of a cron expression.
///
/// ```
/// use volary_core::Cron;
/// use volary_core::time::{CronError, CronProblem};
///
/// let Err(CronError::Field { problem, .. }) = Cron::parse("0/5 * * * *") else { panic!() };
/// assert_eq!(problem, CronProblem::StepOfOne { value: "0".into(), step: "5".into() });
/// assert_eq!(problem.to_string(), "0/5 does not say where to stop; write */5, or a range such as 0-10/5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CronProblem {
    /// Remove the comma or write a value.
    #[error("a value is missing")]
    Missing,
    /// Choose a value that is allowed.
    #[error("{value} is out of range; allowed is {low} to {high}")]
    OutOfRange {
        /// The value as it was written.
        value: String,
        /// The lowest value.
        low: u8,
        /// The highest value.
        high: u8,
    },
    /// Write what is allowed.
    #[error(
        "`{part}` is not understood; allowed is {allowed}; ranges with -, steps with /, lists with commas, or * alone"
    )]
    NotUnderstood {
        /// The part of the field that is not understood.
        part: String,
        /// What may stand there.
        allowed: &'static str,
    },
    /// Write two ranges.
    #[error("the range {range} runs backwards; write {instead}")]
    Backwards {
        /// The range as it was written.
        range: String,
        /// What was probably meant.
        instead: String,
    },
    /// A greater step never takes a second one; what is meant needs another field.
    #[error("the step {step} is out of range; allowed is 1 to {high}")]
    Step {
        /// The step as it was written.
        step: String,
        /// The greatest step.
        high: u8,
    },
    /// Say what range the step is for.
    #[error("{value}/{step} does not say where to stop; write */{step}, or a range such as {value}-10/{step}")]
    StepOfOne {
        /// Where the steps would begin.
        value: String,
        /// The step as it was written.
        step: String,
    },
    /// Keep one of the two.
    #[error("L and LW exclude each other")]
    LastTwice,
    /// Choose days that some year has; as it stands it would never fire.
    #[error("no year has such a date")]
    NoSuchDate,
}

fn suggest(suggestion: Option<&str>) -> String {
    suggestion.map_or(
        "write a name of the IANA time zone database, such as Europe/Berlin".to_owned(),
        |name| format!("did you mean {name}?"),
    )
}

/// A zone of the same city, whatever continent it was put on.
pub(super) fn zone_like(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    fn city(name: &str) -> String {
        let last = name.rsplit('/').next().unwrap_or(name);
        last.replace([' ', '-'], "_").to_ascii_lowercase()
    }
    let wanted = city(name.trim());
    let mut known = known.filter(|known| city(known) == wanted);
    known.next()
}
