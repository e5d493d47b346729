//! A run that failed, and how it shows.

use std::fmt;

use super::super::choice::Strategy;

/// A run that failed; shows as a report with a timeline.
///
/// ```
/// use volary_testkit::sim::Check;
///
/// let failed = Check::new().seeds(10).run(|sim| async move {
///     assert!(sim.seed() < 4, "four is too many");
/// });
/// let failed = failed.unwrap_err();
/// assert_eq!(failed.seed(), 4);
/// assert!(failed.to_string().contains("four is too many"));
/// ```
pub struct FailedRun {
    pub(super) seed: u64,
    pub(super) strategy: Strategy,
    pub(super) why: String,
    /// The faults without which it does not fail, of so many.
    pub(super) faults: Vec<String>,
    pub(super) planned: usize,
    pub(super) timeline: String,
    pub(super) steps: u64,
    pub(super) found: Found,
}

/// Who ran the seed that failed, and so how it can be seen again.
pub(super) enum Found {
    /// A check, after so many others.
    Among(u64),
    /// The test itself, and no other.
    Alone,
}

impl FailedRun {
    /// The seed that fails.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(10).run(|sim| async move {
    ///     assert!(sim.seed() < 4, "four is too many");
    /// });
    /// assert_eq!(failed.unwrap_err().seed(), 4);
    /// ```
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What was wrong.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(10).run(|sim| async move {
    ///     assert!(sim.seed() < 4, "four is too many");
    /// });
    /// assert!(failed.unwrap_err().why().contains("four is too many"));
    /// ```
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The faults that it takes, in words.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(10).run(|sim| async move {
    ///     assert!(sim.seed() < 4, "four is too many");
    /// });
    /// assert!(failed.unwrap_err().faults().is_empty(), "it fails without any");
    /// ```
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// What happened, line by line.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(10).run(|sim| async move {
    ///     sim.note("about to count");
    ///     assert!(sim.seed() < 4, "four is too many");
    /// });
    /// assert!(failed.unwrap_err().timeline().contains("about to count"));
    /// ```
    #[must_use]
    pub fn timeline(&self) -> &str {
        &self.timeline
    }
}

impl fmt::Display for FailedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} fails: {}", self.seed, self.why)?;
        let FailedRun { seed, strategy, .. } = self;
        match self.found {
            Found::Among(before) => writeln!(
                f,
                "found after {before} seeds, {strategy:?}; replay it with VOLARY_SEED={seed}"
            )?,
            Found::Alone => writeln!(f, "{strategy:?}; replay it with `Sim::new({seed})`")?,
        }
        if self.planned > 0 {
            writeln!(f, "{} of {} faults are needed:", self.faults.len(), self.planned)?;
            for fault in &self.faults {
                writeln!(f, "  {fault}")?;
            }
        }
        writeln!(f, "timeline ({} steps):", self.steps)?;
        f.write_str(&self.timeline)
    }
}

impl fmt::Debug for FailedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for FailedRun {}
