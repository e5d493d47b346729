use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use proptest::prelude::*;

use super::*;

mod scan;

fn cron(expression: &str) -> Cron {
    Cron::parse(expression).unwrap()
}

fn in_zone(expression: &str, zone: &str) -> Cron {
    cron(expression).in_zone(zone).unwrap()
}

fn time(text: &str) -> SystemTime {
    text.parse::<Timestamp>().unwrap().into()
}

/// The next `count` firings after a moment, as the clock of the zone shows them, with the offset.
fn firings(cron: &Cron, after: &str, count: usize) -> Vec<String> {
    let all = std::iter::successors(cron.next_after(time(after)), |last| cron.next_after(*last));
    all.take(count)
        .map(|at| {
            let at = Timestamp::try_from(at).unwrap().to_zoned(cron.zone.clone());
            at.strftime("%Y-%m-%d %H:%M:%S%:z").to_string()
        })
        .collect()
}

fn days(expression: &str, after: &str, count: usize) -> Vec<String> {
    let firings = firings(&cron(expression), after, count);
    firings.iter().map(|firing| firing[..10].to_owned()).collect()
}

fn refusal(expression: &str) -> String {
    let refused = Cron::parse(expression).expect_err(expression).to_string();
    let begin = format!("cron {expression:?}: ");
    refused
        .strip_prefix(&begin)
        .expect("it begins with the expression")
        .to_owned()
}

#[test]
fn five_fields_fire_at_second_zero_and_six_say_the_second() {
    assert_eq!(cron("*/5 * * * *"), cron("0 */5 * * * *"));
    assert_eq!(
        firings(&cron("30 15 10 * * *"), "2026-03-01T00:00:00Z", 2),
        ["2026-03-01 10:15:30+00:00", "2026-03-02 10:15:30+00:00"],
    );
}

#[test]
fn the_next_firing_is_strictly_later() {
    let every_second = cron("* * * * * *");
    let at = SystemTime::UNIX_EPOCH;
    assert_eq!(every_second.next_after(at), Some(at + Duration::from_secs(1)));
    let within = at + Duration::from_nanos(1);
    assert_eq!(every_second.next_after(within), Some(at + Duration::from_secs(1)));
    let before = at - Duration::from_nanos(1);
    assert_eq!(every_second.next_after(before), Some(at));
    assert_eq!(cron("0 0 * * *").next_after(before), Some(at));
}

#[test]
fn the_calendar_ends() {
    let daily = cron("@daily");
    assert!(daily.next_after(time("4999-12-30T12:00:00Z")).is_some());
    assert_eq!(cron("@yearly").next_after(time("5000-12-31T12:00:00Z")), None);
    assert_eq!(daily.next_after(time("9999-12-30T12:00:00Z")), None);
    assert_eq!(
        daily.next_after(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 50)),
        None
    );
    assert_eq!(
        in_zone("@daily", "Europe/Berlin").next_after(time("9999-12-30T12:00:00Z")),
        None
    );
    assert_eq!(
        in_zone("@hourly", "Europe/Berlin").next_after(time("9999-12-30T12:00:00Z")),
        None
    );
}

#[test]
fn leap_days_come_in_leap_years() {
    assert_eq!(
        days("0 0 29 2 *", "2023-01-01T00:00:00Z", 2),
        ["2024-02-29", "2028-02-29"]
    );
    assert_eq!(days("0 0 29 2 *", "2096-03-01T00:00:00Z", 1), ["2104-02-29"]);
    assert_eq!(
        days("0 0 29 2 +MON", "2026-01-01T00:00:00Z", 2),
        ["2044-02-29", "2072-02-29"]
    );
}

#[test]
fn months_without_a_day_are_passed_over() {
    assert_eq!(
        days("0 0 31 * *", "2026-01-31T00:00:00Z", 4),
        ["2026-03-31", "2026-05-31", "2026-07-31", "2026-08-31"],
    );
    assert_eq!(days("0 0 30 * *", "2026-01-30T00:00:00Z", 1), ["2026-03-30"]);
}

#[test]
fn l_is_the_last_day() {
    assert_eq!(
        days("0 0 L * *", "2024-01-01T00:00:00Z", 4),
        ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"],
    );
    assert_eq!(days("0 0 L 2 *", "2025-01-01T00:00:00Z", 1), ["2025-02-28"]);
    assert_eq!(
        days("0 0 15,L * *", "2026-02-01T00:00:00Z", 3),
        ["2026-02-15", "2026-02-28", "2026-03-15"]
    );
}

