//! Resources of one actor that can be written as bytes.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::actor::Fault;

/// A resource that an actor is given with its props, and that can be made anew from bytes elsewhere: a client from its
/// configuration, a model from its parameters.
///
/// ```
/// use volary_core::{Dependency, Fault, OrFault, Props};
///
/// struct Database { url: String }
///
/// impl Dependency for Database {
///     const KIND: &'static str = "shop.Database";
///
///     fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
///         Ok(self.url.clone().into_bytes())
///     }
///
///     fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
///         Ok(Database { url: String::from_utf8(bytes.to_vec()).or_fault()? })
///     }
/// }
///
/// let props = Props::new().dependency(Database { url: "db:5432".to_owned() });
/// # let _ = props;
/// ```
pub trait Dependency: Send + Sync + Sized + 'static {
    /// The name under which other machines know how to make it. Declared, and never the path of a Rust type.
    const KIND: &'static str;

    /// What is needed to make it anew.
    ///
    /// # Errors
    /// Whatever is in the way; the actor then cannot move.
    fn to_bytes(&self) -> Result<Vec<u8>, Fault>;

    /// Makes it anew.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes; the actor then does not start.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Fault>;
}

/// A dependency written as bytes.
///
/// ```
/// # use volary_core::DependencyBytes;
/// let bytes = DependencyBytes { kind: "shop.Database".to_owned(), bytes: b"db:5432".to_vec() };
/// assert_eq!(bytes.kind, "shop.Database");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DependencyBytes {
    /// The name of its kind.
    pub kind: String,
    /// What [`Dependency::to_bytes`] gave.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for DependencyBytes {
    /// Without the bytes, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.kind, self.bytes.len())
    }
}

/// Why dependencies could not be written, made anew, or registered.
///
/// ```
/// # use volary_core::{DependencyError, DependencyKinds, DependencyBytes};
/// let bytes = DependencyBytes { kind: "shop.Database".to_owned(), bytes: Vec::new() };
/// let error = DependencyKinds::default().read(&[bytes]).unwrap_err();
/// assert!(matches!(error, DependencyError::Unknown { .. }));
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DependencyError {
    /// It could not be written.
    #[error("the dependency {kind} could not be written: {fault}")]
    Write {
        /// Which one.
        kind: String,
        /// Why.
        #[source]
        fault: Fault,
    },
    /// It could not be made anew from these bytes.
    #[error("the dependency {kind} could not be made from its bytes: {fault}")]
    Read {
        /// Which one.
        kind: String,
        /// Why.
        #[source]
        fault: Fault,
    },
    /// Nobody has said how to make it: register it with [`DependencyKinds::add`].
    #[error("the dependency {kind} is not registered; those that are: {known}")]
    Unknown {
        /// Which one.
        kind: String,
        /// The others.
        known: String,
    },
    /// Two types have the same name: change one of them.
    #[error("two dependencies are named {kind}: {first} and {second}")]
    Duplicate {
        /// The name.
        kind: &'static str,
        /// The type that was registered.
        first: &'static str,
        /// The type that was not.
        second: &'static str,
    },
}

/// A dependency whose type is known to itself alone.
#[derive(Clone)]
struct Given {
    kind: &'static str,
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
    write: fn(&(dyn Any + Send + Sync)) -> Result<Vec<u8>, Fault>,
}

impl Given {
    fn new<D: Dependency>(dependency: Arc<D>) -> Self {
        Given {
            kind: D::KIND,
            type_name: std::any::type_name::<D>(),
            value: dependency,
            write: |value| match value.downcast_ref::<D>() {
                Some(dependency) => crate::dispatch::contain(|| dependency.to_bytes())?,
                None => unreachable!("made together with a value of this type"),
            },
        }
    }
}

/// What an actor was given.
#[derive(Clone, Default)]
pub(crate) struct Dependencies(BTreeMap<TypeId, Given>);

impl Dependencies {
    pub(crate) fn insert<D: Dependency>(&mut self, dependency: Arc<D>) {
        self.0.insert(TypeId::of::<D>(), Given::new(dependency));
    }

    pub(crate) fn get<D: Dependency>(&self) -> Option<Arc<D>> {
        self.0.get(&TypeId::of::<D>())?.value.clone().downcast().ok()
    }

