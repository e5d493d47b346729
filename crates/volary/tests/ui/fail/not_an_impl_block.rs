#![allow(unused)]

use volary::prelude::*;

#[actor]
struct Account;

#[actor]
impl Clone for Account {
    fn clone(&self) -> Self {
        Account
    }
}

impl Account {
    #[actor(skip)]
    fn helper(&self) {}
}

fn main() {}
