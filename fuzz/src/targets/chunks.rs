//! Messages in pieces, under a budget.

use volary_wire::native::{Assembler, Frame, FrameDecoder, Limits};

pub fn chunks(data: &[u8]) {
    let mut limits = Limits::default();
    limits.max_message = 4_096;
    limits.max_assemblies = 4;
    limits.max_assembly_bytes = 8_192;
    let mut assembler = Assembler::new(limits.clone());
    let mut decoder = FrameDecoder::new(limits);
    decoder.feed(data);
    let mut now = 0;
    while let Ok(Some(frame)) = decoder.next_frame() {
        now += 1;
        match frame {
            Frame::Chunk(chunk) => drop(assembler.accept(chunk, now)),
            Frame::Abort { transfer } => drop(assembler.abort(transfer)),
            Frame::Heartbeat { nonce } => drop(assembler.give_up_idle(nonce)),
            _ => {}
        }
        assert!(assembler.held_bytes() <= 8_192);
    }
}
