//! What an interceptor is.

use super::seen::{Arriving, Departing, Handled};

/// What becomes of a message that an [`Interceptor`] has seen.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct OnlyKnown;
/// impl Interceptor for OnlyKnown {
///     fn receiving(&self, message: &Arriving<'_>) -> Verdict {
///         match message.baggage().header("user") {
///             Some(_) => Verdict::Pass,
///             None => Verdict::Refuse("who are you?"),
///         }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).props(Props::new().intercept(OnlyKnown)).await?;
/// assert!(matches!(bob.ask(Balance).await, Err(AskError::Refused { reason: "who are you?" })));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It goes on, to the next layer or to the handler.
    Pass,
    /// It goes no further. A message that was about to be sent goes back to its sender with this reason; one that was
    /// about to be handled becomes a dead letter, and whoever asked hears the reason.
    Refuse(&'static str),
}

/// A layer around what actors send and handle: for authorisation, limits, metrics, traces.
///
/// Every method is called in the way of messages, on whatever thread they are sent or handled, so it should be quick
/// and must not block. A panic in one is contained and reported as the failure of a hook; a message whose layer
/// panicked before its verdict is refused.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::sync::Arc;
/// use volary_core::{Handled, Interceptor};
/// # use volary_core::*;
/// # use std::convert::Infallible;
/// # struct Lamp; struct Toggle;
/// # impl Message for Toggle { type Reply = (); type Rejection = Infallible; }
/// # impl Actor for Lamp {}
/// # impl SyncHandler<Toggle> for Lamp {
/// #     fn handle(&mut self, _: Toggle, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) }
/// # }
///
/// #[derive(Default)]
/// struct Count(AtomicU64);
///
/// impl Interceptor for Count {
///     fn handled(&self, _: &Handled<'_>) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let count = Arc::new(Count::default());
/// let system = ActorSystem::builder("doc").intercept(count.clone()).start().await?;
/// let lamp = system.spawn(|| Lamp).await?;
/// lamp.ask(Toggle).await?;
/// system.stop().await?;
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// # Ok(()) }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// A message is about to be put into a mailbox: told, asked or scheduled, published to a topic (once for each actor
    /// that subscribes), or pulled out of a stream. What is refused of a topic is not delivered and counted as refused;
    /// an element of a stream is a dead letter.
    ///
    /// Not seen here, only on arrival, is what nobody sends: the actor's own timers, and the events, signals and changes
    /// that the runtime tells of.
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        let _ = message;
        Verdict::Pass
    }

    /// A message is about to be handled.
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        let _ = message;
        Verdict::Pass
    }

    /// The handling of a message that this layer has let pass is over, or a layer further in has refused it. Comes exactly
    /// once for each [`Verdict::Pass`] of [`receiving`](Interceptor::receiving), so that what was counted there can be
    /// counted back here.
    fn handled(&self, handled: &Handled<'_>) {
        let _ = handled;
    }
}

impl<I: Interceptor + ?Sized> Interceptor for std::sync::Arc<I> {
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        (**self).sending(message)
    }

    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        (**self).receiving(message)
    }

    fn handled(&self, handled: &Handled<'_>) {
        (**self).handled(handled);
    }
}
