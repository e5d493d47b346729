// What examples in the documentation of this crate share, in lines that are not shown there: the system `bank`, alice's
// account in it, and a way into a handler of hers.

#[allow(unused_imports, reason = "not every example needs all")]
use std::{convert::Infallible, sync::Arc, time::Duration};
#[allow(unused_imports, reason = "as above")]
use volary_core::*;

type Anything = Box<dyn std::error::Error + Send + Sync>;
type Done = Result<(), Anything>;

#[derive(Default)]
struct Account {
    cents: i64,
}

impl Actor for Account {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Deposit>();
        list.add::<Balance>();
    }
}

/// Answered with what there is now.
#[derive(Debug, Clone, PartialEq)]
struct Deposit(i64);
impl Message for Deposit {
    type Reply = i64;
    type Rejection = Infallible;
}
impl SyncHandler<Deposit> for Account {
    fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> {
        self.cents += deposit.0;
        Ok(self.cents)
    }
}

#[derive(Debug, Clone)]
struct Balance;
impl Message for Balance {
    type Reply = i64;
    type Rejection = Infallible;
}
impl SyncHandler<Balance> for Account {
    fn handle(&mut self, _: Balance, _: &mut Context<Self>) -> Result<i64, Failure> {
        Ok(self.cents)
    }
}

impl SyncHandler<Terminated> for Account {
    fn handle(&mut self, told: Terminated, ctx: &mut Context<Self>) -> Result<(), Failure> {
        ctx.system().events().publish(told);
        Ok(())
    }
}
impl SyncHandler<ReceiveTimeout> for Account {
    fn handle(&mut self, told: ReceiveTimeout, ctx: &mut Context<Self>) -> Result<(), Failure> {
        ctx.system().events().publish(told);
        Ok(())
    }
}
impl SyncHandler<ActorStopped> for Account {
    fn handle(&mut self, _: ActorStopped, _: &mut Context<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

struct Inside(Box<dyn FnOnce(&mut Context<Account>) -> Done + Send>);
impl Message for Inside {
    type Reply = ();
    type Rejection = Infallible;
}
impl SyncHandler<Inside> for Account {
    fn handle(&mut self, inside: Inside, ctx: &mut Context<Self>) -> Result<(), Failure> {
        Ok((inside.0)(ctx).map_err(|error| Fault::msg(error.to_string()))?)
    }
}

/// Runs the body of an example in a handler.
#[allow(dead_code, reason = "not every example has one")]
async fn inside(account: &ActorRef<Account>, body: impl FnOnce(&mut Context<Account>) -> Done + Send + 'static) -> Done {
    Ok(account.ask(Inside(Box::new(body))).await?)
}

#[allow(dead_code, reason = "not every example has one")]
async fn bank() -> Result<(ActorSystem, ActorRef<Account>), Anything> {
    let system = ActorSystem::builder("bank").ignore_environment();
    let system = system.settings(|s| s.log_config(false)).start().await?;
    let alice = system.spawn(Account::default).named("alice").await?;
    Ok((system, alice))
}
