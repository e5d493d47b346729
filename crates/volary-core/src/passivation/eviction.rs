//! How many actors may be awake, and who goes first when there are more.

/// A limit to the actors that are awake, for a whole system. It applies to actors whose
/// [`Passivation`](crate::Passivation) is not `never`; when they are too many, some are passivated, whether their own time
/// has come or not.
///
/// Those with something to do are spared, so the limit can be passed for a while when all are busy.
///
/// ```
/// use volary_core::{ActorSystem, Eviction};
///
/// let builder = ActorSystem::builder("bank").eviction(Eviction::lru().at_most(100_000));
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Eviction {
    pub(super) order: Order,
    pub(super) actors: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) percent: u64,
}

/// Who goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    LeastRecent,
    LeastFrequent,
    MostRecent,
}

/// How much goes at a time, unless said otherwise.
const PERCENT: u64 = 10;

impl Eviction {
    const fn by_order(order: Order) -> Self {
        Eviction {
            order,
            actors: None,
            bytes: None,
            percent: PERCENT,
        }
    }

    /// Those go first whose last message was handled longest ago.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/evicted.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// // Bob has handled three messages, then carol one, then dave two.
    /// assert_eq!(first_to_go(Eviction::lru().at_most(2)).await?, "/user/bob");
    /// # Ok(()) }
    /// ```
    pub const fn lru() -> Self {
        Eviction::by_order(Order::LeastRecent)
    }

    /// Those go first who have handled the fewest messages since they were started.
    ///
    /// ```
    /// let _ = volary_core::Eviction::lfu().at_most(1_000);
    /// ```
    pub const fn lfu() -> Self {
        Eviction::by_order(Order::LeastFrequent)
    }

    /// Those go first whose last message was handled most recently: for scans, where what was just used is not needed again.
    ///
    /// ```
    /// let _ = volary_core::Eviction::mru().at_most(1_000);
    /// ```
    pub const fn mru() -> Self {
        Eviction::by_order(Order::MostRecent)
    }

    /// At most so many actors are awake.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/evicted.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// // Bob has handled three messages, then carol one, then dave two.
    /// assert_eq!(first_to_go(Eviction::lru().at_most(2)).await?, "/user/bob");
    /// # Ok(()) }
    /// ```
    pub const fn at_most(mut self, actors: u64) -> Self {
        self.actors = Some(actors);
        self
    }

    /// Those awake hold at most so many bytes together: each counts with its own size and with what it says by
    /// [`Context::set_heap_bytes`](crate::Context::set_heap_bytes).
    ///
    /// ```
    /// let _ = volary_core::Eviction::lru().at_most_bytes(4 << 30);
    /// ```
    pub const fn at_most_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// How much of the limit is made free at a time, in percent; 10 unless said otherwise. Looking for those who go costs
    /// time in proportion to all who are awake.
    ///
    /// ```
    /// let _ = volary_core::Eviction::lru().at_most(1_000).percent(25);
    /// ```
    pub const fn percent(mut self, percent: u64) -> Self {
        self.percent = percent;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), EvictionError> {
        let wrong = |option, value: u64, allowed| {
            Err(EvictionError {
                option,
                value: value.to_string(),
                allowed,
            })
        };
        if self.actors.is_none() && self.bytes.is_none() {
            return Err(EvictionError {
                option: "limit",
                value: "missing".to_owned(),
                allowed: "`at_most`, `at_most_bytes` or both",
            });
        }
        match (self.actors, self.bytes, self.percent) {
            (Some(0), ..) => wrong("at_most", 0, "at least one actor"),
            (_, Some(bytes), _) if bytes < 1 << 10 => wrong("at_most_bytes", bytes, "at least 1,024 bytes"),
            (.., percent) if !(1..=100).contains(&percent) => wrong("percent", percent, "1 to 100"),
            _ => Ok(()),
        }
    }
}

/// An [`Eviction`] that makes no sense.
///
/// ```
/// # use volary_core::{ActorSystem, Eviction};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = ActorSystem::builder("bank").eviction(Eviction::lru().at_most(0)).start().await.unwrap_err();
/// assert_eq!(error.to_string(), "eviction: at_most is 0, allowed is at least one actor");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("eviction: {option} is {value}, allowed is {allowed}")]
pub struct EvictionError {
    option: &'static str,
    value: String,
    allowed: &'static str,
}
