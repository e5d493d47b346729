//! What is written down of a run beside the nodes, so that it outlives their crashes, and what must be true of it.
//!
//! ```text
//!   actors ──▶ mail (each message), people (each who is watched), asks and operations ──┐
//!   nodes  ──▶ life (readings), letters (dead letters and events, as they are said) ────┴▶ accounts, rest ──▶ wrong
//! ```

mod accounts;
mod asks;
mod letters;
mod life;
mod mail;
mod operations;
mod people;
mod rest;
mod visitors;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) use asks::Question;
pub(super) use life::Beginning;
use life::Life;
use mail::Fate;
pub(super) use operations::{Known, Wish};
use people::{Person, Watched};
pub(super) use visitors::Visited;

#[derive(Default)]
pub(super) struct Books {
    lives: Vec<Life>,
    /// Nothing new is begun.
    pub(super) quiet: bool,
    /// Guests whom nobody looks after go as well.
    farewell: bool,
    /// By their ids, from 1 on.
    mail: Vec<Fate>,
    /// The last number of a sender for a receiver.
    numbers: BTreeMap<(String, String), u64>,
    /// The last number that a receiver has had of a sender.
    arrived: BTreeMap<(String, String), u64>,
    people: Vec<Person>,
    /// By the life of the watcher, its name, and whom it watches.
    watches: BTreeMap<(usize, String, u64), Watched>,
    wrong: Vec<String>,
}

/// What all nodes of a run write into.
#[derive(Clone, Default)]
pub(super) struct Paper(Arc<Mutex<Books>>);

impl Paper {
    /// Not to be held while anything is sent: what is said of that is written down here as well.
    pub(super) fn open(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    pub(super) fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    pub(super) fn is_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    pub(super) fn verdict(&mut self) -> Result<(), String> {
        if self.wrong.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.wrong).join("; "))
        }
    }
}
