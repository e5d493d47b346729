//! R2: what may change in a message while old and new nodes talk, codec by codec, and what may not.
#![cfg(all(feature = "proto", feature = "json", feature = "cbor", feature = "postcard"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use volary_wire::codec::MAX_DEPTH;
use volary_wire::{Cbor, Codec, CodecId, DecodeError, Json, Postcard, Proto};

/// The first version.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Old {
    #[prost(int64, tag = "1")]
    cents: i64,
    #[prost(string, tag = "2")]
    #[serde(default)]
    note: String,
}

/// With an optional field added.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Added {
    #[prost(int64, tag = "1")]
    cents: i64,
    #[prost(string, tag = "2")]
    note: String,
    #[prost(string, optional, tag = "3")]
    currency: Option<String>,
}

/// With a field removed.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Removed {
    #[prost(int64, tag = "1")]
    cents: i64,
}

/// With a field added that has no default.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Demanding {
    cents: i64,
    note: String,
    currency: String,
}

fn old() -> Old {
    Old {
        cents: 10,
        note: "rent".to_owned(),
    }
}

fn added() -> Added {
    Added {
        cents: 10,
        note: "rent".to_owned(),
        currency: Some("EUR".to_owned()),
    }
}

fn crossed<C: Codec<W> + Codec<R>, W, R>(written: &W) -> Result<R, DecodeError> {
    let mut out = BytesMut::new();
    C::encode(written, &mut out).unwrap();
    C::decode(out.freeze())
}

/// What codecs that name their fields can do.
fn evolves<C: Codec<Old> + Codec<Added> + Codec<Removed>>() {
    assert_eq!(
        crossed::<C, _, Old>(&added()).unwrap(),
        old(),
        "an old reader skips what it does not know"
    );
    let read: Added = crossed::<C, _, _>(&old()).unwrap();
    assert_eq!(
        read,
        Added {
            currency: None,
            ..added()
        },
        "a new reader does without what an old writer does not send"
    );
    assert_eq!(
        crossed::<C, _, Removed>(&old()).unwrap(),
        Removed { cents: 10 },
        "a field may go"
    );
    let read: Old = crossed::<C, _, _>(&Removed { cents: 10 }).unwrap();
    assert_eq!(
        read,
        Old {
            cents: 10,
            note: String::new()
        },
        "and then has its default"
    );
}

#[test]
fn r2_proto_messages_evolve() {
    evolves::<Proto>();
}

#[test]
fn r2_json_messages_evolve() {
    evolves::<Json>();
    let error = crossed::<Json, _, Demanding>(&old()).unwrap_err().to_string();
    assert!(error.contains("missing field `currency`"), "{error}");
}

#[test]
fn r2_cbor_messages_evolve() {
    evolves::<Cbor>();
    let error = crossed::<Cbor, _, Demanding>(&old()).unwrap_err().to_string();
    assert!(error.contains("missing field `currency`"), "{error}");
}

#[test]
fn r2_postcard_messages_do_not_evolve_and_say_so() {
    let error = crossed::<Postcard, _, Old>(&added()).unwrap_err().to_string();
    assert!(
        error.contains("bytes too many"),
        "a field that an old reader does not know: {error}"
    );
    assert!(
        crossed::<Postcard, _, Added>(&old()).is_err(),
        "a field that an old writer does not send"
    );
    assert!(crossed::<Postcard, _, Removed>(&old()).is_err());
    assert!(crossed::<Postcard, _, Old>(&Removed { cents: 10 }).is_err());
}

/// With a field whose name is another.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Renamed {
    #[prost(int64, tag = "1")]
    cents: i64,
    #[prost(string, tag = "2")]
    text: String,
}

/// The same, and it knows the old name as well.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Aliased {
    cents: i64,
    #[serde(alias = "note")]
    text: String,
}

#[test]
fn r2_a_field_may_be_renamed_where_names_do_not_count() {
    let renamed = Renamed {
        cents: 10,
        text: "rent".to_owned(),
    };
    assert_eq!(crossed::<Proto, _, Renamed>(&old()).unwrap(), renamed);
    assert_eq!(crossed::<Proto, _, Old>(&renamed).unwrap(), old());
    assert_eq!(crossed::<Postcard, _, Renamed>(&old()).unwrap(), renamed);
    assert_eq!(crossed::<Postcard, _, Old>(&renamed).unwrap(), old());
}

