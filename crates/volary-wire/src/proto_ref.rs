//! A reference inside a protobuf message.

use volary_core::{Actor, ActorRef, Message, Recipient, ResolveError, Resolving, Target};

/// The reference to an actor as a protobuf message, `message Ref { string address = 1; }`.
///
/// Made while the message that holds it is, and resolved by whoever handles it, with the resolver of its system.
/// The address is a string that came from elsewhere; only the resolver says whom it leads to, if anybody.
///
/// ```
/// use volary_core::{ActorRef, Accepts, Message, Recipient, ResolveError};
/// use volary_wire::Ref;
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Subscribe {
///     #[prost(message, optional, tag = "1")]
///     listener: Option<Ref>,
/// }
///
/// fn listener<M: Message>(subscribe: &Subscribe) -> Result<Recipient<M>, ResolveError> {
///     subscribe.listener.clone().unwrap_or_default().recipient()
/// }
/// # assert!(matches!(Ref::default().address.as_str(), ""));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Ref {
    /// As text, with the node if it was written for another one.
    #[prost(string, tag = "1")]
    pub address: String,
}

impl Ref {
    /// The address of an actor, as the current [`Resolving`] scope has it seen from outside.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, ResolveError};
    /// # use volary_wire::Ref;
    /// fn written<A: Actor>(listener: &ActorRef<A>) -> Result<Ref, ResolveError> {
    ///     Ref::to(listener)
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of such a scope.
    pub fn to<T: Target>(actor: &ActorRef<T>) -> Result<Self, ResolveError> {
        Resolving::outside_address(&actor.address()).map(|address| Ref {
            address: address.to_string(),
        })
    }

    /// Whoever takes `M` at this address, as the current [`Resolving`] scope finds it.
    ///
    /// ```
    /// # use volary_core::{Message, Recipient, ResolveError};
    /// # use volary_wire::Ref;
    /// fn listener<M: Message>(read: &Ref) -> Result<Recipient<M>, ResolveError> {
    ///     read.recipient()
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of such a scope, and when it finds nobody.
    pub fn recipient<M: Message>(&self) -> Result<Recipient<M>, ResolveError> {
        Resolving::recipient(&self.address)
    }

    /// The actor at this address, as the current [`Resolving`] scope finds it.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, ResolveError};
    /// # use volary_wire::Ref;
    /// fn account<A: Actor>(read: &Ref) -> Result<ActorRef<A>, ResolveError> {
    ///     read.actor()
    /// }
    /// ```
    ///
    /// # Errors
    /// Outside of such a scope, and when it finds nobody of that type.
    pub fn actor<A: Actor>(&self) -> Result<ActorRef<A>, ResolveError> {
        Resolving::actor(&self.address)
    }
}
