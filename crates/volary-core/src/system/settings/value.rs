//! How values are written and read: counts, durations, switches, and in `size.rs` sizes.
//!
//! A duration needs a unit, because a bare `5` was meant as seconds by one and as milliseconds by the next.

use std::{fmt, time::Duration};

/// A value as a source gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw {
    /// Text that carries no type, from the environment.
    Plain(String),
    /// A TOML string.
    Quoted(String),
    /// A TOML integer and its radix; it may be too large for any machine type.
    Integer(String, u32),
    /// A TOML boolean.
    Boolean(bool),
    /// A TOML array of strings.
    List(Vec<String>),
    /// Any other TOML value, by a description.
    Other(String),
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) | Self::Quoted(text) => f.write_str(&excerpt(text)),
            Self::Integer(digits, 2) => write!(f, "0b{}", excerpt(digits)),
            Self::Integer(digits, 8) => write!(f, "0o{}", excerpt(digits)),
            Self::Integer(digits, 16) => write!(f, "0x{}", excerpt(digits)),
            Self::Integer(digits, _) => f.write_str(&excerpt(digits)),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::List(texts) => f.write_str(&excerpt(&format!("[{}]", texts.join(", ")))),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// What fits on a line of a terminal and does nothing to it.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// What sort of value a setting takes.
///
/// ```
/// use volary_core::system::settings::{Kind, declared};
///
/// let throughput = declared().into_iter().find(|setting| setting.name == "throughput");
/// assert_eq!(throughput.map(|setting| setting.kind), Some(Kind::Count));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A whole number.
    Count,
    /// A whole number and a unit: `250ms`, `5s`, `3min`, `2h`, `1d`.
    Duration,
    /// A number of bytes: `512`, `64KiB`, `1MiB`, `2GiB`.
    Bytes,
    /// `true` or `false`.
    Switch,
}

/// A type that a setting can have.
pub(super) trait Value: Copy + PartialOrd {
    const KIND: Kind;

    /// The value, or what the writer seems to have got wrong, if that can be told.
    fn read(raw: &Raw) -> Result<Self, Option<String>>;

    /// The value as one would write it in a file.
    fn show(self) -> String;

    /// What is allowed, in words.
    fn describe(range: &Allowed<Self>) -> String;
}

/// The smallest and, where there is one, the largest allowed value.
pub(super) struct Allowed<T> {
    pub(super) least: T,
    pub(super) most: Option<T>,
}

impl<T: Value> Allowed<T> {
    pub(super) fn contains(&self, value: T) -> bool {
        self.least <= value && self.most.is_none_or(|most| value <= most)
    }
}

impl Value for usize {
    const KIND: Kind = Kind::Count;

