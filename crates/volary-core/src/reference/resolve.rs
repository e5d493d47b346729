//! References inside messages travel as addresses. Whose address that is, and who may be found by it, is said by a
//! resolver; while a message is written or read it is the current one of the thread. In a handler it is the system of its
//! actor.
//!
//! Elsewhere there is no resolver without a scope, and neither writing nor reading a reference works: an address is never
//! trusted by accident.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

use super::actor_ref::ActorRef;
use super::any_ref::AnyRef;
use super::recipient::Recipient;
use super::target::Target;
use crate::actor::Message;
use crate::dispatch::Host;
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
    /// References are written and read by remoting, in handlers, and inside of [`Resolving::scope`].
    #[error(
        "a reference can be written or read only in a handler or inside `Resolving::scope`, which say what addresses mean"
    )]
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
    /// Points to what whoever opened the scope holds until it is closed: there is one scope for every message that is
    /// sent, and to count references for each would cost as much as to write it.
    static CURRENT: Cell<Option<NonNull<Arc<dyn Resolver>>>> = const { Cell::new(None) };
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
        Resolving::within(&resolver, call)
    }

    /// The same for a resolver that the caller keeps.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use volary_core::{Message, Recipient, Resolver, ResolveError, Resolving};
    /// fn find<M: Message>(resolver: &Arc<dyn Resolver>, text: &str) -> Result<Recipient<M>, ResolveError> {
    ///     Resolving::within(resolver, || Resolving::recipient(text))
    /// }
    /// ```
    #[inline]
    pub fn within<T>(resolver: &Arc<dyn Resolver>, call: impl FnOnce() -> T) -> T {
        let _restored = Restored(CURRENT.replace(Some(NonNull::from(resolver))));
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

    /// The address by which other nodes find this actor. Outside of a scope it is that of its own system.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, Resolving};
    /// fn written<A: Actor>(actor: &ActorRef<A>) -> String {
    ///     Resolving::address_of(actor).to_string()
    /// }
    /// ```
    pub fn address_of<T: Target>(actor: &ActorRef<T>) -> Address {
        let inside = actor.address();
        match current() {
            Ok(resolver) => resolver.outside_address(&inside),
            Err(_) => actor.cell().system().handle().outside_address_of(&inside),
        }
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

    /// The actor at this address, typed by what it is or by a protocol that it speaks. What an actor elsewhere is, and
    /// takes, is seen when messages arrive there.
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
    pub fn actor<T: Target>(address: &str) -> Result<ActorRef<T>, ResolveError> {
        let found = find(address)?;
        found.target().ok_or_else(|| other_type::<ActorRef<T>>(address))
    }
}

fn current() -> Result<Arc<dyn Resolver>, ResolveError> {
    let Some(current) = CURRENT.get() else {
        let system = Host::with(|host| host.current().map(|actor| actor.system().handle()));
        let system = system.flatten().ok_or(ResolveError::NoScope)?;
        return Ok(Arc::new(system));
    };
    // SAFETY: set by `within` on this thread for the time of its call, during which it borrows the resolver; its end,
    // also by a panic, sets what was there before. Cloned, so that nothing outlives that.
    Ok(unsafe { current.as_ref() }.clone())
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

struct Restored(Option<NonNull<Arc<dyn Resolver>>>);

impl Drop for Restored {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl Resolver for Named {
        fn outside_address(&self, _: &Address) -> Address {
            format!("volary://{}/user/x", self.0).parse().expect("an address")
        }
        fn resolve(&self, _: &Address) -> Option<AnyRef> {
            // A resolver may open a scope of its own.
            let inner: Arc<dyn Resolver> = Arc::new(Named("inner"));
            Resolving::within(&inner, || assert_eq!(current_name(), "inner"));
            None
        }
    }

    fn current_name() -> String {
        let any = "volary://any/user/x".parse().expect("an address");
        match Resolving::outside_address(&any) {
            Ok(address) => address.system().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn miri_scopes_nest_and_end_with_a_panic_too() {
        let outside = ResolveError::NoScope.to_string();
        assert_eq!(current_name(), outside);
        let outer: Arc<dyn Resolver> = Arc::new(Named("outer"));
        Resolving::within(&outer, || {
            assert_eq!(current_name(), "outer");
            Resolving::scope(Arc::new(Named("nested")), || assert_eq!(current_name(), "nested"));
            let panicked = std::panic::catch_unwind(|| {
                Resolving::scope(Arc::new(Named("short")), || panic!("{}", current_name()));
            });
            assert!(panicked.is_err());
            assert_eq!(current_name(), "outer");
            let error = find("volary://any/user/x").unwrap_err();
            assert!(matches!(error, ResolveError::Nobody(_)));
            assert_eq!(current_name(), "outer");
        });
        assert_eq!(current_name(), outside);
    }
}
