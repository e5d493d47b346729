#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor(mailbox = 10)]
impl Account {
    #[actor(hidden)]
    fn one(&self) {}
    #[actor]
    fn two(&self) {}
    #[message(reply = u8)]
    fn three(&self) {}
    #[message]
    fn four(&self) {}
}

struct Ledger;

#[actor(skip)]
impl Ledger {}

#[derive(Message)]
#[message(name = Ping)]
struct Pong;

#[derive(Debug, Rejection)]
#[rejection(code = 4)]
struct Refused;

fn main() {}
