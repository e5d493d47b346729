//! Protocols, with the messages of an actor that knows nothing of them.
#![deny(warnings)]

use volary::prelude::*;

protocol! {
    /// What the counter lets the world do.
    #[allow(dead_code)]
    pub CounterApi {
        Add,
        Read,
    }
}

protocol!(ReadOnly { Read });
protocol!(pub(crate) Odd { A, Wrapped<u8> });

/// A message whose name is as short as a type parameter.
#[derive(Message)]
pub struct A;

#[derive(Message)]
pub struct Wrapped<T>(pub T);

pub struct Counter(u64);

#[actor]
impl Counter {
    pub fn add(&mut self, by: u64) {
        self.0 += by;
    }
    pub fn read(&self) -> u64 {
        self.0
    }
    #[handles]
    pub fn a(&mut self, _: A) {}
    #[handles]
    pub fn wrapped(&mut self, _: Wrapped<u8>) {}
}

fn covers<P: volary::__private::Covers<A>, A: volary::Actor>() {}
fn accepts<P: volary::__private::Accepts<M>, M: Message>() {}

fn main() {
    covers::<CounterApi, Counter>();
    covers::<ReadOnly, Counter>();
    covers::<Odd, Counter>();
    accepts::<CounterApi, Add>();
    accepts::<CounterApi, Read>();
    accepts::<ReadOnly, Read>();
    accepts::<Odd, Wrapped<u8>>();
}
