//! Children by name.
//!
//! They stand in a row in the order of their births, which keeps them alive until they leave it in their own last turn.
//! A family of a few is searched one by one; a larger one has an [`Index`] from the hashes of the names to the places in
//! the row. The names themselves stay in the cells.
//!
//! ```text
//!   row    [ alice ][ bob ][ - ][ dave ] …       born last is last; `-` has left
//!   index  · 3 · · 0 · 1 ·                        in the order of the hashes
//! ```

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::index::Index;
use crate::cell::{CellRef, Header};

/// Up to here, or a little more, a look at each is cheaper than an index.
const FEW: usize = 16;

/// How a child is kept: as it is, or [with when it was born](super::family).
pub(crate) trait Kept: Clone {
    fn cell(&self) -> &CellRef;
}

impl Kept for CellRef {
    fn cell(&self) -> &CellRef {
        self
    }
}

pub(crate) struct Children<K> {
    row: Vec<Option<K>>,
    /// How many places of the row are taken.
    count: usize,
    /// Of all in the row, once there were more than a few. Most have none, so it is apart.
    index: Option<Box<Index>>,
}

impl<K> Default for Children<K> {
    fn default() -> Self {
        Children {
            row: Vec::new(),
            count: 0,
            index: None,
        }
    }
}

/// A fixed seed: names are chosen by the program, and a simulation must not depend on chance.
pub(crate) fn hash_of_name(name: &[u8]) -> u32 {
    (FixedState::with_seed(0x0766_6172).hash_one(name) >> 32) as u32
}

/// By what a child is found: its name, or its id if it has none.
pub(crate) fn hash_of(cell: &Header) -> u32 {
    if cell.name_length == 0 {
        hash_of_name(&cell.id.to_le_bytes())
    } else {
        hash_of_name(cell.name_bytes())
    }
}

/// Those without a name are called after their ids, as in `$1f`.
fn id_in(name: &str) -> Option<u64> {
    u64::from_str_radix(name.strip_prefix('$')?, 16).ok()
}

/// The hash of whoever is called that; nobody is if there is none.
pub(crate) fn hash_of_lookup(name: &str) -> Option<u32> {
    match id_in(name) {
        Some(id) => Some(hash_of_name(&id.to_le_bytes())),
        None => (!name.is_empty()).then(|| hash_of_name(name.as_bytes())),
    }
}

impl<K: Kept> Children<K> {
    /// Adds a child. False: its name is taken.
    ///
    /// `hash` is [that of the child](hash_of).
    pub(crate) fn insert(&mut self, kept: K, hash: u32) -> bool {
        let child = kept.cell();
        if self.row.len() == self.row.capacity() {
            self.make_room();
        }
        let place = self.row.len() as u32;
        match &mut self.index {
            Some(index) => {
                if child.name_length > 0 && find(index, &self.row, hash, |other| is_namesake(other, child)).is_some() {
                    return false;
                }
                index.insert(self.count, hash, place);
            }
            None if child.name_length > 0
                && self.row.iter().flatten().any(|other| is_namesake(other.cell(), child)) =>
            {
                return false;
            }
            None => {}
        }
        self.row.push(Some(kept));
        self.count += 1;
        true
    }

    /// The row is full: those who are left move together if they are few by now, and an index is made if they are not.
    fn make_room(&mut self) {
        if self.count <= self.row.len() / 2 {
            self.close_ranks();
        }
        if self.index.is_none() && self.row.len() >= FEW {
            let mut index = Index::for_entries(self.row.len() + 1);
            let all = self.row.iter().enumerate();
            let all = all.filter_map(|(place, child)| Some((place, child.as_ref()?)));
            for (count, (place, child)) in all.enumerate() {
                index.insert(count, hash_of(child.cell()), place as u32);
            }
            self.index = Some(Box::new(index));
        }
    }

    fn close_ranks(&mut self) {
        if let Some(index) = &mut self.index {
            let mut taken = 0;
            let moved: Vec<u32> = self
                .row
                .iter()
                .map(|child| {
                    taken += u32::from(child.is_some());
                    taken.saturating_sub(1)
                })
                .collect();
            **index = index.rebuilt(2 * self.count, |place| moved[place as usize]);
        }
        self.row.retain(Option::is_some);
        self.row.shrink_to(2 * self.count);
    }

    pub(crate) fn get(&self, name: &str) -> Option<CellRef> {
        let hash = hash_of_lookup(name)?;
        match id_in(name) {
            Some(id) => self.find(hash, |child| child.name_length == 0 && child.id == id),
            None => self.find(hash, |child| child.name_bytes() == name.as_bytes()),
        }
    }

    fn find(&self, hash: u32, is_it: impl Fn(&Header) -> bool) -> Option<CellRef> {
        match &self.index {
            Some(index) => {
                let place = find(index, &self.row, hash, is_it)?;
                self.row[place as usize].as_ref().map(K::cell).cloned()
            }
            None => self
                .row
                .iter()
                .flatten()
                .map(K::cell)
                .find(|child| is_it(child))
                .cloned(),
        }
    }

