#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn send(&mut self, cents: i64) {}
    fn account(&self) {}
    #[message(name = Vector)]
    fn vec(&self) {}
}

struct Cell<T>(T);

#[actor]
impl<T: Send + 'static> Cell<T> {
    fn t(&self) {}
}

fn main() {
    let _ = Vector;
}
