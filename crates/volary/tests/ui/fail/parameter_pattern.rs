#![allow(unused)]

use volary::prelude::*;

struct Map;

#[actor]
impl Map {
    fn go(&mut self, (x, y): (i32, i32)) {}
    fn ignore(&mut self, _: String) {}
    fn tagged(&mut self, #[cfg(unix)] id: u32) {}
}

fn main() {}
