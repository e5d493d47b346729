//! R2, R3: two nodes speak with each other in each of the codecs, one of the user's own among them.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use bytes::{Bytes, BytesMut};
use common::tap::Tap;
use common::{Log, eventually, options, soon};
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::wire::Ref;
use volary_core::{Accepts, Address};
use volary_remote::Remote;
use volary_remote::transport::Memory;
use volary_wire::native::{Frame, Outcome};
use volary_wire::{Codec, CodecId, DecodeError, EncodeError, Postcard};

/// The bytes of another codec, last first.
struct Backwards;

impl<T> Codec<T> for Backwards
where
    Postcard: Codec<T>,
{
    const ID: CodecId = CodecId::own(5);

    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError> {
        let begun = out.len();
        Postcard::encode(value, out)?;
        out[begun..].reverse();
        Ok(())
    }

    fn decode(bytes: Bytes) -> Result<T, DecodeError> {
        let forwards: Vec<u8> = bytes.iter().rev().copied().collect();
        Postcard::decode(forwards.into())
    }
}

/// References in messages of serde's codecs are fields like any other.
fn as_it_is<A: Accepts<M>, M: Message>(actor: &ActorRef<A>) -> Recipient<M> {
    actor.recipient()
}

fn as_it_came<M: Message>(reference: Recipient<M>) -> Recipient<M> {
    reference
}

/// In protobuf they are addresses, found by whoever makes the message and resolved by whoever handles it.
fn found<A: Actor>(actor: &ActorRef<A>) -> Option<Ref> {
    Some(Ref::to(actor))
}

fn resolved<M: Message>(reference: Option<Ref>) -> Recipient<M> {
    reference.unwrap().recipient().unwrap()
}

/// In which codecs messages and their answers were, and how many pieces there were.
#[derive(Debug, Default, PartialEq)]
struct Spoken {
    messages: Vec<CodecId>,
    replies: Vec<CodecId>,
    rejections: Vec<CodecId>,
    pieces: usize,
}

impl Spoken {
    fn on(tap: &Tap) -> Self {
        let mut spoken = Spoken::default();
        for frame in tap.said(0) {
            match frame {
                Frame::Tell(envelope) | Frame::Ask { envelope, .. } => spoken.messages.push(envelope.codec),
                Frame::Reply(reply) => match reply.outcome {
                    Outcome::Ok { codec, .. } => spoken.replies.push(codec),
                    Outcome::Rejected { codec, .. } => spoken.rejections.push(codec),
                    other => panic!("{other:?}"),
                },
                Frame::Chunk(_) => spoken.pieces += 1,
                _ => {}
            }
        }
        spoken
    }
}

