#![allow(unused)]

use volary::prelude::*;

struct Account;
struct Other;

#[actor]
impl Account {
    fn by_value(&mut self, ctx: Context<Self>) {}
    fn shared(&mut self, ctx: &Context<Self>) {}
    fn strange(&mut self, ctx: &mut Context<Other>) {}
    fn twice(&mut self, one: &mut Context<Self>, two: &mut Context<Self>) {}
}

fn main() {}
