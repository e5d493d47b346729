//! The first words of a connection: what is read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volary_fuzz::{framed, read, written};

fuzz_target!(|data: &[u8]| {
    for kind in [1, 2, 3] {
        if let Some(frame) = read(&framed(kind, 0, data)) {
            assert_eq!(read(&written(&frame)), Some(frame));
        }
    }
});