    pub(crate) fn merge(&mut self, others: &Dependencies) {
        self.0.extend(others.0.iter().map(|(id, given)| (*id, given.clone())));
    }

    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        self.0.values().map(|given| given.kind).collect()
    }

    pub(crate) fn write(&self) -> Result<Vec<DependencyBytes>, DependencyError> {
        let write = |given: &Given| match (given.write)(&*given.value) {
            Ok(bytes) => Ok(DependencyBytes {
                kind: given.kind.to_owned(),
                bytes,
            }),
            Err(fault) => Err(DependencyError::Write {
                kind: given.kind.to_owned(),
                fault,
            }),
        };
        // The other side knows names alone, and would keep one of two.
        let mut named = BTreeMap::new();
        for given in self.0.values() {
            if let Some(first) = named.insert(given.kind, given.type_name) {
                let (kind, second) = (given.kind, given.type_name);
                return Err(DependencyError::Duplicate { kind, first, second });
            }
        }
        self.0.values().map(write).collect()
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds()).finish()
    }
}

type ReadFn = fn(&[u8], &mut Dependencies) -> Result<(), Fault>;

/// The kinds of dependencies that can be made from bytes here.
///
/// ```
/// use volary_core::{DependencyKinds, Props};
/// # use volary_core::{Dependency, Fault};
/// # struct Seed(u8);
/// # impl Dependency for Seed {
/// #     const KIND: &'static str = "garden.Seed";
/// #     fn to_bytes(&self) -> Result<Vec<u8>, Fault> { Ok(vec![self.0]) }
/// #     fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> { Ok(Seed(bytes[0])) }
/// # }
///
/// let mut kinds = DependencyKinds::default();
/// kinds.add::<Seed>().unwrap();
///
/// let there = Props::new().dependency(Seed(7)).dependency_bytes().unwrap(); // on one machine
/// let here = Props::new().dependencies(kinds.read(&there).unwrap()); // on another
/// # let _ = here;
/// ```
#[derive(Default, Clone)]
pub struct DependencyKinds(BTreeMap<&'static str, (&'static str, ReadFn)>);

impl DependencyKinds {
    /// Says how a kind is made.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/database.rs"));
    /// # fn main() -> Result<(), DependencyError> {
    /// let mut kinds = DependencyKinds::default();
    /// kinds.add::<Database>()?;
    /// let bytes = Props::new().dependency(Database("db:5432")).dependency_bytes()?;
    /// assert!(kinds.read(&bytes).is_ok());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If another type has the same name.
    pub fn add<D: Dependency>(&mut self) -> Result<(), DependencyError> {
        let second = std::any::type_name::<D>();
        let read: ReadFn = |bytes, dependencies| {
            let made = crate::dispatch::contain(|| D::from_bytes(bytes))??;
            dependencies.insert(Arc::new(made));
            Ok(())
        };
        match self.0.get(D::KIND) {
            Some((first, _)) if *first != second => Err(DependencyError::Duplicate {
                kind: D::KIND,
                first,
                second,
            }),
            _ => {
                self.0.insert(D::KIND, (second, read));
                Ok(())
            }
        }
    }

    /// Makes dependencies from bytes, to be given to [`Props::dependencies`](crate::Props::dependencies).
    ///
    /// ```
    /// # use volary_core::DependencyKinds;
    /// assert!(DependencyKinds::default().read(&[]).is_ok());
    /// ```
    ///
    /// # Errors
    /// If one is not registered, or its bytes make no sense.
    pub fn read(&self, bytes: &[DependencyBytes]) -> Result<ReadDependencies, DependencyError> {
        let mut made = Dependencies::default();
        for one in bytes {
            let Some((_, read)) = self.0.get(one.kind.as_str()) else {
                let known: Vec<&str> = self.0.keys().copied().collect();
                return Err(DependencyError::Unknown {
                    kind: one.kind.clone(),
                    known: if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    },
                });
            };
            read(&one.bytes, &mut made).map_err(|fault| DependencyError::Read {
                kind: one.kind.clone(),
                fault,
            })?;
        }
        Ok(ReadDependencies(made))
    }
}

impl fmt::Debug for DependencyKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// Dependencies that were made from bytes; see [`DependencyKinds::read`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/database.rs"));
/// # fn main() -> Result<(), DependencyError> {
/// let mut kinds = DependencyKinds::default();
/// kinds.add::<Database>()?;
/// let bytes = Props::new().dependency(Database("db:5432")).dependency_bytes()?;
/// let made: ReadDependencies = kinds.read(&bytes)?;
/// assert!(Props::new().dependencies(made).find_dependency::<Database>().is_some());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct ReadDependencies(pub(crate) Dependencies);
