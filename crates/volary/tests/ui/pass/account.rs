//! The account of the manual: every kind of method, and each still callable as one.
#![deny(warnings)]

use std::convert::Infallible;

use volary::prelude::*;

#[derive(Debug, Rejection)]
pub struct Overdrawn {
    pub missing: i64,
}

#[derive(Debug, PartialEq)]
pub struct Report(pub i64);

pub struct Account {
    cents: i64,
    waiting: Vec<ReplyTo<Report>>,
}

type Result<T> = std::result::Result<T, Fault>;

#[actor]
impl Account {
    /// Not a message: it has no receiver.
    pub const fn open() -> Self {
        Account { cents: 0, waiting: Vec::new() }
    }

    /// Puts money in.
    #[message(derive(Debug, Clone, PartialEq))]
    pub fn deposit(
        &mut self,
        /// How much.
        cents: i64,
    ) -> i64 {
        self.cents += cents;
        self.cents
    }

    pub async fn withdraw(&mut self, mut cents: i64) -> std::result::Result<i64, Failure<Overdrawn>> {
        cents = cents.abs();
        if cents > self.cents {
            return Err(Overdrawn { missing: cents - self.cents }.into());
        }
        self.cents -= cents;
        Ok(self.cents)
    }

    pub fn reserve(&self, cents: i64) -> std::result::Result<(), Overdrawn> {
        if cents > self.cents { Err(Overdrawn { missing: cents - self.cents }) } else { Ok(()) }
    }

    pub fn import(&mut self, _ctx: &mut Context<Self>, text: String) -> Result<i64> {
        self.cents += text.parse::<i64>().or_fault()?;
        Ok(self.cents)
    }

    pub fn balance(&self) -> i64 {
        self.cents
    }

    #[message(name = Reset)]
    pub fn clear(self: &mut Self) {
        self.cents = 0;
    }

    pub async fn audit(&mut self, reply: ReplyTo<Report>, _ctx: &mut Context<Self>) -> std::result::Result<(), Fault> {
        self.waiting.push(reply);
        Ok(())
    }

    pub fn lend(&mut self, _: &mut Context<Account>, cents: i64, reply: ReplyTo<i64, Overdrawn>) {
        match self.reserve(cents) {
            Ok(()) => reply.send(cents),
            Err(overdrawn) => reply.reject(overdrawn),
        }
    }

    pub fn r#type(&self, callback: Box<dyn Fn(&str) + Send>) -> &'static str {
        callback("account");
        "account"
    }

    /// Another account like this one.
    pub fn join(&mut self, other: Self) -> Option<Self> {
        self.cents += other.cents;
        None
    }

    pub fn digest(&self, seed: [u8; Self::SEED]) -> [u8; Self::SEED] {
        seed
    }

    const SEED: usize = 4;

    #[actor(skip)]
    pub fn print(self) {
        println!("{}", self.cents);
    }
}

fn contract<M: Message<Reply = T, Rejection = R>, T, R>(_: M) {}
fn sync<M: Message>(_: M)
where
    Account: SyncHandler<M>,
{
}
fn asynchronous<M: Message>(_: M)
where
    Account: Handler<M>,
{
}
fn responds<M: Message>(_: M)
where
    Account: Respond<M>,
{
}

fn main() {
    let mut account = Account::open();
    assert_eq!(account.deposit(5), 5);
    assert!(matches!(account.reserve(7), Err(Overdrawn { missing: 2 })));
    account.clear();
    assert_eq!(account.balance(), 0);

    assert_eq!(Deposit { cents: 1 }.clone(), Deposit { cents: 1 });
    contract::<Deposit, i64, Infallible>(Deposit { cents: 1 });
    contract::<Withdraw, i64, Overdrawn>(Withdraw { cents: 1 });
    contract::<Reserve, (), Overdrawn>(Reserve { cents: 1 });
    contract::<Import, i64, Infallible>(Import { text: String::new() });
    contract::<Balance, i64, Infallible>(Balance);
    contract::<Reset, (), Infallible>(Reset);
    contract::<Audit, Report, Infallible>(Audit);
    contract::<Lend, i64, Overdrawn>(Lend { cents: 1 });
    contract::<Type, &'static str, Infallible>(Type { callback: Box::new(|_| ()) });
    contract::<Join, Option<Account>, Infallible>(Join { other: Account::open() });
    contract::<Digest, [u8; 4], Infallible>(Digest { seed: [0; 4] });

    sync(Deposit { cents: 1 });
    sync(Reset);
    asynchronous(Withdraw { cents: 1 });
    responds(Audit);
    responds(Lend { cents: 1 });
    account.print();
}
