//! R2 and S20: messages that travel, from the attributes to an actor on the other side of some bytes.
#![cfg(all(feature = "json", feature = "cbor", feature = "postcard"))]
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

/// Messages that prost generates from a schema; they are messages of Volary by an attribute of the generator.
#[rustfmt::skip]
#[allow(clippy::all, missing_docs, unreachable_pub, reason = "it is as prost writes it")]
#[path = "generated/bank.rs"]
mod bank;
mod common;

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use bank::{Balance, Deposit, GetBalance, SendBalance};
use bytes::{Bytes, BytesMut};
use common::{seeds, simulated};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::wire::native::{Frame, FrameDecoder, FrameWriter, Head, Limits, NameRef, Outcome};
use volary::wire::{
    Codec, CodecId, DecodeError, DeliverError, EncodeError, PendingReply, Ref, RegisterError, Registry, Reply,
    SendEncodeError, Wire,
};
use volary::{AnyRef, ResolveError, Resolver, Resolving, tree::Address};

#[derive(Debug, PartialEq, Serialize, Deserialize, Rejection)]
#[rejection(codec = json)]
struct Overdrawn {
    missing: i64,
}

/// A type of somebody else, behind a wrapper and a codec of its own.
#[derive(Message)]
#[message(reply = Wait, remote = "bank.v1.Wait", codec = Millis)]
struct Wait(Duration);

struct Millis;

impl Codec<Wait> for Millis {
    const ID: CodecId = CodecId::own(1);
    fn encode(value: &Wait, out: &mut BytesMut) -> Result<(), EncodeError> {
        let millis = u64::try_from(value.0.as_millis()).map_err(|error| EncodeError::new::<Wait>(Self::ID, error))?;
        out.extend_from_slice(&millis.to_be_bytes());
        Ok(())
    }
    fn decode(bytes: Bytes) -> Result<Wait, DecodeError> {
        match bytes[..].try_into() {
            Ok(millis) => Ok(Wait(Duration::from_millis(u64::from_be_bytes(millis)))),
            Err(_) => panic!("a codec that panics on what it does not like"),
        }
    }
}

struct Account {
    cents: i64,
}

#[actor(
    kind = "bank.v1.Account",
    remote(Deposit, GetBalance, SendBalance, Withdraw, Slow, Crash, Forget, Wait)
)]
impl Account {
    #[handles]
    fn deposit(&mut self, deposit: Deposit) -> i64 {
        self.cents += deposit.cents;
        self.cents
    }

    #[handles]
    fn get_balance(&mut self, _: GetBalance) -> Balance {
        Balance { cents: self.cents }
    }

    #[handles]
    fn send_balance(&mut self, send: SendBalance) -> Result<(), Fault> {
        let to = send.to.unwrap_or_default();
        let clerk = to.recipient::<Balance>().or_fault()?;
        clerk.tell(Balance { cents: self.cents }).or_fault()
    }

    #[message(remote = "bank.v1.Withdraw", codec = json, derive(Debug, Serialize, Deserialize))]
    fn withdraw(&mut self, cents: i64) -> Result<i64, Failure<Overdrawn>> {
        if cents > self.cents {
            let missing = cents - self.cents;
            return Err(Overdrawn { missing }.into());
        }
        self.cents -= cents;
        Ok(self.cents)
    }

    #[message(remote = "bank.v1.Slow", codec = postcard, derive(Serialize, Deserialize))]
    async fn slow(&mut self, millis: u64, ctx: &mut Context<Self>) -> i64 {
        ctx.sleep(Duration::from_millis(millis)).await;
        self.cents
    }

