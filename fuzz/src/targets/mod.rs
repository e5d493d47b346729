//! What the targets do with an input. It is apart from libFuzzer, so that a test of `volary-remote` can replay the seeds.

mod address;
mod answers;
mod arrival;
mod certificate;
mod chunks;
mod codecs;
mod decompressor;
mod frame;
mod handshake;
mod metadata;
mod operations;

pub use address::address;
pub use answers::answers;
pub use arrival::arrival;
pub use certificate::certificate;
pub use chunks::chunks;
pub use codecs::{codec_cbor, codec_json, codec_postcard, codec_proto};
pub use decompressor::decompressor;
pub use frame::frame;
pub use handshake::handshake;
pub use metadata::metadata;
pub use operations::operations;
