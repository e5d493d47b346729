//! An account: a balance that only its own handlers touch.
//!
//! Faults strike before a handler changes anything, as in any careful program: check first, then change. So a message
//! that failed has had no effect, and with `Directive::Resume` the balance outlives the fault. (A restart would build
//! the account anew, with its opening balance: right for a cache, wrong for money that is kept in memory.)

use serde::{Deserialize, Serialize};
use volary::prelude::*;

use crate::mishap;

pub(crate) struct Account {
    cents: i64,
}

/// An answer, not a fault: the teller asked a question, and this is "no".
#[derive(Debug, Serialize, Deserialize, Rejection)]
#[rejection(codec = postcard)]
pub(crate) struct Overdrawn;

#[actor(kind = "bank.Account", remote(Deposit, Withdraw, Balance))] // what the other process may send
impl Account {
    pub(crate) fn open(cents: i64) -> Self {
        Account { cents }
    }

    #[message(remote = "bank.Deposit", codec = postcard, derive(Serialize, Deserialize))]
    pub(crate) fn deposit(&mut self, cents: i64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        mishap::strike(ctx.random())?;
        self.cents += cents;
        Ok(())
    }

    #[message(remote = "bank.Withdraw", codec = postcard, derive(Serialize, Deserialize))]
    pub(crate) fn withdraw(&mut self, cents: i64, ctx: &mut Context<Self>) -> Result<(), Failure<Overdrawn>> {
        mishap::strike(ctx.random())?;
        if cents > self.cents {
            return Err(Overdrawn.into());
        }
        self.cents -= cents;
        Ok(())
    }

    #[message(remote = "bank.Balance", codec = postcard, derive(Serialize, Deserialize))]
    pub(crate) fn balance(&self) -> i64 {
        self.cents
    }
}
