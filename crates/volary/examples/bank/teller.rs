//! A teller: asks one account to withdraw, and then another to deposit.
//!
//! Between the two the money is in the teller's hands, so it must not crash there. It may crash, and does, before it
//! has begun: then it is restarted, its mailbox stays, and the order that it failed on is not carried out at all.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volary::prelude::*;

use crate::account::{Account, Deposit, Overdrawn, Withdraw};
use crate::mishap;

pub(crate) static TRANSFERS: AtomicU64 = AtomicU64::new(0);
pub(crate) static MESSAGES: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Teller;

#[actor]
impl Teller {
    pub(crate) async fn transfer(
        &mut self,
        from: ActorRef<Account>,
        to: ActorRef<Account>,
        cents: i64,
        ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        mishap::strike(ctx.random())?;
        MESSAGES.fetch_add(2, Relaxed); // this one, and the next
        match from.ask(Withdraw { cents }).await {
            Ok(()) => {}
            Err(AskError::Rejected(Overdrawn)) => return Ok(()), // the customer goes home
            Err(AskError::Failed(_)) => return Ok(()), // it crashed before it changed anything: nothing has moved
            // Nor has anything if it never came to the other process, or was refused there.
            Err(AskError::Remote(error)) if error.is_certainly_not_handled() => return Ok(()),
            // Nobody knows whether a request that timed out was carried out. It does not happen here; if it did, the
            // audit would tell. A real bank writes each step down before it takes it.
            Err(unclear) => return Err(Fault::new(unclear)),
        }
        loop {
            MESSAGES.fetch_add(1, Relaxed);
            match to.ask(Deposit { cents }).await {
                Err(AskError::Failed(_)) => {} // certainly not deposited, so it is safe to try again
                Err(AskError::Remote(error)) if error.is_certainly_not_handled() => {}
                answer => break answer.or_fault()?,
            }
        }
        TRANSFERS.fetch_add(1, Relaxed);
        Ok(())
    }
}
