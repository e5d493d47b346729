//! The names of actors and systems.
//!
//! One grammar for all: `[A-Za-z0-9][A-Za-z0-9_.-]*`, at most 255 bytes. It needs no escaping in an address, a file
//! name, a URL or a metric label. Two kinds of names belong to the runtime: those that begin with `volary-`, and those
//! that begin with `$`, which it gives to actors that were spawned without a name.

use thiserror::Error;

/// The longest name, in bytes.
///
/// ```
/// use volary_core::tree::{MAX_NAME_BYTES, validate_name};
///
/// assert!(validate_name(&"n".repeat(MAX_NAME_BYTES)).is_ok());
/// assert!(validate_name(&"n".repeat(MAX_NAME_BYTES + 1)).is_err());
/// ```
pub const MAX_NAME_BYTES: usize = 255;

const RESERVED_PREFIX: &str = "volary-";

/// Whether a user may give this name to an actor.
///
/// ```
/// use volary_core::tree::validate_name;
///
/// assert!(validate_name("alice").is_ok());
/// assert!(validate_name("order-17.eu_west").is_ok());
///
/// let refused = validate_name("bad name").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "character ' ' at byte 3 is not allowed in a name; use letters, digits, '_', '.' or '-'",
/// );
/// ```
///
/// # Errors
///
/// When the name breaks the grammar or belongs to the runtime; the error names the character and its position.
pub fn validate_name(name: &str) -> Result<(), NameError> {
    if name.starts_with('$') {
        return Err(NameError::Automatic);
    }
    validate_system_name(name)?;
    if name.starts_with(RESERVED_PREFIX) {
        return Err(NameError::Reserved);
    }
    Ok(())
}

/// Whether an actor system may have this name.
///
/// The grammar is that of actors. Nothing is reserved here, because the runtime names no systems.
///
/// ```
/// use volary_core::tree::validate_system_name;
///
/// assert!(validate_system_name("bank").is_ok());
/// assert!(validate_system_name("volary-demo").is_ok());
/// assert!(validate_system_name("bank/eu").is_err());
/// ```
///
/// # Errors
///
/// When the name breaks the grammar.
pub fn validate_system_name(name: &str) -> Result<(), NameError> {
    // Length first: the rest of a hostile text is then never looked at.
    if name.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { length: name.len() });
    }
    let bytes = name.as_bytes();
    // By bytes, which are what names are made of; a character is looked for only to be named.
    if bytes.first().is_some_and(u8::is_ascii_alphanumeric) && bytes.iter().all(|byte| is_name_byte(*byte)) {
        return Ok(());
    }
    Err(offence(name))
}

#[cold]
fn offence(name: &str) -> NameError {
    let mut characters = name.char_indices();
    match characters.next() {
        None => return NameError::Empty,
        Some((_, first)) if first.is_ascii_alphanumeric() => {}
        Some((_, first)) => return NameError::First { character: first },
    }
    let allowed = |character: char| u8::try_from(character).is_ok_and(is_name_byte);
    let (position, character) = characters
        .find(|(_, character)| !allowed(*character))
        .unwrap_or_default();
    NameError::Character { character, position }
}

/// The name of the `number`th actor that was spawned without one.
///
/// ```
/// use volary_core::tree::automatic_name;
///
/// assert_eq!(automatic_name(47), "$2f");
/// ```
#[must_use]
pub fn automatic_name(number: u64) -> String {
    format!("${number:x}")
}

/// Whether this may stand between two slashes of a path: any name, the runtime's own included.
pub(super) fn validate_segment(segment: &str) -> Result<(), NameError> {
    let Some(rest) = segment.strip_prefix('$') else {
        return validate_system_name(segment);
    };
    if segment.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { length: segment.len() });
    }
    validate_system_name(rest).map_err(|error| match error {
        NameError::First { character } => NameError::Character { character, position: 1 },
        NameError::Character { character, position } => NameError::Character {
            character,
            position: position + 1,
        },
        other => other,
    })
}

