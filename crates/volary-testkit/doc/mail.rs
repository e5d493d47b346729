// What examples of mailboxes that do as told share, in lines that are not shown there: an actor that adds up.

use std::future::IntoFuture;
use volary::prelude::*;
#[allow(unused_imports, reason = "not every example needs all")]
use volary_testkit::{FakeMailbox, TestKit};

#[derive(Debug, Message)]
#[message(reply = u64)]
struct Add(u64);

#[derive(Default)]
struct Sum(u64);

#[actor]
impl Sum {
    #[handles]
    fn add(&mut self, add: Add) -> u64 {
        self.0 += add.0;
        self.0
    }
}

/// The answers to two asks that are in the mailbox together.
#[allow(dead_code, reason = "not every example needs it")]
async fn two(sum: &ActorRef<Sum>) -> [u64; 2] {
    let (one, two) = (sum.ask(Add(1)).into_future(), sum.ask(Add(2)).into_future());
    [one.await.expect("it adds up"), two.await.expect("it adds up")]
}
