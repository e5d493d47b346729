#![allow(unused)]

use volary::prelude::*;

struct Store;

#[actor]
impl Store {
    fn add(&mut self, name: impl Into<String>) {}
    fn names(&self) -> impl Iterator<Item = String> {
        std::iter::empty()
    }
}

fn main() {}
