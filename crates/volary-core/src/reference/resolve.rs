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
/// use volary_core::{AnyRef, Message, ResolveError, Resolver, Resolving};
///
/// struct Nobody;
/// impl Resolver for Nobody {
///     fn outside_address(&self, inside: &Address) -> Address { inside.clone() }
///     fn resolve(&self, _address: &Address) -> Option<AnyRef> { None }
/// }
/// # struct Tick; impl Message for Tick { type Reply = (); type Rejection = std::convert::Infallible; }
///
/// let read = || Resolving::recipient::<Tick>("volary://bank/user/alice");
/// let error = Resolving::scope(std::sync::Arc::new(Nobody), read).unwrap_err();
/// assert!(matches!(error, ResolveError::Nobody(_)));
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let address = alice.address().to_string();
/// let found = Resolving::scope(Arc::new(system.clone()), || Resolving::actor(&address));
/// assert_eq!(found, Ok(alice));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug)]
pub struct Resolving(());

impl Resolving {
    /// Makes a resolver the current one while `call` runs. Scopes nest.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let read = || Resolving::recipient::<Deposit>("volary://bank/user/alice");
    /// let till = Resolving::scope(Arc::new(system.clone()), read)?;
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn scope<T>(resolver: Arc<dyn Resolver>, call: impl FnOnce() -> T) -> T {
        Resolving::within(&resolver, call)
    }

    /// The same for a resolver that the caller keeps.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let resolver: Arc<dyn Resolver> = Arc::new(system.clone());
    /// for address in ["volary://bank/user/alice", "volary://bank/user/bob"] {
    ///     let found = Resolving::within(&resolver, || Resolving::recipient::<Deposit>(address));
    ///     assert_eq!(found.is_ok(), address.ends_with("alice"));
    /// }
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn within<T>(resolver: &Arc<dyn Resolver>, call: impl FnOnce() -> T) -> T {
        let _restored = Restored(CURRENT.replace(Some(NonNull::from(resolver))));
        call()
    }

    /// See [`Resolver::outside_address`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let inside = alice.address();
    /// let outside = Resolving::scope(Arc::new(system.clone()), || Resolving::outside_address(&inside))?;
    /// assert_eq!(outside, inside, "a system without remoting is seen from inside only");
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(Resolving::address_of(&alice), alice.address());
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let till = Resolving::recipient::<Deposit>("volary://bank/user/alice")?;
    /// till.tell(Deposit(5))?;
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let alice: ActorRef<Account> = Resolving::actor("volary://bank/user/alice")?;
    /// assert_eq!(alice, ctx.me());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
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
