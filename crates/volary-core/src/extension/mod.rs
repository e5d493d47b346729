//! What actors need besides messages: extensions, one per type for the whole system, and dependencies, resources of
//! one actor that can be written as bytes and so move with it to another machine.

mod access;
mod dependency;
mod extensions;

pub(crate) use dependency::Dependencies;
pub use dependency::{Dependency, DependencyBytes, DependencyError, DependencyKinds, ReadDependencies};
pub(crate) use extensions::Extensions;
