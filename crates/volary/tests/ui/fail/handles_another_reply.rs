#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
#[message(reply = u32)]
struct Count;

struct Account;

#[actor]
impl Account {
    #[handles]
    fn count(&mut self, _: Count) -> String {
        String::new()
    }
}

struct Ledger;

#[actor]
impl Ledger {
    #[handles]
    async fn count(&mut self, _: Count) -> Result<i64, Fault> {
        Ok(1)
    }
}

struct Journal;

#[actor]
impl Journal {
    #[handles]
    fn count(&mut self, _: Count) {}
}

fn main() {}
