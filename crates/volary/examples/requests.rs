//! Requests: a shop that asks the market for prices and serves other customers meanwhile.
//!
//! `cargo run -p volary --example requests`

use std::time::Duration;

use volary::Reentrancy;
use volary::prelude::*;

struct Market;

#[actor]
impl Market {
    async fn price(&mut self, item: u64, ctx: &mut Context<Self>) -> u64 {
        ctx.sleep(Duration::from_millis(20)).await; // it thinks
        item * 3
    }
}

struct Shop {
    market: ActorRef<Market>,
    sold: u64,
}

#[actor]
impl Shop {
    /// Answers when the market has: the continuation has the shop, and the customer's `ReplyTo`.
    fn sell(&mut self, item: u64, reply: ReplyTo<u64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&self.market, Price { item })
            .timeout(Duration::from_secs(1))
            .then(move |shop: &mut Shop, price, _| {
                let price = price.or_fault()?; // the market is gone: crash
                shop.sold += price;
                reply.send(price);
                Ok(())
            })?;
        Ok(())
    }

    fn opening_hours(&mut self) -> &'static str {
        "nine to five"
    }

    fn sold(&mut self) -> u64 {
        self.sold
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("town").start().await?;
        let market = system.spawn(|| Market).named("market").await?;
        for (name, reentrancy) in [("open", Reentrancy::all()), ("strict", Reentrancy::hold_others())] {
            let market = market.clone();
            let shop = move || Shop {
                market: market.clone(),
                sold: 0,
            };
            let shop = system.spawn(shop).named(name).reentrancy(reentrancy).await?;
            let sale = shop.ask(Sell { item: 14 });
            let (question, began) = (shop.ask(OpeningHours), system.now());
            let (price, answered) = tokio::join!(sale.into_future(), async {
                question.await.map(|hours| (hours, system.now().since(began)))
            });
            let (hours, after) = answered?;
            println!("{name}: sold for {}, {} sold so far", price?, shop.ask(Sold).await?);
            println!(
                "{name}: open {hours}, answered {} the sale",
                if after.as_millis() < 15 { "before" } else { "after" }
            );
        }
        Ok(system.stop().await?)
    })
}
