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
/// # use volary_core::*;
/// # struct Nurse; impl Actor for Nurse {}
/// impl SyncHandler<Terminated> for Nurse {
///     fn handle(&mut self, gone: Terminated, _: &mut Context<Self>) -> Result<(), Failure> {
///         println!("{} is gone", gone.path());
///         Ok(())
///     }
/// }
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
    /// # fn f(gone: &volary_core::Terminated) { println!("{}", gone.id()); }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// Where it lived.
    ///
    /// ```
    /// # fn f(gone: &volary_core::Terminated) { println!("{}", gone.path()); }
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
        ///
        /// ```
        #[doc = concat!("# use volary_core::{ActorSystem, ", stringify!($name), "};")]
        /// # fn f(system: &ActorSystem) {
        #[doc = concat!("let events = system.events().subscribe::<", stringify!($name), ">();")]
        /// # }
        /// ```
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
    ActorStarted {}
    /// An actor was rebuilt from its factory.
    ActorRestarted {}
    /// An actor has ended.
    ActorStopped {}
    /// An actor crashed on a message, or a hook of it failed.
    ActorFailed {
        /// What went wrong.
        fault: Fault,
        /// What is done about it; `None` for a hook, after which the actor goes on ending.
        directive: Option<Directive>,
    }
    /// An actor is held by supervision: its mail waits until it is reinstated, restarted or stopped.
    ActorSuspended {}
    /// A held actor goes on.
    ActorReinstated {}
    /// An actor was passivated: it has let go of its state, and starts anew with its next message.
    ActorPassivated {}
    /// A passivated actor has started for a message.
    ActorWoken {}
    /// A child has crashed. Arrives as a message with the parent, if it handles this type, and for every
    /// crash: restarts included.
    ChildFailed {
        /// What went wrong.
        fault: Fault,
        /// What is done about it.
        directive: Directive,
    }
    /// A mailbox grew beyond the setting `mailbox-high-water`.
    MailboxHighWater {
        /// How many messages wait.
        depth: u64,
    }
    /// A handler keeps its worker for longer than the setting `slow-handler`.
    SlowHandler {
        /// For how long, at least.
        running: Duration,
    }
    /// A message was told, not asked, and answered with a rejection: nobody heard it.
    RejectionUnheard {
        /// The rejection, as `Debug` shows it.
        rejection: String,
    }
}