    #[message(remote = "bank.v1.Crash", codec = cbor, derive(Serialize, Deserialize))]
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("the ledger is gone"))
    }

    #[message(remote = "bank.v1.Forget", codec = cbor, derive(Serialize, Deserialize))]
    fn forget(&mut self, reply: ReplyTo<u8>) {
        drop(reply);
    }

    #[handles]
    fn wait(&mut self, wait: Wait) -> Wait {
        wait
    }

    /// Registered by somebody else, and not open to other nodes here.
    #[message(remote = "bank.v1.Close", codec = cbor, derive(Serialize, Deserialize))]
    fn close(&mut self) {}

    fn local(&mut self) {}
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.kind::<Account>().unwrap().message::<Close>().unwrap();
    registry
}

/// Sends a message over bytes and hands it to `to`, as remoting will.
fn over<M: Message>(registry: &Registry, message: &M) -> (String, CodecId, Bytes) {
    let entry = registry.entry::<M>().unwrap();
    let mut out = BytesMut::new();
    let head = Head {
        sequence: 1,
        receiver: NameRef::Id(1),
        sender: None,
        type_name: NameRef::Text(entry.name()),
        codec: entry.codec(),
        metadata: None,
    };
    FrameWriter::new(&mut out)
        .tell(&head, |payload| entry.encode(message, payload))
        .unwrap()
        .unwrap();
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(&out);
    let Some(Frame::Tell(envelope)) = decoder.next_frame().unwrap() else {
        panic!("a tell")
    };
    let volary::wire::native::Name::Text(name) = envelope.type_name else {
        panic!("in full")
    };
    (name.to_string(), envelope.codec, envelope.payload)
}

fn told<M: Message>(registry: &Registry, to: &AnyRef, message: &M) -> Result<(), DeliverError> {
    let (name, codec, payload) = over(registry, message);
    registry.route(to.actor_type(), &name)?.tell(to, codec, payload)
}

fn asked<M: Message>(registry: &Registry, to: &AnyRef, message: &M) -> Result<Box<dyn PendingReply>, DeliverError> {
    let (name, codec, payload) = over(registry, message);
    registry.route(to.actor_type(), &name)?.ask(to, codec, payload, None)
}

/// The reply, over bytes again.
async fn answer<M: Message>(registry: &Registry, mut pending: Box<dyn PendingReply>) -> Reply<M::Reply, M::Rejection> {
    let mut payload = BytesMut::new();
    std::future::poll_fn(|context| pending.poll_reply(context)).await;
    let answered = pending.write(&mut payload);
    let mut out = BytesMut::new();
    let put = |out: &mut BytesMut| {
        out.extend_from_slice(&payload);
        answered
    };
    FrameWriter::new(&mut out).reply(7, put).unwrap();
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(&out);
    let Some(Frame::Reply(reply)) = decoder.next_frame().unwrap() else {
        panic!("a reply")
    };
    assert_eq!(reply.correlation, 7);
    registry.entry::<M>().unwrap().decode_reply::<M>(reply.outcome).unwrap()
}

fn ended<T, R>(reply: Reply<T, R>) -> u8 {
    match reply {
        Reply::Ended(outcome) => outcome.number(),
        _ => panic!("it has an answer"),
    }
}

#[test]
fn r2_messages_cross_bytes_to_an_actor_and_answers_come_back() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let registry = registry();
        let account = system.spawn(|| Account { cents: 0 }).await.unwrap();
        let to = AnyRef::from(&account);

        told(&registry, &to, &Deposit { cents: 10 }).unwrap();
        let pending = asked(&registry, &to, &Deposit { cents: 5 }).unwrap();
        assert_eq!(answer::<Deposit>(&registry, pending).await, Reply::Ok(15));

        let pending = asked(&registry, &to, &Withdraw { cents: 20 }).unwrap();
        let rejected = Reply::Rejected(Overdrawn { missing: 5 });
        assert_eq!(answer::<Withdraw>(&registry, pending).await, rejected);

        let pending = asked(&registry, &to, &Slow { millis: 3 }).unwrap();
        assert_eq!(answer::<Slow>(&registry, pending).await, Reply::Ok(15));

        let pending = asked(&registry, &to, &Wait(Duration::from_millis(9))).unwrap();
        let Reply::Ok(wait) = answer::<Wait>(&registry, pending).await else {
            panic!("no answer")
        };
        assert_eq!(wait.0, Duration::from_millis(9));

        let pending = asked(&registry, &to, &Forget {}).unwrap();
        assert_eq!(ended(answer::<Forget>(&registry, pending).await), Outcome::NO_REPLY);
        let pending = asked(&registry, &to, &Crash {}).unwrap();
        assert_eq!(ended(answer::<Crash>(&registry, pending).await), Outcome::FAILED);

        account.stop();
        account.terminated().await;
        assert!(matches!(
            told(&registry, &to, &Deposit { cents: 1 }),
            Err(DeliverError::Stopped)
        ));
        let pending = asked(&registry, &to, &Deposit { cents: 1 }).unwrap();
        assert_eq!(ended(answer::<Deposit>(&registry, pending).await), Outcome::STOPPED);
        system.stop().await.unwrap();
    });
}

