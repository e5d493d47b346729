//! The address of an actor: what can be written into a message, a file or a log and found again.
//!
//! ```text
//! local    volary://bank/user/alice           volary://bank/user/alice#2f
//! node     volary://bank@10.0.0.7:4242/user/alice#2f
//! cluster  volary://bank/cluster/treasurer
//! grain    volary://bank/grain/bank.v1.Account/DE%2F4711
//! ```
//! The first two name a place in the tree of one system, and with a `#uid` the very incarnation that lives there. The
//! last two are logical: they name a role, and the cluster knows where it is played. Reading is in `address/parse.rs`.

use std::{fmt, sync::Arc};

use super::{
    HostError, Node, NodeError, Path, Uid,
    grain::{encode_id, validate_id, validate_kind},
    name::validate_system_name,
};

pub use error::AddressError;

mod error;
mod parse;

const SCHEME: &str = "volary://";

/// Where an actor lives, in one of four forms. Cloning copies pointers.
///
/// ```
/// use volary_core::tree::{Address, Uid};
///
/// let alice: Address = "volary://bank@10.0.0.7:4242/user/alice#2f".parse()?;
/// assert_eq!(alice.system(), "bank");
/// assert_eq!(alice.uid(), Some(Uid::new(0x2f)));
/// assert_eq!(alice.name(), "alice");
/// assert!(!alice.is_local());
/// assert_eq!(alice.to_string(), "volary://bank@10.0.0.7:4242/user/alice#2f");
///
/// let account = Address::grain("bank", "bank.v1.Account", "DE/4711")?;
/// assert_eq!(account.to_string(), "volary://bank/grain/bank.v1.Account/DE%2F4711");
/// # Ok::<(), volary_core::tree::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    system: Arc<str>,
    place: Place,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Actor {
        node: Option<Node>,
        path: Path,
        uid: Option<Uid>,
    },
    Cluster {
        name: Arc<str>,
    },
    Grain {
        kind: Arc<str>,
        id: Arc<str>,
    },
}

impl Address {
    /// The longest text that is looked at, in bytes. Every address that can be made is shorter.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert!("v".repeat(Address::MAX_BYTES + 1).parse::<Address>().is_err());
    /// ```
    pub const MAX_BYTES: usize = 8 * 1024;

    /// The address of an actor in this process.
    ///
    /// ```
    /// # use volary_core::tree::{Address, Path};
    /// assert_eq!(Address::local("bank", Path::user())?.to_string(), "volary://bank/user");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the name of the system breaks the grammar.
    pub fn local(system: &str, path: Path) -> Result<Self, AddressError> {
        Self::at(
            system,
            Place::Actor {
                node: None,
                path,
                uid: None,
            },
        )
    }

    /// The address of a cluster-wide actor or singleton, wherever it runs.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!(Address::cluster("bank", "treasurer")?.to_string(), "volary://bank/cluster/treasurer");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When one of the names breaks the grammar.
    pub fn cluster(system: &str, name: &str) -> Result<Self, AddressError> {
        let position = SCHEME.len() + system.len() + "/cluster/".len();
        validate_system_name(name).map_err(|source| AddressError::Name {
            position: position + source.position(),
            source,
        })?;
        Self::at(system, Place::Cluster { name: name.into() })
    }

    /// The address of a grain, whether it is active or not.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let room = Address::grain("chat", "Room", "Zürich")?;
    /// assert_eq!(room.to_string(), "volary://chat/grain/Room/Z%C3%BCrich");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the name of the system or the kind breaks its grammar, or the id is empty or too long.
    pub fn grain(system: &str, kind: &str, id: &str) -> Result<Self, AddressError> {
        let position = SCHEME.len() + system.len() + "/grain/".len();
        validate_kind(kind).map_err(|source| AddressError::Kind {
            position: position + source.position(),
            source,
        })?;
        validate_id(id).map_err(|source| AddressError::GrainId {
            position: position + kind.len() + 1,
            source,
        })?;
        Self::at(
            system,
            Place::Grain {
                kind: kind.into(),
                id: id.into(),
            },
        )
    }

