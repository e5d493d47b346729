//! Context of the user's own that goes along with messages to other nodes.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use volary_core::Baggage;

use crate::shared::Language;

/// Takes context of your own across nodes: a tenant that is ambient here, a trace in a format of somebody else's.
///
/// Between nodes travels what a [`Baggage`] holds, headers and a trace, and handlers see it as [`Baggage::current`]. What is in
/// there needs no propagator. One is for what is somewhere else, or is to look otherwise on the way: it is asked when a message
/// leaves for another node, on the thread that sends it, and when one arrives from there, on the one that reads. Messages
/// between actors of one node pass it by; an [`Interceptor`](volary_core::Interceptor) sees these too.
///
/// Both are called in the way of messages, so they should be quick and must not block, nor send anything to other nodes.
/// Several are asked one after the other: in the order in which they were [registered](crate::RemoteBuilder::propagator) when a
/// message leaves, and the other way round when it arrives.
///
/// ```
/// use std::cell::Cell;
/// use std::error::Error;
/// use volary_core::Baggage;
/// use volary_remote::{Propagator, Remote};
///
/// thread_local! {
///     static TENANT: Cell<Option<&'static str>> = const { Cell::new(None) };
/// }
///
/// struct Tenant;
///
/// impl Propagator for Tenant {
///     fn inject(&self, leaving: Baggage) -> Result<Baggage, Box<dyn Error + Send + Sync>> {
///         Ok(match TENANT.get() {
///             Some(tenant) => leaving.with_header("x-tenant", tenant)?,
///             None => leaving,
///         })
///     }
///
///     fn extract(&self, arriving: Baggage) -> Result<Baggage, Box<dyn Error + Send + Sync>> {
///         match arriving.header("x-tenant") {
///             Some(_) => Ok(arriving), // handlers find it there
///             None => Err("it is for no tenant".into()),
///         }
///     }
/// }
///
/// let builder = Remote::builder().propagator(Tenant);
/// # let _ = builder;
/// # TENANT.set(Some("blue"));
/// # assert_eq!(Tenant.inject(Baggage::new()).unwrap().header("x-tenant"), Some(&b"blue"[..]));
/// # assert!(Tenant.extract(Baggage::new()).is_err());
/// ```
pub trait Propagator: Send + Sync + 'static {
    /// A message is about to leave for another node, with this. What travels instead; the same, unless you say otherwise.
    ///
    /// # Errors
    /// The message is not sent: whoever sends it gets it back as one that is not sendable, and the reason is in the log.
    fn inject(&self, leaving: Baggage) -> Result<Baggage, Box<dyn Error + Send + Sync>> {
        Ok(leaving)
    }

    /// A message has come from another node, with this. What its handler sees instead; the same, unless you say otherwise. It
    /// was written by that node: check it.
    ///
    /// # Errors
    /// The message is not delivered. Whoever asked hears the reason; what was told is a dead letter here. It is counted as
    /// refused, and said once for each reason by [`PeerEvent::Refused`](crate::PeerEvent::Refused). The same is done after a
    /// panic.
    fn extract(&self, arriving: Baggage) -> Result<Baggage, Box<dyn Error + Send + Sync>> {
        Ok(arriving)
    }
}

impl Language {
    /// What travels with a message that leaves with this. For a node that has propagators. A panic is the sender's to contain.
    #[cold]
    pub(crate) fn inject(&self, leaving: &Baggage) -> Result<Baggage, Box<dyn Error + Send + Sync>> {
        let mut propagators = self.propagators.iter();
        propagators.try_fold(leaving.clone(), |baggage, one| one.inject(baggage))
    }

    /// What the handler of a message sees that came with this. For a node that has propagators.
    #[cold]
    pub(crate) fn extract(&self, arriving: Option<Baggage>) -> Result<Option<Baggage>, String> {
        let mut propagators = self.propagators.iter().rev();
        let extract = || propagators.try_fold(arriving.unwrap_or_default(), |baggage, one| one.extract(baggage));
        match catch_unwind(AssertUnwindSafe(extract)) {
            Ok(Ok(baggage)) => Ok(Some(baggage).filter(|baggage| !baggage.is_empty())),
            Ok(Err(error)) => Err(format!("its context is not taken: {error}")),
            Err(panic) => {
                // What was thrown may itself panic when it is dropped.
                let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
                Err("a propagator panicked".to_owned())
            }
        }
    }
}
