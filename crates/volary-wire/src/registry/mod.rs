//! Which Rust types the names on the wire stand for. Built once, by hand, before the node listens; nothing registers
//! itself, so that nothing is lost by a linker and everything that can arrive was listed by somebody.

mod entry;
mod error;
mod near;
mod route;

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use bytes::Bytes;
use volary_core::{AnyRef, Message, Respond};

pub use self::entry::{MessageEntry, Reply};
pub use self::error::{DeliverError, RegisterError, SendEncodeError};
pub use self::route::{Answered, PendingReply, Route};
use crate::codec::CodecId;
use crate::wire::{RemoteActor, Wire};

/// Kinds of actors and messages, by name and by type.
///
/// Sending looks a message up by its type, receiving by its name and the kind of its receiver.
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::Message;
/// use volary_wire::{Proto, Registry, Wire};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Balance {}
/// impl Message for Balance { type Reply = i64; type Rejection = Infallible; }
/// impl Wire for Balance {
///     const NAME: &'static str = "bank.v1.Balance";
///     type Codec = Proto;
///     type ReplyCodec = Proto;
/// }
///
/// let mut registry = Registry::new();
/// registry.message::<Balance>()?; // sent from here; what is received is listed by kinds
/// assert_eq!(registry.entry::<Balance>()?.name(), "bank.v1.Balance");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Registry {
    messages: BTreeMap<TypeId, MessageEntry>,
    message_names: BTreeMap<Cow<'static, str>, TypeId>,
    kinds: BTreeMap<TypeId, Kind>,
    kind_names: BTreeMap<Cow<'static, str>, TypeId>,
}

struct Kind {
    registered: Registered,
    routes: BTreeMap<Cow<'static, str>, Route>,
}

/// A kind of actor in a [`Registry`].
///
/// ```
/// # use volary_wire::Registry;
/// assert_eq!(Registry::new().kinds().count(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registered {
    /// What other nodes call it.
    pub name: Cow<'static, str>,
    /// The type of the actor.
    pub actor_type: TypeId,
    /// The name of that type, for humans.
    pub type_name: &'static str,
}

