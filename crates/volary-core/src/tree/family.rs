//! The children of one actor.
//!
//! A family of some is under one lock. In a large one, below which threads spawn all at once, they would wait for each
//! other: it is divided by the hashes of the names, each part with a lock of its own. Each child is then kept with a
//! number, so that all of them can still be told in the order of their births.
//!
//! ```text
//!   some   [ lock: a row of children ]
//!   many   [ lock: row ][ lock: row ][ lock: row ] …     which one, the back of the hash says
//! ```

use std::sync::OnceLock;

use super::children::{Children, Kept, hash_of, hash_of_lookup};
use super::forecast::Forecast;
use crate::cell::state::Sealed;
use crate::cell::{CellRef, Header};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// From here on a family is large.
const MANY: usize = if cfg!(volary_shuttle) { 2 } else { 1_024 };
/// A power of two. More than threads that spawn below one actor at the same time.
const PARTS: usize = 16;

#[derive(Default)]
pub(crate) struct Family {
    /// Empty once there were many.
    some: Mutex<Children<CellRef>>,
    many: OnceLock<Box<Many>>,
}

/// Why a child was not taken in.
pub(crate) enum NotAdopted {
    Sealed(Sealed),
    NameTaken,
}

#[derive(Default)]
struct Many {
    parts: [Part; PARTS],
    /// Where the names of new children are looked up. Apart from what changes with each of them.
    forecasts: [Forecast; PARTS],
    births: Births,
}

/// Padded, so that two parts do not share a line.
#[repr(align(128))]
#[derive(Default)]
struct Part(Mutex<Children<Dated>>);

#[repr(align(128))]
#[derive(Default)]
struct Births(AtomicU64);

#[derive(Clone)]
struct Dated {
    cell: CellRef,
    birth: u64,
}

impl Kept for Dated {
    fn cell(&self) -> &CellRef {
        &self.cell
    }
}

fn part_of(hash: u32) -> usize {
    hash as usize % PARTS
}

impl Family {
    /// Has what a child of that hash needs sent for.
    pub(crate) fn fetch(&self, hash: u32) {
        if let Some(many) = self.many.get() {
            many.forecasts[part_of(hash)].fetch(hash);
        }
    }

    /// Takes a child in, unless its name is taken or the parent is sealed, which is asked under the lock.
    pub(crate) fn adopt(
        &self,
        child: CellRef,
        hash: u32,
        sealed: impl Fn() -> Option<Sealed>,
    ) -> Result<(), NotAdopted> {
        if let Some(many) = self.many.get() {
            return many.adopt(child, hash, sealed);
        }
        let mut some = self.some.lock();
        if let Some(many) = self.many.get() {
            drop(some);
            return many.adopt(child, hash, sealed);
        }
        if let Some(why) = sealed() {
            return Err(NotAdopted::Sealed(why));
        }
        // Also whether the name is free is asked here alone: those that are not are few.
        if !some.insert(child, hash) {
            return Err(NotAdopted::NameTaken);
        }
        if some.len() == MANY {
            let all = std::mem::take(&mut *some);
            self.many.get_or_init(|| Box::new(Many::from(all)));
        }
        Ok(())
    }

    /// What was kept of a child that is no longer one, and whether it was the last.
    pub(crate) fn remove(&self, child: &Header) -> (Option<CellRef>, bool) {
        self.either(
            |some| (some.remove(child), some.is_empty()),
            |many| {
                let (held, is_empty) = {
                    let mut part = many.part(hash_of(child)).0.lock();
                    (part.remove(child), part.is_empty())
                };
                // Of two that leave their parts at once one at least sees the other gone.
                (held.map(|dated| dated.cell), is_empty && many.len() == 0)
            },
        )
    }

    pub(crate) fn get(&self, name: &str) -> Option<CellRef> {
        self.either(
            |some| some.get(name),
            |many| many.part(hash_of_lookup(name)?).0.lock().get(name),
        )
    }

    pub(crate) fn len(&self) -> usize {
        self.either(|some| some.len(), Many::len)
    }

    /// All children, oldest first.
    pub(crate) fn list(&self) -> Vec<CellRef> {
        self.either(|some| some.iter().cloned().collect(), Many::list)
    }

    /// Lets go of all.
    pub(crate) fn clear(&self) {
        let some = std::mem::take(&mut *self.some.lock());
        drop(some); // not under the lock
        for part in self.many.get().into_iter().flat_map(|many| &many.parts) {
            let gone = std::mem::take(&mut *part.0.lock());
            drop(gone);
        }
    }

    fn either<R>(&self, some: impl FnOnce(&mut Children<CellRef>) -> R, many: impl FnOnce(&Many) -> R) -> R {
        if self.many.get().is_none() {
            let mut under_lock = self.some.lock();
            if self.many.get().is_none() {
                return some(&mut under_lock);
            }
        }
        let Some(divided) = self.many.get() else {
            unreachable!("what is divided stays so")
        };
        many(divided)
    }
}

impl From<Children<CellRef>> for Many {
    fn from(all: Children<CellRef>) -> Self {
        let many = Many::default();
        for child in all.iter() {
            let taken = many.adopt(child.clone(), hash_of(child), || None);
            debug_assert!(taken.is_ok(), "the names are different");
        }
        many
    }
}

