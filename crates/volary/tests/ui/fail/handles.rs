#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
struct Ping;

struct Account;

#[actor]
impl Account {
    #[handles]
    fn nothing(&mut self) {}
    #[handles]
    fn too_much(&mut self, one: Ping, two: u8) {}
    #[handles(Ping)]
    fn named(&mut self, ping: Ping) {}
    #[handles]
    fn create(ping: Ping) -> Self {
        Account
    }
}

fn main() {}
