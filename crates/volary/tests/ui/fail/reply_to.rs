#![allow(unused)]

use volary::prelude::*;

struct Account;

#[actor]
impl Account {
    fn borrowed(&mut self, reply: &mut ReplyTo<u8>) {}
    fn twice(&mut self, one: ReplyTo<u8>, two: ReplyTo<u8>) {}
    fn both(&mut self, reply: ReplyTo<u8>) -> u8 {
        1
    }
    async fn refuses(&mut self, reply: ReplyTo<u8>) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
