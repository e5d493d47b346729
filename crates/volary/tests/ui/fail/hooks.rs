#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn started(&mut self, name: String) {}
    async fn stopping(&mut self) -> u8 {
        1
    }
    #[message(name = Stopped)]
    unsafe fn stopped(self) {}
}

struct Ledger;

impl Actor for Ledger {}

#[actor(handlers)]
impl Ledger {
    async fn started(&mut self) {}
}

fn main() {}
