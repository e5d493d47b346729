//! A bank: 200,000 accounts, each an actor, and tellers that move money between them while faults strike.
//!
//! `cargo xtask demo [--accounts N] [--seconds N] [--faults PER_MILLE]`
//!
//! ```text
//!   customers ──send──▶ tellers ──ask──▶ accounts
//!   (tasks)             restart          resume
//! ```
//!
//! When the time is over everything is drained, every account is asked for its balance, and the sum must be what it
//! was in the beginning. Read `account.rs` and `teller.rs` for why it always is.

mod account;
mod mishap;
mod options;
mod screen;
mod teller;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use account::{Account, Balance};
use mishap::Mishaps;
use options::Options;
use screen::{Screen, grouped};
use teller::{Figures, Teller, Transfer};
use volary::prelude::*;

const OPENING_CENTS: i64 = 10_000;
const TELLERS: usize = 16;
const CUSTOMERS: u64 = 4;

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let options = Options::from_command_line();
    // Shared by all accounts for as long as the program runs.
    let mishaps: &'static Mishaps = Box::leak(Box::new(Mishaps::new(options.faults)));
    let figures: &'static Figures = Box::leak(Box::default());
    let system = ActorSystem::builder("bank").start().await?;

    let began = Instant::now();
    let mut accounts = Vec::with_capacity(options.accounts);
    for number in 0..options.accounts {
        let open = move || Account::open(OPENING_CENTS, mishaps);
        // Resume: on a fault the account keeps its state, which is the money, and goes on.
        accounts.push(system.spawn(open).named(name(number)).on_fault(Directive::Resume).await?);
    }
    println!("{} accounts opened in {:.2?}", grouped(options.accounts as u64), began.elapsed());

    let mut tellers = Vec::new();
    for number in 0..TELLERS {
        // A bounded mailbox: customers wait in `send` when the tellers are busy. Restart is the default on a fault.
        let teller = system.spawn(move || Teller::new(figures, mishaps)).named(format!("teller-{number}"));
        tellers.push(teller.mailbox(MailboxKind::Bounded(256)).await?);
    }

    let until = Instant::now() + options.time;
    let accounts = Arc::new(accounts);
    let customers: Vec<_> =
        (0..CUSTOMERS).map(|seed| tokio::spawn(queue_up(seed, until, accounts.clone(), tellers.clone()))).collect();
    let mut screen = Screen::new(options.time);
    while Instant::now() < until {
        tokio::time::sleep(screen.pause()).await;
        screen.show(figures, &system.metrics());
    }
    screen.done();

    for customer in customers {
        customer.await?;
    }
    for teller in &tellers {
        teller.drain(); // finishes what is in its mailbox, and then stops
        teller.terminated().await;
    }
    let honest = audit(&system, &options, figures, mishaps).await?;
    system.stop().await?;
    Ok(if honest { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn name(number: usize) -> String {
    format!("account-{number}")
}

/// Customers are no actors but tasks of the world outside. They choose two accounts and go to a teller.
async fn queue_up(seed: u64, until: Instant, accounts: Arc<Vec<ActorRef<Account>>>, tellers: Vec<ActorRef<Teller>>) {
    let mut dice = seed;
    let mut draw = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % sides
    };
    while Instant::now() < until {
        for _ in 0..64 {
            let (from, to) = (&accounts[draw(accounts.len())], &accounts[draw(accounts.len())]);
            let transfer = Transfer { from: from.clone(), to: to.clone(), cents: 1 + draw(5_000) as i64 };
            if tellers[draw(TELLERS)].send(transfer).await.is_err() {
                return; // nobody at the counter for five seconds
            }
        }
    }
}

/// Asks every account for its balance and compares the sum with what was paid in.
async fn audit(system: &ActorSystem, options: &Options, figures: &Figures, mishaps: &Mishaps) -> volary::Result<bool> {
    mishaps.cease();
    let (mut sum, mut missing) = (0, 0);
    for number in 0..options.accounts {
        match system.lookup::<Account>(&format!("/user/{}", name(number))) {
            Some(account) => sum += account.ask(Balance).await?,
            None => missing += 1,
        }
    }
    let expected = OPENING_CENTS * options.accounts as i64;
    let metrics = system.metrics();
    println!("{}", figures.summary());
    println!("{} faults injected, {} supervised", grouped(mishaps.so_far()), grouped(metrics.faults));
    println!("{} cents paid in, {} cents there now", grouped(expected as u64), sum);
    let honest = sum == expected && missing == 0 && figures.in_doubt() == 0 && mishaps.so_far() == metrics.faults;
    println!("{}", if honest { "money is conserved" } else { "MONEY IS NOT CONSERVED" });
    if missing > 0 {
        println!("{missing} accounts are missing");
    }
    Ok(honest)
}
