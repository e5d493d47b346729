//! How fast two nodes of one process speak over TCP: `cargo run --release -p volary-remote --example flood`. A number
//! behind that is how many messages are told; fifty times fewer are asked.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a measurement")]

use std::time::Instant;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::Remote;

struct Sink(u64);

#[actor(kind = "flood.Sink", remote(Put, Get))]
impl Sink {
    #[message(remote = "flood.Put", codec = postcard, derive(Serialize, Deserialize))]
    fn put(&mut self, bytes: Vec<u8>) {
        self.0 += u64::from(!bytes.is_empty());
    }
    #[message(remote = "flood.Get", codec = postcard, derive(Serialize, Deserialize))]
    fn get(&mut self) -> u64 {
        self.0
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let one = ActorSystem::builder("one").start().await.unwrap();
    let other = ActorSystem::builder("other").start().await.unwrap();
    let here = Remote::builder()
        .kind::<Sink>()
        .start(&one, "127.0.0.1:0")
        .await
        .unwrap();
    let there = Remote::builder()
        .kind::<Sink>()
        .start(&other, "127.0.0.1:0")
        .await
        .unwrap();
    let sink = other.spawn(|| Sink(0)).named("sink").await.unwrap();
    let far: ActorRef<Sink> = here.actor(&there.address_of(&sink)).unwrap();
    far.ask(Get).await.unwrap();

    let count: u64 = std::env::args()
        .nth(1)
        .map_or(1_000_000, |count| count.parse().unwrap());
    let asks = (count / 50).max(1);
    let begun = Instant::now();
    for _ in 0..count {
        let mut message = Put { bytes: vec![7; 100] };
        while let Err(refused) = far.tell(message) {
            message = refused.into_message();
            tokio::task::yield_now().await;
        }
    }
    while far.ask(Get).timeout(std::time::Duration::from_secs(30)).await.unwrap() < count {}
    let took = begun.elapsed();
    println!("tell: {:.0} messages/s", count as f64 / took.as_secs_f64());

    let begun = Instant::now();
    for _ in 0..asks {
        far.ask(Get).await.unwrap();
    }
    println!(
        "ask, one at a time: {:.1} µs each",
        begun.elapsed().as_secs_f64() * 1e6 / asks as f64
    );

    let begun = Instant::now();
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let far = far.clone();
            tokio::spawn(async move {
                for _ in 0..asks / 8 {
                    far.ask(Get).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    println!(
        "ask, 64 in flight: {:.0}/s",
        64.0 * (asks / 8) as f64 / begun.elapsed().as_secs_f64()
    );
    println!("{:?}", here.peers());
    one.stop().await.unwrap();
    other.stop().await.unwrap();
}
