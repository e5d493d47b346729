//! The metadata of a message.

use volary_wire::native::{Frame, Metadata};

use super::super::{framed, read};

pub fn metadata(data: &[u8]) {
    let length = match data.len() {
        short @ 0..128 => vec![short as u8],
        long => vec![long as u8 | 0x80, (long >> 7) as u8],
    };
    // Sequence, receiver, type and codec, then the metadata.
    let body = [&[1, 1, 1, 0], &length[..], data].concat();
    let Some(Frame::Tell(envelope)) = read(&framed(5, 2, &body)) else {
        return;
    };
    let metadata = envelope.metadata.expect("the flag says so");
    assert!(metadata.headers().count() <= 64);
    let mut copy = Metadata::builder();
    for (key, value) in metadata.headers() {
        copy = copy.header(key, value);
        assert!(metadata.header(key).is_some());
    }
    assert!(copy.build().headers().eq(metadata.headers()));
}
