#![allow(unused)]

use volary::prelude::*;

#[derive(Message)]
struct Ping;

protocol!(pub Empty {});
protocol!(Twice { Ping, Ping });
protocol!(Unlisted);
protocol!({ Ping });
protocol!(Trailing { Ping } more);

fn main() {}
