#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
struct Borrowed<'a> {
    text: &'a str,
}

#[derive(Message)]
union Either {
    number: u8,
    letter: u8,
}

#[derive(Debug, Rejection)]
struct No<'a>(&'a str);

fn main() {}
