//! Values in each codec: what is read is written and read again.

use std::collections::BTreeMap;

use volary_wire::{Cbor, Json, Postcard, Proto, Ref};

use super::super::{Sample, round_trip};

pub fn codec_cbor(data: &[u8]) {
    round_trip::<Cbor, Sample>(data);
}

pub fn codec_json(data: &[u8]) {
    round_trip::<Json, Sample>(data);
}

pub fn codec_postcard(data: &[u8]) {
    round_trip::<Postcard, Sample>(data);
}

pub fn codec_proto(data: &[u8]) {
    round_trip::<Proto, InProto>(data);
}

/// What [`Sample`] is to the others.
#[derive(Clone, PartialEq, prost::Message)]
struct InProto {
    #[prost(sint64, tag = "1")]
    number: i64,
    #[prost(float, tag = "2")]
    fraction: f32,
    #[prost(string, tag = "3")]
    text: String,
    #[prost(bytes = "bytes", tag = "4")]
    bytes: bytes::Bytes,
    #[prost(message, optional, boxed, tag = "5")]
    maybe: Option<Box<InProto>>,
    #[prost(message, repeated, tag = "6")]
    list: Vec<Ref>,
    #[prost(btree_map = "string, uint64", tag = "7")]
    map: BTreeMap<String, u64>,
    #[prost(fixed32, repeated, tag = "8")]
    packed: Vec<u32>,
}
