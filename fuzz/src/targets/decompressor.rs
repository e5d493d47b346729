//! Compressed bytes of a peer, under a budget. The first byte says which compression, the second how they are cut.

use bytes::BytesMut;
use volary_remote::compression::{Compression, Stretch};

const MOST: usize = 1 << 20;

pub fn decompressor(data: &[u8]) {
    let [which, cut, data @ ..] = data else { return };
    let all = [
        Compression::Zstd,
        Compression::Lz4,
        Compression::Gzip,
        Compression::Deflate,
        Compression::Brotli,
    ];
    let compression = all[usize::from(*which) % all.len()];
    let mut stretch = Stretch::new(compression, MOST).expect("the feature is on");
    let mut out = BytesMut::new();
    for piece in data.chunks(usize::from(*cut) + 1) {
        stretch.feed(piece);
        let mut made = 0;
        loop {
            out.clear();
            match stretch.next(&mut out) {
                Ok(0) => break,
                Ok(more) => {
                    made += more;
                    assert_eq!(out.len(), more);
                    assert!(made <= MOST);
                }
                Err(_) => return,
            }
        }
    }
}