    fn read(raw: &Raw) -> Result<Self, Option<String>> {
        match raw {
            Raw::Plain(text) if is_digits(text) => text.parse().map_err(|_| None),
            Raw::Integer(digits, radix) => Self::from_str_radix(digits, *radix).map_err(|_| None),
            Raw::Quoted(text) if is_digits(text) => Err(Some(format!("write {text} without quotes"))),
            _ => Err(None),
        }
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn describe(range: &Allowed<Self>) -> String {
        match range.most {
            Some(most) => format!("a whole number from {} to {most}", range.least),
            None => format!("a whole number, at least {}", range.least),
        }
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Switch;

    fn read(raw: &Raw) -> Result<Self, Option<String>> {
        match raw {
            Raw::Boolean(value) => Ok(*value),
            Raw::Plain(text) => text.parse().map_err(|_| None),
            Raw::Quoted(text) if text.parse::<Self>().is_ok() => Err(Some(format!("write {text} without quotes"))),
            _ => Err(None),
        }
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn describe(_: &Allowed<Self>) -> String {
        "true or false".to_owned()
    }
}

const DURATION_UNITS: [(&str, u64); 5] = [
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("min", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

impl Value for Duration {
    const KIND: Kind = Kind::Duration;

    fn read(raw: &Raw) -> Result<Self, Option<String>> {
        let text = match raw {
            Raw::Plain(text) | Raw::Quoted(text) => text,
            Raw::Integer(digits, 10) if is_digits(digits) => return Err(Some(unit_is_missing(digits, "\""))),
            _ => return Err(None),
        };
        let (number, unit) = split_unit(text).ok_or(None)?;
        match unit {
            "" => return Err(Some(unit_is_missing(number, ""))),
            "m" => {
                return Err(Some(format!(
                    "write {number}min for minutes or {number}ms for milliseconds"
                )));
            }
            _ => {}
        }
        let (_, factor) = DURATION_UNITS.iter().find(|(name, _)| *name == unit).ok_or(None)?;
        let number: u64 = number.parse().map_err(|_| None)?;
        number.checked_mul(*factor).map(Self::from_millis).ok_or(None)
    }

    fn show(self) -> String {
        let whole_milliseconds = self.subsec_nanos().is_multiple_of(1_000_000);
        match u64::try_from(self.as_millis()) {
            Ok(0) if self.is_zero() => "0ms".to_owned(),
            Ok(milliseconds) if whole_milliseconds => show_in_units(milliseconds, &DURATION_UNITS),
            // Only code can choose such a value.
            _ => format!("{self:?}"),
        }
    }

    fn describe(range: &Allowed<Self>) -> String {
        let form = "a duration such as 250ms, 5s, 3min, 2h or 1d";
        let least = if range.least == Self::from_nanos(1) {
            "more than 0".to_owned()
        } else {
            format!("at least {}", range.least.show())
        };
        match range.most {
            Some(most) => format!("{form}, {least} and at most {}", most.show()),
            None => format!("{form}, {least}"),
        }
    }
}

fn unit_is_missing(number: &str, quote: &str) -> String {
    format!("a duration needs a unit: write {quote}{number}s{quote} or {quote}{number}ms{quote}")
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The leading digits and what follows them; none without digits.
pub(super) fn split_unit(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// In the largest unit that leaves a whole number. The last unit is 1.
pub(super) fn show_in_units(number: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().find(|(_, factor)| number.is_multiple_of(*factor));
    let (name, factor) = unit.copied().unwrap_or(("", 1));
    format!("{}{name}", number / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Value>(text: &str) -> Result<T, Option<String>> {
        T::read(&Raw::Plain(text.to_owned()))
    }

    #[test]
    fn durations() {
        for (text, milliseconds) in [
            ("0ms", 0),
            ("250ms", 250),
            ("5s", 5_000),
            ("3min", 180_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
        ] {
            let duration = Duration::from_millis(milliseconds);
            assert_eq!(read(text), Ok(duration));
            assert_eq!(duration.show(), text);
        }
        assert_eq!(Duration::from_secs(90).show(), "90s");
        assert_eq!(Duration::from_micros(1_500).show(), "1.5ms");
        for text in [
            "",
            "s",
            "5 s",
            "-5s",
            "1.5s",
            "5sec",
            "5S",
            "99999999999999999999s",
            "18446744073709551615d",
            "5é",
        ] {
            assert_eq!(read::<Duration>(text), Err(None), "{text:?}");
        }
        assert_eq!(
            read::<Duration>("5"),
            Err(Some("a duration needs a unit: write 5s or 5ms".to_owned()))
        );
        assert_eq!(
            read::<Duration>("5m"),
            Err(Some("write 5min for minutes or 5ms for milliseconds".to_owned()))
        );
    }

    #[test]
    fn counts_and_switches() {
        assert_eq!(read::<usize>("32"), Ok(32));
        assert_eq!(usize::read(&Raw::Integer("ff".to_owned(), 16)), Ok(255));
        for text in ["", "+1", "-1", " 1", "1.0", "1_000", "99999999999999999999"] {
            assert_eq!(read::<usize>(text), Err(None), "{text:?}");
        }
        assert_eq!(
            usize::read(&Raw::Quoted("8".to_owned())),
            Err(Some("write 8 without quotes".to_owned()))
        );
        assert_eq!(read::<bool>("true"), Ok(true));
        for text in ["", "1", "yes", "TRUE", "on"] {
            assert_eq!(read::<bool>(text), Err(None), "{text:?}");
        }
    }

    #[test]
    fn long_and_wild_values_are_shown_safely() {
        assert_eq!(Raw::Plain("a\u{1b}[2J\n".to_owned()).to_string(), "a\\u{1b}[2J\\n");
        assert!(Raw::Plain("x".repeat(1_000)).to_string().chars().count() < 70);
    }
}