/// Whom balances are sent to.
struct Clerk {
    heard: Option<Balance>,
}

#[actor]
impl Clerk {
    #[handles]
    fn balance(&mut self, balance: Balance) {
        self.heard = Some(balance);
    }

    fn heard(&mut self) -> Option<Balance> {
        self.heard
    }
}

#[test]
fn r2_generated_messages_travel_as_their_schema_says() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let registry = registry();
        let account = system.spawn(|| Account { cents: 0 }).await.unwrap();
        let clerk = system.spawn(|| Clerk { heard: None }).await.unwrap();
        let to = AnyRef::from(&account);

        let (name, codec, payload) = over(&registry, &Deposit { cents: 300 });
        assert_eq!((name.as_str(), codec), ("bank.v1.Deposit", CodecId::PROTO));
        assert_eq!(payload[..], [0x08, 0xac, 0x02], "field 1, a varint");
        told(&registry, &to, &Deposit { cents: 300 }).unwrap();

        let pending = asked(&registry, &to, &GetBalance {}).unwrap();
        let balance = Balance { cents: 300 };
        assert_eq!(answer::<GetBalance>(&registry, pending).await, Reply::Ok(balance));

        // A reference is a field like any other.
        let reference = Ref::to(&clerk);
        let send = SendBalance { to: Some(reference) };
        let pending = asked(&registry, &to, &send).unwrap();
        assert_eq!(answer::<SendBalance>(&registry, pending).await, Reply::Ok(()));
        assert_eq!(clerk.ask(Heard {}).await.unwrap(), Some(balance));
        system.stop().await.unwrap();
    });
}

#[test]
fn s1_an_ask_has_its_place_before_it_is_polled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let registry = registry();
        let account = system.spawn(|| Account { cents: 0 }).await.unwrap();
        let to = AnyRef::from(&account);
        let first = asked(&registry, &to, &Deposit { cents: 1 }).unwrap();
        told(&registry, &to, &Deposit { cents: 10 }).unwrap();
        let third = asked(&registry, &to, &Deposit { cents: 100 }).unwrap();
        assert_eq!(answer::<Deposit>(&registry, third).await, Reply::Ok(111));
        assert_eq!(answer::<Deposit>(&registry, first).await, Reply::Ok(1));
        system.stop().await.unwrap();
    });
}