#[test]
fn r2_where_names_count_readers_must_know_both_before_a_writer_uses_the_new_one() {
    fn renames<C: Codec<Old> + Codec<Renamed> + Codec<Aliased>>() {
        let error = crossed::<C, _, Renamed>(&old()).unwrap_err().to_string();
        assert!(error.contains("missing field `text`"), "{error}");
        let renamed = Renamed {
            cents: 10,
            text: "rent".to_owned(),
        };
        let lost: Old = crossed::<C, _, _>(&renamed).unwrap();
        assert_eq!(lost.note, "", "a default hides the loss");
        let aliased = Aliased {
            cents: 10,
            text: "rent".to_owned(),
        };
        assert_eq!(crossed::<C, _, Aliased>(&old()).unwrap(), aliased);
        assert_eq!(crossed::<C, _, Aliased>(&renamed).unwrap(), aliased);
    }
    renames::<Json>();
    renames::<Cbor>();
}

#[test]
fn r2_the_number_of_a_field_that_was_removed_is_never_to_be_used_again() {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Payee {
        #[prost(int64, tag = "1")]
        cents: i64,
        #[prost(string, tag = "2")]
        payee: String,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    struct Count {
        #[prost(int64, tag = "1")]
        cents: i64,
        #[prost(uint64, tag = "2")]
        count: u64,
    }
    let taken: Payee = crossed::<Proto, _, _>(&old()).unwrap();
    assert_eq!(taken.payee, "rent", "what is there means something else");
    let error = crossed::<Proto, _, Count>(&old()).unwrap_err().to_string();
    assert!(error.contains("count"), "{error}");
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Transfer {
    #[prost(uint32, tag = "1")]
    from: u32,
    #[prost(uint32, tag = "2")]
    to: u32,
}

/// The same fields in another order.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Swapped {
    #[prost(uint32, tag = "2")]
    to: u32,
    #[prost(uint32, tag = "1")]
    from: u32,
}

#[test]
fn r2_fields_may_change_places_where_each_is_known_by_itself() {
    fn reorders<C: Codec<Transfer> + Codec<Swapped>>() {
        let (transfer, swapped) = (Transfer { from: 1, to: 2 }, Swapped { to: 2, from: 1 });
        assert_eq!(crossed::<C, _, Swapped>(&transfer).unwrap(), swapped);
        assert_eq!(crossed::<C, _, Transfer>(&swapped).unwrap(), transfer);
    }
    reorders::<Proto>();
    reorders::<Json>();
    reorders::<Cbor>();
}

#[test]
fn r2_postcard_cannot_tell_fields_that_changed_places() {
    let read: Swapped = crossed::<Postcard, _, _>(&Transfer { from: 1, to: 2 }).unwrap();
    assert_eq!(
        read,
        Swapped { to: 1, from: 2 },
        "which is why a change is a new message with a new name"
    );
}

#[test]
fn r2_postcard_may_take_a_field_in_the_middle_for_another() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Short {
        number: u8,
        text: String,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Long {
        number: u8,
        count: u8,
        text: String,
    }
    let long = Long {
        number: 7,
        count: 3,
        text: "hi".to_owned(),
    };
    let short = Short {
        number: 7,
        text: "\u{2}hi".to_owned(),
    };
    assert_eq!(
        crossed::<Postcard, _, Short>(&long).unwrap(),
        short,
        "the count is taken for the length of the text"
    );
    assert_eq!(
        crossed::<Postcard, _, Long>(&short).unwrap(),
        long,
        "and the other way round"
    );
}

#[test]
fn r2_a_reader_that_denies_unknown_fields_does_not_skip_them() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        cents: i64,
        note: String,
    }
    fn denies<C: Codec<Old> + Codec<Added> + Codec<Strict>>() {
        let error = crossed::<C, _, Strict>(&added()).unwrap_err().to_string();
        assert!(error.contains("unknown field `currency`"), "{error}");
        let strict = Strict {
            cents: 10,
            note: "rent".to_owned(),
        };
        assert_eq!(crossed::<C, _, Strict>(&old()).unwrap(), strict);
    }
    denies::<Json>();
    denies::<Cbor>();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, prost::Enumeration)]
#[repr(i32)]
enum Colour {
    Red = 0,
    Green = 1,
}

/// With a variant added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, prost::Enumeration)]
#[repr(i32)]
enum Colours {
    Red = 0,
    Green = 1,
    Blue = 2,
}

