//! A teller: takes an order, asks one account to withdraw and another to deposit.
//!
//! Between the two asks the money is in the teller's hands, so a teller must not crash there. It may crash, and does,
//! before it has begun: then the supervisor restarts it, its mailbox stays, and the order that it failed on is not
//! carried out at all.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volary::prelude::*;

use crate::account::{Account, Deposit, Overdrawn, Withdraw};
use crate::mishap::Mishaps;
use crate::screen::grouped;

pub(crate) struct Teller {
    figures: &'static Figures,
    mishaps: &'static Mishaps,
}

#[actor]
impl Teller {
    pub(crate) fn new(figures: &'static Figures, mishaps: &'static Mishaps) -> Self {
        Teller { figures, mishaps }
    }

    pub(crate) async fn transfer(
        &mut self,
        from: ActorRef<Account>,
        to: ActorRef<Account>,
        cents: i64,
        ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        let figures = self.figures;
        count(&figures.messages, 1);
        self.mishaps.strike(ctx.random())?;

        count(&figures.messages, 1);
        match from.ask(Withdraw { cents }).await {
            Ok(()) => {}
            Err(AskError::Rejected(Overdrawn)) => return Ok(count(&figures.declined, 1)),
            // The account crashed on this very message, before it changed anything: nothing has moved.
            Err(AskError::Failed(_)) => return Ok(count(&figures.aborted, 1)),
            Err(unclear) => return Err(figures.doubt(cents, unclear)),
        }
        loop {
            count(&figures.messages, 1);
            match to.ask(Deposit { cents }).await {
                Ok(()) => return Ok(count(&figures.transfers, 1)),
                // Certainly not deposited, so it is safe to try again; and the money must go somewhere.
                Err(AskError::Failed(_)) => count(&figures.retries, 1),
                Err(unclear) => return Err(figures.doubt(cents, unclear)),
            }
        }
    }
}

/// What the tellers have done.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) transfers: AtomicU64,
    pub(crate) messages: AtomicU64,
    declined: AtomicU64,
    aborted: AtomicU64,
    retries: AtomicU64,
    in_doubt: AtomicU64,
}

fn count(figure: &AtomicU64, by: u64) {
    figure.fetch_add(by, Relaxed);
}

impl Figures {
    /// After a timeout nobody knows whether the account has acted. It does not happen here, and if it did the audit
    /// would say so; a real bank writes each step down before it takes it.
    fn doubt<R: Rejection + Sync>(&self, cents: i64, unclear: AskError<R>) -> Fault {
        count(&self.in_doubt, cents.unsigned_abs());
        Fault::new(unclear)
    }

    pub(crate) fn in_doubt(&self) -> u64 {
        self.in_doubt.load(Relaxed)
    }

    pub(crate) fn summary(&self) -> String {
        let [transfers, declined, aborted, retries] =
            [&self.transfers, &self.declined, &self.aborted, &self.retries].map(|figure| grouped(figure.load(Relaxed)));
        format!("{transfers} transfers, {declined} declined, {aborted} aborted by a fault, {retries} deposits retried")
    }
}