    pub(crate) fn remove(&mut self, child: &Header) -> Option<K> {
        let is_it = |other: &Header| std::ptr::eq(other, child);
        let place = match &mut self.index {
            Some(index) => {
                let row = &self.row;
                index.remove(hash_of(child), |place| is_at(row, place, is_it))? as usize
            }
            None => self
                .row
                .iter()
                .position(|other| other.as_ref().is_some_and(|other| is_it(other.cell())))?,
        };
        let held = self.row[place].take();
        self.count -= 1;
        if self.count == 0 {
            *self = Children::default();
        } else if self.row.len() > FEW && self.count < self.row.len() / 4 {
            self.close_ranks();
        }
        held
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All children, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &K> {
        self.row.iter().flatten()
    }

    /// The slots of the index and the shift of hashes, or nowhere; see [`Forecast`](super::Forecast).
    pub(crate) fn slots(&self) -> (*const u64, u32) {
        self.index.as_ref().map_or((std::ptr::null(), 0), |index| index.slots())
    }
}

fn is_namesake(one: &Header, other: &Header) -> bool {
    one.name_bytes() == other.name_bytes()
}

fn is_at<K: Kept>(row: &[Option<K>], place: u32, is_it: impl Fn(&Header) -> bool) -> bool {
    row[place as usize].as_ref().is_some_and(|child| is_it(child.cell()))
}

fn find<K: Kept>(index: &Index, row: &[Option<K>], hash: u32, is_it: impl Fn(&Header) -> bool) -> Option<u32> {
    index.find(hash, |place| is_at(row, place, &is_it))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Actor, ActorSystem, AnyRef};

    struct Leaf;

    impl Actor for Leaf {}

    const NAMES: usize = 60;

    /// Every name twice, of different parents, and as many without one.
    async fn leaves(system: &ActorSystem) -> Vec<CellRef> {
        let mut leaves = Vec::new();
        for _ in 0..2 {
            let parent = AnyRef::from(&system.spawn(|| Leaf).await.expect("a parent"));
            for number in 0..NAMES {
                let named = parent.spawn(|| Leaf).named(format!("leaf-{number}")).await;
                leaves.push(named.expect("a new name").cell().clone());
                leaves.push(parent.spawn(|| Leaf).await.expect("a leaf").cell().clone());
            }
        }
        leaves
    }

    fn name_of(cell: &Header) -> String {
        match std::str::from_utf8(cell.name_bytes()) {
            Ok("") => format!("${:x}", cell.id),
            name => name.expect("a name").to_owned(),
        }
    }

    /// Which leaf is added, or taken out if it is there; more of the former, of the latter, and all but a few gone.
    fn steps() -> impl Strategy<Value = Vec<(bool, usize)>> {
        let phase = |adds: u32, takes: u32, most: usize| {
            let step = prop_oneof![adds => Just(true), takes => Just(false)];
            proptest::collection::vec((step, 0..4 * NAMES), 0..most)
        };
        (phase(4, 1, 400), phase(1, 6, 1500), phase(1, 1, 200)).prop_map(|(one, two, three)| [one, two, three].concat())
    }

    #[tokio::test]
    async fn children_are_found_by_name_and_listed_oldest_first() {
        let system = ActorSystem::builder("children").start().await.expect("a system");
        let leaves = leaves(&system).await;
        proptest!(ProptestConfig::with_cases(64), |(steps in steps())| {
            let mut children = Children::default();
            let mut expected: Vec<CellRef> = Vec::new();
            for (adds, which) in steps {
                let leaf = &leaves[which];
                let here = expected.iter().position(|child| std::ptr::eq(&**child, &**leaf));
                match here {
                    None if adds => {
                        let taken = leaf.name_length > 0
                            && expected.iter().any(|child| child.name_bytes() == leaf.name_bytes());
                        prop_assert_eq!(children.insert(leaf.clone(), hash_of(leaf)), !taken);
                        if !taken {
                            expected.push(leaf.clone());
                        }
                    }
                    Some(place) if !adds => {
                        prop_assert!(children.remove(leaf).is_some());
                        prop_assert!(children.remove(leaf).is_none());
                        expected.remove(place);
                    }
                    _ => {}
                }
                prop_assert_eq!(children.len(), expected.len());
                prop_assert_eq!(children.is_empty(), expected.is_empty());
                prop_assert!(children.row.len() <= FEW.max(4 * expected.len() + 4), "no room for those who left");
            }
            prop_assert!(children.iter().map(|child| child.id).eq(expected.iter().map(|child| child.id)));
            for leaf in &leaves {
                let found = children.get(&name_of(leaf)).map(|child| child.id);
                let namesake = |child: &&CellRef| name_of(child) == name_of(leaf);
                prop_assert_eq!(found, expected.iter().find(namesake).map(|child| child.id));
            }
            prop_assert!(children.get("$").is_none() && children.get("$zz").is_none() && children.get("").is_none());
        });
        system.stop().await.expect("a stop");
    }
}