    fn at(system: &str, place: Place) -> Result<Self, AddressError> {
        validate_system_name(system).map_err(|source| AddressError::Name {
            position: SCHEME.len() + source.position(),
            source,
        })?;
        Ok(Self {
            system: system.into(),
            place,
        })
    }

    /// The name of the actor system.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("volary://bank/user".parse::<Address>()?.system(), "bank");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The node, when the address names one.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let alice: Address = "volary://bank@db-1:4242/user/alice".parse()?;
    /// assert_eq!(alice.node().map(|node| node.port()), Some(4242));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn node(&self) -> Option<&Node> {
        match &self.place {
            Place::Actor { node, .. } => node.as_ref(),
            Place::Cluster { .. } | Place::Grain { .. } => None,
        }
    }

    /// The place in the tree; none for logical addresses.
    ///
    /// ```
    /// # use volary_core::tree::{Address, Path};
    /// assert_eq!("volary://bank/user".parse::<Address>()?.path(), Some(&Path::user()));
    /// assert_eq!("volary://bank/cluster/a".parse::<Address>()?.path(), None);
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Actor { path, .. } => Some(path),
            Place::Cluster { .. } | Place::Grain { .. } => None,
        }
    }

    /// The incarnation, when the address names one.
    ///
    /// ```
    /// # use volary_core::tree::{Address, Uid};
    /// assert_eq!("volary://bank/user/a#1f".parse::<Address>()?.uid(), Some(Uid::new(31)));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn uid(&self) -> Option<Uid> {
        match &self.place {
            Place::Actor { uid, .. } => *uid,
            Place::Cluster { .. } | Place::Grain { .. } => None,
        }
    }

    /// The name of a cluster actor, when this is the address of one.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("volary://bank/cluster/a".parse::<Address>()?.cluster_name(), Some("a"));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn cluster_name(&self) -> Option<&str> {
        match &self.place {
            Place::Cluster { name } => Some(name),
            Place::Actor { .. } | Place::Grain { .. } => None,
        }
    }

    /// The kind of a grain, when this is the address of one.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("volary://bank/grain/Room/7".parse::<Address>()?.grain_kind(), Some("Room"));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn grain_kind(&self) -> Option<&str> {
        match &self.place {
            Place::Grain { kind, .. } => Some(kind),
            Place::Actor { .. } | Place::Cluster { .. } => None,
        }
    }

    /// The id of a grain, decoded, when this is the address of one.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("volary://bank/grain/Room/a%2Fb".parse::<Address>()?.grain_id(), Some("a/b"));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn grain_id(&self) -> Option<&str> {
        match &self.place {
            Place::Grain { id, .. } => Some(id),
            Place::Actor { .. } | Place::Cluster { .. } => None,
        }
    }

    /// What the actor is called: the last segment of its path, the cluster name, or the grain id.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("volary://bank/user/alice#1".parse::<Address>()?.name(), "alice");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.place {
            Place::Actor { path, .. } => path.name(),
            Place::Cluster { name } => name,
            Place::Grain { id, .. } => id,
        }
    }

    /// Whether this names a place in the tree and no node.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert!("volary://bank/user/a#1".parse::<Address>()?.is_local());
    /// assert!(!"volary://bank/cluster/a".parse::<Address>()?.is_local());
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self.place, Place::Actor { node: None, .. })
    }

    /// Whether the cluster decides where this is: a cluster actor or a grain.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert!("volary://bank/grain/Room/7".parse::<Address>()?.is_logical());
    /// assert!(!"volary://bank/user/a".parse::<Address>()?.is_logical());
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn is_logical(&self) -> bool {
        matches!(self.place, Place::Cluster { .. } | Place::Grain { .. })
    }

    /// The address one step up the tree, on the same node and without uid; none for the root and logical addresses.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let alice: Address = "volary://bank@db-1:1/user/alice#2f".parse()?;
    /// assert_eq!(alice.parent(), Some("volary://bank@db-1:1/user".parse()?));
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        match &self.place {
            Place::Actor { node, path, .. } => Some(self.moved(node.clone(), path.parent()?)),
            Place::Cluster { .. } | Place::Grain { .. } => None,
        }
    }

    /// The address of a child, on the same node and without uid.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let bank: Address = "volary://bank/user#1".parse()?;
    /// assert_eq!(bank.child("alice")?.to_string(), "volary://bank/user/alice");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the name breaks the grammar, the path gets too long, or this address is logical: who plays a logical role
    /// has children where it runs, below its own path.
    pub fn child(&self, name: &str) -> Result<Self, AddressError> {
        let Place::Actor { node, path, .. } = &self.place else {
            return Err(AddressError::Logical);
        };
        let path = path.child(name).map_err(|source| AddressError::Path {
            position: self.path_position() + source.position(),
            source,
        })?;
        Ok(self.moved(node.clone(), path))
    }

    /// The same actor as seen from other machines.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let alice: Address = "volary://bank/user/alice#2f".parse()?;
    /// assert_eq!(alice.with_node("::1", 4242).unwrap_err().position(), Some(14));
    /// assert_eq!(alice.with_node("[::1]", 4242)?.to_string(), "volary://bank@[::1]:4242/user/alice#2f");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the host or the port is invalid, or this address is logical and so belongs to no node.
    pub fn with_node(&self, host: &str, port: u16) -> Result<Self, AddressError> {
        let Place::Actor { path, uid, .. } = &self.place else {
            return Err(AddressError::Logical);
        };
        let position = SCHEME.len() + self.system.len() + 1;
        let port_position = host.len() + 1;
        let host = host.parse().map_err(|source: HostError| {
            let inner = source.position();
            AddressError::node(
                position,
                NodeError::Host {
                    position: inner,
                    source,
                },
            )
        })?;
        let node = Node::new(host, port).map_err(|_| {
            let source = NodeError::Port {
                position: port_position,
            };
            AddressError::node(position, source)
        })?;
        Ok(Self {
            system: Arc::clone(&self.system),
            place: Place::Actor {
                node: Some(node),
                path: path.clone(),
                uid: *uid,
            },
        })
    }

    /// The same actor as seen from its own system. Logical addresses stay as they are.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let alice: Address = "volary://bank@db-1:1/user/alice#2f".parse()?;
    /// assert_eq!(alice.without_node().to_string(), "volary://bank/user/alice#2f");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn without_node(&self) -> Self {
        let mut address = self.clone();
        if let Place::Actor { node, .. } = &mut address.place {
            *node = None;
        }
        address
    }

    /// This very incarnation. Logical addresses stay as they are: they outlive every incarnation.
    ///
    /// ```
    /// # use volary_core::tree::{Address, Uid};
    /// let alice: Address = "volary://bank/user/alice".parse()?;
    /// assert_eq!(alice.with_uid(Uid::new(47)).to_string(), "volary://bank/user/alice#2f");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn with_uid(&self, uid: Uid) -> Self {
        self.replace_uid(Some(uid))
    }

    /// Whoever lives at this place.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// let alice: Address = "volary://bank/user/alice#2f".parse()?;
    /// assert_eq!(alice.without_uid().to_string(), "volary://bank/user/alice");
    /// # Ok::<(), volary_core::tree::AddressError>(())
    /// ```
    #[must_use]
    pub fn without_uid(&self) -> Self {
        self.replace_uid(None)
    }

    fn replace_uid(&self, new: Option<Uid>) -> Self {
        let mut address = self.clone();
        if let Place::Actor { uid, .. } = &mut address.place {
            *uid = new;
        }
        address
    }

    /// Another actor of this system; its incarnation is not known here.
    fn moved(&self, node: Option<Node>, path: Path) -> Self {
        Self {
            system: Arc::clone(&self.system),
            place: Place::Actor { node, path, uid: None },
        }
    }

    fn path_position(&self) -> usize {
        let node = self.node().map_or(0, |node| node.to_string().len() + 1);
        SCHEME.len() + self.system.len() + node
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.system)?;
        match &self.place {
            Place::Actor { node, path, uid } => {
                if let Some(node) = node {
                    write!(f, "@{node}")?;
                }
                write!(f, "{path}")?;
                uid.map_or(Ok(()), |uid| write!(f, "#{uid}"))
            }
            Place::Cluster { name } => write!(f, "/cluster/{name}"),
            Place::Grain { kind, id } => {
                write!(f, "/grain/{kind}/")?;
                encode_id(id, f)
            }
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
