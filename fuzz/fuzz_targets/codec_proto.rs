//! Values in Protocol Buffers.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use volary_fuzz::round_trip;
use volary_wire::{Proto, Ref};

#[derive(Clone, PartialEq, prost::Message)]
struct Sample {
    #[prost(sint64, tag = "1")]
    number: i64,
    #[prost(float, tag = "2")]
    fraction: f32,
    #[prost(string, tag = "3")]
    text: String,
    #[prost(bytes = "bytes", tag = "4")]
    bytes: bytes::Bytes,
    #[prost(message, optional, boxed, tag = "5")]
    maybe: Option<Box<Sample>>,
    #[prost(message, repeated, tag = "6")]
    list: Vec<Ref>,
    #[prost(btree_map = "string, uint64", tag = "7")]
    map: BTreeMap<String, u64>,
    #[prost(fixed32, repeated, tag = "8")]
    packed: Vec<u32>,
}

fuzz_target!(|data: &[u8]| round_trip::<Proto, Sample>(data));
