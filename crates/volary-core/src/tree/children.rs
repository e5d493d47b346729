//! The children of one actor, by name.
//!
//! A table of counted pointers with their hashes: the names stay in the cells. It keeps its members
//! alive; an actor leaves it in its own last turn.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::cell::{CellRef, Header};

#[derive(Default)]
pub(crate) struct Children {
    table: HashTable<Entry>,
    next: u32,
}

struct Entry {
    hash: u32,
    /// Order of birth.
    ordinal: u32,
    cell: CellRef,
}

/// A fixed seed: names are chosen by the program, and a simulation must not depend on chance.
fn hash(name: &[u8]) -> u32 {
    (FixedState::with_seed(0x0766_6172).hash_one(name) >> 32) as u32
}

/// The table wants 64 bits, a million children want small entries.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn hash_of(cell: &Header) -> u32 {
    if cell.name_length == 0 {
        hash(&cell.id.to_le_bytes())
    } else {
        hash(cell.name_bytes())
    }
}

impl Children {
    /// Adds a child. False: its name is taken.
    pub(crate) fn insert(&mut self, child: CellRef) -> bool {
        let hash = hash_of(&child);
        if child.name_length > 0 && self.find(hash, child.name_bytes()).is_some() {
            return false;
        }
        let entry = Entry {
            hash,
            ordinal: self.next,
            cell: child,
        };
        self.next = self.next.wrapping_add(1);
        self.table
            .insert_unique(spread(hash), entry, |entry| spread(entry.hash));
        true
    }

    fn find(&self, hash: u32, name: &[u8]) -> Option<&CellRef> {
        self.table
            .find(spread(hash), |entry| {
                entry.hash == hash && entry.cell.name_bytes() == name
            })
            .map(|entry| &entry.cell)
    }

    pub(crate) fn get(&self, name: &str) -> Option<CellRef> {
        let Some(id) = name.strip_prefix('$') else {
            return self.find(hash(name.as_bytes()), name.as_bytes()).cloned();
        };
        let id = u64::from_str_radix(id, 16).ok()?;
        let unnamed = |entry: &Entry| entry.cell.name_length == 0 && entry.cell.id == id;
        self.table
            .find(spread(hash(&id.to_le_bytes())), unnamed)
            .map(|entry| entry.cell.clone())
    }

    pub(crate) fn remove(&mut self, child: &Header) -> Option<CellRef> {
        let found = self
            .table
            .find_entry(spread(hash_of(child)), |entry| std::ptr::eq(&*entry.cell, child))
            .ok()?;
        let (entry, _) = found.remove();
        if self.table.is_empty() {
            self.table = HashTable::new();
        }
        Some(entry.cell)
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All children, oldest first.
    pub(crate) fn list(&self) -> Vec<CellRef> {
        let mut children: Vec<(u32, CellRef)> = self
            .table
            .iter()
            .map(|entry| (entry.ordinal, entry.cell.clone()))
            .collect();
        children.sort_unstable_by_key(|(ordinal, _)| *ordinal);
        children.into_iter().map(|(_, cell)| cell).collect()
    }
}