#[test]
fn s20_nothing_unlisted_is_built_or_delivered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let registry = registry();
        let account = system.spawn(|| Account { cents: 0 }).await.unwrap();
        let to = AnyRef::from(&account);
        let route = |name| registry.route(TypeId::of::<Account>(), name);

        let error = route("bank.v1.Deposti").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no message `bank.v1.Deposti` is registered here; did it mean `bank.v1.Deposit`?"
        );
        assert!(matches!(route("bank.v1.Close"), Err(DeliverError::NotListed { .. })));
        assert!(matches!(
            registry.route(TypeId::of::<u8>(), "bank.v1.Deposit"),
            Err(DeliverError::UnknownKind)
        ));
        // Another kind of actor behind the route than it was made for.
        let other = system.spawn(|| Room).await.unwrap();
        let deposit = route("bank.v1.Deposit").unwrap();
        let misled = deposit.tell(&AnyRef::from(&other), CodecId::PROTO, Bytes::new());
        assert!(matches!(misled, Err(DeliverError::UnknownKind)));

        let other_codec = deposit.tell(&to, CodecId::JSON, Bytes::new()).unwrap_err();
        assert_eq!(
            other_codec.to_string(),
            "`bank.v1.Deposit` is written in proto here, and came in json"
        );
        let garbage = deposit.tell(&to, CodecId::PROTO, Bytes::from_static(&[0xff; 4]));
        assert!(matches!(garbage, Err(DeliverError::Decode(_))));
        let panicking = route("bank.v1.Wait").unwrap().tell(&to, CodecId::own(1), Bytes::new());
        assert!(matches!(
            panicking,
            Err(DeliverError::Panicked { name: "bank.v1.Wait" })
        ));
        assert_eq!(
            account.ask(Deposit { cents: 0 }).await.unwrap(),
            0,
            "none of it arrived"
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn r2_an_unregistered_type_is_named_loudly() {
    let error = registry().entry::<Local>().unwrap_err();
    assert!(matches!(error, SendEncodeError::Unregistered { .. }));
    let text = error.to_string();
    assert!(text.contains("r_wire::Local` is not registered"), "{text}");
    assert!(text.contains("registry.message::<…>()"), "{text}");
    // The entry of one message is not that of another.
    let registry = registry();
    let entry = registry.entry::<Deposit>().unwrap();
    let mut out = BytesMut::new();
    assert!(entry.encode(&Local, &mut out).is_err());
    let outcome = Outcome::Ok {
        codec: CodecId::PROTO,
        payload: Bytes::new(),
    };
    assert!(entry.decode_reply::<Forget>(outcome).is_err());
}

struct Room;

#[actor(remote(Enter))]
impl Room {
    #[message(remote = "bank.v1.Deposit", codec = json, derive(Serialize, Deserialize))]
    fn enter(&mut self) {}
}

struct Vault;

#[actor(kind = "bank.v1.Account")]
impl Vault {}

#[test]
fn r2_a_name_belongs_to_one_type() {
    let mut registry = registry();
    registry.kind::<Account>().unwrap().message::<Deposit>().unwrap(); // again is no error
    let error = registry.kind::<Room>().unwrap_err();
    assert!(matches!(&error, RegisterError::DuplicateMessage { name, .. } if name == "bank.v1.Deposit"));
    let text = error.to_string();
    assert!(
        text.contains("r_wire::bank::Deposit`") && text.contains("r_wire::Enter`"),
        "{text}"
    );
    let text = registry.kind::<Vault>().unwrap_err().to_string();
    assert!(
        text.contains("r_wire::Account`") && text.contains("r_wire::Vault`"),
        "{text}"
    );
    assert!(matches!(
        registry.message_as::<Deposit>("other"),
        Err(RegisterError::TwoNames { .. })
    ));
    assert!(matches!(
        registry.message_as::<Enter>("no good"),
        Err(RegisterError::BadName { .. })
    ));
    registry
        .message_as::<Enter>("room.Enter")
        .unwrap()
        .kind::<Room>()
        .unwrap();
    assert!(registry.route(TypeId::of::<Room>(), "room.Enter").is_ok());
    let kinds: Vec<_> = registry.kinds().map(|kind| kind.name.clone()).collect();
    assert_eq!(kinds, ["Room", "bank.v1.Account"]);
}

struct Cache<T> {
    value: Option<T>,
}

#[actor(kind = "cache", remote(Put, Get))]
impl<T: Clone + Send + 'static> Cache<T> {
    #[message(remote = "cache.Put", codec = json, derive(Serialize, Deserialize))]
    fn put(&mut self, value: T) {
        self.value = Some(value);
    }

    #[message(remote = "cache.Get", codec = json, derive(Serialize, Deserialize))]
    fn get(&mut self) -> Option<T> {
        self.value.clone()
    }
}

