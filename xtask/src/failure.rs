//! Why a command ended without success, and with which exit code.

use std::fmt;

pub(crate) type Outcome = Result<(), Failure>;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command was called in a way it does not understand.
    Usage(String),
    /// A tool the command cannot do without is not installed.
    Missing(String),
    /// The command ran and what it looked at is not in order.
    Failed(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Failed(_) => 1,
            Failure::Usage(_) | Failure::Missing(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Missing(text) | Failure::Failed(text) => f.write_str(text),
        }
    }
}
