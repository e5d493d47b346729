#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn close(self) {}
    fn close_boxed(self: Box<Self>) {}
    fn close_mutable(mut self) {}
    fn fine(&mut self) {}
}

fn main() {
    let _ = Fine;
}
