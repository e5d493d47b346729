//! A table of named things, the reference line of `spawn`: what a name, a place
//! in memory and one visit cost when there is no actor.
//!
//! Fairness choices: as many bytes each as an idle actor of Volary has; the
//! name twice, since the owner knows its own; behind a lock each and a lock for
//! all, so that two threads could use it, but one does. Nothing is started,
//! scheduled or supervised.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::contender::{Bench, Case, Contender, Pass, Role};

/// The table's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "table",
    role: Role::Reference,
    bench,
};

/// Words of state, which make a thing as large as an actor.
const WORDS: usize = 28;

/// What a name stands for.
struct Thing {
    name: String,
    state: [u64; WORDS],
}

/// Everything by its name, as a guardian has its children.
#[derive(Default)]
struct Things(Mutex<HashMap<String, Arc<Mutex<Thing>>>>);

impl Things {
    fn make(&self, name: String) -> Arc<Mutex<Thing>> {
        let thing = Thing { name: name.clone(), state: [0; WORDS] };
        let thing = Arc::new(Mutex::new(thing));
        let before = self.0.lock().expect("nobody panics").insert(name, Arc::clone(&thing));
        assert!(before.is_none(), "a new name");
        thing
    }
}

fn bench(workload: &str) -> Option<Bench> {
    (workload == "spawn").then_some(Bench::Throughput(fill))
}

fn fill(_: &Case) -> Pass {
    let things = Things::default();
    let mut next = 0;
    let mut kept = Vec::new();
    Box::new(move |count| {
        let names = next..next + count;
        next += count;
        let made: Vec<_> = names.map(|index| things.make(format!("sink-{index}"))).collect();
        for thing in &made {
            let mut thing = thing.lock().expect("nobody panics");
            thing.state[0] += thing.name.len() as u64;
        }
        kept.push(made);
    })
}
