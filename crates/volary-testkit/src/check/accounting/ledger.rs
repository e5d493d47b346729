//! Each message with its fate.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

/// Every message that was sent and what became of it; [`check`](Ledger::check) says whether that is right.
///
/// Sender and receiver may write down their part in any order relative to each other. What counts is the order in which
/// one sender's messages to one receiver were sent, and the order in which they were handled.
///
/// ```
/// use volary_testkit::check::Ledger;
///
/// let mut ledger = Ledger::new();
/// ledger.sent("alice", "bob", 1);
/// ledger.sent("alice", "bob", 2);
/// ledger.handled(2);
/// ledger.handled(1);
/// assert_eq!(
///     ledger.check().unwrap_err().to_string(),
///     "message 1 was overtaken by 2\n  \
///        1: sent by \"alice\" to \"bob\" [0], handled [3]\n  \
///        2: sent by \"alice\" to \"bob\" [1], handled [2]"
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Ledger<A, M> {
    messages: BTreeMap<M, Vec<(usize, Entry<A>)>>,
    entries: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry<A> {
    Sent { from: A, to: A },
    Handled,
    Dead,
    Refused,
    Unconfirmed,
}

/// The entry by which a message was handled, the one by which it was sent, and which message.
type Handled<'a, M> = (usize, usize, &'a M);

/// All that a [`Ledger`] says of one message. It prints each entry with its number in the ledger.
///
/// ```
/// # use volary_testkit::check::{AccountingViolation, Ledger};
/// let mut ledger = Ledger::new();
/// ledger.sent("alice", "bob", 1);
/// let Err(AccountingViolation::Lost(record)) = ledger.check() else { panic!("not found") };
/// assert_eq!(record.to_string(), r#"1: sent by "alice" to "bob" [0]"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRecord<A, M> {
    /// Which message.
    pub message: M,
    entries: Vec<(usize, Entry<A>)>,
}

/// What a [`Ledger`] breaks; the first message, in the order of the ledger.
///
/// ```
/// # use volary_testkit::check::{AccountingViolation, Ledger};
/// let mut ledger = Ledger::new();
/// ledger.sent("alice", "bob", 1);
/// ledger.handled(1);
/// ledger.dead(1);
/// assert!(matches!(ledger.check(), Err(AccountingViolation::TwoFates(record)) if record.message == 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccountingViolation<A, M> {
    /// It was sent, and nothing became of it.
    Lost(MessageRecord<A, M>),
    /// It has a fate, but nobody sent it.
    NeverSent(MessageRecord<A, M>),
    /// It was sent more than once.
    SentTwice(MessageRecord<A, M>),
    /// More became of it than one thing.
    TwoFates(MessageRecord<A, M>),
    /// It was handled after a message that the same sender sent to the same receiver later.
    Overtaken {
        /// The message that came too late.
        late: MessageRecord<A, M>,
        /// The one that came too early.
        by: MessageRecord<A, M>,
    },
}

