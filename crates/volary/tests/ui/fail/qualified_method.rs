#![allow(unused)]

use volary::prelude::*;

struct Store;

#[actor]
impl Store {
    const fn size(&self) -> usize {
        0
    }
    unsafe fn poke(&mut self) {}
    extern "C" fn call(&mut self) {}
}

fn main() {}