#[test]
fn r2_a_variant_is_added_to_readers_first_and_then_to_writers() {
    fn grows<C: Codec<Colour> + Codec<Colours>>() -> String {
        assert_eq!(crossed::<C, _, Colours>(&Colour::Green).unwrap(), Colours::Green);
        assert_eq!(crossed::<C, _, Colour>(&Colours::Green).unwrap(), Colour::Green);
        let error = crossed::<C, _, Colour>(&Colours::Blue).unwrap_err();
        error.to_string()
    }
    for error in [grows::<Json>(), grows::<Cbor>()] {
        assert!(error.contains("unknown variant `Blue`"), "{error}");
    }
    grows::<Postcard>();
}

#[test]
fn r2_protobuf_keeps_variants_that_it_does_not_know_as_numbers() {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Painted {
        #[prost(enumeration = "Colour", tag = "1")]
        colour: i32,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    struct Repainted {
        #[prost(enumeration = "Colours", tag = "1")]
        colour: i32,
    }
    let blue = Repainted {
        colour: Colours::Blue.into(),
    };
    let read: Painted = crossed::<Proto, _, _>(&blue).unwrap();
    assert_eq!((read.colour, Colour::try_from(read.colour).is_ok()), (2, false));
    // Who passes it on has lost nothing.
    assert_eq!(crossed::<Proto, _, Repainted>(&read).unwrap(), blue);
}

#[test]
fn r2_postcard_takes_a_variant_in_the_middle_for_another() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Inserted {
        Red,
        Yellow,
        Green,
    }
    assert_eq!(
        crossed::<Postcard, _, Inserted>(&Colour::Green).unwrap(),
        Inserted::Yellow
    );
    assert_eq!(crossed::<Json, _, Inserted>(&Colour::Green).unwrap(), Inserted::Green);
    assert_eq!(crossed::<Cbor, _, Inserted>(&Colour::Green).unwrap(), Inserted::Green);
}

#[derive(Debug, Serialize, Deserialize)]
struct Nested(Vec<Nested>);

#[test]
fn s20_depth_is_limited() {
    fn reads<C: Codec<Nested>>(bytes: Vec<u8>) -> bool {
        C::decode(bytes.into()).is_ok()
    }
    let json = |depth| [vec![b'['; depth], vec![b']'; depth]].concat();
    let cbor = |depth| [vec![0x81; depth - 1], vec![0x80]].concat();
    for depth in [1, MAX_DEPTH - 1] {
        assert!(reads::<Json>(json(depth)) && reads::<Cbor>(cbor(depth)), "{depth}");
    }
    assert!(!reads::<Json>(json(MAX_DEPTH)), "serde_json ends one before");
    assert!(reads::<Cbor>(cbor(MAX_DEPTH)));
    for depth in [MAX_DEPTH + 1, 100_000] {
        assert!(!reads::<Json>(json(depth)) && !reads::<Cbor>(cbor(depth)), "{depth}");
    }
}

#[test]
fn s20_depth_is_limited_to_a_hundred_in_protobuf() {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Link {
        #[prost(message, optional, boxed, tag = "1")]
        next: Option<Box<Link>>,
    }
    // Written by hand: no writer of ours could have it so deep.
    let chain = |depth: usize| {
        let mut bytes = BytesMut::new();
        for _ in 0..depth {
            let inner = std::mem::take(&mut bytes);
            prost::encoding::bytes::encode(1, &inner.freeze(), &mut bytes);
        }
        bytes.freeze()
    };
    assert!(<Proto as Codec<Link>>::decode(chain(100)).is_ok());
    assert!(<Proto as Codec<Link>>::decode(chain(101)).is_err());
    assert!(<Proto as Codec<Link>>::decode(chain(10_000)).is_err());
}

/// Each way in which a type can hold itself, at a byte for each level.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Node {
    next: Option<Box<Node>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
