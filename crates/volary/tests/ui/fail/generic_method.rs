#![allow(unused)]

use volary::prelude::*;

struct Store<T>(T);

#[actor]
impl<T: Send + 'static> Store<T> {
    fn put<V: Into<T>>(&mut self, value: V) {}
    fn show(&self) -> String
    where
        T: ToString,
    {
        self.0.to_string()
    }
}

fn main() {}
