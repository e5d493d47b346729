//! What the runtime tells of its actors.

use std::convert::Infallible;
use std::time::Duration;

use crate::actor::{Fault, Message};
use crate::reference::ActorId;
use crate::supervision::Directive;
use crate::tree::Path;

/// The end of an actor that was [watched](crate::Context::watch).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Nurse { patient: ActorRef<Account> }
/// impl Actor for Nurse {
///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
///         ctx.watch(&self.patient);
///         Ok(())
///     }
/// }
/// impl SyncHandler<Terminated> for Nurse {
///     fn handle(&mut self, gone: Terminated, ctx: &mut Context<Self>) -> Result<(), Failure> {
///         println!("{} is gone", gone.path());
///         ctx.stop();
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let patient = alice.clone();
/// let nurse = system.spawn(move || Nurse { patient: patient.clone() }).await?;
/// alice.stop();
/// nurse.terminated().await;
/// # assert!(!nurse.is_alive());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminated {
    id: ActorId,
    path: Path,
}

impl Terminated {
    pub(crate) fn new(id: ActorId, path: Path) -> Self {
        Terminated { id, path }
    }

    /// The incarnation that has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/gone.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (alice, gone) = gone().await?;
    /// assert_eq!(gone.id(), alice.id());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// Where it lived.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/gone.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (alice, gone) = gone().await?;
    /// assert_eq!(gone.path(), &alice.path());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Message for Terminated {
    type Reply = ();
    type Rejection = Infallible;
}

/// What happened to an actor, before it becomes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    Started,
    Restarted,
    Stopping,
    Stopped,
    Suspended,
    Reinstated,
    Passivated,
    Woken,
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            /// Where the actor lives.
            pub path: Path,
            /// Its incarnation.
            pub id: ActorId,
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Message for $name {
            type Reply = ();
            type Rejection = Infallible;
        }
    )*};
}

events! {
    /// An actor is ready for messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorStarted>();
    /// system.spawn(Account::default).named("bob").await?;
    /// assert_eq!(events.next().await?.path.to_string(), "/user/bob");
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorStarted {}
    /// An actor was rebuilt from its factory.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorRestarted>();
    /// alice.restart();
    /// assert_eq!(events.next().await?.id, alice.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorRestarted {}
    /// An actor has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorStopped>();
    /// alice.stop();
    /// assert_eq!(events.next().await?.id, alice.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorStopped {}
    /// An actor crashed on a message, or a hook of it failed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorFailed>();
    /// # let _ = inside(&alice, |_| Err("out of ink".into())).await;
    /// let failed = events.next().await?;
    /// assert_eq!(failed.path, alice.path());
    /// assert_eq!(failed.directive, Some(Directive::Restart));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorFailed {
        /// What went wrong.
        fault: Fault,
        /// What is done about it; `None` for a hook, after which the actor goes on ending.
        directive: Option<Directive>,
    }
    /// An actor is held by supervision: its mail waits until it is reinstated, restarted or stopped.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorSuspended>();
    /// let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// assert_eq!(events.next().await?.id, bob.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorSuspended {}
    /// A held actor goes on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorReinstated>();
    /// let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// # let suspended = system.events().subscribe::<ActorSuspended>();
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// # suspended.next().await?;
    /// bob.reinstate(); // it has crashed, and was suspended
    /// assert_eq!(events.next().await?.id, bob.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorReinstated {}
    /// An actor was passivated: it has let go of its state, and starts anew with its next message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorPassivated>();
    /// alice.passivate();
    /// assert_eq!(events.next().await?.id, alice.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorPassivated {}
    /// A passivated actor has started for a message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorWoken>();
    /// alice.passivate();
    /// alice.ask(Balance).await?;
    /// assert_eq!(events.next().await?.id, alice.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ActorWoken {}
    /// A child has crashed. Arrives as a message with the parent, if it handles this type, and for every
    /// crash: restarts included.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Branch;
    /// impl Actor for Branch {
    ///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         ctx.spawn_child(Account::default).named("bob").await.or_fault()?;
    ///         Ok(())
    ///     }
    ///     fn messages(list: &mut MessageList<Self>) {
    ///         list.add::<ChildFailed>();
    ///     }
    /// }
    /// impl SyncHandler<ChildFailed> for Branch {
    ///     fn handle(&mut self, failed: ChildFailed, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         println!("{}: {}", failed.path, failed.fault);
    ///         # assert_eq!(failed.path.to_string(), "/user/branch/bob");
    ///         ctx.stop(); // without him there is nothing to do
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let branch = system.spawn(|| Branch).named("branch").await?;
    /// # let bob = system.lookup::<Account>("/user/branch/bob").expect("he was started");
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// branch.terminated().await;
    /// # assert!(!branch.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ChildFailed {
        /// What went wrong.
        fault: Fault,
        /// What is done about it.
        directive: Directive,
    }
    /// A mailbox grew beyond the setting `mailbox-high-water`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let system = ActorSystem::builder("bank").settings(|settings| settings.mailbox_high_water(10)).start().await?;
    /// let events = system.events().subscribe::<MailboxHighWater>();
    /// let alice = system.spawn(Account::default).await?;
    /// alice.tell_all((0..1_000).map(Deposit))?; // faster than she can handle them
    /// assert!(events.next().await?.depth >= 10);
    /// # system.stop().await?; Ok(()) }
    /// ```
    MailboxHighWater {
        /// How many messages wait.
        depth: u64,
    }
    /// A handler keeps its worker for longer than the setting `slow-handler`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let limit = Duration::from_millis(2);
    /// let system = ActorSystem::builder("bank").settings(|settings| settings.slow_handler(limit)).start().await?;
    /// let events = system.events().subscribe::<SlowHandler>();
    /// let alice = system.spawn(Account::default).await?;
    /// # let seen = system.events().subscribe::<SlowHandler>();
    /// # alice.tell(Inside(Box::new(move |_| { while seen.try_next().is_none() { std::thread::yield_now(); } Ok(()) })))
    /// #     .map_err(|error| error.to_string())?;
    /// assert!(events.next().await?.running >= limit);
    /// # system.stop().await?; Ok(()) }
    /// ```
    SlowHandler {
        /// For how long, at least.
        running: Duration,
    }
    /// A message was told, not asked, and answered with a rejection: nobody heard it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// #[derive(Debug)]
    /// struct Overdrawn;
    /// # impl Rejection for Overdrawn {}
    /// # struct Withdraw; impl Message for Withdraw { type Reply = (); type Rejection = Overdrawn; }
    /// impl SyncHandler<Withdraw> for Account {
    ///     fn handle(&mut self, _: Withdraw, _: &mut Context<Self>) -> Result<(), Failure<Overdrawn>> {
    ///         Err(Failure::Rejected(Overdrawn))
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<RejectionUnheard>();
    /// alice.tell(Withdraw)?;
    /// assert_eq!(events.next().await?.rejection, "Overdrawn");
    /// # system.stop().await?; Ok(()) }
    /// ```
    RejectionUnheard {
        /// The rejection, as `Debug` shows it.
        rejection: String,
    }
}
