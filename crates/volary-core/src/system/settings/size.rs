//! Numbers of bytes, written `512`, `64KiB`, `1MiB`, `2GiB`.

use std::fmt;

use super::value::{Allowed, Kind, Raw, Value, show_in_units, split_unit};

/// A number of bytes.
///
/// ```
/// use volary_core::system::settings::ByteSize;
///
/// assert_eq!(ByteSize::mebibytes(512).bytes(), 512 * 1024 * 1024);
/// assert_eq!(ByteSize::mebibytes(512).to_string(), "512MiB");
/// assert_eq!(ByteSize::new(1000).to_string(), "1000");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(u64);

const BYTE_UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

impl ByteSize {
    /// No bytes at all; where it stands for a limit, none.
    ///
    /// ```
    /// # use volary_core::system::settings::ByteSize;
    /// assert_eq!(ByteSize::ZERO, ByteSize::default());
    /// ```
    pub const ZERO: Self = Self(0);

    /// So many bytes.
    ///
    /// ```
    /// # use volary_core::system::settings::ByteSize;
    /// assert_eq!(ByteSize::new(2048).to_string(), "2KiB");
    /// ```
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// So many mebibytes, at most as many as can be counted.
    ///
    /// ```
    /// # use volary_core::system::settings::ByteSize;
    /// assert_eq!(ByteSize::mebibytes(2048).to_string(), "2GiB");
    /// ```
    #[must_use]
    pub const fn mebibytes(count: u64) -> Self {
        Self(count.saturating_mul(1 << 20))
    }

    /// The number of bytes.
    ///
    /// ```
    /// # use volary_core::system::settings::ByteSize;
    /// assert_eq!(ByteSize::mebibytes(1).bytes(), 1_048_576);
    /// ```
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            bytes => f.write_str(&show_in_units(bytes, &BYTE_UNITS)),
        }
    }
}

impl Value for ByteSize {
    const KIND: Kind = Kind::Bytes;

    fn read(raw: &Raw) -> Result<Self, Option<String>> {
        let text = match raw {
            Raw::Plain(text) | Raw::Quoted(text) => text,
            Raw::Integer(digits, radix) => {
                return u64::from_str_radix(digits, *radix).map(Self).map_err(|_| None);
            }
            _ => return Err(None),
        };
        let (number, unit) = split_unit(text).ok_or(None)?;
        let (_, factor) = BYTE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(|| {
            let first = unit.chars().next().map(|letter| letter.to_ascii_uppercase());
            let meant = first.filter(|letter| matches!(letter, 'K' | 'M' | 'G'));
            meant.map(|letter| format!("write {number}{letter}iB"))
        })?;
        let number: u64 = number.parse().map_err(|_| None)?;
        number.checked_mul(*factor).map(Self).ok_or(None)
    }

    fn show(self) -> String {
        self.to_string()
    }

    fn describe(range: &Allowed<Self>) -> String {
        let form = "a number of bytes such as 512, 64KiB, 1MiB or 2GiB";
        match range.most {
            Some(most) => format!("{form}, from {} to {most}", range.least),
            None if range.least == Self::ZERO => form.to_owned(),
            None => format!("{form}, at least {}", range.least),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ByteSize, Option<String>> {
        ByteSize::read(&Raw::Plain(text.to_owned()))
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("64KiB", 65_536),
            ("1MiB", 1 << 20),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(read(text), Ok(ByteSize(bytes)));
            assert_eq!(ByteSize(bytes).show(), text);
        }
        assert_eq!(read("64kb"), Err(Some("write 64KiB".to_owned())));
        assert_eq!(read("1G"), Err(Some("write 1GiB".to_owned())));
        for text in ["", "KiB", "1 KiB", "-1", "1.5GiB", "1X", "18446744073709551615GiB"] {
            assert_eq!(read(text), Err(None), "{text:?}");
        }
    }
}