#[test]
fn w_is_the_nearest_working_day_of_the_same_month() {
    // 2026-08-15 is a Saturday, 2026-11-15 a Sunday, 2026-08-01 a Saturday, 2026-05-31 a Sunday.
    assert_eq!(days("0 0 15W * *", "2026-08-01T00:00:00Z", 1), ["2026-08-14"]);
    assert_eq!(days("0 0 15W * *", "2026-11-01T00:00:00Z", 1), ["2026-11-16"]);
    assert_eq!(days("0 0 1W * *", "2026-07-31T00:00:00Z", 1), ["2026-08-03"]);
    assert_eq!(days("0 0 31W * *", "2026-05-01T00:00:00Z", 1), ["2026-05-29"]);
    assert_eq!(days("0 0 LW * *", "2026-05-01T00:00:00Z", 1), ["2026-05-29"]);
}

#[test]
fn weekdays_are_numbered_named_and_counted() {
    assert_eq!(cron("0 0 * * 7"), cron("0 0 * * SUN"));
    assert_eq!(cron("0 0 * * MON-FRI"), cron("0 0 * * 1-5"));
    assert_eq!(cron("0 0 * * fri-sun"), cron("0 0 * * 0,5,6"));
    assert_eq!(
        days("0 0 * * 5#2", "2026-05-01T00:00:00Z", 2),
        ["2026-05-08", "2026-06-12"]
    );
    assert_eq!(
        days("0 0 * * MON#5", "2026-01-01T00:00:00Z", 2),
        ["2026-03-30", "2026-06-29"]
    );
    assert_eq!(
        days("0 0 * * 5L", "2026-05-01T00:00:00Z", 2),
        ["2026-05-29", "2026-06-26"]
    );
    // The last Sunday, in all its spellings.
    for last_sunday in ["0L", "7L", "SUNL", "SUN#L", "7#L"] {
        let expression = format!("0 0 * * {last_sunday}");
        assert_eq!(
            days(&expression, "2026-03-01T00:00:00Z", 2),
            ["2026-03-29", "2026-04-26"],
            "{expression}"
        );
    }
}

#[test]
fn either_day_field_suffices_unless_both_are_asked_for() {
    assert_eq!(
        days("0 0 13 * FRI", "2026-02-01T00:00:00Z", 3),
        ["2026-02-06", "2026-02-13", "2026-02-20"]
    );
    assert_eq!(
        days("0 0 13 * +FRI", "2026-02-01T00:00:00Z", 3),
        ["2026-02-13", "2026-03-13", "2026-11-13"]
    );
    assert_eq!(days("0 0 ? * FRI", "2026-02-01T00:00:00Z", 1), ["2026-02-06"]);
    assert_eq!(cron("0 0 */1 * FRI"), cron("0 0 * * FRI"));
}

