#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn get_2(&self) {}
    fn get2(&self) {}
    fn deposit(&mut self) {}
    #[message(name = Deposit)]
    fn credit(&mut self) {}
}

fn main() {}
