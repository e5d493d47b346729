//! Things of the whole system, found by their type.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type Extension = dyn Any + Send + Sync;

/// By type, with the name of the type for messages.
#[derive(Default)]
pub(crate) struct Extensions(BTreeMap<TypeId, (&'static str, Arc<Extension>)>);

impl Extensions {
    /// The type's name, if there is one of it already.
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, extension: Arc<T>) -> Result<(), &'static str> {
        let name = std::any::type_name::<T>();
        match self.0.insert(TypeId::of::<T>(), (name, extension)) {
            None => Ok(()),
            Some(_) => Err(name),
        }
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (_, found) = self.0.get(&TypeId::of::<T>())?;
        found.clone().downcast().ok()
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.0.values().map(|(name, _)| *name).collect()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
