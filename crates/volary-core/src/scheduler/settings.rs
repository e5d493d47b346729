//! What may be asked of a schedule.

use std::time::Duration;

use super::error::ScheduleError;

/// Shorter periods would be all there is to do.
const SHORTEST: Duration = Duration::from_millis(1);
/// A century.
const LONGEST: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);
const LONGEST_NAME: usize = 255;

pub(super) fn check_period(setting: &'static str, period: Duration) -> Result<(), ScheduleError> {
    let allowed = "1ms to 36525 days";
    check(
        setting,
        (SHORTEST..=LONGEST).contains(&period),
        || shown(period),
        allowed,
    )
}

pub(super) fn check_delay(setting: &'static str, delay: Duration) -> Result<(), ScheduleError> {
    check(setting, delay <= LONGEST, || shown(delay), "at most 36525 days")
}

pub(super) fn check_times(times: u64) -> Result<(), ScheduleError> {
    check("at_most", times > 0, || times.to_string(), "1 or more")
}

pub(super) fn check_name(name: &str) -> Result<(), ScheduleError> {
    let fits = (1..=LONGEST_NAME).contains(&name.len());
    check("named", fits, || name.to_owned(), "1 to 255 bytes")
}

#[cfg(feature = "cron")]
pub(super) fn never(cron: &crate::time::Cron) -> ScheduleError {
    ScheduleError::Value {
        setting: "cron",
        value: cron.to_string(),
        allowed: "what fires before the year 5000",
    }
}

fn shown(time: Duration) -> String {
    format!("{time:?}")
}

fn check(
    setting: &'static str,
    fits: bool,
    value: impl FnOnce() -> String,
    allowed: &'static str,
) -> Result<(), ScheduleError> {
    if fits {
        return Ok(());
    }
    Err(ScheduleError::Value {
        setting,
        value: value(),
        allowed,
    })
}
