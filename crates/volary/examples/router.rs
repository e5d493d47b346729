//! One address before several workers: in turn, by key, whoever answers first; and a group that a router follows.
//!
//! `cargo run --example router`

use std::time::Duration;

use volary::prelude::*;
use volary::routing::{ConsistentHash, Elastic, FailedRoutee, HashKey, Pool, RoundRobin, ScatterGather};

struct Worker {
    done: u64,
}

#[derive(Clone, Message)]
#[message(reply = String)]
struct Order {
    customer: String,
    cents: u64,
}

#[actor]
impl Worker {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.join("workers"); // until it ends
    }

    #[handles]
    fn order(&mut self, order: Order, ctx: &mut Context<Self>) -> String {
        self.done += 1;
        let (name, customer, cents) = (ctx.path(), order.customer, order.cents);
        format!("{name} takes {cents} from {customer}, its order number {}", self.done)
    }
}

fn order(customer: &str, cents: u64) -> Order {
    let customer = customer.to_owned();
    Order { customer, cents }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("shop").start().await?;

    // A pool: the router starts its routees, replaces those that crash, and has more of them when there is more to do.
    let pool = Pool::of(2, || Worker { done: 0 })
        .on_failure(FailedRoutee::Replace)
        .elastic(Elastic::between(2, 8).every(Duration::from_millis(100)));
    let desks = system.router(RoundRobin, pool).named("desks").await?;
    for cents in [10, 20, 30] {
        println!("{}", desks.ask(order("alice", cents)).await?);
    }

    // By key: all orders of a customer go to the same worker, whatever the number of workers does to the others.
    let by_customer = ConsistentHash::by(|order: &Order| HashKey::of(&order.customer));
    let tills = system
        .router(by_customer, Pool::of(4, || Worker { done: 0 }))
        .named("tills")
        .await?;
    for customer in ["alice", "bob", "alice", "bob"] {
        println!("{}", tills.ask(order(customer, 5)).await?);
    }
    println!(
        "{} tills now",
        tills
            .resize(8)
            .await
            .map_err(|error| error.to_string())
            .unwrap_or_default()
    );

    // Over a group: everybody who has joined, wherever they were started. The first answer counts.
    let everybody = system.groups().of::<Worker>("workers");
    let quickest = system.router(ScatterGather, &everybody).await?;
    println!("of {}: {}", quickest.size(), quickest.ask(order("carol", 1)).await?);

    for routee in desks.routees() {
        println!("{} is {:?}, {} waiting", routee.path, routee.state, routee.waiting);
    }
    desks.drain();
    desks.terminated().await;
    println!("{} workers are left", everybody.len());
    system.stop().await?;
    Ok(())
}
