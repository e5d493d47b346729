#![allow(unused)]

use volary::prelude::*;

#[derive(Rejection)]
struct Refused;

fn main() {}