impl Many {
    fn part(&self, hash: u32) -> &Part {
        &self.parts[part_of(hash)]
    }

    fn adopt(&self, cell: CellRef, hash: u32, sealed: impl Fn() -> Option<Sealed>) -> Result<(), NotAdopted> {
        // What a child can know of is older, whichever part that is in.
        let birth = self.births.0.fetch_add(1, Relaxed);
        let mut part = self.part(hash).0.lock();
        if let Some(why) = sealed() {
            return Err(NotAdopted::Sealed(why));
        }
        if !part.insert(Dated { cell, birth }, hash) {
            return Err(NotAdopted::NameTaken);
        }
        self.forecasts[part_of(hash)].follow(&part);
        Ok(())
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.0.lock().len()).sum()
    }

    fn list(&self) -> Vec<CellRef> {
        let mut all = Vec::new();
        for part in &self.parts {
            all.extend(part.0.lock().iter().cloned());
        }
        all.sort_unstable_by_key(|child: &Dated| child.birth);
        all.into_iter().map(|child| child.cell).collect()
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;
    use crate::{Actor, ActorRef, ActorSystem, AnyRef, SpawnError};

    struct Leaf;

    impl Actor for Leaf {}

    const SPAWNERS: usize = 4;
    const EACH: usize = MANY;

    async fn parent() -> (ActorSystem, ActorRef<Leaf>) {
        let system = ActorSystem::builder("family").start().await.expect("a system");
        let parent = system.spawn(|| Leaf).named("parent").await.expect("a parent");
        (system, parent)
    }

    fn children(parent: &ActorRef<Leaf>) -> Vec<ActorRef<Leaf>> {
        let all = parent.cell().children().into_iter();
        all.map(|cell| AnyRef::new(cell).downcast().expect("a leaf")).collect()
    }

    fn names(all: &[ActorRef<Leaf>]) -> Vec<String> {
        all.iter().map(ActorRef::name).collect()
    }

    /// As many threads as there are spawners; each has children of its own names and tries some of everybody's.
    fn spawn_from_threads(parent: &ActorRef<Leaf>) -> usize {
        let parent = &AnyRef::from(parent);
        let spawn = |spawner: usize| {
            let mut won = 0;
            for number in 0..EACH {
                let name = format!("leaf-{spawner}-{number}");
                assert!(parent.spawn(|| Leaf).named(name).start().is_ok());
                if number % 64 == 0 {
                    match parent.spawn(|| Leaf).named(format!("disputed-{number}")).start() {
                        Ok(_) => won += 1,
                        Err(SpawnError::Duplicate { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
            won
        };
        std::thread::scope(|threads| {
            let all: Vec<_> = (0..SPAWNERS)
                .map(|spawner| threads.spawn(move || spawn(spawner)))
                .collect();
            all.into_iter().map(|thread| thread.join().expect("a spawner")).sum()
        })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn threads_spawn_below_one_actor_and_each_name_is_given_once() {
        let (system, parent) = parent().await;
        let won = tokio::task::block_in_place(|| spawn_from_threads(&parent));
        assert_eq!(won, EACH / 64, "a name that is wanted by all is had by one");
        let children = children(&parent);
        assert_eq!(children.len(), SPAWNERS * EACH + won);
        assert_eq!(parent.cell().child_count(), children.len());
        // In the order of their births, as far as anybody can know it.
        let mut next = [0; SPAWNERS];
        for name in names(&children) {
            assert_eq!(parent.cell().child(&name).map(|cell| cell.name()), Some(name.clone()));
            let mut parts = name.split('-');
            if parts.next() == Some("leaf") {
                let mut number = || {
                    parts
                        .next()
                        .and_then(|part| part.parse::<usize>().ok())
                        .expect("a number")
                };
                let spawner = number();
                assert_eq!(number(), next[spawner]);
                next[spawner] += 1;
            }
        }
        assert!(parent.cell().child("leaf-0-x").is_none());
        // Whoever is left when all others have gone is still found, and the parent's end waits for them.
        for child in &children[..children.len() - 3] {
            child.stop();
        }
        for child in &children[..children.len() - 3] {
            child.terminated().await;
        }
        assert_eq!(names(&self::children(&parent)), names(&children[children.len() - 3..]));
        let again = AnyRef::from(&parent).spawn(|| Leaf).named("leaf-0-0").await;
        assert!(again.is_ok(), "a name that is free again");
        parent.stop();
        parent.terminated().await;
        assert_eq!(system.actor_count(), 0);
        system.stop().await.expect("a stop");
    }

    #[tokio::test]
    async fn a_family_that_becomes_large_keeps_everybody_in_order() {
        let (system, parent) = parent().await;
        let mut expected = Vec::new();
        for number in 0..2 * MANY {
            let spawn = AnyRef::from(&parent).spawn(|| Leaf);
            let child = if number % 3 == 0 {
                spawn.await
            } else {
                spawn.named(format!("n{number}")).await
            };
            expected.push(child.expect("a leaf").name());
            if number % 7 == 0 {
                let gone = expected.remove(number % expected.len());
                let gone = AnyRef::new(parent.cell().child(&gone).expect("it was there"));
                gone.stop();
                gone.terminated().await;
            }
        }
        assert_eq!(names(&children(&parent)), expected);
        system.stop().await.expect("a stop");
    }
}