#[test]
fn names_stand_for_expressions() {
    for (name, meant) in [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 JAN ?"),
        ("@monthly", "0 0 1 * *"),
        ("@Weekly", "0 0 * * SUN"),
        (" @daily ", "0 0 * * *"),
        ("@midnight", "0 0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ] {
        assert_eq!(cron(name), cron(meant));
    }
    assert!(refusal("@fortnightly").starts_with("unknown name; known are @yearly"));
}

#[test]
fn an_error_names_the_field_its_text_and_its_place() {
    for (expression, name, text, position) in [
        ("60 * * * * *", "second", "60", 0),
        ("* 60 * * * *", "minute", "60", 2),
        ("* * 24 * * *", "hour", "24", 4),
        ("* * * 1,32 * *", "day of month", "1,32", 6),
        ("* * * * 0 *", "month", "0", 8),
        ("* * * * * 8", "day of week", "8", 10),
        ("60 * * * *", "minute", "60", 0),
        ("*   24 * * *", "hour", "24", 4),
        ("\t* *  32  * * ", "day of month", "32", 6),
    ] {
        let Err(error) = Cron::parse(expression) else {
            panic!("{expression}");
        };
        assert_eq!(error.position(), Some(position), "{expression}");
        assert_eq!(error.field().unwrap().to_string(), name);
        assert!(refusal(expression).starts_with(&format!("{name} `{text}`: ")));
    }
}

#[test]
fn an_error_says_what_is_wrong() {
    for (expression, refused) in [
        ("61 * * * * *", "second `61`: 61 is out of range; allowed is 0 to 59"),
        (
            "99999999999999999999 * * * *",
            "minute `99999999999999999999`: 99999999999999999999 is out of range; allowed is 0 to 59",
        ),
        ("1,,2 * * * *", "minute `1,,2`: a value is missing"),
        (", * * * *", "minute `,`: a value is missing"),
        ("* * * * +", "day of week `+`: a value is missing"),
        (
            "*/0 * * * *",
            "minute `*/0`: the step 0 is out of range; allowed is 1 to 59",
        ),
        (
            "*/60 * * * *",
            "minute `*/60`: the step 60 is out of range; allowed is 1 to 59",
        ),
        (
            "*/+5 * * * *",
            "minute `*/+5`: the step +5 is out of range; allowed is 1 to 59",
        ),
        (
            "* * * * FRI-MON",
            "day of week `FRI-MON`: the range FRI-MON runs backwards; write FRI-SAT,SUN-MON",
        ),
        (
            "* * * NOV-2 *",
            "month `NOV-2`: the range NOV-2 runs backwards; write NOV-DEC,JAN-2",
        ),
        ("* * L,LW * *", "day of month `L,LW`: L and LW exclude each other"),
        ("0 0 30 2 *", "day of month `30`: no year has such a date"),
        ("0 0 31 4,6,9,11 *", "day of month `31`: no year has such a date"),
        ("0 0 1 * +MON#2", "day of month `1`: no year has such a date"),
        (
            "* * * *",
            "it has 4 fields; write 5 (minute, hour, day of month, month, day of week), or 6 with the second first",
        ),
        (
            "* * * * * * 2030",
            "it has 7 fields; write 5 (minute, hour, day of month, month, day of week), or 6 with the second first",
        ),
        (
            "",
            "it has 0 fields; write 5 (minute, hour, day of month, month, day of week), or 6 with the second first",
        ),
    ] {
        assert_eq!(refusal(expression), refused);
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for expression in [
        "MON * * * *",
        "* JAN * * *",
        "* * * MON *",
        "* * * * JAN", // names in the wrong field
        "SUNMON * * * *",
        "* * * * SUNMON",
        "* * * * SUNDAY", // names within names
        "L * * * *",
        "* 5L * * *",
        "* * 5L * *",
        "* * * * L", // the last of what?
        "* * * * 5W",
        "* * W * *",
        "* * 1-5W * *",
        "* * L-3 * *",
        "* * 5#2 * *",
        "* * * * 5#",
        "* * * * 5#0",
        "* * * * 5#6",
        "* * * * #2",
        "* * * * 1-5#2",
        "? * * * *",
        "*,5 * * * *",
        "** * * * *",
        "*-5 * * * *",
        "5-* * * * *",
        "1-2-3 * * * *",
        "-5 * * * *",
        "5- * * * *",
        "/5 * * * *",
        "*/ * * * *",
        "*/5/5 * * * *",
        "+5 * * * *",
        "1.5 * * * *",
        "٣ * * * *",
        "ſUN * * * *",
        "* * * * ſUN",
        "* * @ * *",
    ] {
        let error = Cron::parse(expression).expect_err(expression);
        assert!(error.field().is_some(), "{expression}: {error}");
    }
}

#[test]
fn zones_are_known_without_the_host() {
    assert_eq!(in_zone("@daily", "america/new_york").zone(), "America/New_York");
    for (zone, refused) in [
        ("Berlin", "unknown time zone `Berlin`; did you mean Europe/Berlin?"),
        (
            "America/New York",
            "unknown time zone `America/New York`; did you mean America/New_York?",
        ),
        (
            "Europe/Atlantis",
            "unknown time zone `Europe/Atlantis`; write a name of the IANA time zone database, such as Europe/Berlin",
        ),
        (
            "Etc/Unknown",
            "unknown time zone `Etc/Unknown`; write a name of the IANA time zone database, such as Europe/Berlin",
        ),
        (
            "../../etc/passwd",
            "unknown time zone `../../etc/passwd`; write a name of the IANA time zone database, such as Europe/Berlin",
        ),
        (
            "",
            "unknown time zone ``; write a name of the IANA time zone database, such as Europe/Berlin",
        ),
    ] {
        assert_eq!(cron("@daily").in_zone(zone).unwrap_err().to_string(), refused);
    }
}

#[test]
fn a_schedule_shows_itself() {
    let opens = in_zone("0 9 * * MON-FRI", "Europe/Berlin");
    assert_eq!(opens.to_string(), "0 9 * * MON-FRI");
    assert_eq!(format!("{opens:?}"), "Cron(\"0 9 * * MON-FRI\" in Europe/Berlin)");
    assert_ne!(opens, cron("0 9 * * MON-FRI"));
}

// Berlin goes from 02:00 to 03:00 on 2026-03-29 and from 03:00 back to 02:00 on 2026-10-25, both at 01:00 UTC. New York
// goes from 02:00 to 03:00 on 2026-03-08 at 07:00 UTC and from 02:00 back to 01:00 on 2026-11-01 at 06:00 UTC.

#[test]
fn berlin_fires_a_skipped_time_when_it_is_skipped() {
    assert_eq!(
        firings(&in_zone("30 2 * * *", "Europe/Berlin"), "2026-03-28T00:00:00Z", 3),
        [
            "2026-03-28 02:30:00+01:00",
            "2026-03-29 03:00:00+02:00",
            "2026-03-30 02:30:00+02:00"
        ],
    );
    // Many that are skipped, and one that is due at that moment, are one.
    assert_eq!(
        firings(&in_zone("*/10 2,3 * * *", "Europe/Berlin"), "2026-03-28T23:00:00Z", 2),
        ["2026-03-29 03:00:00+02:00", "2026-03-29 03:10:00+02:00"],
    );
}

#[test]
fn new_york_fires_a_skipped_time_when_it_is_skipped() {
    assert_eq!(
        firings(&in_zone("15 30 2 * * *", "America/New_York"), "2026-03-07T12:00:00Z", 2),
        ["2026-03-08 03:00:00-04:00", "2026-03-09 02:30:15-04:00"],
    );
    assert_eq!(
        firings(&in_zone("0 3 * * *", "America/New_York"), "2026-03-07T12:00:00Z", 2),
        ["2026-03-08 03:00:00-04:00", "2026-03-09 03:00:00-04:00"],
    );
}

#[test]
fn berlin_fires_a_time_that_comes_twice_once() {
    assert_eq!(
        firings(&in_zone("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 2),
        ["2026-10-25 02:30:00+02:00", "2026-10-26 02:30:00+01:00"],
    );
    // Also with several times in the hour, and steps of hours.
    assert_eq!(
        firings(&in_zone("0,30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 3),
        [
            "2026-10-25 02:00:00+02:00",
            "2026-10-25 02:30:00+02:00",
            "2026-10-26 02:00:00+01:00"
        ],
    );
    assert_eq!(
        firings(&in_zone("0 */2 * * *", "Europe/Berlin"), "2026-10-24T22:00:00Z", 2),
        ["2026-10-25 02:00:00+02:00", "2026-10-25 04:00:00+01:00"],
    );
    // Whoever asks between the two is not told of the second.
    let nightly = in_zone("30 2 * * *", "Europe/Berlin");
    assert_eq!(
        firings(&nightly, "2026-10-25T01:10:00Z", 1),
        ["2026-10-26 02:30:00+01:00"]
    );
}

#[test]
fn new_york_fires_a_time_that_comes_twice_once() {
    assert_eq!(
        firings(&in_zone("30 1 * * *", "America/New_York"), "2026-10-31T12:00:00Z", 2),
        ["2026-11-01 01:30:00-04:00", "2026-11-02 01:30:00-05:00"],
    );
    assert_eq!(
        firings(&in_zone("* * 1 * * *", "America/New_York"), "2026-11-01T06:00:00Z", 1),
        ["2026-11-02 01:00:00-05:00"],
    );
}

#[test]
fn what_runs_each_hour_goes_on_through_the_change() {
    let steps = |zone, after: &str, count| -> Vec<u64> {
        let often = in_zone("*/5 * * * *", zone);
        let all = std::iter::successors(Some(time(after)), |last| often.next_after(*last));
        let all: Vec<SystemTime> = all.take(count).collect();
        all.windows(2)
            .map(|two| two[1].duration_since(two[0]).unwrap().as_secs())
            .collect()
    };
    for (zone, after) in [
        ("Europe/Berlin", "2026-03-28T22:00:00Z"),
        ("Europe/Berlin", "2026-10-24T22:00:00Z"),
        ("America/New_York", "2026-03-08T04:00:00Z"),
        ("America/New_York", "2026-11-01T03:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T12:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T12:00:00Z"),
    ] {
        assert!(
            steps(zone, after, 100).iter().all(|seconds| *seconds == 300),
            "{zone} {after}"
        );
    }
    assert_eq!(
        firings(&in_zone("30 * * * *", "Europe/Berlin"), "2026-10-24T23:00:00Z", 4),
        [
            "2026-10-25 01:30:00+02:00",
            "2026-10-25 02:30:00+02:00",
            "2026-10-25 02:30:00+01:00",
            "2026-10-25 03:30:00+01:00",
        ],
    );
}

#[test]
fn what_runs_each_hour_passes_over_a_time_that_is_skipped() {
    // Lord Howe goes from 02:00 to 02:30 on 2026-10-04, so that there is no 02:00 and no 02:15.
    assert_eq!(
        firings(&in_zone("0 * * * *", "Australia/Lord_Howe"), "2026-10-03T14:00:00Z", 2),
        ["2026-10-04 01:00:00+10:30", "2026-10-04 03:00:00+11:00"],
    );
}

#[test]
fn a_day_that_a_zone_skipped_fires_when_it_is_skipped() {
    // Samoa went from 2011-12-29 24:00 straight to 2011-12-31.
    assert_eq!(
        firings(&in_zone("0 12 30 12 *", "Pacific/Apia"), "2011-12-01T00:00:00Z", 2),
        ["2011-12-31 00:00:00+14:00", "2012-12-30 12:00:00+14:00"],
    );
}
