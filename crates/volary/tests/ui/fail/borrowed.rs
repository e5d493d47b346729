#![allow(unused)]

use std::borrow::Cow;

use volary::prelude::*;

struct Store {
    names: Vec<String>,
}

#[actor]
impl Store {
    fn add(&mut self, name: &str) {}
    fn add_all(&mut self, names: &[String]) {}
    fn update(&mut self, change: &mut Vec<String>) {}
    fn lookup(&self, name: Option<&String>) -> bool {
        true
    }
    fn label(&mut self, label: Cow<'_, str>) {}
    fn first(&self) -> &str {
        &self.names[0]
    }
    fn find(&self) -> Result<&String, Fault> {
        Ok(&self.names[0])
    }
    fn later(&self, reply: ReplyTo<&String>) {}
}

fn main() {}
