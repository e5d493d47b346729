//! A count of the actors alive, by their type.

use std::collections::BTreeMap;

use super::kinds::{KINDS, OTHERS};
use crate::system::ActorSystem;

/// What the actors of one type have between them at this moment; see [`ActorSystem::census`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let census: Vec<KindCensus> = system.census();
/// let accounts = census.iter().find(|kind| kind.kind.ends_with("Account")).expect("alice has one");
/// assert_eq!((accounts.actors, accounts.waiting), (1, 0));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KindCensus {
    /// The type of the actors.
    pub kind: &'static str,
    /// How many there are.
    pub actors: u64,
    /// How many messages wait in their mailboxes.
    pub waiting: u64,
    /// How many they have put aside.
    pub stashed: u64,
    /// How many children they have.
    pub children: u64,
    /// How much their mailboxes have given out: messages, and notices of the runtime such as answers to requests.
    pub taken: u64,
}

impl ActorSystem {
    /// Counts all live actors below `/user` by their type: up to 256 types, the rest together as `other`. Looks at
    /// every actor once.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use volary_core::{Actor, ActorSystem};
    /// # struct Door; impl Actor for Door {}
    /// let system = ActorSystem::builder("house").start().await?;
    /// system.spawn(|| Door).await?;
    /// system.spawn(|| Door).await?;
    /// assert_eq!(system.census()[0].actors, 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn census(&self) -> Vec<KindCensus> {
        let mut kinds: BTreeMap<&'static str, KindCensus> = BTreeMap::new();
        let mut above = self.core.user_actors();
        while let Some(cell) = above.pop() {
            let kind = (cell.table.actor_name)();
            let kind = match kinds.contains_key(kind) || kinds.len() < KINDS {
                true => kind,
                false => OTHERS,
            };
            let children = cell.children();
            let entry = kinds.entry(kind).or_default();
            entry.kind = kind;
            entry.actors += 1;
            entry.waiting += cell.log.depth();
            entry.stashed += cell.stashed() as u64;
            entry.children += children.len() as u64;
            entry.taken += cell.log.taken();
            above.extend(children);
        }
        kinds.into_values().collect()
    }
}
