#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
struct Ping;

struct Account;

#[actor]
impl Account {
    #[handles]
    fn ping(&mut self, ping: Ping) {}
    #[handles]
    fn pong(&mut self, ping: Ping) {}
}

fn main() {}
