//! A stream of frames, cut as the first byte says. What is read is written back to the letter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volary_fuzz::written;
use volary_wire::native::{Frame, FrameDecoder, InternSpace, InternTable, Limits};

fuzz_target!(|data: &[u8]| {
    let Some((cut, stream)) = data.split_first() else {
        return;
    };
    let limits = Limits::default();
    let mut decoder = FrameDecoder::new(limits.clone());
    let mut addresses = InternTable::new(InternSpace::Address, &limits);
    let mut types = InternTable::new(InternSpace::Type, &limits);
    let mut back = Vec::new();
    for piece in stream.chunks(usize::from(*cut).max(1)) {
        decoder.feed(piece);
        while let Ok(Some(frame)) = decoder.next_frame() {
            match &frame {
                Frame::Hello(_) | Frame::Welcome(_) => return, // they skip what they do not know
                Frame::Intern(intern) => {
                    let table = if intern.space == InternSpace::Type {
                        &mut types
                    } else {
                        &mut addresses
                    };
                    let _ = table.define(intern, ());
                }
                Frame::Confirm(confirm) => assert!(confirm.beyond().count() <= 256),
                _ => {}
            }
            back.extend_from_slice(&written(&frame));
        }
    }
    if decoder.skipped() == 0 {
        assert!(stream.starts_with(&back));
    }
});
