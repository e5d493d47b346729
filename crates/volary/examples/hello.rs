//! The smallest useful program: one actor, one tell, one ask.
//!
//! `cargo run --example hello`

use volary::prelude::*;

struct Account {
    cents: i64,
}

#[derive(Debug, Rejection)]
struct Overdrawn {
    missing: i64,
}

#[actor] // makes the messages Deposit and Withdraw, and their handlers
impl Account {
    fn deposit(&mut self, cents: i64) -> i64 {
        self.cents += cents;
        self.cents
    }

    fn withdraw(&mut self, cents: i64) -> Result<i64, Overdrawn> {
        if cents > self.cents {
            return Err(Overdrawn {
                missing: cents - self.cents,
            });
        }
        self.cents -= cents;
        Ok(self.cents)
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("bank").start().await?;
    let alice = system.spawn(|| Account { cents: 0 }).named("alice").await?;

    alice.tell(Deposit { cents: 10 })?; // goes on at once
    match alice.ask(Withdraw { cents: 15 }).await {
        Err(AskError::Rejected(Overdrawn { missing })) => println!("alice is short of {missing} cents"),
        answer => println!("alice has {} cents left", answer?),
    }

    system.stop().await?;
    Ok(())
}
