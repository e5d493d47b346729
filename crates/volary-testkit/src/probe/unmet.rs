//! An expectation that was not met, in words.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use volary::Path;

/// Everything that whoever reads the failed test wants to know.
pub(super) struct Unmet {
    pub(super) probe: Path,
    pub(super) expected: String,
    pub(super) at: &'static Location<'static>,
    /// By the clock of the system, virtual or not.
    pub(super) waited: Duration,
    pub(super) patience: Duration,
    pub(super) remarks: Vec<String>,
    /// What came instead, in order.
    pub(super) came: Vec<String>,
}

impl Unmet {
    pub(super) fn fail(self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmet {
            probe,
            expected,
            at,
            waited,
            patience,
            ..
        } = self;
        writeln!(f, "probe {probe} expected {expected}")?;
        writeln!(f, "  at {at}")?;
        writeln!(f, "  waited {waited:?} of {patience:?}, by the clock of the system")?;
        for remark in &self.remarks {
            writeln!(f, "  {remark}")?;
        }
        if self.came.is_empty() {
            return write!(f, "  what came: nothing");
        }
        write!(f, "  what came, in order:")?;
        for (at, message) in self.came.iter().enumerate() {
            write!(f, "\n    {}. {message}", at + 1)?;
        }
        Ok(())
    }
}
