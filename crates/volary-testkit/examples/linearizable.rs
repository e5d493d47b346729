//! A store with a cache that is not told of writes: is anybody harmed? The checker says who, and draws it.
//!
//! `cargo run -p volary-testkit --example linearizable`

use std::collections::BTreeMap;

use volary_testkit::check::models::{Register, RegisterOp, RegisterReturn};
use volary_testkit::check::{Checker, History};

#[derive(Default)]
struct Store {
    values: BTreeMap<&'static str, u32>,
    cache: BTreeMap<&'static str, u32>,
}

impl Store {
    fn write(&mut self, key: &'static str, value: u32) {
        self.values.insert(key, value);
        // The mistake: what the cache holds stays.
    }

    fn read(&mut self, key: &'static str) -> u32 {
        let value = self.values.get(key).copied().unwrap_or_default();
        *self.cache.entry(key).or_insert(value)
    }
}

fn main() {
    let mut store = Store::default();
    let mut history = History::new();
    for round in 1..=3 {
        for client in 1..=3 {
            let key = if client == 3 { "untouched" } else { "price" };
            let op = match (client, round) {
                (1, _) => RegisterOp::Write(100 * round),
                _ => RegisterOp::Read,
            };
            let call = history.begin(client, key, op.clone());
            let returned = match op {
                RegisterOp::Write(value) => {
                    store.write(key, value);
                    RegisterReturn::Done
                }
                RegisterOp::Read => RegisterReturn::Value(store.read(key)),
            };
            history.end(call, returned);
        }
    }
    print!("{}", Checker::new(Register::new(0)).check(&history));
}
