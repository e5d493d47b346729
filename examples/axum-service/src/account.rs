//! The actors: a bank, and below it an account for each name.

use std::time::Duration;

use volary::Baggage;
use volary::prelude::*;

/// Cents in an account, and what is told of it.
#[derive(Default)]
pub(crate) struct Account {
    cents: u64,
    changed_by: Option<String>,
}

/// What is told of an account.
pub(crate) struct Statement {
    pub(crate) cents: u64,
    /// The id of the trace that the last change was part of.
    pub(crate) changed_by: Option<String>,
}

#[derive(Debug, Rejection)]
pub(crate) struct Overdrawn {
    pub(crate) missing: u64,
}

#[actor]
impl Account {
    pub(crate) fn deposit(&mut self, cents: u64) -> Result<u64, Fault> {
        // An overflow is no answer to the client but a fault of ours: the account keeps what it has.
        self.cents = self
            .cents
            .checked_add(cents)
            .ok_or_else(|| Fault::msg("the account is full"))?;
        self.changed_by = current_trace();
        Ok(self.cents)
    }

    pub(crate) fn withdraw(&mut self, cents: u64) -> Result<u64, Overdrawn> {
        let missing = cents.saturating_sub(self.cents);
        if missing > 0 {
            return Err(Overdrawn { missing });
        }
        self.cents -= cents;
        self.changed_by = current_trace();
        Ok(self.cents)
    }

    pub(crate) fn look(&self) -> Statement {
        Statement {
            cents: self.cents,
            changed_by: self.changed_by.clone(),
        }
    }

    /// Takes as long as it is told.
    pub(crate) async fn audit(&mut self, millis: u64, ctx: &mut Context<Self>) -> u64 {
        ctx.sleep(Duration::from_millis(millis)).await;
        self.cents
    }
}

/// The baggage of the request came along with the message; nobody had to pass it on.
fn current_trace() -> Option<String> {
    let trace = Baggage::current().trace()?;
    Some(format!("{:032x}", trace.trace_id()))
}

/// Opens accounts, and knows where they are.
pub(crate) struct Bank;

#[derive(Debug, Rejection)]
pub(crate) struct NoSuchAccount;

#[actor]
impl Bank {
    pub(crate) fn find(&mut self, name: String, ctx: &mut Context<Self>) -> Result<ActorRef<Account>, NoSuchAccount> {
        ctx.child(&name).ok_or(NoSuchAccount)
    }

    pub(crate) fn open(
        &mut self,
        name: String,
        ctx: &mut Context<Self>,
    ) -> Result<ActorRef<Account>, Failure<BadName>> {
        if let Some(account) = ctx.child(&name) {
            return Ok(account);
        }
        // Resume: what is in the account stays there, whatever a request does.
        let account = ctx
            .spawn_child(Account::default)
            .named(name)
            .on_fault(Directive::Resume);
        match account.start() {
            Ok(account) => Ok(account),
            Err(volary::SpawnError::Name { reason, .. }) => Err(BadName(reason.to_string()).into()),
            Err(other) => Err(Fault::new(other).into()),
        }
    }
}

#[derive(Debug, Rejection)]
pub(crate) struct BadName(pub(crate) String);
