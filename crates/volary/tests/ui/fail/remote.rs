#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor(remote(Deposit, Transfer, Deposit))]
impl Account {
    fn deposit(&mut self, cents: i64) {}
    fn withdraw(&mut self, cents: i64) {}
}

struct Empty;

#[actor(remote(Deposit))]
impl Empty {}

fn main() {
    let _ = Withdraw { cents: Deposit { cents: 1 }.cents };
}
