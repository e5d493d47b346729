//! A tap: sees what comes into one actor, and what its handlers read of the clock and of chance.
//!
//! Recording and replaying are made of it. It is put on with [`ActorRef::tap`](crate::ActorRef::tap) while the actor
//! runs; an actor without one pays nothing for it.

use std::any::Any;
use std::fmt;
use std::time::SystemTime;

use crate::env::What;
use crate::reference::ActorId;
use crate::time::Moment;

/// Looks at one actor from within its turns, on whatever thread these run.
///
/// Every method is called in the actor's way, so it should be quick. A panic in one is contained: the actor goes on as
/// if nobody had looked, and the panic is reported as the failure of a hook.
///
/// ```
/// # use std::convert::Infallible;
/// use std::sync::{Arc, Mutex};
/// use volary_core::{Input, Passage, Tap};
/// # use volary_core::*;
/// # struct Lamp; struct Toggle;
/// # impl Message for Toggle { type Reply = (); type Rejection = Infallible; }
/// # impl Actor for Lamp {}
/// # impl SyncHandler<Toggle> for Lamp {
/// #     fn handle(&mut self, _: Toggle, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) }
/// # }
///
/// #[derive(Default)]
/// struct Names(Mutex<Vec<String>>);
///
/// impl Tap for Names {
///     fn input(&self, input: &Input<'_>) -> Passage {
///         self.0.lock().unwrap().push(input.type_name().to_owned());
///         Passage::Handle
///     }
/// }
/// # let env = SeededEnv::new(1);
/// # env.clone().block_on(async move {
/// # let system = ActorSystem::builder("doc").environment(env).start().await.unwrap();
/// # let lamp = system.spawn(|| Lamp).await.unwrap();
/// let names = Arc::new(Names::default());
/// let tapped = lamp.tap(names.clone()).unwrap();
/// lamp.ask(Toggle).await.unwrap();
/// drop(tapped);
/// lamp.ask(Toggle).await.unwrap(); // nobody looks any more
/// assert_eq!(names.0.lock().unwrap().len(), 1);
/// # system.stop().await.unwrap();
/// # });
/// ```
pub trait Tap: Send + Sync + 'static {
    /// A message is about to be handled.
    fn input(&self, input: &Input<'_>) -> Passage;

    /// A handler reads [`Context::now`](crate::Context::now); it gets what this returns.
    fn now(&self, read: Moment) -> Moment {
        read
    }

    /// A handler reads [`Context::wall_clock`](crate::Context::wall_clock); it gets what this returns.
    fn wall_clock(&self, read: SystemTime) -> SystemTime {
        read
    }

    /// A handler draws from [`Context::random`](crate::Context::random); it gets what this returns.
    fn random(&self, drawn: u64) -> u64 {
        drawn
    }

    /// Something else happens to the actor: it fails, is restarted, sleeps, ends. Messages go to [`input`](Tap::input).
    fn happens(&self, what: &What<'_>) {
        let _ = what;
    }
}

/// What becomes of a message that a [`Tap`] has seen.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct NoDeposits;
/// impl Tap for NoDeposits {
///     fn input(&self, input: &Input<'_>) -> Passage {
///         match input.message() {
///             Some(message) if message.is::<Deposit>() => Passage::Discard,
///             _ => Passage::Handle,
///         }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let tapped = alice.tap(Arc::new(NoDeposits))?;
/// alice.tell(Deposit(5))?;
/// assert_eq!(alice.ask(Balance).await?, 0);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It is handled, as without the tap.
    Handle,
    /// It is not handled, and becomes a dead letter. The message of a timer ends with its timer.
    Discard,
}

/// Where an [`Input`] comes from.
///
/// ```
/// # use volary_core::Origin;
/// assert_eq!(format!("{:?}", Origin::Timer), "Timer");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Somebody sent it, perhaps the actor itself.
    Sent,
    /// A timer of the actor.
    Timer,
    /// The actor had put it aside and wants it back.
    Stash,
    /// It is the answer to a request of the actor.
    Answer,
}

/// A message on its way to its handler, as a [`Tap`] sees it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
/// println!("{} of {} bytes at {:?}", input.type_name(), input.size(), input.at());
/// # }).await }
/// ```
pub struct Input<'a> {
    pub(crate) message: Option<&'a dyn Any>,
    pub(crate) type_name: &'static str,
    pub(crate) sender: Option<ActorId>,
    pub(crate) origin: Origin,
    pub(crate) at: Moment,
    pub(crate) wall: SystemTime,
}

impl<'a> Input<'a> {
    /// The message itself; `None` for the answer to a request, which only its continuation can take.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// let message = input.message().expect("it is shown");
    /// assert_eq!(message.downcast_ref(), Some(&Deposit(5)));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn message(&self) -> Option<&'a dyn Any> {
        self.message
    }

    /// The type of the message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert!(input.type_name().ends_with("Deposit"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// How many bytes the message takes, without what it points to.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert_eq!(input.size(), size_of::<Deposit>());
    /// # }).await }
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.message.map_or(0, std::mem::size_of_val)
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert_eq!(input.sender(), None, "whoever asks is no actor");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Where it comes from.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert_eq!(input.origin(), Origin::Sent);
    /// # }).await }
    /// ```
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// When it is handled, by the system's monotonic clock.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert!(input.at() > Moment::ZERO);
    /// # }).await }
    /// ```
    #[must_use]
    pub fn at(&self) -> Moment {
        self.at
    }

    /// When it is handled, by the system's calendar clock.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/tap.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done { tapped(|input| {
    /// assert!(input.wall_clock() > std::time::UNIX_EPOCH);
    /// # }).await }
    /// ```
    #[must_use]
    pub fn wall_clock(&self) -> SystemTime {
        self.wall
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("type", &self.type_name)
            .field("sender", &self.sender)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}
