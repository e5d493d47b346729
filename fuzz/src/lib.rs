//! What the fuzz targets share.
#![forbid(unsafe_code)]

mod desk;
mod node;
mod stranger;
pub mod targets;

use std::collections::BTreeMap;
use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use volary_wire::native::{Frame, FrameDecoder, FrameWriter, Limits};
use volary_wire::{Codec, CodecId};

pub use desk::{Desk, InCbor, InJson, InPostcard, InProto, Settled};
pub use node::Node;
pub use stranger::Stranger;

/// What nodes ask of each other. Those from `stop` on change who lives there.
pub const OPERATIONS: [&str; 18] = [
    "lookup",
    "kinds",
    "kind",
    "parent",
    "children",
    "status",
    "stash",
    "dependencies",
    "passivation",
    "actor-metrics",
    "node-metrics",
    "stop",
    "drain",
    "kill",
    "restart",
    "reinstate",
    "passivate",
    "spawn",
];

/// A frame of this kind around a body.
pub fn framed(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 2).to_be_bytes().to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(body);
    bytes
}

/// The first frame in these bytes, if they are one.
pub fn read(bytes: &[u8]) -> Option<Frame> {
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(bytes);
    decoder.next_frame().ok().flatten()
}

/// The frame as bytes.
pub fn written(frame: &Frame) -> BytesMut {
    let mut out = BytesMut::new();
    FrameWriter::new(&mut out).frame(frame).expect("no longer than it was");
    out
}

/// Something of everything that messages hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub number: i64,
    pub fraction: f32,
    pub text: String,
    pub bytes: Vec<u8>,
    pub maybe: Option<Box<Sample>>,
    pub list: Vec<Choice>,
    pub map: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Choice {
    Unit,
    Tuple(u8, char),
    Struct { flag: bool },
}

/// Reads bytes; what was read is written and read again.
pub fn round_trip<C: Codec<T>, T: Debug>(bytes: &[u8]) {
    let Ok(value) = C::decode(Bytes::copy_from_slice(bytes)) else {
        return;
    };
    // JSON has no word for them, and reads a number that is too large as one.
    if C::ID == CodecId::JSON && ["inf", "NaN"].iter().any(|float| format!("{value:?}").contains(float)) {
        return;
    }
    let mut out = BytesMut::new();
    C::encode(&value, &mut out).expect("what was read can be written");
    let again = C::decode(out.freeze()).expect("what was written can be read");
    // By text, since not every float equals itself; and Protocol Buffers leave out a zero, whatever its sign.
    let shown = |value: &T| format!("{value:?}").replace("-0.0", "0.0");
    assert_eq!(shown(&value), shown(&again));
}