enum Chain {
    #[default]
    End,
    Newtype(Box<Chain>),
    Tuple(Box<Chain>, ()),
    Struct {
        next: Box<Chain>,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Keyed(BTreeMap<(), Keyed>);

#[test]
fn s20_depth_is_limited_in_postcard_too() {
    fn reads<T: Serialize + DeserializeOwned>(level: u8, depth: usize) -> bool {
        let bytes = [vec![level; depth], vec![0]].concat();
        <Postcard as Codec<T>>::decode(bytes.into()).is_ok()
    }
    type Reads = fn(u8, usize) -> bool;
    let all: [(Reads, u8); 6] = [
        (reads::<Nested>, 1),
        (reads::<Node>, 1),
        (reads::<Keyed>, 1),
        (reads::<Chain>, 1),
        (reads::<Chain>, 2),
        (reads::<Chain>, 3),
    ];
    for (reads, level) in all {
        // The last level holds no further one.
        assert!(reads(level, MAX_DEPTH - 1));
        assert!(!reads(level, MAX_DEPTH));
        assert!(!reads(level, 1_000_000));
    }
}

#[test]
fn r2_in_postcard_everything_is_read_as_it_was_written() {
    type All = (
        (bool, i8, i16, i32, i64, i128),
        (u8, u16, u32, u64, u128, f32, f64),
        (char, String, Vec<u8>, (), [u16; 3], Option<(u8, Box<str>)>),
        BTreeMap<String, Vec<Option<u32>>>,
        Result<u8, String>,
    );
    let value: All = (
        (true, -1, i16::MIN, i32::MIN, i64::MIN, i128::MIN),
        (255, u16::MAX, u32::MAX, u64::MAX, u128::MAX, 1.5, -2.5),
        (
            'ü',
            "für".to_owned(),
            vec![0, 255],
            (),
            [1, 2, 3],
            Some((7, "x".into())),
        ),
        BTreeMap::from([("a".to_owned(), vec![None, Some(1)]), (String::new(), Vec::new())]),
        Err("no".to_owned()),
    );
    let read: All = crossed::<Postcard, _, _>(&value).unwrap();
    assert_eq!(read, value);
    // Many beside each other are not deep.
    let wide = vec![Some(vec![1_u8]); 10_000];
    let read: Vec<Option<Vec<u8>>> = crossed::<Postcard, _, _>(&wide).unwrap();
    assert_eq!(read, wide);
}

#[test]
fn s20_lengths_are_not_believed() {
    // A list, a text and bytes of 2^62, which never come.
    let huge = [0x1b, 0x40, 0, 0, 0, 0, 0, 0, 0];
    for major in [0x40_u8, 0x60, 0x80] {
        let mut bytes = huge.to_vec();
        bytes[0] |= major;
        assert!(<Cbor as Codec<Vec<u64>>>::decode(bytes.clone().into()).is_err());
        assert!(<Cbor as Codec<String>>::decode(bytes.into()).is_err());
    }
    let huge = Bytes::from_static(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert!(<Postcard as Codec<Vec<u64>>>::decode(huge.clone()).is_err());
    assert!(<Postcard as Codec<String>>::decode(huge.clone()).is_err());
    let text = Bytes::from([&[0x12][..], &huge].concat());
    assert!(<Proto as Codec<Old>>::decode(text).is_err());
}

#[test]
fn s20_in_postcard_what_takes_no_bytes_has_any_length_for_free() {
    let million = Bytes::from_static(&[0xc0, 0x84, 0x3d]);
    let read = <Postcard as Codec<Vec<()>>>::decode(million.clone()).unwrap();
    assert_eq!(read.len(), 1_000_000);
    assert!(<Postcard as Codec<Vec<bool>>>::decode(million).is_err());
}

#[test]
fn r2_bytes_behind_the_value_are_an_error() {
    assert!(<Cbor as Codec<u8>>::decode(Bytes::from_static(&[1, 1])).is_err());
    assert!(<Postcard as Codec<u8>>::decode(Bytes::from_static(&[1, 1])).is_err());
    assert!(<Json as Codec<u8>>::decode(Bytes::from_static(b"1 1")).is_err());
}

#[test]
fn r2_codecs_have_their_numbers_for_ever() {
    let ids = [
        <Proto as Codec<Old>>::ID,
        <Json as Codec<Old>>::ID,
        <Cbor as Codec<Old>>::ID,
        <Postcard as Codec<Old>>::ID,
        CodecId::own(0),
    ];
    assert_eq!(ids.map(CodecId::number), [1, 2, 3, 4, 128]);
}

#[test]
fn r2_json_has_no_word_for_floats_that_are_none() {
    for float in [f32::INFINITY, f32::NAN] {
        let mut out = BytesMut::new();
        Json::encode(&float, &mut out).unwrap();
        assert_eq!(out, "null");
        let bytes = out.freeze();
        assert!(<Json as Codec<f32>>::decode(bytes.clone()).is_err());
        assert_eq!(<Json as Codec<Option<f32>>>::decode(bytes).unwrap(), None);
    }
}