fn is_name_byte(byte: u8) -> bool {
    // A table, since each spawn asks for each byte of a name.
    const ALLOWED: [bool; 256] = {
        let mut allowed = [false; 256];
        let mut byte = 0;
        while byte < allowed.len() {
            let character = byte as u8;
            allowed[byte] = character.is_ascii_alphanumeric() || matches!(character, b'_' | b'.' | b'-');
            byte += 1;
        }
        allowed
    };
    ALLOWED[usize::from(byte)]
}

/// Why a name was refused. Nothing was created; choose another name.
///
/// ```
/// use volary_core::tree::{NameError, validate_name};
///
/// assert_eq!(validate_name(""), Err(NameError::Empty));
/// assert_eq!(validate_name("volary-registry"), Err(NameError::Reserved));
/// assert_eq!(validate_name("a/b"), Err(NameError::Character { character: '/', position: 1 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is no text. Leave the name out to get an automatic one.
    #[error("a name needs at least one character")]
    Empty,
    /// Shorten the name.
    #[error("name is {length} bytes long; at most {MAX_NAME_BYTES} are allowed")]
    TooLong {
        /// How long the name is, in bytes.
        length: usize,
    },
    /// Put a letter or a digit in front.
    #[error("character {character:?} at byte 0 is not allowed there; a name begins with a letter or a digit")]
    First {
        /// The first character.
        character: char,
    },
    /// Replace the character.
    #[error(
        "character {character:?} at byte {position} is not allowed in a name; use letters, digits, '_', '.' or '-'"
    )]
    Character {
        /// The first character that is not allowed.
        character: char,
        /// Where it begins, in bytes from the start of the name.
        position: usize,
    },
    /// Choose another beginning.
    #[error("names that begin with \"volary-\" are reserved for the runtime; choose another beginning")]
    Reserved,
    /// Leave the name out, or choose one.
    #[error(
        "names that begin with '$' are given by the runtime to unnamed actors; leave the name out or begin it with a letter or a digit"
    )]
    Automatic,
}

impl NameError {
    /// Where in the name the mistake is, in bytes.
    ///
    /// ```
    /// use volary_core::tree::validate_name;
    ///
    /// assert_eq!(validate_name("caf\u{e9} 7").unwrap_err().position(), 3);
    /// ```
    #[must_use]
    pub fn position(&self) -> usize {
        match self {
            Self::Character { position, .. } => *position,
            Self::TooLong { .. } => MAX_NAME_BYTES,
            Self::Empty | Self::First { .. } | Self::Reserved | Self::Automatic => 0,
        }
    }

    /// The message without the position, for errors that give a position of their own.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::First { character } => {
                format!("character {character:?} is not allowed there; a name begins with a letter or a digit")
            }
            Self::Character { character, .. } => {
                format!("character {character:?} is not allowed in a name; use letters, digits, '_', '.' or '-'")
            }
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_cannot_take_names_of_the_runtime() {
        assert_eq!(validate_name("$2f"), Err(NameError::Automatic));
        assert_eq!(validate_name("volary-x"), Err(NameError::Reserved));
        assert_eq!(validate_name("volary"), Ok(()));
        assert_eq!(validate_name("Volary-x"), Ok(()));
    }

    #[test]
    fn segments_may_be_automatic_or_reserved() {
        assert_eq!(validate_segment(&automatic_name(u64::MAX)), Ok(()));
        assert_eq!(validate_segment("volary-registry"), Ok(()));
        assert_eq!(validate_segment("$"), Err(NameError::Empty));
        assert_eq!(
            validate_segment("$$"),
            Err(NameError::Character {
                character: '$',
                position: 1
            })
        );
        assert_eq!(
            validate_segment("$a b"),
            Err(NameError::Character {
                character: ' ',
                position: 2
            })
        );
        assert_eq!(
            validate_segment(&format!("${}", "a".repeat(MAX_NAME_BYTES))),
            Err(NameError::TooLong {
                length: MAX_NAME_BYTES + 1
            })
        );
    }

    #[test]
    fn first_character_is_stricter_than_the_rest() {
        for first in ["-a", "_a", ".a", "..", " a", "é"] {
            assert!(matches!(validate_name(first), Err(NameError::First { .. })), "{first}");
        }
    }
}
