// What the examples in the documentation of this crate share, in lines that are not shown there: accounts, and two nodes of
// one process. `remote` is the node at 10.0.0.1:4242, where nobody lives. `bank` is the one at 10.0.0.7:4242, where alice
// has an account.

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_remote::transport::Memory;
use volary_remote::{Remote, RemoteBuilder};

type Done = std::result::Result<(), Box<dyn std::error::Error>>;

#[derive(Default)]
struct Account {
    cents: i64,
}

#[actor(kind = "bank.v1.Account", remote(Deposit))]
impl Account {
    /// Takes money, and says how much there is now.
    #[message(remote = "bank.v1.Deposit", codec = json, derive(Debug, Serialize, Deserialize))]
    pub fn deposit(&mut self, cents: i64) -> i64 {
        self.cents += cents;
        self.cents
    }
}

/// What somebody who is started elsewhere can be given.
struct Branch(String);

impl volary_core::Dependency for Branch {
    const KIND: &'static str = "bank.v1.Branch";
    fn to_bytes(&self) -> std::result::Result<Vec<u8>, volary_core::Fault> {
        Ok(self.0.clone().into_bytes())
    }
    fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, volary_core::Fault> {
        Ok(Branch(String::from_utf8_lossy(bytes).into_owned()))
    }
}

async fn system(name: &str) -> std::result::Result<volary_core::ActorSystem, Box<dyn std::error::Error>> {
    Ok(volary_core::ActorSystem::builder(name).ignore_environment().start().await?)
}

async fn two_nodes() -> std::result::Result<(Remote, Remote), Box<dyn std::error::Error>> {
    two_nodes_with(|builder| builder).await
}

/// The same, with more for the bank.
async fn two_nodes_with(
    more: impl FnOnce(RemoteBuilder) -> RemoteBuilder,
) -> std::result::Result<(Remote, Remote), Box<dyn std::error::Error>> {
    let network = Memory::default();
    let shop = Remote::builder().kind::<Account>().transport(network.clone());
    let shop = shop.start(&system("shop").await?, "10.0.0.1:4242").await?;
    let bank = Remote::builder()
        .spawnable::<Account>(|argument| {
            let cents = argument.bytes().try_into().map_or(0, i64::from_be_bytes);
            Ok(Account { cents })
        })
        .dependency::<Branch>()
        .transport(network);
    let there = system("bank").await?;
    let alice = there.spawn(Account::default).named("alice");
    alice.passivation(volary_core::Passivation::on_demand()).await?;
    Ok((shop, more(bank).start(&there, "10.0.0.7:4242").await?))
}
