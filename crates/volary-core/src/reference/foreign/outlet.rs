//! Where messages to an actor elsewhere go.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use super::parcel::Parcel;
use crate::cell::Header;
use crate::dispatch::Host;
use crate::mailbox::{Reason, Refusal};
use crate::tree::Address;

/// The way out to one actor that lives elsewhere.
///
/// Called on the threads of senders, so it must not block. A panic in it is contained: the message counts as refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::foreign::{Errand, Outlet, Parcel, Undeliverable};
///
/// /// Nobody there.
/// struct Void;
///
/// impl Outlet for Void {
///     fn send(&self, _: &mut Parcel<'_>) -> Result<(), Undeliverable> { Err(Undeliverable::Gone) }
///     fn run(&self, _: Errand) {}
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let address = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
/// let bob = system.stand_in(address, Arc::new(Void)).expect("the system runs");
/// assert!(bob.actor_ref::<Account>().tell(Deposit(5)).is_err());
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Outlet: Send + Sync + 'static {
    /// Takes a message. After `Ok` it is the outlet's to deliver, or to make a dead letter of.
    ///
    /// # Errors
    /// Why it was not taken; the sender gets it back.
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable>;

    /// Does something to the actor that is not a message.
    fn run(&self, errand: Errand);

    /// Where senders wait when [`send`](Outlet::send) says that it is full; without, they are refused at once.
    ///
    /// See [`Outlet`] for an example.
    fn room(&self) -> Option<Arc<dyn Room>> {
        None
    }
}

/// The line of those who wait for room on the way out. Each has a ticket, and keeps its place by it.
///
/// ```
/// use std::sync::Mutex;
/// use std::task::Waker;
/// use volary_core::foreign::Room;
///
/// /// Calls everybody whenever there is room.
/// #[derive(Default)]
/// struct Line(Mutex<Vec<(u64, Waker)>>);
///
/// impl Room for Line {
///     fn may_try(&self, ticket: Option<u64>) -> bool {
///         let line = self.0.lock().unwrap();
///         ticket.map_or(line.is_empty(), |ticket| line.iter().all(|(other, _)| *other != ticket))
///     }
///     fn wait(&self, ticket: Option<u64>, waker: &Waker) -> u64 {
///         let mut line = self.0.lock().unwrap();
///         let ticket = ticket.unwrap_or_else(|| line.iter().map(|(other, _)| other + 1).max().unwrap_or(1));
///         line.retain(|(other, _)| *other != ticket);
///         line.push((ticket, waker.clone()));
///         ticket
///     }
///     fn leave(&self, ticket: u64) {
///         self.0.lock().unwrap().retain(|(other, _)| *other != ticket);
///     }
/// }
/// let line = Line::default();
/// let ticket = line.wait(None, Waker::noop());
/// assert!(!line.may_try(None), "behind that one");
/// line.leave(ticket);
/// assert!(line.may_try(None));
/// ```
pub trait Room: Send + Sync + 'static {
    /// Whether a sender may try: a newcomer if nobody waits, and who has waited once it was called.
    fn may_try(&self, ticket: Option<u64>) -> bool;

    /// Takes a place in the line, or keeps that of `ticket`, even if it had been called and found no room. Room that
    /// was made before the sender stood in line must not be overlooked: then it is called at once.
    fn wait(&self, ticket: Option<u64>, waker: &Waker) -> u64;

    /// A sender does not wait any more, having sent or not. If it had been called, the next one is.
    fn leave(&self, ticket: u64);
}

/// What can be done to an actor elsewhere besides sending it messages.
///
/// ```
/// # use volary_core::foreign::Errand;
/// assert_ne!(Errand::Stop, Errand::Kill);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Errand {
    /// Somebody here wants to hear of its end.
    Watch,
    /// Nobody does any more.
    Unwatch,
    /// As [`ActorRef::stop`](crate::ActorRef::stop).
    Stop,
    /// As [`ActorRef::drain`](crate::ActorRef::drain).
    Drain,
    /// As [`ActorRef::kill`](crate::ActorRef::kill).
    Kill,
    /// As [`ActorRef::restart`](crate::ActorRef::restart).
    Restart,
    /// As [`ActorRef::reinstate`](crate::ActorRef::reinstate).
    Reinstate,
    /// As [`ActorRef::passivate`](crate::ActorRef::passivate).
    Passivate,
}