impl Registry {
    /// With nothing in it.
    ///
    /// ```
    /// # use volary_wire::Registry;
    /// let registry = Registry::new();
    /// # assert_eq!(registry.kinds().count(), 0);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Registry::default()
    }

    /// Registers a message that this node sends.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.message::<Deposit>()?;
    /// assert_eq!(registry.entry::<Deposit>()?.name(), "bank.v1.Deposit");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the name is taken or unfit. The same type twice is no error.
    pub fn message<M: Wire>(&mut self) -> Result<&mut Self, RegisterError> {
        self.add_message::<M>(None)?;
        Ok(self)
    }

    /// Registers a message under another name than it says, as for one of several instances of a generic type. To be
    /// called before the kinds that list it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.message_as::<Deposit>("bank.v2.Deposit")?;
    /// assert_eq!(registry.entry::<Deposit>()?.name(), "bank.v2.Deposit");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the name is taken or unfit.
    pub fn message_as<M: Wire>(&mut self, name: impl Into<String>) -> Result<&mut Self, RegisterError> {
        self.add_message::<M>(Some(name.into()))?;
        Ok(self)
    }

    /// Registers a kind of actor and all messages that it lists.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.kind::<Account>()?;
    /// assert!(registry.find_kind("bank.v1.Account").is_some());
    /// assert!(registry.entry::<Deposit>().is_ok(), "which it lists");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When a name is taken or unfit. What was registered by then stays.
    pub fn kind<A: RemoteActor>(&mut self) -> Result<&mut Self, RegisterError> {
        self.add_kind::<A>(A::KIND.into())
    }

    /// Registers a kind under another name than it says, as for one of several instances of a generic actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.kind_as::<Account>("bank.v1.Vault")?;
    /// assert!(registry.find_kind("bank.v1.Vault").is_some());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`kind`](Self::kind).
    pub fn kind_as<A: RemoteActor>(&mut self, name: impl Into<String>) -> Result<&mut Self, RegisterError> {
        self.add_kind::<A>(Cow::Owned(name.into()))
    }

    /// What is known of a message of this type: name, and how to write it and to read its answer. Nothing but the type
    /// itself is needed, so a reference that knows no more than `M` can send.
    ///
    /// ```
    /// # use std::convert::Infallible;
    /// # use volary_core::Message;
    /// # struct Balance; impl Message for Balance { type Reply = i64; type Rejection = Infallible; }
    /// use volary_wire::{Registry, SendEncodeError};
    /// let unknown = Registry::new().entry::<Balance>().map(|entry| entry.codec());
    /// assert!(matches!(unknown, Err(SendEncodeError::Unregistered { .. })));
    /// ```
    ///
    /// # Errors
    /// When it is not registered.
    pub fn entry<M: Message>(&self) -> Result<&MessageEntry, SendEncodeError> {
        self.messages
            .get(&TypeId::of::<M>())
            .ok_or_else(|| SendEncodeError::Unregistered {
                type_name: type_name::<M>(),
            })
    }

    /// The same for a message whose type is known by its id alone.
    ///
    /// ```
    /// # use std::any::TypeId;
    /// # use volary_wire::Registry;
    /// assert!(Registry::new().entry_of(TypeId::of::<u8>()).is_none());
    /// ```
    #[must_use]
    pub fn entry_of(&self, message: TypeId) -> Option<&MessageEntry> {
        self.messages.get(&message)
    }

    /// The Rust type that a name on the wire stands for, as it is shown in logs.
    ///
    /// ```
    /// # use volary_wire::Registry;
    /// assert_eq!(Registry::new().type_name_of("bank.Deposit"), None);
    /// ```
    #[must_use]
    pub fn type_name_of(&self, name: &str) -> Option<&'static str> {
        Some(self.messages.get(self.message_names.get(name)?)?.type_name())
    }

    /// The way of the message `name` to actors of this type.
    ///
    /// ```
    /// # use std::any::TypeId;
    /// use volary_wire::{DeliverError, Registry};
    /// let unknown = Registry::new().route(TypeId::of::<u8>(), "bank.v1.Deposit");
    /// assert!(matches!(unknown, Err(DeliverError::UnknownKind)));
    /// ```
    ///
    /// # Errors
    /// When nobody listed it: each case is told apart, so that whoever sent it can be told what to do.
    pub fn route(&self, actor_type: TypeId, name: &str) -> Result<Route, DeliverError> {
        let mut route = self.route_for_stranger(actor_type, name);
        if let Err(DeliverError::UnknownMessage { near, .. }) = &mut route {
            *near = self.near(name);
        }
        route
    }

    /// The same where a stranger chose the name: one that is not known is not compared with those that are, which takes
    /// longer than to deliver thousands of messages. [`near`](Self::near) does that, for whoever is to be told.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// # use std::any::TypeId;
    /// let mut registry = Registry::new();
    /// registry.kind::<Account>()?;
    /// let unknown = registry.route_for_stranger(TypeId::of::<Account>(), "bank.v1.Deposti").unwrap_err();
    /// assert_eq!(unknown.to_string(), "no message `bank.v1.Deposti` is registered here");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`route`](Self::route).
    pub fn route_for_stranger(&self, actor_type: TypeId, name: &str) -> Result<Route, DeliverError> {
        let kind = self.kinds.get(&actor_type).ok_or(DeliverError::UnknownKind)?;
        if let Some(route) = kind.routes.get(name) {
            return Ok(*route);
        }
        if self.message_names.contains_key(name) {
            return Err(DeliverError::NotListed {
                name: near::shown(name),
                kind: kind.registered.name.to_string(),
            });
        }
        Err(DeliverError::UnknownMessage {
            name: near::shown(name),
            near: String::new(),
        })
    }

    /// Which registered message was probably meant by a name that none has: the end of the sentence
    /// "no message is registered here".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.kind::<Account>()?;
    /// assert_eq!(registry.near("bank.v1.Deposti"), "; did it mean `bank.v1.Deposit`?");
    /// assert_eq!(registry.near("x"), "");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn near(&self, name: &str) -> String {
        near::hint(name, self.message_names.keys().map(|name| &**name))
    }

    /// Tells somebody, here or elsewhere, what is there as bytes: the message of this name. An actor here is told what its
    /// kind lists. If the message may hold references, call it in a [`Resolving::scope`](volary_core::Resolving::scope).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let registry = registry()?;
    /// let to = AnyRef::from(&alice);
    /// registry.tell(&to, "bank.v1.Deposit", CodecId::PROTO, deposit(5))?;
    /// assert_eq!(alice.ask(Deposit { cents: 0 }).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the name or the codec is not that of a message here, the bytes are none, or nobody takes it.
    pub fn tell(&self, to: &AnyRef, name: &str, codec: CodecId, payload: Bytes) -> Result<(), DeliverError> {
        if !to.is_elsewhere() {
            return self.route(to.actor_type(), name)?.tell(to, codec, payload);
        }
        self.entry_to_send(name, codec)?.tell(to, payload)
    }

    /// The same with an ask. The message is on its way when this returns; the answer is read from what it returns, and written
    /// as bytes. `timeout` is how long it is waited for; without one, as long as the system says.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let registry = registry()?;
    /// let to = AnyRef::from(&alice);
    /// let mut pending = registry.ask(&to, "bank.v1.Deposit", CodecId::PROTO, deposit(5), None)?;
    /// std::future::poll_fn(|context| pending.poll_reply(context)).await;
    /// let mut out = BytesMut::new();
    /// pending.write(&mut out);
    /// assert_eq!(out, answer(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`tell`](Self::tell). A full mailbox or a stopped actor is the reply's to tell.
    pub fn ask(
        &self,
        to: &AnyRef,
        name: &str,
        codec: CodecId,
        payload: Bytes,
        timeout: Option<Duration>,
    ) -> Result<Box<dyn PendingReply>, DeliverError> {
        if !to.is_elsewhere() {
            return self.route(to.actor_type(), name)?.ask(to, codec, payload, timeout);
        }
        self.entry_to_send(name, codec)?.ask(to, payload, timeout)
    }

    /// A message that is to be sent as it is.
    fn entry_to_send(&self, name: &str, codec: CodecId) -> Result<&MessageEntry, DeliverError> {
        let entry = self.message_names.get(name).and_then(|id| self.messages.get(id));
        let entry = entry.ok_or_else(|| self.unknown_message(name))?;
        if entry.codec() != codec {
            return Err(DeliverError::Codec {
                name: entry.own_name(),
                expected: entry.codec(),
                found: codec,
            });
        }
        Ok(entry)
    }

    fn unknown_message(&self, name: &str) -> DeliverError {
        DeliverError::UnknownMessage {
            name: near::shown(name),
            near: self.near(name),
        }
    }

    /// The kind that other nodes call so.
    ///
    /// ```
    /// # use volary_wire::Registry;
    /// assert!(Registry::new().find_kind("bank.v1.Account").is_none());
    /// ```
    #[must_use]
    pub fn find_kind(&self, name: &str) -> Option<&Registered> {
        Some(&self.kinds.get(self.kind_names.get(name)?)?.registered)
    }

    /// The kind of an actor type.
    ///
    /// ```
    /// # use volary_wire::Registry;
    /// assert!(Registry::new().kind_of(std::any::TypeId::of::<u8>()).is_none());
    /// ```
    #[must_use]
    pub fn kind_of(&self, actor_type: TypeId) -> Option<&Registered> {
        Some(&self.kinds.get(&actor_type)?.registered)
    }

    /// All kinds, by name.
    ///
    /// ```
    /// # use volary_wire::Registry;
    /// for kind in Registry::new().kinds() {
    ///     println!("{}", kind.name);
    /// }
    /// ```
    pub fn kinds(&self) -> impl Iterator<Item = &Registered> {
        self.kind_names
            .values()
            .filter_map(|actor_type| Some(&self.kinds.get(actor_type)?.registered))
    }

    fn add_message<M: Wire>(&mut self, other_name: Option<String>) -> Result<Cow<'static, str>, RegisterError> {
        let (id, type_name) = (TypeId::of::<M>(), type_name::<M>());
        if let Some(entry) = self.messages.get(&id) {
            return match other_name {
                Some(second) if entry.name() != second => Err(RegisterError::TwoNames {
                    type_name,
                    first: entry.name().to_owned(),
                    second,
                }),
                _ => Ok(entry.shared_name()),
            };
        }
        let name: Cow<'static, str> = other_name.map_or(M::NAME.into(), Cow::Owned);
        check_name(&name, type_name)?;
        if let Some(first) = self.message_names.get(&name).and_then(|first| self.messages.get(first)) {
            return Err(RegisterError::DuplicateMessage {
                name: name.into_owned(),
                first: first.type_name(),
                second: type_name,
            });
        }
        self.message_names.insert(name.clone(), id);
        self.messages.insert(id, MessageEntry::of::<M>(name.clone()));
        Ok(name)
    }

    fn add_kind<A: RemoteActor>(&mut self, name: Cow<'static, str>) -> Result<&mut Self, RegisterError> {
        let (actor_type, type_name) = (TypeId::of::<A>(), type_name::<A>());
        if let Some(kind) = self.kinds.get(&actor_type) {
            if kind.registered.name == name {
                return Ok(self);
            }
            return Err(RegisterError::TwoNames {
                type_name,
                first: kind.registered.name.to_string(),
                second: name.into_owned(),
            });
        }
        check_name(&name, type_name)?;
        if let Some(first) = self.find_kind(&name) {
            return Err(RegisterError::DuplicateKind {
                name: name.into_owned(),
                first: first.type_name,
                second: type_name,
            });
        }
        let mut table = KindTable {
            registry: self,
            routes: BTreeMap::new(),
            failed: None,
            actor: PhantomData,
        };
        A::remote_messages(&mut table);
        let KindTable { routes, failed, .. } = table;
        if let Some(error) = failed {
            return Err(error);
        }
        self.kind_names.insert(name.clone(), actor_type);
        let registered = Registered {
            name,
            actor_type,
            type_name,
        };
        self.kinds.insert(actor_type, Kind { registered, routes });
        Ok(self)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("kinds", &self.kind_names.keys())
            .field("messages", &self.message_names.keys())
            .finish()
    }
}

