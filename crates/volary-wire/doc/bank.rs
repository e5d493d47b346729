// What examples in the documentation of this crate share, in lines that are not shown there: accounts, the message that they
// take from other nodes, and a registry that knows both.

#[allow(unused_imports, reason = "not every example needs all")]
use bytes::{Bytes, BytesMut};
#[allow(unused_imports, reason = "as above")]
use volary_core::{Actor, ActorRef, ActorSystem, AnyRef, Context, Failure, Message, MessageList, Recipient, SyncHandler};
#[allow(unused_imports, reason = "as above")]
use volary_wire::{Answered, CodecId, KindTable, MessageEntry, PendingReply, Proto, Registry, RemoteActor, Reply, Route, Wire};

type Anything = Box<dyn std::error::Error + Send + Sync>;
type Done = Result<(), Anything>;

#[derive(Clone, PartialEq, prost::Message)]
struct Deposit {
    #[prost(int64, tag = "1")]
    cents: i64,
}
impl Message for Deposit {
    type Reply = i64;
    type Rejection = std::convert::Infallible;
}
impl Wire for Deposit {
    const NAME: &'static str = "bank.v1.Deposit";
    type Codec = Proto;
    type ReplyCodec = Proto;
}

#[derive(Default)]
struct Account {
    cents: i64,
}
impl Actor for Account {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Deposit>();
    }
}
impl SyncHandler<Deposit> for Account {
    fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> {
        self.cents += deposit.cents;
        Ok(self.cents)
    }
}
impl RemoteActor for Account {
    const KIND: &'static str = "bank.v1.Account";

    fn remote_messages(table: &mut KindTable<Self>) {
        table.add::<Deposit>();
    }
}

#[allow(dead_code, reason = "not every example needs it")]
fn registry() -> Result<Registry, Anything> {
    let mut registry = Registry::new();
    registry.kind::<Account>()?;
    Ok(registry)
}

/// A deposit as it travels.
#[allow(dead_code, reason = "not every example needs it")]
fn deposit(cents: i64) -> Bytes {
    prost::Message::encode_to_vec(&Deposit { cents }).into()
}

/// An answer as it travels.
#[allow(dead_code, reason = "not every example needs it")]
fn answer(cents: i64) -> Bytes {
    prost::Message::encode_to_vec(&cents).into()
}

#[allow(dead_code, reason = "not every example needs it")]
async fn bank() -> Result<(ActorSystem, ActorRef<Account>), Anything> {
    let system = ActorSystem::builder("bank").settings(|s| s.log_config(false)).start().await?;
    let alice = system.spawn(Account::default).named("alice").await?;
    Ok((system, alice))
}
