//! The kinds of actors that other nodes may start here: an allow-list, with a factory for each.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use volary_core::{AnyRef, DependencyKinds, Fault, Props, SpawnError};
use volary_wire::{RegisterError, Registry, RemoteActor};

use super::argument::Argument;

type Starting = Pin<Box<dyn Future<Output = Result<AnyRef, SpawnError>> + Send>>;
type StartFn = Box<dyn Fn(&AnyRef, Option<String>, Props, Bytes) -> Starting + Send + Sync>;

struct Spawnable {
    actor_type: TypeId,
    register: fn(&mut Registry) -> Result<(), RegisterError>,
    start: StartFn,
}

#[derive(Default)]
pub(crate) struct Spawnables {
    kinds: BTreeMap<String, Spawnable>,
    pub(crate) dependencies: DependencyKinds,
}

impl Spawnables {
    /// False: there is one of this name.
    pub(crate) fn add<A: RemoteActor>(
        &mut self,
        kind: &str,
        factory: impl Fn(&Argument) -> Result<A, Fault> + Send + Sync + 'static,
    ) -> bool {
        let factory = Arc::new(factory);
        let start: StartFn = Box::new(move |parent, name, props, bytes| {
            let argument = Argument::new(bytes, props.clone());
            let factory = factory.clone();
            let mut spawn = parent.spawn(move || factory(&argument)).props(props);
            if let Some(name) = name {
                spawn = spawn.named(name);
            }
            let starting = spawn.into_future();
            Box::pin(async move { Ok(AnyRef::from(&starting.await?)) })
        });
        let spawnable = Spawnable {
            actor_type: TypeId::of::<A>(),
            register: |registry| registry.kind::<A>().map(drop),
            start,
        };
        self.kinds.insert(kind.to_owned(), spawnable).is_none()
    }

    /// Lets other nodes send to what they have started.
    pub(crate) fn register(&self, registry: &mut Registry) -> Result<(), RegisterError> {
        for spawnable in self.kinds.values() {
            if registry.kind_of(spawnable.actor_type).is_none() {
                (spawnable.register)(registry)?;
            }
        }
        Ok(())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    /// Begins to start an actor of this kind; `None` if nobody may.
    pub(super) fn start(
        &self,
        kind: &str,
        below: &AnyRef,
        name: Option<String>,
        props: Props,
        bytes: Bytes,
    ) -> Option<Starting> {
        let spawnable = self.kinds.get(kind)?;
        Some((spawnable.start)(below, name, props, bytes))
    }
}
