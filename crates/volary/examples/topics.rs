//! Topics: publish to a name, and whoever subscribed gets it. A slow subscriber is told what it has missed.
//!
//! `cargo run --example topics`

use volary::prelude::*;
use volary::{Missed, SubscriptionOptions};

#[derive(Clone, Debug, Message)]
struct Price {
    cents: u32,
}

#[derive(Default)]
struct Board {
    seen: Vec<u32>,
    missed: u64,
}

#[actor]
impl Board {
    /// Room for three prices at a time; the usual is 1,024.
    fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.subscribe_with("prices", SubscriptionOptions::<Price>::new().capacity(3))
            .or_fault()
    }

    #[handles]
    fn price(&mut self, price: Price) {
        self.seen.push(price.cents);
    }

    /// Comes in the place of what was lost. An actor that does not care leaves it out.
    #[handles]
    fn missed(&mut self, missed: Missed) {
        self.missed += missed.lost;
    }

    fn report(&self) -> (Vec<u32>, u64) {
        (self.seen.clone(), self.missed)
    }
}

struct Shop;

#[actor]
impl Shop {
    /// Never waits for anybody.
    fn reprice(&mut self, cents: u32, ctx: &mut Context<Self>) -> Result<usize, Fault> {
        ctx.publish("prices", Price { cents }).or_fault()
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("market").start().await?;
    let board = system.spawn(Board::default).named("board").await?;
    let shop = system.spawn(|| Shop).await?;

    // From outside, and only what is dear.
    let dear = SubscriptionOptions::new().filter(|price: &Price| price.cents >= 500);
    let dear = system.topics().listen_with("prices", dear)?;

    for cents in [250, 700, 100, 900] {
        let reached = shop.ask(Reprice { cents }).await?;
        println!("{cents} reached {reached}");
    }
    println!("dear: {:?}", dear.try_next());
    println!("dear: {:?}", dear.try_next());
    for topic in system.topics().list() {
        println!("{} has {} subscribers", topic.name, topic.subscribers);
    }
    let (seen, missed) = board.ask(Report).await?;
    println!("the board has seen {seen:?} and missed {missed}");

    // The type of a topic is that of its subscribers.
    if let Err(error) = system.topics().publish("prices", "cheap") {
        println!("{error}");
    }

    // An actor that stops leaves, and the topic goes with the last.
    drop(dear);
    board.stop();
    board.terminated().await;
    println!("topics left: {}", system.topics().list().len());
    system.stop().await?;
    Ok(())
}