impl<A: Ord + Clone, M: Ord + Clone> Ledger<A, M> {
    /// An empty ledger.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// assert!(Ledger::<&str, u8>::new().check().is_ok());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            messages: BTreeMap::new(),
            entries: 0,
        }
    }

    /// A message was sent, or would have been if it had not been [refused](Ledger::refused).
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// assert!(ledger.check().is_err(), "what became of it?");
    /// ```
    pub fn sent(&mut self, from: A, to: A, message: M) {
        self.write(message, Entry::Sent { from, to });
    }

    /// A message was handled, or its handling has begun.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.handled(1);
    /// assert!(ledger.check().is_ok());
    /// ```
    pub fn handled(&mut self, message: M) {
        self.write(message, Entry::Handled);
    }

    /// A message became a dead letter.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.dead(1);
    /// assert!(ledger.check().is_ok());
    /// ```
    pub fn dead(&mut self, message: M) {
        self.write(message, Entry::Dead);
    }

    /// A message was given back to its sender.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.refused(1);
    /// assert!(ledger.check().is_ok());
    /// ```
    pub fn refused(&mut self, message: M) {
        self.write(message, Entry::Refused);
    }

    /// A message was on its way when the connection broke. It may have arrived: then it is handled or dead as well.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.unconfirmed(1);
    /// assert!(ledger.check().is_ok());
    /// ledger.handled(1);
    /// assert!(ledger.check().is_ok());
    /// ledger.handled(1);
    /// assert!(ledger.check().is_err());
    /// ```
    pub fn unconfirmed(&mut self, message: M) {
        self.write(message, Entry::Unconfirmed);
    }

    /// Whether each message was sent once, had one fate, and was handled in the order of its pair.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.sent("carol", "bob", 2);
    /// ledger.handled(2); // of another sender: in any order
    /// ledger.handled(1);
    /// assert!(ledger.check().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// The first message that violates any of it.
    pub fn check(&self) -> Result<(), AccountingViolation<A, M>> {
        self.first_of(self.wrong_fates().chain(self.overtaken()))
    }

    /// Whether each message was sent once and had one fate, in whatever order: for mailboxes that sort.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// # let mut ledger = Ledger::new();
    /// ledger.sent("alice", "bob", 1);
    /// ledger.sent("alice", "bob", 2);
    /// ledger.handled(2);
    /// ledger.handled(1);
    /// assert!(ledger.check_fates().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// The first message that violates any of it.
    pub fn check_fates(&self) -> Result<(), AccountingViolation<A, M>> {
        self.first_of(self.wrong_fates())
    }

    fn write(&mut self, message: M, entry: Entry<A>) {
        let number = self.entries;
        self.entries += 1;
        self.messages.entry(message).or_default().push((number, entry));
    }

    fn first_of(
        &self,
        found: impl Iterator<Item = AccountingViolation<A, M>>,
    ) -> Result<(), AccountingViolation<A, M>> {
        match found.min_by_key(|violation| violation.record().first_entry()) {
            Some(violation) => Err(violation),
            None => Ok(()),
        }
    }

    fn record(&self, message: &M) -> MessageRecord<A, M> {
        MessageRecord {
            message: message.clone(),
            entries: self.messages.get(message).cloned().unwrap_or_default(),
        }
    }

    fn wrong_fates(&self) -> impl Iterator<Item = AccountingViolation<A, M>> {
        self.messages.iter().filter_map(|(message, entries)| {
            let count = |wanted: fn(&Entry<A>) -> bool| entries.iter().filter(|(_, entry)| wanted(entry)).count();
            let sent = count(|entry| matches!(entry, Entry::Sent { .. }));
            let arrived = count(|entry| matches!(entry, Entry::Handled | Entry::Dead));
            let refused = count(|entry| matches!(entry, Entry::Refused));
            let unconfirmed = count(|entry| matches!(entry, Entry::Unconfirmed));
            let is_one_fate = match (arrived, refused, unconfirmed) {
                (0, 0, 0) if sent > 0 => return Some(AccountingViolation::Lost(self.record(message))),
                (1, 0, 0 | 1) | (0, 1, 0) | (0, 0, 1) => true,
                _ => false,
            };
            match (sent, is_one_fate) {
                (0, _) => Some(AccountingViolation::NeverSent(self.record(message))),
                (1, true) => None,
                (1, false) => Some(AccountingViolation::TwoFates(self.record(message))),
                _ => Some(AccountingViolation::SentTwice(self.record(message))),
            }
        })
    }

    fn overtaken(&self) -> impl Iterator<Item = AccountingViolation<A, M>> {
        let mut pairs: BTreeMap<(&A, &A), Vec<Handled<'_, M>>> = BTreeMap::new();
        for (message, entries) in &self.messages {
            let sent = entries.iter().find_map(|(number, entry)| match entry {
                Entry::Sent { from, to } => Some((*number, (from, to))),
                _ => None,
            });
            let Some((sent, pair)) = sent else { continue };
            let handled = entries.iter().filter(|(_, entry)| matches!(entry, Entry::Handled));
            let handled = handled.map(|(number, _)| (*number, sent, message));
            pairs.entry(pair).or_default().extend(handled);
        }
        let late = pairs.into_values().filter_map(|mut handled| {
            handled.sort_by_key(|(number, ..)| *number);
            let mut latest: Option<(usize, &M)> = None;
            let mut first_late: Option<(usize, &M, &M)> = None;
            for (_, sent, message) in handled {
                match latest {
                    // The same once more is another matter.
                    Some((latest_sent, by)) if sent < latest_sent => {
                        if first_late.is_none_or(|(late, ..)| sent < late) {
                            first_late = Some((sent, message, by));
                        }
                    }
                    _ => latest = Some((sent, message)),
                }
            }
            first_late
        });
        late.map(|(_, late, by)| AccountingViolation::Overtaken {
            late: self.record(late),
            by: self.record(by),
        })
    }
}

impl<A: Ord + Clone, M: Ord + Clone> Default for Ledger<A, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A, M> MessageRecord<A, M> {
    fn first_entry(&self) -> usize {
        self.entries.first().map_or(usize::MAX, |(number, _)| *number)
    }
}

impl<A, M> AccountingViolation<A, M> {
    /// The record of the message that violates the rules.
    ///
    /// ```
    /// # use volary_testkit::check::Ledger;
    /// let mut ledger = Ledger::<&str, _>::new();
    /// ledger.handled(7);
    /// assert_eq!(ledger.check().unwrap_err().record().message, 7);
    /// ```
    #[must_use]
    pub fn record(&self) -> &MessageRecord<A, M> {
        match self {
            Self::Lost(record) | Self::NeverSent(record) | Self::SentTwice(record) | Self::TwoFates(record) => record,
            Self::Overtaken { late, .. } => late,
        }
    }
}

impl<A: Debug> fmt::Display for Entry<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent { from, to } => write!(f, "sent by {from:?} to {to:?}"),
            Self::Handled => f.write_str("handled"),
            Self::Dead => f.write_str("dead"),
            Self::Refused => f.write_str("refused"),
            Self::Unconfirmed => f.write_str("unconfirmed"),
        }
    }
}

impl<A: Debug, M: Debug> fmt::Display for MessageRecord<A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:", self.message)?;
        for (place, (number, entry)) in self.entries.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} {entry} [{number}]")?;
        }
        Ok(())
    }
}

impl<A: Debug, M: Debug> fmt::Display for AccountingViolation<A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = self.record();
        let message = &record.message;
        match self {
            Self::Lost(_) => write!(f, "message {message:?} is lost\n  {record}"),
            Self::NeverSent(_) => write!(f, "message {message:?} was never sent\n  {record}"),
            Self::SentTwice(_) => write!(f, "message {message:?} was sent more than once\n  {record}"),
            Self::TwoFates(_) => write!(f, "message {message:?} had more than one fate\n  {record}"),
            Self::Overtaken { by, .. } => {
                write!(
                    f,
                    "message {message:?} was overtaken by {:?}\n  {record}\n  {by}",
                    by.message
                )
            }
        }
    }
}

impl<A: Debug, M: Debug> std::error::Error for AccountingViolation<A, M> {}