/// What other nodes may send to actors of type `A`: filled in by [`RemoteActor::remote_messages`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # struct Vault;
/// # impl Actor for Vault {}
/// # impl SyncHandler<Deposit> for Vault {
/// #     fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> { Ok(deposit.cents) }
/// # }
/// impl RemoteActor for Vault {
///     const KIND: &'static str = "bank.v1.Vault";
///     fn remote_messages(table: &mut KindTable<Self>) {
///         table.add::<Deposit>();
///     }
/// }
/// # fn main() -> Done {
/// let mut registry = Registry::new();
/// registry.kind::<Vault>()?;
/// assert!(registry.route(std::any::TypeId::of::<Vault>(), "bank.v1.Deposit").is_ok());
/// # Ok(()) }
/// ```
pub struct KindTable<'a, A> {
    registry: &'a mut Registry,
    routes: BTreeMap<Cow<'static, str>, Route>,
    failed: Option<RegisterError>,
    actor: PhantomData<fn(A)>,
}

impl<A: RemoteActor> KindTable<'_, A> {
    /// Opens one message to other nodes. A name that is taken is reported by [`Registry::kind`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Vault;
    /// # impl Actor for Vault {}
    /// # impl SyncHandler<Deposit> for Vault {
    /// #     fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> { Ok(deposit.cents) }
    /// # }
    /// impl RemoteActor for Vault {
    ///     const KIND: &'static str = "bank.v1.Vault";
    ///     fn remote_messages(table: &mut KindTable<Self>) {
    ///         table.add::<Deposit>();
    ///     }
    /// }
    /// # fn main() -> Done {
    /// let mut registry = Registry::new();
    /// registry.kind::<Vault>()?;
    /// assert!(registry.route(std::any::TypeId::of::<Vault>(), "bank.v1.Deposit").is_ok());
    /// # Ok(()) }
    /// ```
    pub fn add<M: Wire>(&mut self) -> &mut Self
    where
        A: Respond<M>,
    {
        match self.registry.add_message::<M>(None) {
            Ok(name) => {
                self.routes.insert(name, Route::of::<A, M>());
            }
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
        self
    }
}

fn check_name(name: &str, type_name: &'static str) -> Result<(), RegisterError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte);
    if (1..=255).contains(&name.len()) && name.bytes().all(fits) {
        return Ok(());
    }
    Err(RegisterError::BadName {
        name: name.to_owned(),
        type_name,
    })
}
