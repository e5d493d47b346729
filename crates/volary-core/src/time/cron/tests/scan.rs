//! Against a scan that looks at every second, with a calendar of its own.

use super::*;

/// Hour, minute and second of a count of seconds without zone.
fn time_of_day(seconds: i64) -> [u8; 3] {
    let of_day = seconds.rem_euclid(86_400);
    [of_day / 3600, of_day / 60 % 60, of_day % 60].map(|part| part as u8)
}

/// Month, day and weekday of a count of seconds without zone.
fn date(seconds: i64) -> [u8; 3] {
    let days = seconds.div_euclid(86_400);
    let weekday = (days + 4).rem_euclid(7);
    let (mut year, mut day) = (1970, days);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while day >= 365 + i64::from(leap(year)) {
        day -= 365 + i64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    [month, day + 1, weekday].map(|part| part as u8)
}

/// A field as it is written, and the values it means; no values for all.
type Simple = (String, Vec<u8>);

fn simple(low: u8, high: u8) -> impl Strategy<Value = Simple> {
    let list = prop::collection::btree_set(low..=high, 1..4).prop_map(|values| {
        let text: Vec<String> = values.iter().map(u8::to_string).collect();
        (text.join(","), values.into_iter().collect::<Vec<u8>>())
    });
    let range = (low..=high, low..=high).prop_map(|(a, b)| {
        let (from, to) = (a.min(b), a.max(b));
        (format!("{from}-{to}"), (from..=to).collect())
    });
    let step = (1..=high).prop_map(move |step| {
        // A step of one is a star.
        let values = (low..=high).step_by(usize::from(step)).collect();
        (format!("*/{step}"), if step == 1 { Vec::new() } else { values })
    });
    prop_oneof![3 => Just(("*".to_owned(), Vec::new())), 2 => list, 1 => range, 1 => step]
}

#[derive(Debug, Clone)]
struct Fields([Simple; 6]);

impl Fields {
    fn expression(&self) -> String {
        let [second, minute, hour, day, month, weekday] = &self.0;
        [second, minute, hour, day, month, weekday]
            .map(|field| field.0.as_str())
            .join(" ")
    }

    fn fits(&self, seconds: i64) -> bool {
        let fits = |at: usize, value: u8| self.0[at].1.is_empty() || self.0[at].1.contains(&value);
        let [hour, minute, second] = time_of_day(seconds);
        if !(fits(0, second) && fits(1, minute) && fits(2, hour)) {
            return false;
        }
        let [month, day, weekday] = date(seconds);
        let (day_fits, weekday_fits) = (fits(3, day), fits(5, weekday));
        let days_are_free = self.0[3].1.is_empty() || self.0[5].1.is_empty();
        let date_fits = if days_are_free {
            day_fits && weekday_fits
        } else {
            day_fits || weekday_fits
        };
        fits(4, month) && date_fits
    }

    fn names_hours(&self) -> bool {
        let hours = &self.0[2].1;
        !hours.is_empty() && hours.len() < 24
    }
}

fn fields() -> impl Strategy<Value = Fields> {
    let days = prop_oneof![2 => Just(("*".to_owned(), Vec::new())), 1 => simple(1, 28)];
    let months = prop_oneof![4 => Just(("*".to_owned(), Vec::new())), 1 => simple(1, 12)];
    let weekdays = prop_oneof![2 => Just(("*".to_owned(), Vec::new())), 1 => simple(0, 6)];
    (simple(0, 59), simple(0, 59), simple(0, 23), days, months, weekdays)
        .prop_map(|(second, minute, hour, day, month, weekday)| Fields([second, minute, hour, day, month, weekday]))
        // Steps of the two day fields go to the end of the field, which the strategy above cuts short.
        .prop_filter("a step over days", |fields| {
            !fields.0[3].0.contains('/') && !fields.0[5].0.contains('/')
        })
}

/// Mostly the hours in which clocks change, and minutes that fall on the change.
fn fields_near_changes() -> impl Strategy<Value = Fields> {
    let star = || ("*".to_owned(), Vec::new());
    let list = |text: &str| {
        (
            text.to_owned(),
            text.split(',').map(|value| value.parse().unwrap()).collect(),
        )
    };
    let seconds = prop_oneof![6 => Just(list("0")), 1 => Just(star()), 1 => Just(list("0,59"))];
    let minutes = prop::sample::select(vec![list("0"), list("30"), list("0,15,30,45"), list("59"), star()]);
    let hours = vec![
        star(),
        list("1"),
        list("2"),
        list("3"),
        list("0,1,2,3"),
        list("0,2,4"),
        list("21,22,23"),
    ];
    let days =
        prop_oneof![4 => Just(star()), 1 => simple(0, 6)].prop_filter("a step over days", |day| !day.0.contains('/'));
    (seconds, minutes, prop::sample::select(hours), days)
        .prop_map(move |(second, minute, hour, weekday)| Fields([second, minute, hour, star(), star(), weekday]))
}

fn at(seconds: i64) -> SystemTime {
    Timestamp::from_second(seconds).unwrap().into()
}

/// Goes from second to second as the clock of a zone does, and fires by the rules as they are documented.
fn scan(fields: &Fields, zone: &TimeZone, from: i64, to: i64) -> Vec<i64> {
    let clock = |second: i64| second + i64::from(zone.to_offset(Timestamp::from_second(second).unwrap()).seconds());
    let mut fired = Vec::new();
    // What the clock has shown already. It begins before the window, so that a time that comes twice is known as such.
    let begin = from - 4_000;
    let mut shown = clock(begin);
    for second in begin + 1..=to {
        let now = clock(second);
        let fires = if fields.names_hours() {
            // All the clock has come to or jumped over and has not shown before.
            (shown + 1..=now).any(|skipped| fields.fits(skipped))
        } else {
            fields.fits(now)
        };
        shown = shown.max(now);
        if fires && second > from {
            fired.push(second);
        }
    }
    fired
}

/// Every firing in the window, asked one after the other, and from a second between two.
fn check(fields: &Fields, zone: &TimeZone, cron: &Cron, from: i64, to: i64) {
    let expected = scan(fields, zone, from, to);
    let mut last = from;
    for next in &expected {
        assert_eq!(cron.next_after(at(last)), Some(at(*next)), "{cron:?} after {last}");
        let between = last + (next - last) / 2;
        assert_eq!(
            cron.next_after(at(between)),
            Some(at(*next)),
            "{cron:?} after {between}"
        );
        last = *next;
    }
    let beyond = cron.next_after(at(last)).expect("it fires again some day");
    assert!(beyond > at(to), "{cron:?} after {last}");
}

/// Midnight of 2026-01-01 to 2030, in UTC.
const YEARS: std::ops::Range<i64> = 1_767_225_600..1_893_456_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn utc_is_what_a_scan_finds(fields in fields(), from in YEARS) {
        let cron = cron(&fields.expression());
        check(&fields, &TimeZone::UTC, &cron, from, from + 8_000);
    }

    #[test]
    fn changes_of_the_clocks_are_what_a_scan_finds(
        fields in prop_oneof![1 => fields(), 5 => fields_near_changes()],
        zone in prop::sample::select(vec!["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk"]),
        pick in 0_usize..8,
        before in 0_i64..4_500,
    ) {
        let rules = TimeZoneDatabase::bundled().get(zone).unwrap();
        let change = rules.following(Timestamp::from_second(YEARS.start).unwrap()).nth(pick).unwrap();
        let from = change.timestamp().as_second() - before;
        let cron = cron(&fields.expression()).in_zone(zone).unwrap();
        check(&fields, &rules, &cron, from, from + 9_000);
    }

    #[test]
    fn the_next_firing_is_later_and_a_whole_second(
        fields in fields(),
        nanos in -4_000_000_000_000_000_000_i128..8_000_000_000_000_000_000,
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Africa/Monrovia"]),
    ) {
        let cron = cron(&fields.expression()).in_zone(zone).unwrap();
        let time = SystemTime::from(Timestamp::from_nanosecond(nanos).unwrap());
        let next = cron.next_after(time).unwrap();
        prop_assert!(next > time);
        prop_assert_eq!(Timestamp::try_from(next).unwrap().subsec_nanosecond(), 0);
        // Nothing fires in between: whoever asks just before is told the same.
        let just_before = next - Duration::from_nanos(1);
        prop_assert_eq!(cron.next_after(just_before.max(time)), Some(next));
    }

    /// Whatever the text, there is an answer; and what the grammar accepts the calendar reads.
    #[test]
    fn any_text_is_read_or_refused(
        text in "[0-9*/,LW#+?@ -]{0,24}|([0-9]{1,2}|[*]|[*]/[0-9]{1,2}|[0-9]-[0-9]{1,2}|L|LW|[0-9]W|[0-7]#[1-5L]|[1-7]L|MON|JAN|,){1,3}( ([0-9]{1,2}|[*]|L|LW|1?[0-9]W|[0-7]#[1-5L]|[1-7]L|MON-SUN|JAN)){4,5}",
    ) {
        if let Ok(cron) = Cron::parse(&text) {
            prop_assert!(cron.next_after(SystemTime::UNIX_EPOCH).is_some());
        }
    }
}
