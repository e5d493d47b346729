//! From the hash of a name to a place in a row.
//!
//! An open table with linear probing whose slots hold the hash and the place in eight bytes: what a new name needs of it
//! lies on one cache line, and which one is known as soon as the name is. How many there are its owner knows: to look here
//! reads memory that is written when it grows, and the slot. The position is the front of the hash, so that
//! entries stand in the order of their hashes, and growing reads and writes memory from one end to the other.

/// Three quarters of the slots are taken at most: beyond, the ways to free ones get long.
const FULL: (usize, usize) = (3, 4);
const SMALLEST_BITS: u32 = 5;

pub(crate) struct Index {
    /// `hash << 32 | place + 1`, or 0. As many as a power of two.
    slots: Box<[u64]>,
    /// By how much a hash is shifted to become a position.
    shift: u32,
}

impl Index {
    /// With room for so many.
    pub(crate) fn for_entries(entries: usize) -> Index {
        let mut bits = SMALLEST_BITS;
        while entries * FULL.1 > (1_usize << bits) * FULL.0 {
            bits += 1;
        }
        Index {
            slots: vec![0; 1 << bits].into_boxed_slice(),
            shift: 32 - bits,
        }
    }

    fn position(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    fn after(&self, position: usize) -> usize {
        (position + 1) & (self.slots.len() - 1)
    }

    fn locate(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let mut position = self.position(hash);
        loop {
            let slot = self.slots[position];
            if slot == 0 {
                return None;
            }
            if hash_in(slot) == hash && is_it(place_in(slot)) {
                return Some(position);
            }
            position = self.after(position);
        }
    }

    /// The place with this hash that is the one.
    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.locate(hash, is_it).map(|position| place_in(self.slots[position]))
    }

    /// Adds one to `count` others.
    pub(crate) fn insert(&mut self, count: usize, hash: u32, place: u32) {
        if (count + 1) * FULL.1 > self.slots.len() * FULL.0 {
            *self = self.rebuilt(2 * count, |place| place);
        }
        self.put(hash, place);
    }

    fn put(&mut self, hash: u32, place: u32) {
        let mut position = self.position(hash);
        while self.slots[position] != 0 {
            position = self.after(position);
        }
        self.slots[position] = u64::from(hash) << 32 | (u64::from(place) + 1);
    }

    /// The same entries with room for `entries`, each at the place that the old one becomes.
    pub(crate) fn rebuilt(&self, entries: usize, new: impl Fn(u32) -> u32) -> Index {
        let mut rebuilt = Index::for_entries(entries);
        for slot in self.slots.iter().copied().filter(|slot| *slot != 0) {
            rebuilt.put(hash_in(slot), new(place_in(slot)));
        }
        rebuilt
    }

    /// Takes out the place with this hash that is the one.
    pub(crate) fn remove(&mut self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut hole = self.locate(hash, is_it)?;
        let place = place_in(self.slots[hole]);
        let mask = self.slots.len() - 1;
        // Those behind that the hole keeps from where they belong move up.
        let mut position = self.after(hole);
        while self.slots[position] != 0 {
            let away = position.wrapping_sub(self.position(hash_in(self.slots[position]))) & mask;
            if away >= position.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[position];
                hole = position;
            }
            position = self.after(position);
        }
        self.slots[hole] = 0;
        Some(place)
    }

    /// Where its slots are and by how much a hash is shifted to find one, for whoever looks without reading.
    pub(crate) fn slots(&self) -> (*const u64, u32) {
        (self.slots.as_ptr(), self.shift)
    }
}

fn hash_in(slot: u64) -> u32 {
    (slot >> 32) as u32
}

fn place_in(slot: u64) -> u32 {
    (slot as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u32),
        Remove(usize),
        Rebuild(u32),
    }

    /// Hashes of which many are equal or neighbours, at both ends of the table.
    fn hashes() -> impl Strategy<Value = u32> {
        prop_oneof![0..40_u32, u32::MAX - 40..=u32::MAX, any::<u32>()]
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => hashes().prop_map(Step::Insert),
            3 => any::<usize>().prop_map(Step::Remove),
            1 => (0..1_000_000_u32).prop_map(Step::Rebuild),
        ];
        proptest::collection::vec(step, 0..400)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

        #[test]
        fn an_index_holds_what_was_put_into_it(steps in steps()) {
            let mut index = Index::for_entries(1);
            let mut expected: Vec<(u32, u32)> = Vec::new();
            let mut next = 0;
            for step in steps {
                match step {
                    Step::Insert(hash) => {
                        index.insert(expected.len(), hash, next);
                        expected.push((hash, next));
                        next += 1;
                    }
                    Step::Remove(which) if !expected.is_empty() => {
                        let (hash, place) = expected.swap_remove(which % expected.len());
                        prop_assert_eq!(index.remove(hash, |found| found == place), Some(place));
                        prop_assert_eq!(index.remove(hash, |found| found == place), None);
                    }
                    Step::Remove(_) => {}
                    Step::Rebuild(by) => {
                        index = index.rebuilt(expected.len(), |place| place + by);
                        expected.iter_mut().for_each(|(_, place)| *place += by);
                        next += by;
                    }
                }
                prop_assert_eq!(index.slots.iter().filter(|slot| **slot != 0).count(), expected.len());
                for (hash, place) in &expected {
                    prop_assert_eq!(index.find(*hash, |found| found == *place), Some(*place));
                }
            }
        }
    }
}
