//! A stream of frames, cut as the first byte says. What is read is written back to the letter; but for the fields of
//! metadata, which come back in the usual order. The short way to read most of them gives the same.

use volary_wire::native::{Frame, FrameDecoder, InternSpace, InternTable, Limits};

use super::super::written;

pub fn frame(data: &[u8]) {
    let Some((cut, stream)) = data.split_first() else {
        return;
    };
    let limits = Limits::default();
    let mut decoder = FrameDecoder::new(limits.clone());
    let mut addresses = InternTable::new(InternSpace::Address, &limits);
    let mut types = InternTable::new(InternSpace::Type, &limits);
    let mut short = FrameDecoder::new(limits.clone());
    let mut reading = FrameDecoder::new(limits.clone());
    let mut back = Vec::new();
    let mut frames = Vec::new();
    for piece in stream.chunks(usize::from(*cut).max(1)) {
        decoder.feed(piece);
        short.feed(piece);
        // As a connection reads: into room that was made for it, and nothing is kept.
        reading.buffer().extend_from_slice(piece);
        while let Ok(Some(_)) = reading.next_frame() {}
        while let Ok(Some(frame)) = decoder.next_frame() {
            // The short way reads the same, where it reads anything.
            match short.next_told() {
                Some(told) => assert_eq!(Frame::Tell(told.into()), frame),
                None => assert_eq!(short.next_frame().as_ref(), Ok(&Some(frame.clone()))),
            }
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
            frames.push(frame);
        }
    }
    let has_metadata = |frame: &Frame| match frame {
        Frame::Tell(envelope) | Frame::Ask { envelope, .. } => envelope.metadata.is_some(),
        _ => false,
    };
    if decoder.skipped() == 0 && !frames.iter().any(has_metadata) {
        assert!(stream.starts_with(&back));
    }
    let mut again = FrameDecoder::new(limits);
    again.feed(&back);
    for frame in &frames {
        assert_eq!(again.next_frame().as_ref(), Ok(&Some(frame.clone())));
    }
}
