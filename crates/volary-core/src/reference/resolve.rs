//! References inside messages travel as addresses. Whose address that is, and who may be found by it, is said by a
//! resolver; while a message is written or read it is the current one of the thread.
//!
//! Without a scope there is no resolver, and neither writing nor reading a reference works: an address is never
//! trusted by accident.

use std::cell::RefCell;
use std::sync::Arc;

use super::actor_ref::ActorRef;
use super::any_ref::AnyRef;
use super::recipient::Recipient;
use crate::actor::{Actor, Message};
use crate::system::ActorSystem;
use crate::tree::{Address, AddressError};

/// Says where addresses lead. Every address that comes from another node goes through one.
///
/// A system is one for its own actors, and for those of other nodes that its remoting leads to.
///
/// ```
/// use volary_core::tree::Address;
/// use volary_core::{AnyRef, Resolver};
///
/// struct Nobody;
/// impl Resolver for Nobody {
///     fn outside_address(&self, inside: &Address) -> Address { inside.clone() }
///     fn resolve(&self, _address: &Address) -> Option<AnyRef> { None }
/// }
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// The address by which other nodes find what is at this one here.
    fn outside_address(&self, inside: &Address) -> Address;

    /// Whoever an address leads to; none if it may not be followed, or nobody is there.
    fn resolve(&self, address: &Address) -> Option<AnyRef>;
}

impl Resolver for ActorSystem {
    fn outside_address(&self, inside: &Address) -> Address {
        self.outside_address_of(inside)
    }

    fn resolve(&self, address: &Address) -> Option<AnyRef> {
        self.find(address)
    }
}

/// A reference in a message that could not be written or read.
///
/// ```
/// use volary_core::{ResolveError, Resolving};
/// # struct Tick; impl volary_core::Message for Tick { type Reply = (); type Rejection = std::convert::Infallible; }
/// let error = Resolving::recipient::<Tick>("volary://bank/user/alice").unwrap_err();
/// assert!(matches!(error, ResolveError::NoScope));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// References are written and read by remoting alone, or inside of [`Resolving::scope`].
    #[error("a reference can be written or read only inside `Resolving::scope`, which says what addresses mean")]
    NoScope,
    /// The text is no address. The sender is at fault.
    #[error("not an address: {0}")]
    Address(#[from] AddressError),
    /// The address leads to nobody that may be reached. Take it as an actor that has ended.
    #[error("nobody can be reached at {0}")]
    Nobody(Box<str>),
    /// Somebody is there, who does not take such messages.
    #[error("whoever is at {address} is no {wanted}")]
    OtherType {
        /// Where.
        address: Box<str>,
        /// What was asked for.
        wanted: &'static str,
    },
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Resolver>>> = const { RefCell::new(None) };
}

/// The resolver of whatever is being written or read on this thread.
///
/// ```
/// # use std::sync::Arc;
/// use volary_core::{ActorSystem, Message, Recipient, ResolveError, Resolving};
///
/// fn find<M: Message>(system: &ActorSystem, text: &str) -> Result<Recipient<M>, ResolveError> {
///     Resolving::scope(Arc::new(system.clone()), || Resolving::recipient(text))
/// }
/// ```
#[derive(Debug)]
pub struct Resolving(());

impl Resolving {
    /// Makes a resolver the current one while `call` runs. Scopes nest.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use volary_core::{ActorSystem, Message, Resolving};
    /// # fn f<M: Message>(system: &ActorSystem) {
    /// let alice = Resolving::scope(Arc::new(system.clone()), || Resolving::recipient::<M>("volary://bank/user/alice"));
    /// # }
    /// ```
    pub fn scope<T>(resolver: Arc<dyn Resolver>, call: impl FnOnce() -> T) -> T {
        let _restored = Restored(CURRENT.replace(Some(resolver)));
        call()
    }

    /// See [`Resolver::outside_address`].
    ///
    /// ```
    /// # use volary_core::{Address, ResolveError, Resolving};
    /// fn written(address: &Address) -> Result<String, ResolveError> {
    ///     Ok(Resolving::outside_address(address)?.to_string())
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of a scope.
    pub fn outside_address(inside: &Address) -> Result<Address, ResolveError> {
        Ok(current()?.outside_address(inside))
    }

    /// Whoever takes `M` at this address.
    ///
    /// ```
    /// # use volary_core::{Message, Recipient, ResolveError, Resolving};
    /// fn read<M: Message>(address: &str) -> Result<Recipient<M>, ResolveError> {
    ///     Resolving::recipient(address)
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of a scope, and when nobody is found.
    pub fn recipient<M: Message>(address: &str) -> Result<Recipient<M>, ResolveError> {
        let found = find(address)?;
        found.recipient().ok_or_else(|| other_type::<Recipient<M>>(address))
    }

    /// The actor at this address.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, ResolveError, Resolving};
    /// fn read<A: Actor>(address: &str) -> Result<ActorRef<A>, ResolveError> {
    ///     Resolving::actor(address)
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of a scope, and when nobody of that type is found.
    pub fn actor<A: Actor>(address: &str) -> Result<ActorRef<A>, ResolveError> {
        let found = find(address)?;
        found.downcast().ok_or_else(|| other_type::<ActorRef<A>>(address))
    }
}

fn current() -> Result<Arc<dyn Resolver>, ResolveError> {
    // Cloned, so that a resolver may itself open a scope.
    CURRENT
        .with_borrow(|current| current.clone())
        .ok_or(ResolveError::NoScope)
}

fn find(address: &str) -> Result<AnyRef, ResolveError> {
    let resolver = current()?;
    resolver
        .resolve(&address.parse()?)
        .ok_or_else(|| ResolveError::Nobody(address.into()))
}

fn other_type<T>(address: &str) -> ResolveError {
    ResolveError::OtherType {
        address: address.into(),
        wanted: std::any::type_name::<T>(),
    }
}

struct Restored(Option<Arc<dyn Resolver>>);

impl Drop for Restored {
    fn drop(&mut self) {
        drop(CURRENT.replace(self.0.take()));
    }
}