#[test]
fn r2_generic_actors_and_messages_travel() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let mut registry = Registry::new();
        registry.kind::<Cache<u8>>().unwrap();
        assert!(
            registry.kind_as::<Cache<String>>("cache.text").is_err(),
            "its messages have the names of the first"
        );
        registry
            .message_as::<Put<String>>("cache.PutText")
            .unwrap()
            .message_as::<Get<String>>("cache.GetText")
            .unwrap()
            .kind_as::<Cache<String>>("cache.text")
            .unwrap();
        let cache = system.spawn(|| Cache::<String> { value: None }).await.unwrap();
        let to = AnyRef::from(&cache);
        told(&registry, &to, &Put { value: "a".to_owned() }).unwrap();
        let pending = asked(&registry, &to, &Get::<String>::new()).unwrap();
        let answered = answer::<Get<String>>(&registry, pending).await;
        assert_eq!(answered, Reply::Ok(Some("a".to_owned())));
        system.stop().await.unwrap();
    });
}

#[derive(Serialize, Deserialize, Message)]
#[message(remote = "bank.v1.Introduce", codec = json)]
struct Introduce {
    account: ActorRef<Account>,
    sink: Recipient<Deposit>,
}

/// Gives the node to addresses that leave, and takes only those of one node.
struct OneNode(ActorSystem);

impl Resolver for OneNode {
    fn outside_address(&self, inside: &Address) -> Address {
        let text = inside.to_string().replace("/user", "@10.0.0.7:4242/user");
        text.parse().unwrap()
    }
    fn resolve(&self, address: &Address) -> Option<AnyRef> {
        let node = address.node()?;
        let inside = address.to_string().replace("@10.0.0.7:4242", "");
        (node.port() == 4242).then(|| self.0.find(&inside.parse().ok()?))?
    }
}

#[test]
fn r2_references_travel_as_addresses_and_only_through_the_resolver() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let mut registry = Registry::new();
        registry.message::<Introduce>().unwrap();
        let account = system.spawn(|| Account { cents: 0 }).named("alice").await.unwrap();
        let message = Introduce {
            account: account.clone(),
            sink: account.recipient(),
        };
        let mut out = BytesMut::new();
        let entry = registry.entry::<Introduce>().unwrap();
        assert!(
            entry.encode(&message, &mut out).is_err(),
            "nobody says what addresses mean"
        );
        assert!(out.is_empty());

        let resolver: Arc<dyn Resolver> = Arc::new(OneNode(system.clone()));
        Resolving::scope(resolver.clone(), || entry.encode(&message, &mut out)).unwrap();
        let bytes = out.freeze();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains("volary://sim@10.0.0.7:4242/user/alice#") || text.contains("@10.0.0.7:4242/user/alice#"));

        type Coded = <Introduce as Wire>::Codec;
        assert!(<Coded as Codec<Introduce>>::decode(bytes.clone()).is_err(), "no scope");
        let read = |bytes: Bytes| Resolving::scope(resolver.clone(), || <Coded as Codec<Introduce>>::decode(bytes));
        let back = read(bytes).unwrap();
        assert_eq!(back.account, account);
        back.sink.tell(Deposit { cents: 3 }).unwrap();
        assert_eq!(account.ask(Deposit { cents: 0 }).await.unwrap(), 3);
        let elsewhere = text.replace("4242", "4243");
        let error = read(elsewhere.into()).err().unwrap().to_string();
        assert!(error.contains("nobody can be reached"), "{error}");
        // The system itself resolves its own addresses only.
        let foreign = Resolving::scope(Arc::new(system.clone()), || {
            <Coded as Codec<Introduce>>::decode(text.into())
        });
        assert!(foreign.is_err());
        system.stop().await.unwrap();
    });
}

