//! The kind and the id of a grain, and how an id is written into an address.
//!
//! A kind is declared by the program, so it is a plain dotted name (`bank.v1.Account`). An id comes from the outside
//! (an e-mail address, a file name, a key of some database), so it may be any text; in an address everything beyond
//! `A–Z a–z 0–9 - . _ ~ : @` is percent-encoded, with uppercase digits.

use std::fmt::{self, Write};

use thiserror::Error;

/// The longest kind, in bytes.
///
/// ```
/// use volary_core::tree::{Address, MAX_KIND_BYTES};
///
/// assert!(Address::grain("bank", &"k".repeat(MAX_KIND_BYTES), "1").is_ok());
/// assert!(Address::grain("bank", &"k".repeat(MAX_KIND_BYTES + 1), "1").is_err());
/// ```
pub const MAX_KIND_BYTES: usize = 255;

/// The longest grain id, in bytes, before percent-encoding.
///
/// ```
/// use volary_core::tree::{Address, MAX_GRAIN_ID_BYTES};
///
/// assert!(Address::grain("bank", "Account", &"é".repeat(MAX_GRAIN_ID_BYTES / 2)).is_ok());
/// assert!(Address::grain("bank", "Account", &"i".repeat(MAX_GRAIN_ID_BYTES + 1)).is_err());
/// ```
pub const MAX_GRAIN_ID_BYTES: usize = 512;

pub(super) fn validate_kind(kind: &str) -> Result<(), KindError> {
    if kind.len() > MAX_KIND_BYTES {
        return Err(KindError::TooLong { length: kind.len() });
    }
    let mut begins_part = true;
    for (position, character) in kind.char_indices() {
        let allowed = match character {
            'A'..='Z' | 'a'..='z' | '_' => true,
            '0'..='9' | '.' => !begins_part,
            _ => false,
        };
        if !allowed {
            return Err(KindError::Character { character, position });
        }
        begins_part = character == '.';
    }
    if begins_part {
        return Err(KindError::Incomplete { position: kind.len() });
    }
    Ok(())
}

pub(super) fn validate_id(id: &str) -> Result<(), GrainIdError> {
    match id.len() {
        0 => Err(GrainIdError::Empty),
        1..=MAX_GRAIN_ID_BYTES => Ok(()),
        length => Err(GrainIdError::TooLong { length }),
    }
}

fn stands_for_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':' | b'@')
}

/// Writes an id as it stands in an address.
pub(super) fn encode_id(id: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for byte in id.bytes() {
        if stands_for_itself(byte) {
            f.write_char(char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

/// Reads an id from an address. Any byte may be percent-encoded, with digits of either case.
pub(super) fn decode_id(text: &str) -> Result<String, GrainIdError> {
    let mut bytes = Vec::with_capacity(text.len().min(MAX_GRAIN_ID_BYTES));
    let mut rest = text.char_indices();
    while let Some((position, character)) = rest.next() {
        match u8::try_from(character) {
            Ok(b'%') => {
                let mut digit = || rest.next().and_then(|(_, digit)| digit.to_digit(16));
                let (Some(high), Some(low)) = (digit(), digit()) else {
                    return Err(GrainIdError::Escape { position });
                };
                // Two hexadecimal digits are below 256.
                bytes.extend(u8::try_from(high * 16 + low));
            }
            Ok(byte) if stands_for_itself(byte) => bytes.push(byte),
            _ => return Err(GrainIdError::Character { character, position }),
        }
    }
    let id = String::from_utf8(bytes).map_err(|_| GrainIdError::NotText)?;
    validate_id(&id)?;
    Ok(id)
}

/// Why a grain kind was refused.
///
/// ```
/// use volary_core::tree::{Address, AddressError, KindError};
///
/// let Err(AddressError::Kind { source, .. }) = Address::grain("bank", "bank..Account", "7") else { panic!() };
/// assert_eq!(source, KindError::Character { character: '.', position: 5 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KindError {
    /// Declare a shorter kind.
    #[error("kind is {length} bytes long; at most {MAX_KIND_BYTES} are allowed")]
    TooLong {
        /// How long the kind is, in bytes.
        length: usize,
    },
    /// Replace the character.
    #[error("character {character:?} is not allowed there; a kind is a dotted name such as bank.v1.Account")]
    Character {
        /// The first character that is not allowed.
        character: char,
        /// Where it begins, in bytes from the start of the kind.
        position: usize,
    },
    /// Write the part that is missing.
    #[error("expected a letter or '_'; a kind is a dotted name such as bank.v1.Account")]
    Incomplete {
        /// Where the kind ends.
        position: usize,
    },
}

impl KindError {
    pub(super) fn position(self) -> usize {
        match self {
            Self::Character { position, .. } | Self::Incomplete { position } => position,
            Self::TooLong { .. } => MAX_KIND_BYTES,
        }
    }
}

/// Why a grain id was refused.
///
/// ```
/// use volary_core::tree::{Address, AddressError, GrainIdError};
///
/// let Err(AddressError::GrainId { source, .. }) = Address::grain("bank", "Account", "") else { panic!() };
/// assert_eq!(source, GrainIdError::Empty);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GrainIdError {
    /// Name the grain.
    #[error("a grain id needs at least one character")]
    Empty,
    /// Use a shorter id, for example a hash of this one.
    #[error("grain id is {length} bytes long; at most {MAX_GRAIN_ID_BYTES} are allowed")]
    TooLong {
        /// How long the id is, in bytes, after decoding.
        length: usize,
    },
    /// Percent-encode the character.
    #[error("character {character:?} must be percent-encoded in a grain id")]
    Character {
        /// The first character that cannot stand for itself.
        character: char,
        /// Where it begins, in bytes from the start of the written id.
        position: usize,
    },
    /// Write a percent sign as `%25`.
    #[error("expected two hexadecimal digits after '%'")]
    Escape {
        /// Where the percent sign is, in bytes from the start of the written id.
        position: usize,
    },
    /// Encode the bytes of a UTF-8 text.
    #[error("the percent-encoded bytes are not UTF-8")]
    NotText,
}

impl GrainIdError {
    pub(super) fn position(self) -> usize {
        match self {
            Self::Character { position, .. } | Self::Escape { position } => position,
            Self::Empty | Self::TooLong { .. } | Self::NotText => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_dotted_names() {
        for kind in ["Account", "bank.v1.Account", "_a", "a1", "a_b.c_d"] {
            assert_eq!(validate_kind(kind), Ok(()), "{kind}");
        }
        for kind in ["", ".", "a.", ".a", "a..b", "1a", "a.1b", "a-b", "a b", "ä", "$a"] {
            assert!(validate_kind(kind).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn ids_are_decoded() {
        assert_eq!(decode_id("user:42@x~_.-").as_deref(), Ok("user:42@x~_.-"));
        assert_eq!(decode_id("Z%C3%BCrich%2f%41").as_deref(), Ok("Zürich/A"));
        for (text, error) in [
            ("%", GrainIdError::Escape { position: 0 }),
            ("a%4", GrainIdError::Escape { position: 1 }),
            ("a%+4", GrainIdError::Escape { position: 1 }),
            ("a%é", GrainIdError::Escape { position: 1 }),
            (
                "a b",
                GrainIdError::Character {
                    character: ' ',
                    position: 1,
                },
            ),
            (
                "ü",
                GrainIdError::Character {
                    character: 'ü',
                    position: 0,
                },
            ),
            ("%ff", GrainIdError::NotText),
            ("", GrainIdError::Empty),
        ] {
            assert_eq!(decode_id(text), Err(error), "{text:?}");
        }
    }
}
