#![allow(unused)]

use volary::prelude::*;

struct Reader<'a> {
    text: &'a str,
}

#[actor]
impl<'a> Reader<'a> {
    fn rest(&self) -> String {
        self.text.to_owned()
    }
}

struct Writer<'a>(&'a str);

#[actor]
impl Writer<'_> {}

fn main() {}
