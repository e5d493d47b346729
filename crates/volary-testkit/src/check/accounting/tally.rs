//! Messages as mere numbers.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

/// How many messages went between pairs and what became of them; [`check`](Tally::check) says whether it adds up.
///
/// ```
/// use volary_testkit::check::Tally;
///
/// let mut tally = Tally::new();
/// tally.sent(("alice", "bob"), 1_000);
/// tally.handled(("alice", "bob"), 990);
/// tally.refused(("alice", "bob"), 9);
/// assert_eq!(
///     tally.check().unwrap_err().to_string(),
///     r#"("alice", "bob"): 1 lost; sent 1000, handled 990, dead 0, refused 9, unconfirmed 0"#
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Tally<P> {
    pairs: BTreeMap<P, Counts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    sent: u64,
    handled: u64,
    dead: u64,
    refused: u64,
    unconfirmed: u64,
}

/// A pair whose numbers do not add up.
///
/// ```
/// # use volary_testkit::check::Tally;
/// let mut tally = Tally::new();
/// tally.handled("bob", 1);
/// let violation = tally.check().unwrap_err();
/// assert_eq!(violation.pair, "bob");
/// assert!(violation.to_string().contains("1 too many"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TallyViolation<P> {
    /// Which pair.
    pub pair: P,
    counts: Counts,
}

impl<P: Ord + Clone> Tally<P> {
    /// Nothing was sent yet.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// assert!(Tally::<&str>::new().check().is_ok());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self { pairs: BTreeMap::new() }
    }

    /// So many more were sent, refused ones included.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// tally.sent("bob", 3);
    /// assert!(tally.check().is_err());
    /// ```
    pub fn sent(&mut self, pair: P, count: u64) {
        self.pairs.entry(pair).or_default().sent += count;
    }

    /// So many more were handled.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// # tally.sent("bob", 3);
    /// tally.handled("bob", 3);
    /// assert!(tally.check().is_ok());
    /// ```
    pub fn handled(&mut self, pair: P, count: u64) {
        self.pairs.entry(pair).or_default().handled += count;
    }

    /// So many more became dead letters.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// # tally.sent("bob", 3);
    /// tally.dead("bob", 3);
    /// assert!(tally.check().is_ok());
    /// ```
    pub fn dead(&mut self, pair: P, count: u64) {
        self.pairs.entry(pair).or_default().dead += count;
    }

    /// So many more were given back.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// # tally.sent("bob", 3);
    /// tally.refused("bob", 3);
    /// assert!(tally.check().is_ok());
    /// ```
    pub fn refused(&mut self, pair: P, count: u64) {
        self.pairs.entry(pair).or_default().refused += count;
    }

    /// Of so many more nobody knows whether they arrived; they may be among the handled and the dead, or not.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// tally.sent("bob", 3);
    /// tally.unconfirmed("bob", 2);
    /// tally.handled("bob", 2);
    /// assert!(tally.check().is_ok());
    /// ```
    pub fn unconfirmed(&mut self, pair: P, count: u64) {
        self.pairs.entry(pair).or_default().unconfirmed += count;
    }

    /// Whether for each pair what was sent is what was handled, dead or refused, or is unconfirmed.
    ///
    /// ```
    /// # use volary_testkit::check::Tally;
    /// # let mut tally = Tally::new();
    /// tally.sent("bob", 2);
    /// tally.handled("bob", 3);
    /// assert!(tally.check().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// The first pair whose numbers do not add up.
    pub fn check(&self) -> Result<(), TallyViolation<P>> {
        let wrong = self
            .pairs
            .iter()
            .find(|(_, counts)| counts.lost() > 0 || counts.too_many() > 0);
        match wrong {
            Some((pair, counts)) => Err(TallyViolation {
                pair: pair.clone(),
                counts: *counts,
            }),
            None => Ok(()),
        }
    }
}

impl<P: Ord + Clone> Default for Tally<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl Counts {
    fn settled(&self) -> u64 {
        self.handled + self.dead + self.refused
    }

    fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.settled() + self.unconfirmed)
    }

    /// A refused message is certain: it is never among the unconfirmed ones.
    fn too_many(&self) -> u64 {
        let settled = self.settled().max(self.refused + self.unconfirmed);
        settled.saturating_sub(self.sent)
    }
}

impl<P: Debug> fmt::Display for TallyViolation<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        let Counts {
            sent,
            handled,
            dead,
            refused,
            unconfirmed,
        } = counts;
        write!(f, "{:?}: ", self.pair)?;
        match counts.lost() {
            0 => write!(f, "{} too many", counts.too_many())?,
            lost => write!(f, "{lost} lost")?,
        }
        write!(
            f,
            "; sent {sent}, handled {handled}, dead {dead}, refused {refused}, unconfirmed {unconfirmed}"
        )
    }
}

impl<P: Debug> std::error::Error for TallyViolation<P> {}