/// Why an [`Outlet`] did not take a message.
///
/// ```
/// # use volary_core::foreign::Undeliverable;
/// assert_eq!(Undeliverable::Full.to_string(), "there is no room on the way");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undeliverable {
    /// The actor, or its whole node, is gone for good.
    Gone,
    /// Too much is on its way already. Later there may be room.
    Full,
    /// The message cannot be written for other machines: the remoting does not know its type.
    Unsendable,
    /// Its codec cannot write it.
    Unwritable,
    /// It is longer than the node there takes.
    TooLarge {
        /// How many bytes it has as it is written.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// What is to travel along with it cannot be written.
    NoContext,
    /// More headers travel along with it than the node there takes.
    TooManyHeaders,
}

impl Undeliverable {
    /// What whoever sent it is told.
    ///
    /// ```
    /// # use volary_core::foreign::Undeliverable;
    /// assert_eq!(Undeliverable::Unwritable.why(), "its codec cannot write it");
    /// ```
    pub fn why(self) -> &'static str {
        match self {
            Undeliverable::Gone => "the actor is gone",
            Undeliverable::Full => "there is no room on the way",
            _ => self.reason().text(),
        }
    }

    fn reason(self) -> Reason {
        Reason::Said(match self {
            Undeliverable::Gone | Undeliverable::Full => "",
            Undeliverable::Unsendable => "it is not registered with the remoting",
            Undeliverable::Unwritable => "its codec cannot write it",
            Undeliverable::NoContext => "what is to travel along cannot be written",
            Undeliverable::TooManyHeaders => "it has more headers than that node takes",
            Undeliverable::TooLarge { bytes, most } => {
                let [bytes, most] = [bytes, most].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
                return Reason::TooLarge { bytes, most };
            }
        })
    }

    /// The refusal, with its reason for whoever is called back on this thread.
    pub(super) fn refuse(self) -> Refusal {
        match self {
            Undeliverable::Gone => Refusal::Closed,
            Undeliverable::Full => Refusal::Full,
            Undeliverable::Unsendable
            | Undeliverable::Unwritable
            | Undeliverable::TooLarge { .. }
            | Undeliverable::NoContext
            | Undeliverable::TooManyHeaders => {
                // The others need none, and one who was refused before may still be asked for it.
                Host::with(|host| host.set_refusal(self.reason()));
                Refusal::Unsendable
            }
        }
    }
}

impl fmt::Display for Undeliverable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())?;
        match self {
            Undeliverable::TooLarge { bytes, most } => write!(f, ": it has {bytes} bytes, and {most} are taken"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Undeliverable {}

/// What makes a cell a stand-in.
pub(crate) struct Foreign {
    pub(crate) address: Address,
    pub(crate) outlet: Arc<dyn Outlet>,
}

impl Foreign {
    /// Does something to the actor that the cell stands for.
    pub(crate) fn run(&self, cell: &Header, errand: Errand) {
        if let Err(fault) = crate::dispatch::contain(|| self.outlet.run(errand)) {
            cell.system().report_hook_fault(cell, "outlet", &fault);
        }
    }
}

impl Header {
    /// What this cell stands for, if it stands for an actor elsewhere.
    #[inline]
    pub(crate) fn foreign(&self) -> Option<&Foreign> {
        self.extras_if_any()?.mailbox.foreign.as_deref()
    }

    /// Runs an errand for a stand-in. False: it is none.
    pub(crate) fn send_errand(&self, errand: Errand) -> bool {
        match self.foreign() {
            Some(foreign) => {
                foreign.run(self, errand);
                true
            }
            None => false,
        }
    }
}
