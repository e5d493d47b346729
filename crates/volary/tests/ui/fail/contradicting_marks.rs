#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
struct Ping;

struct Account;

#[actor]
impl Account {
    #[actor(skip)]
    #[message(name = Other)]
    fn one(&self) {}
    #[actor(skip)]
    #[handles]
    fn two(&self, ping: Ping) {}
    #[handles]
    #[message(derive(Debug))]
    fn three(&self, ping: Ping) {}
}

fn main() {}
