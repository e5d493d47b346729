//! What makes a message, a rejection and an actor fit to be reached from another node.

use volary_core::{Actor, Message, Rejection};

use crate::codec::{Codec, Never};
use crate::registry::KindTable;

/// A message that can travel: it has a name that all nodes agree on, and codecs for itself and its reply.
///
/// `#[derive(Message)]` with `#[message(remote = "bank.v1.Deposit")]` writes this. By hand:
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::Message;
/// use volary_wire::{Codec, Proto, Wire};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Deposit {
///     #[prost(int64, tag = "1")]
///     cents: i64,
/// }
/// impl Message for Deposit { type Reply = i64; type Rejection = Infallible; }
/// impl Wire for Deposit {
///     const NAME: &'static str = "bank.v1.Deposit";
///     type Codec = Proto;
///     type ReplyCodec = Proto;
/// }
///
/// let mut out = bytes::BytesMut::new();
/// <Deposit as Wire>::Codec::encode(&Deposit { cents: 5 }, &mut out)?;
/// assert_eq!(<<Deposit as Wire>::Codec as Codec<Deposit>>::decode(out.freeze())?, Deposit { cents: 5 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A type of another crate becomes a message by a wrapper: `struct Stamp(foreign::Time)`, with a codec that passes on
/// to it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel between nodes",
    label = "not a remote message",
    note = "give it a name and a codec: `#[message(remote = \"bank.v1.{Self}\", codec = json)]`, on the type beside \
            `#[derive(Message)]` or on the method that makes it"
)]
pub trait Wire: Message<Rejection: WireRejection> + Sized {
    /// What frames call it, such as `bank.v1.Deposit`: the full name of the protobuf message if there is one.
    const NAME: &'static str;
    /// How it is written.
    type Codec: Codec<Self>;
    /// How its reply is written.
    type ReplyCodec: Codec<Self::Reply>;
}

/// A rejection that can travel. `#[derive(Rejection)]` with `#[rejection(codec = json)]` writes this.
///
/// ```
/// use volary_core::Rejection;
/// use volary_wire::{Codec, Proto, WireRejection};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Overdrawn {
///     #[prost(int64, tag = "1")]
///     missing: i64,
/// }
/// impl Rejection for Overdrawn {}
/// impl WireRejection for Overdrawn { type Codec = Proto; }
///
/// let mut out = bytes::BytesMut::new();
/// <Overdrawn as WireRejection>::Codec::encode(&Overdrawn { missing: 5 }, &mut out)?;
/// assert_eq!(<<Overdrawn as WireRejection>::Codec as Codec<Overdrawn>>::decode(out.freeze())?, Overdrawn { missing: 5 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the rejection `{Self}` cannot travel between nodes",
    label = "a rejection without a codec",
    note = "give it a codec: `#[derive(Rejection)] #[rejection(codec = json)]`"
)]
pub trait WireRejection: Rejection + Sized {
    /// How it is written.
    type Codec: Codec<Self>;
}

impl WireRejection for std::convert::Infallible {
    type Codec = Never;
}

/// An actor that other nodes may send to: what is listed here, and nothing else.
///
/// `#[actor(kind = "bank.v1.Account", remote(Deposit))]` writes this.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::{Actor, Context, Failure, Message, SyncHandler};
/// use volary_wire::{KindTable, Registry, RemoteActor};
/// # #[derive(Clone, PartialEq, prost::Message)]
/// # struct Deposit { #[prost(int64, tag = "1")] cents: i64 }
/// # impl Message for Deposit { type Reply = i64; type Rejection = Infallible; }
/// # impl volary_wire::Wire for Deposit {
/// #     const NAME: &'static str = "bank.v1.Deposit";
/// #     type Codec = volary_wire::Proto; type ReplyCodec = volary_wire::Proto; }
/// # struct Account { cents: i64 }
/// # impl Actor for Account {}
/// # impl SyncHandler<Deposit> for Account {
/// #   fn handle(&mut self, d: Deposit, _: &mut Context<Self>) -> Result<i64, Failure> { Ok(d.cents) } }
///
/// impl RemoteActor for Account {
///     const KIND: &'static str = "bank.v1.Account";
///     fn remote_messages(table: &mut KindTable<Self>) {
///         table.add::<Deposit>();
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.kind::<Account>()?;
/// # Ok::<(), volary_wire::RegisterError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "other nodes may send nothing to `{Self}`",
    label = "not a remote actor",
    note = "list what they may send: `#[actor(kind = \"bank.v1.{Self}\", remote(Deposit, …))]`"
)]
pub trait RemoteActor: Actor {
    /// What other nodes call this kind of actor.
    const KIND: &'static str;
    /// Lists the messages that other nodes may send.
    fn remote_messages(table: &mut KindTable<Self>);
}
