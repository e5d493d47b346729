//! A bank: 200,000 accounts, each an actor, and tellers that move money between them while faults strike.
//!
//! ```text
//!   customers ──send──▶ tellers ──ask──▶ accounts        cargo xtask demo
//!   (tasks)             restart    │     resume            [--accounts N] [--seconds N] [--faults PER_MILLE]
//!                                  └────▶ accounts          [--branch-accounts N]
//!                                         of a second process
//! ```
//!
//! In the end every account is asked for its balance, and the sum must be what it was in the beginning. Why it always
//! is, `account.rs` and `teller.rs` say.

mod account;
mod branch;
mod mishap;
mod options;
mod screen;
mod teller;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use account::{Account, Balance};
use branch::Branch;
use screen::{Screen, grouped};
use teller::{Teller, Transfer};
use volary::prelude::*;

const OPENING_CENTS: i64 = 10_000;
const TELLERS: usize = 16;
const CUSTOMERS: u64 = 4;

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let options = options::from_command_line();
    if options.is_branch {
        return branch::serve(&options).await;
    }
    let began = Instant::now();
    let system = ActorSystem::builder("bank").start().await?;
    let mut accounts = Vec::with_capacity(options.accounts);
    for number in 0..options.accounts {
        let account = system.spawn(|| Account::open(OPENING_CENTS)).named(name(number));
        // Resume: on a fault the account keeps its state, which is the money, and goes on.
        accounts.push(account.on_fault(Directive::Resume).await?);
    }
    let took = began.elapsed();
    println!("{} accounts opened in {took:.2?}", grouped(accounts.len() as u64));
    let branch = Branch::open(&system, &options).await;

    let mut tellers = Vec::new();
    for number in 0..TELLERS {
        let teller = system.spawn(|| Teller).named(format!("teller-{number}"));
        // Bounded: customers wait in `send` while the tellers are busy. On a fault: restart, the default.
        tellers.push(teller.mailbox(MailboxKind::Bounded(256)).await?);
    }

    mishap::begin(options.faults);
    let until = Instant::now() + options.time;
    let accounts: Arc<[_]> = accounts.into();
    let far: Arc<[_]> = branch
        .as_ref()
        .map_or_else(Vec::new, |branch| branch.accounts.clone())
        .into();
    let queue = |seed| tokio::spawn(queue_up(seed, until, [accounts.clone(), far.clone()], tellers.clone()));
    let customers: Vec<_> = (0..CUSTOMERS).map(queue).collect();
    let mut screen = Screen::new(options.time);
    while Instant::now() < until {
        tokio::time::sleep(screen.pause()).await;
        screen.show(&system.metrics());
    }
    screen.done();
    for customer in customers {
        customer.await??;
    }
    for teller in &tellers {
        teller.drain(); // finishes what is in its mailbox, and then stops
        teller.terminated().await;
    }
    let conserved = audit(&system, options.accounts, branch.as_ref()).await?;
    system.stop().await?;
    if let Some(branch) = branch {
        branch.close();
    }
    Ok(ExitCode::from(u8::from(!conserved)))
}

fn name(number: usize) -> String {
    format!("account-{number}")
}

type Accounts = Arc<[ActorRef<Account>]>;

/// Of how many accounts one is in the other process, if there is one.
const FAR: usize = 20;

/// Customers are no actors but tasks of the world outside: they choose two accounts and go to a teller.
async fn queue_up(
    seed: u64,
    until: Instant,
    [near, far]: [Accounts; 2],
    tellers: Vec<ActorRef<Teller>>,
) -> volary::Result<()> {
    let mut dice = seed;
    let mut draw = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (dice >> 33) as usize % sides
    };
    while Instant::now() < until {
        let mut choose = || {
            let accounts = if far.is_empty() || draw(FAR) > 0 { &near } else { &far };
            accounts[draw(accounts.len())].clone()
        };
        let (from, to) = (choose(), choose());
        let cents = 1 + draw(5_000) as i64;
        tellers[draw(TELLERS)].send(Transfer { from, to, cents }).await?;
    }
    Ok(())
}

/// Looks every account up by its path and compares the sum of all balances with what was paid in.
async fn audit(system: &ActorSystem, accounts: usize, branch: Option<&Branch>) -> volary::Result<bool> {
    let injected = mishap::end();
    let (mut sum, mut missing) = (0, 0);
    for number in 0..accounts {
        match system.lookup::<Account>(&format!("/user/{}", name(number))) {
            Some(account) => sum += account.ask(Balance).await?,
            None => missing += 1,
        }
    }
    let faults = system.metrics().faults;
    println!("{injected} faults injected, {faults} supervised");
    let mut total = accounts;
    if let Some(branch) = branch {
        let mut there = 0;
        for account in &branch.accounts {
            there += account.ask(Balance).await?;
        }
        let (messages, faults) = (grouped(branch.messages()), branch.faults().await?);
        println!("{there} cents in the other process after {messages} messages to it and {faults} faults there");
        sum += there;
        total += branch.accounts.len();
    }
    let expected = OPENING_CENTS * total as i64;
    println!("{expected} cents paid in, {sum} cents there, {missing} accounts missing");
    let conserved = sum == expected && missing == 0 && injected == faults;
    println!(
        "{}",
        if conserved {
            "money is conserved"
        } else {
            "MONEY IS NOT CONSERVED"
        }
    );
    Ok(conserved)
}
