//! What an interceptor sees of a message: on its way out, on its way in, and when it was handled.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use crate::actor::Fault;
use crate::baggage::{Baggage, HeaderError};
use crate::cell::Header;
use crate::reference::ActorId;
use crate::tree::Path;

/// A message that is about to be put into a mailbox.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct NoDeposits;
/// impl Interceptor for NoDeposits {
///     fn sending(&self, message: &mut Departing<'_>) -> Verdict {
///         if message.message().is::<Deposit>() { Verdict::Refuse("keep it") } else { Verdict::Pass }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// let system = ActorSystem::builder("bank").intercept(NoDeposits).start().await?;
/// let alice = system.spawn(Account::default).await?;
/// assert!(alice.tell(Deposit(5)).is_err());
/// assert_eq!(alice.ask(Balance).await?, 0);
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Departing<'a> {
    pub(crate) message: &'a dyn Any,
    pub(crate) type_name: &'static str,
    pub(crate) sender: Option<ActorId>,
    pub(crate) receiver: &'a Header,
    pub(crate) asked: bool,
    pub(crate) baggage: &'a mut Baggage,
}

impl<'a> Departing<'a> {
    /// The message itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert_eq!(message.message().downcast_ref(), Some(&Deposit(5)));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn message(&self) -> &'a dyn Any {
        self.message
    }

    /// Its type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert!(message.type_name().ends_with("Deposit"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Who sends it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert_eq!(message.sender(), None, "whoever asks is no actor");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Who is to get it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert_eq!(message.receiver().to_string(), "/user/alice");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn receiver(&self) -> Path {
        self.receiver.path()
    }

    /// Whether somebody waits for an answer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert!(message.is_asked());
    /// # }).await }
    /// ```
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// What travels along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert!(message.baggage().header("user").is_none());
    /// # }).await }
    /// ```
    pub fn baggage(&self) -> &Baggage {
        self.baggage
    }

    /// Sets a header that travels along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { departing(|message| {
    /// assert!(message.set_header("signature", "…").is_ok());
    /// assert!(message.baggage().header("signature").is_some());
    /// # }).await }
    /// ```
    ///
    /// # Errors
    /// If there are too many headers, or they are too large.
    pub fn set_header(&mut self, name: impl Into<String>, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        self.baggage.headers.set(name, value)
    }
}

impl fmt::Debug for Departing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departing")
            .field("type", &self.type_name)
            .field("sender", &self.sender)
            .field("receiver", &self.receiver.path())
            .finish_non_exhaustive()
    }
}

/// A message that is about to be handled.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct OnlyActors;
/// impl Interceptor for OnlyActors {
///     fn receiving(&self, message: &Arriving<'_>) -> Verdict {
///         if message.sender().is_some() { Verdict::Pass } else { Verdict::Refuse("not from outside") }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).props(Props::new().intercept(OnlyActors)).await?;
/// assert!(matches!(bob.ask(Balance).await, Err(AskError::Refused { .. })));
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Arriving<'a> {
    pub(crate) message: &'a dyn Any,
    pub(crate) type_name: &'static str,
    pub(crate) sender: Option<ActorId>,
    pub(crate) receiver: &'a Header,
    pub(crate) asked: bool,
    pub(crate) baggage: &'a Baggage,
}

impl<'a> Arriving<'a> {
    /// The message itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert_eq!(message.message().downcast_ref(), Some(&Deposit(5)));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn message(&self) -> &'a dyn Any {
        self.message
    }

    /// Its type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert!(message.type_name().ends_with("Deposit"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert_eq!(message.sender(), None, "whoever asks is no actor");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Who is about to handle it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert_eq!(message.receiver().to_string(), "/user/alice");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn receiver(&self) -> Path {
        self.receiver.path()
    }

    /// The type of the actor that is about to handle it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert!(message.actor_type().ends_with("Account"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn actor_type(&self) -> &'static str {
        (self.receiver.table.actor_name)()
    }

    /// Whether somebody waits for the answer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert!(message.is_asked());
    /// # }).await }
    /// ```
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// What travelled along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { arriving(|message| {
    /// assert!(message.baggage().header("user").is_none());
    /// # }).await }
    /// ```
    pub fn baggage(&self) -> &Baggage {
        self.baggage
    }
}

impl fmt::Debug for Arriving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving")
            .field("type", &self.type_name)
            .field("sender", &self.sender)
            .field("receiver", &self.receiver.path())
            .finish_non_exhaustive()
    }
}

/// How the handling of a message ended.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// struct Crashes(Arc<AtomicU64>);
/// impl Interceptor for Crashes {
///     fn handled(&self, handled: &Handled<'_>) {
///         if let Outcome::Faulted(_) = handled.outcome() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let crashes = Arc::new(AtomicU64::new(0));
/// let bob = system.spawn(Account::default).props(Props::new().intercept(Crashes(crashes.clone()))).await?;
/// bob.ask(Deposit(5)).await?;
/// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
/// # system.stop().await?;
/// assert_eq!(crashes.load(Ordering::Relaxed), 1); // from another message
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The handler came to its end; a rejection is an answer like others.
    Completed,
    /// The actor crashed on it.
    Faulted(&'a Fault),
    /// The handler was dropped where it waited: its actor was stopped or killed.
    Cancelled,
    /// It was not handled: a layer further in refused it, for this reason.
    Refused(&'static str),
}

/// A message whose handling is over.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
/// println!("{} handled {} in {:?}", handled.receiver(), handled.type_name(), handled.took());
/// # }).await }
/// ```
pub struct Handled<'a> {
    pub(crate) type_name: &'static str,
    pub(crate) sender: Option<ActorId>,
    pub(crate) receiver: &'a Header,
    pub(crate) baggage: &'a Baggage,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome<'a>,
}

impl<'a> Handled<'a> {
    /// The type of the message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert!(handled.type_name().ends_with("Deposit"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert_eq!(handled.sender(), None, "whoever asks is no actor");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Who handled it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert_eq!(handled.receiver().to_string(), "/user/alice");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn receiver(&self) -> Path {
        self.receiver.path()
    }

    /// The type of the actor that handled it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert!(handled.actor_type().ends_with("Account"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn actor_type(&self) -> &'static str {
        (self.receiver.table.actor_name)()
    }

    /// What travelled along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert!(handled.baggage().is_empty());
    /// # }).await }
    /// ```
    pub fn baggage(&self) -> &'a Baggage {
        self.baggage
    }

    /// From when it was begun to its end, what the handler waited for included.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert!(handled.took() < Duration::from_secs(60));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// How it ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/layer.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { handled(|handled| {
    /// assert!(matches!(handled.outcome(), Outcome::Completed));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn outcome(&self) -> Outcome<'a> {
        self.outcome
    }
}

impl fmt::Debug for Handled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handled")
            .field("type", &self.type_name)
            .field("sender", &self.sender)
            .field("receiver", &self.receiver.path())
            .field("took", &self.took)
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}
