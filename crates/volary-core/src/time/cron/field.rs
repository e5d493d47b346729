//! The six fields of a cron expression and what may stand in them.

use std::fmt;

/// A field of a cron expression.
///
/// ```
/// use volary_core::time::{Cron, CronField};
///
/// let refused = Cron::parse("0 0 32 * *").unwrap_err();
/// assert_eq!(refused.field(), Some(CronField::DayOfMonth));
/// assert_eq!(CronField::DayOfMonth.to_string(), "day of month");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CronField {
    /// 0 to 59; the first of six fields.
    Second,
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12.
    Month,
    /// 0 to 7, where 0 and 7 are Sunday.
    DayOfWeek,
}

impl CronField {
    pub(super) const ALL: [Self; 6] = [
        Self::Second,
        Self::Minute,
        Self::Hour,
        Self::DayOfMonth,
        Self::Month,
        Self::DayOfWeek,
    ];

    pub(super) fn low(self) -> u8 {
        match self {
            Self::DayOfMonth | Self::Month => 1,
            _ => 0,
        }
    }

    pub(super) fn high(self) -> u8 {
        match self {
            Self::Second | Self::Minute => 59,
            Self::Hour => 23,
            Self::DayOfMonth => 31,
            Self::Month => 12,
            Self::DayOfWeek => 7,
        }
    }

    /// The names of the values, from the lowest on.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Month => &[
                "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
            ],
            Self::DayOfWeek => &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
            _ => &[],
        }
    }

    pub(super) fn allowed(self) -> &'static str {
        match self {
            Self::Second | Self::Minute => "0 to 59",
            Self::Hour => "0 to 23",
            Self::DayOfMonth => "1 to 31, L, LW, or a day with W such as 15W",
            Self::Month => "1 to 12 or JAN to DEC",
            Self::DayOfWeek => "0 to 7 or SUN to SAT, the last one such as 5L, or the nth one such as 5#2",
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}
