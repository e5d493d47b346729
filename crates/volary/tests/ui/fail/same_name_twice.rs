use volary::prelude::*;

struct Shop;

#[actor]
impl Shop {
    fn close(&mut self) {}
}

struct Door;

#[actor]
impl Door {
    fn close(&mut self) {}
}

fn main() {}
