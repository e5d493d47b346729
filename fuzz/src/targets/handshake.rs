//! The first words of a connection: what is read is written and read again.

use super::super::{framed, read, written};

pub fn handshake(data: &[u8]) {
    for kind in [1, 2, 3] {
        if let Some(frame) = read(&framed(kind, 0, data)) {
            assert_eq!(read(&written(&frame)), Some(frame));
        }
    }
}
