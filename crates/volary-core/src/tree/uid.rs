//! Which incarnation of an actor is meant.
//!
//! A path can be lived at by one actor after another; each gets a uid of its own, so that mail for a dead one is not
//! read by its successor. Written as lowercase hexadecimal, without leading zeros.

use std::fmt;

/// The identity of one incarnation of an actor.
///
/// ```
/// use volary_core::tree::Uid;
///
/// let uid = Uid::new(0x2a7f);
/// assert_eq!(uid.to_string(), "2a7f");
/// assert_eq!(uid.get(), 0x2a7f);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(u64);

impl Uid {
    /// The uid with this number.
    ///
    /// ```
    /// # use volary_core::tree::Uid;
    /// assert_eq!(Uid::new(16).to_string(), "10");
    /// ```
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    ///
    /// ```
    /// # use volary_core::tree::Uid;
    /// assert_eq!(Uid::new(16).get(), 16);
    /// ```
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Reads exactly what [`Display`](fmt::Display) writes; one uid has one spelling.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let canonical = matches!(text.len(), 1..=16)
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && (text == "0" || !text.starts_with('0'));
        if !canonical {
            return None;
        }
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uid({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_only() {
        for uid in [0, 1, 0xff, u64::MAX] {
            assert_eq!(Uid::parse(&Uid::new(uid).to_string()), Some(Uid::new(uid)));
        }
        for refused in ["", "00", "0a", "A", "+1", "-1", " 1", "g", "10000000000000000"] {
            assert_eq!(Uid::parse(refused), None, "{refused:?}");
        }
    }
}
