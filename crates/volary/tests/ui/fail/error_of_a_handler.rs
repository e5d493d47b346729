#![allow(unused)]

use volary::prelude::*;

struct Account;

struct Refused;

#[actor]
impl Account {
    fn parse(&mut self, text: String) -> Result<u8, Refused> {
        Err(Refused)
    }
}

fn main() {}
