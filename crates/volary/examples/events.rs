//! The event stream: dead letters, the lives of actors, and events of our own.
//!
//! `cargo run --example events`

use volary::prelude::*;
use volary::{ActorFailed, ActorStopped, DeadLetter};

/// Anything that is `Clone` can be published.
#[derive(Clone, Debug, Message)]
struct PriceChanged {
    cents: u32,
}

struct Shop;

#[actor]
impl Shop {
    fn reprice(&mut self, cents: u32, ctx: &mut Context<Self>) {
        ctx.system().events().publish(PriceChanged { cents });
    }

    fn buy(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("the till is stuck"))
    }
}

#[derive(Default)]
struct Customer {
    seen: Vec<u32>,
}

#[actor]
impl Customer {
    /// An event that is a message too can be subscribed to by an actor: it comes with its other mail.
    #[handles]
    fn price_changed(&mut self, event: PriceChanged) {
        self.seen.push(event.cents);
    }

    fn seen(&self) -> Vec<u32> {
        self.seen.clone()
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("market").start().await?;
    let prices = system.events().subscribe::<PriceChanged>();
    let failures = system.events().subscribe::<ActorFailed>();
    let ends = system.events().subscribe::<ActorStopped>();
    let dead_letters = system.events().subscribe::<DeadLetter>();

    let customer = system.spawn(Customer::default).await?;
    system.events().subscribe_actor::<PriceChanged>(&customer.recipient());
    let shop = system.spawn(|| Shop).named("shop").on_fault(Directive::Resume).await?;

    shop.ask(Reprice { cents: 250 }).await?;
    println!("published: {:?}", prices.next().await?);
    println!("the customer has seen {:?}", customer.ask(Seen).await?);

    shop.tell(Buy)?;
    let failed = failures.next().await?;
    println!("failed: {}: {}, so {:?}", failed.path, failed.fault, failed.directive);

    // Messages behind a stop are not handled. They do not vanish either: each becomes one dead letter.
    shop.tell_all((1..=3).map(|cents| Reprice { cents }))?;
    shop.kill();
    shop.terminated().await;
    println!("ended: {}", ends.next().await?.path);
    while let Some(letter) = dead_letters.try_next() {
        let letter = letter?;
        let price = letter.take::<Reprice>().map(|reprice| reprice.cents);
        println!("dead letter, for {}: the price was {price:?}", letter.reason());
    }

    system.stop().await?;
    Ok(())
}