/// What is said in one codec: its messages, the actors that take them, and the test of all that.
macro_rules! speak {
    (
        $test:ident in $codec:ident, $id:expr;
        derive($($derive:path),+);
        number $(#[$number:meta])?;
        bytes $(#[$bytes:meta])?;
        reference $(#[$to:meta])? $Reference:ty, $written:expr, $read:expr;
    ) => {
        mod $test {
            use super::*;

            #[derive(volary::Message, $($derive),+)]
            #[message(remote = "test.Note", codec = $codec)]
            struct Note {
                $(#[$number])?
                number: u64,
            }

            #[derive(volary::Message, $($derive),+)]
            #[message(reply = u64, remote = "test.Double", codec = $codec)]
            struct Double {
                $(#[$number])?
                number: u64,
            }

            #[derive(volary::Rejection, $($derive),+)]
            #[rejection(codec = $codec)]
            struct Odd {
                $(#[$number])?
                number: u64,
            }

            #[derive(volary::Message, $($derive),+)]
            #[message(reply = u64, rejection = Odd, remote = "test.Halve", codec = $codec)]
            struct Halve {
                $(#[$number])?
                number: u64,
            }

            #[derive(volary::Message, $($derive),+)]
            #[message(remote = "test.CallBack", codec = $codec)]
            struct CallBack {
                $(#[$to])?
                to: $Reference,
            }

            #[derive(volary::Message, $($derive),+)]
            #[message(reply = Vec<u8>, remote = "test.Turn", codec = $codec)]
            struct Turn {
                $(#[$bytes])?
                bytes: Vec<u8>,
            }

            struct Clerk(Log);

            #[actor(kind = "test.Clerk", remote(Note, Double, Halve, CallBack, Turn))]
            impl Clerk {
                #[handles]
                fn note(&mut self, note: Note) {
                    self.0.push(note.number);
                }
                #[handles]
                fn double(&mut self, double: Double) -> u64 {
                    2 * double.number
                }
                #[handles]
                fn halve(&mut self, halve: Halve) -> Result<u64, Failure<Odd>> {
                    let number = halve.number;
                    match number % 2 {
                        0 => Ok(number / 2),
                        _ => Err(Odd { number }.into()),
                    }
                }
                #[handles]
                fn call_back(&mut self, call: CallBack) -> Result<(), Fault> {
                    let to: Recipient<Note> = $read(call.to);
                    to.tell(Note { number: 42 }).or_fault()
                }
                #[handles]
                fn turn(&mut self, turn: Turn) -> Vec<u8> {
                    let mut bytes = turn.bytes;
                    bytes.reverse();
                    bytes
                }
            }

            async fn node(name: &str, network: &Memory) -> (ActorSystem, Remote, Tap, Log, ActorRef<Clerk>) {
                let system = ActorSystem::builder(name).ignore_environment();
                let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
                let tap = Tap::on(network.clone());
                let builder = Remote::builder().kind::<Clerk>().options(options().chunk_bytes(1_024));
                let remote = builder.transport(tap.clone()).start(&system, "127.0.0.1:0").await.unwrap();
                let log = Log::default();
                let made = log.clone();
                let clerk = system.spawn(move || Clerk(made.clone())).named("clerk").await.unwrap();
                (system, remote, tap, log, clerk)
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn r2_everything_that_is_said_arrives_in_its_codec() {
                let network = Memory::default();
                let (system, remote, tap, log, near) = node("one", &network).await;
                let (other_system, other_remote, other_tap, other_log, real) = node("other", &network).await;
                let address: Address = other_remote.address_of(&real);
                let far: ActorRef<Clerk> = remote.actor(&address).unwrap();

                far.tell(Note { number: 7 }).unwrap();
                assert_eq!(soon("a reply", far.ask(Double { number: u64::MAX / 3 })).await.unwrap(), u64::MAX / 3 * 2);
                assert_eq!(other_log.all(), ["7"]);
                let odd = soon("a rejection", far.ask(Halve { number: 9 })).await;
                assert!(matches!(odd, Err(AskError::Rejected(Odd { number: 9 }))), "{odd:?}");
                assert_eq!(soon("a reply", far.ask(Halve { number: 8 })).await.unwrap(), 4);

                let to: $Reference = $written(&near);
                far.tell(CallBack { to }).unwrap();
                eventually("the note comes back", || log.all() == ["42"]).await;
                assert_eq!(other_log.all(), ["7"]);

                let bytes: Vec<u8> = (0..100_000_u32).map(|number| number as u8 ^ (number >> 8) as u8).collect();
                let mut turned = bytes.clone();
                turned.reverse();
                assert!(soon("a large answer", far.ask(Turn { bytes })).await.unwrap() == turned);

                system.stop().await.unwrap();
                other_system.stop().await.unwrap();
                let (here, there) = (Spoken::on(&tap), Spoken::on(&other_tap));
                assert_eq!((here.messages, here.replies), (vec![$id; 6], vec![]));
                assert_eq!((there.messages, there.replies, there.rejections), (vec![$id], vec![$id; 3], vec![$id]));
                assert!(here.pieces >= 90 && there.pieces >= 90, "{} and {}", here.pieces, there.pieces);
            }
        }
    };
    ($test:ident in $codec:ident, $id:expr) => {
        speak! {
            $test in $codec, $id;
            derive(Debug, Serialize, Deserialize);
            number;
            bytes;
            reference Recipient<Note>, as_it_is, as_it_came;
        }
    };
}

speak!(json in json, CodecId::JSON);
speak!(cbor in cbor, CodecId::CBOR);
speak!(postcard in postcard, CodecId::POSTCARD);
speak!(an_own_codec in Backwards, CodecId::own(5));
speak! {
    protobuf in proto, CodecId::PROTO;
    derive(Clone, PartialEq, prost::Message);
    number #[prost(uint64, tag = "1")];
    bytes #[prost(bytes = "vec", tag = "1")];
    reference #[prost(message, optional, tag = "1")] Option<Ref>, found, resolved;
}