protocol!(Ledger { Deposit, Withdraw });

/// Speaks the protocol too.
struct Till;

#[actor]
impl Till {
    #[handles]
    fn deposit(&mut self, _: Deposit) -> i64 {
        -1
    }
    #[handles]
    fn withdraw(&mut self, withdraw: Withdraw) -> Result<i64, Overdrawn> {
        Err(Overdrawn {
            missing: withdraw.cents,
        })
    }
}

#[derive(Serialize, Deserialize, Message)]
#[message(remote = "bank.v1.Entrust", codec = json)]
struct Entrust {
    ledger: ActorRef<Ledger>,
}

#[test]
fn r2_references_of_a_protocol_travel_like_those_of_an_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let resolver: Arc<dyn Resolver> = Arc::new(OneNode(system.clone()));
        type Coded = <Entrust as Wire>::Codec;
        let read = |bytes: Bytes| Resolving::within(&resolver, || <Coded as Codec<Entrust>>::decode(bytes));
        let travelled = |ledger: ActorRef<Ledger>| {
            let mut out = BytesMut::new();
            Resolving::within(&resolver, || {
                <Coded as Codec<Entrust>>::encode(&Entrust { ledger }, &mut out)
            })
            .unwrap();
            read(out.freeze()).unwrap().ledger
        };
        let account = system.spawn(|| Account { cents: 0 }).named("alice").await.unwrap();
        let till = system.spawn(|| Till).await.unwrap();
        let ledger = travelled(account.narrow());
        assert_eq!(ledger, account.narrow());
        assert_eq!(ledger.ask(Deposit { cents: 3 }).await.unwrap(), 3);
        assert_eq!(ledger.ask(Withdraw { cents: 1 }).await.unwrap(), 2);
        let refused = travelled(till.narrow()).ask(Withdraw { cents: 1 }).await;
        assert!(matches!(refused, Err(AskError::Rejected(Overdrawn { missing: 1 }))));

        // Who does not speak it is none, whatever the sender says.
        let room = system.spawn(|| Room).named("room").await.unwrap();
        let text = format!(r#"{{"ledger":"volary://{}@10.0.0.7:4242/user/room"}}"#, system.name());
        let error = read(text.into()).err().unwrap().to_string();
        assert!(error.contains("Ledger"), "{error}");
        Resolving::within(&(Arc::new(system.clone()) as Arc<dyn Resolver>), || {
            assert_eq!(Ref::to(&account).actor::<Ledger>().unwrap(), account.narrow());
            let other = Ref::to(&room).actor::<Ledger>().unwrap_err();
            assert!(matches!(other, ResolveError::OtherType { .. }), "{other}");
        });
        system.stop().await.unwrap();
    });
}

#[test]
fn r2_protobuf_references_are_resolved_by_whoever_handles_them() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let account = system.spawn(|| Account { cents: 0 }).await.unwrap();
        let reference = Ref::to(&account);
        let outside = reference.actor::<Account>().unwrap_err();
        assert_eq!(outside, ResolveError::NoScope, "nobody handles it");
        let resolver: Arc<dyn Resolver> = Arc::new(system.clone());
        Resolving::scope(resolver, || {
            assert_eq!(Ref::to(&account), reference);
            assert_eq!(reference.actor::<Account>().unwrap(), account);
            assert_eq!(reference.recipient::<Deposit>().unwrap(), account.recipient());
            let other = reference.actor::<Room>().unwrap_err();
            assert!(matches!(other, ResolveError::OtherType { .. }), "{other}");
            assert!(matches!(
                Ref::default().actor::<Account>(),
                Err(ResolveError::Address(_))
            ));
        });
        let after = reference.actor::<Account>().unwrap_err();
        assert_eq!(after, ResolveError::NoScope, "the scope has ended");
        system.stop().await.unwrap();
    });
}
