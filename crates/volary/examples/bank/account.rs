//! An account: a balance that only its own handlers touch.
//!
//! Handlers run one at a time, so there is no lock. Faults strike before a handler changes anything, as those of a
//! careful program do: check first, then change, and nothing can fail in between. So a message that failed has had
//! no effect, and with `Directive::Resume` the balance outlives the fault. (A restart would build the account anew
//! from its factory, with the opening balance: right for a cache, wrong for money that is kept in memory.)

use volary::prelude::*;

use crate::mishap::Mishaps;

pub(crate) struct Account {
    cents: i64,
    mishaps: &'static Mishaps,
}

/// An answer, not a fault: the teller asked a question, and this is "no".
#[derive(Debug, Rejection)]
pub(crate) struct Overdrawn;

#[actor]
impl Account {
    pub(crate) fn open(cents: i64, mishaps: &'static Mishaps) -> Self {
        Account { cents, mishaps }
    }

    pub(crate) fn deposit(&mut self, cents: i64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.mishaps.strike(ctx.random())?;
        self.cents += cents;
        Ok(())
    }

    pub(crate) fn withdraw(&mut self, cents: i64, ctx: &mut Context<Self>) -> Result<(), Failure<Overdrawn>> {
        self.mishaps.strike(ctx.random())?;
        if cents > self.cents {
            return Err(Overdrawn.into());
        }
        self.cents -= cents;
        Ok(())
    }

    pub(crate) fn balance(&self) -> i64 {
        self.cents
    }
}
