//! Pipe to: a shop asks a slow and shaky price service without waiting for it, behind a timeout and a circuit breaker.
//!
//! `cargo run -p volary --example pipe`

use std::time::Duration;

use volary::prelude::*;
use volary::{BreakerChanged, BreakerOptions, CircuitBreaker, PipeError};

/// Somewhere out there. Says no to odd numbers, and nothing at all to multiples of four.
async fn price_of(item: u32) -> Result<u32, String> {
    match item {
        _ if item.is_multiple_of(4) => std::future::pending().await,
        _ if item.is_multiple_of(2) => Ok(item * 100),
        _ => Err(format!("no price for {item}")),
    }
}

struct Shop {
    prices: CircuitBreaker,
}

#[derive(Message)]
struct Priced {
    item: u32,
    price: Result<u32, PipeError<String>>,
}

#[actor]
impl Shop {
    fn order(&mut self, item: u32, ctx: &mut Context<Self>) {
        ctx.pipe(price_of(item))
            .timeout(Duration::from_millis(50))
            .breaker(&self.prices)
            .to_self(move |price| Priced { item, price });
    }

    /// Whatever became of it is a message like any other.
    #[handles]
    fn priced(&mut self, Priced { item, price }: Priced) {
        match price {
            Ok(cents) => println!("item {item} costs {cents}"),
            Err(PipeError::Refused(_)) => println!("item {item}: not even asked"),
            Err(error) => println!("item {item}: {error}"),
        }
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("shop").start().await?;
        let changes = system.events().subscribe::<BreakerChanged>();
        let options = BreakerOptions::default()
            .named("prices")
            .minimum_calls(4)
            .open_for(Duration::from_millis(200))
            .trial_calls(1);
        let prices = CircuitBreaker::new(options)?;
        let breaker = prices.clone();
        let shop = system.spawn(move || Shop { prices: prices.clone() }).await?;

        for item in 1..=6 {
            shop.tell(Order { item })?;
            system.sleep(Duration::from_millis(60)).await;
        }
        system.sleep(Duration::from_millis(200)).await;
        shop.tell(Order { item: 10 })?; // the trial call
        system.sleep(Duration::from_millis(60)).await;

        while let Some(Ok(change)) = changes.try_next() {
            println!("{change}");
        }
        println!("{:?}", breaker.counters(system.now()));
        Ok(system.stop().await?)
    })
}
