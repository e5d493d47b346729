//! How much of what is published one subscriber gets.

use std::fmt;

use super::Event;
use crate::dispatch::contain;

/// How many events wait for a subscriber that does not say otherwise.
pub(crate) const CAPACITY: usize = 1024;

/// How many events may wait for a subscriber, and which it wants.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// #[derive(Debug, Clone, PartialEq)]
/// struct Price { cents: u32 }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let few_and_high = SubscriptionOptions::new().capacity(16).filter(|price: &Price| price.cents > 1_000);
/// let prices = system.events().subscribe_with(few_and_high);
/// system.events().publish(Price { cents: 5 });
/// system.events().publish(Price { cents: 5_000 });
/// assert_eq!(prices.next().await?, Price { cents: 5_000 });
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "options do nothing until a subscription is made with them"]
pub struct SubscriptionOptions<E> {
    pub(crate) capacity: Option<usize>,
    pub(crate) filter: Filter<E>,
}

impl<E: Event> SubscriptionOptions<E> {
    /// Up to 1,024 events, or as many as the mailbox of the subscribing actor holds if that is less, and every event.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let usual = system.events().subscribe_with(SubscriptionOptions::<u32>::new());
    /// (0..1_025_u32).for_each(|number| system.events().publish(number));
    /// assert_eq!((usual.waiting(), usual.lost()), (1_024, 1));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn new() -> Self {
        SubscriptionOptions {
            capacity: None,
            filter: Filter(None),
        }
    }

    /// How many events may wait; at least one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let short = system.events().subscribe_with(SubscriptionOptions::<u32>::new().capacity(8));
    /// (0..9_u32).for_each(|number| system.events().publish(number));
    /// assert_eq!((short.waiting(), short.lost()), (8, 1));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity.max(1));
        self
    }

    /// Which events are wanted. Called by whoever publishes, so it should be quick. An event at which it panics is lost
    /// to this subscriber, and counted.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let even = system.events().subscribe_with(SubscriptionOptions::new().filter(|number: &u32| number % 2 == 0));
    /// (1..3_u32).for_each(|number| system.events().publish(number));
    /// assert_eq!(even.next().await?, 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn filter(mut self, filter: impl Fn(&E) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Filter(Some(Box::new(filter)));
        self
    }
}

impl<E: Event> Default for SubscriptionOptions<E> {
    fn default() -> Self {
        SubscriptionOptions::new()
    }
}

impl<E> fmt::Debug for SubscriptionOptions<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionOptions")
            .field("capacity", &self.capacity)
            .field("filtered", &self.filter.0.is_some())
            .finish()
    }
}

/// What a subscriber wants to see.
pub(crate) struct Filter<E>(Option<Box<Wanted<E>>>);

type Wanted<E> = dyn Fn(&E) -> bool + Send + Sync;

/// What a filter says of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Wanted,
    Unwanted,
    /// It panicked.
    Unknown,
}

impl<E> Filter<E> {
    pub(crate) fn judge(&self, event: &E) -> Verdict {
        let Some(wanted) = &self.0 else {
            return Verdict::Wanted;
        };
        match contain(|| wanted(event)) {
            Ok(true) => Verdict::Wanted,
            Ok(false) => Verdict::Unwanted,
            Err(fault) => {
                tracing::warn!(event = std::any::type_name::<E>(), %fault, "the filter of a subscription failed");
                Verdict::Unknown
            }
        }
    }
}

impl<E> Drop for Filter<E> {
    fn drop(&mut self) {
        let wanted = self.0.take();
        if let Err(fault) = contain(|| drop(wanted)) {
            tracing::warn!(event = std::any::type_name::<E>(), %fault, "the filter of a subscription failed");
        }
    }
}
