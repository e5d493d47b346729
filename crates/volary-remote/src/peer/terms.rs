//! How long that may be which is sent to a peer, and in pieces of which length it goes: by what is set here, and by what the
//! peer has said of itself when it connected.

use volary_core::MAX_HEADERS;
use volary_wire::native::{Bounds, Capabilities, Capability, Metadata};

use crate::options::{PIECE_HEAD, RemoteOptions, SHORTEST_CHUNK};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// What is longer goes in pieces of at most this length, if the peer puts them together.
    pub(super) chunk: usize,
    /// The longest frame, in pieces or not, without its length.
    pub(super) longest: usize,
    /// The longest frame that goes as a whole, without its length.
    whole: usize,
    /// The most headers of a message, if it is less than all that there can be.
    headers: Option<usize>,
}

impl Terms {
    /// What is so as long as nothing is known of the peer.
    pub(super) fn new(options: &RemoteOptions) -> Self {
        Terms {
            chunk: options.chunk_bytes,
            longest: options.max_message,
            whole: options.max_frame,
            headers: None,
        }
    }

    /// The same with a peer that can do this, and takes so much.
    pub(super) fn with(self, capabilities: Capabilities, bounds: Bounds) -> Self {
        let at_most = |own: usize, said: Option<u64>| said.map_or(own, |most| own.min(saturated(most)));
        let whole = at_most(self.whole, bounds.frame);
        let longest = at_most(self.longest, bounds.message);
        let headers = bounds.headers.map(saturated).filter(|most| *most < MAX_HEADERS);
        if !capabilities.contains(Capability::Chunks) {
            return Terms {
                chunk: 4 + whole,
                longest: whole,
                whole,
                headers,
            };
        }
        // Nobody is cut to crumbs for, who says that it takes next to nothing.
        let fits = whole.saturating_sub(PIECE_HEAD).max(SHORTEST_CHUNK);
        Terms {
            chunk: self.chunk.min(fits),
            longest,
            whole,
            headers,
        }
    }

    /// Whether there can be more headers than the peer takes.
    pub(super) fn counts_headers(&self) -> bool {
        self.headers.is_some()
    }

    /// Whether the peer takes as many headers as go with a message.
    pub(super) fn takes(&self, metadata: Option<&Metadata>) -> bool {
        match (self.headers, metadata) {
            (Some(most), Some(metadata)) => metadata.headers().count() <= most,
            _ => true,
        }
    }
}

fn saturated(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let options = RemoteOptions::new().chunk_bytes(10_000).max_frame(100_000);
        Terms::new(&options.max_message(1_000_000))
    }

    fn bounds(frame: u64, message: u64) -> Bounds {
        let mut bounds = Bounds::default();
        (bounds.frame, bounds.message) = (Some(frame), Some(message));
        bounds
    }

    #[test]
    fn r1_the_less_of_what_both_sides_take_counts() {
        let with = |bounds| {
            let terms = terms().with(Capabilities::all(), bounds);
            (terms.chunk, terms.longest)
        };
        assert_eq!(with(Bounds::default()), (10_000, 1_000_000), "it says nothing");
        assert_eq!(with(bounds(200_000, 2_000_000)), (10_000, 1_000_000));
        assert_eq!(with(bounds(50_000, 300_000)), (10_000, 300_000));
        assert_eq!(with(bounds(5_000, 6_000)), (5_000 - PIECE_HEAD, 6_000));
        assert_eq!(with(bounds(u64::MAX, u64::MAX)), (10_000, 1_000_000));
        assert_eq!(with(bounds(0, 0)), (SHORTEST_CHUNK, 0));
    }

    #[test]
    fn r3_who_puts_no_pieces_together_takes_what_a_frame_may_hold() {
        let with = |bounds| {
            let terms = terms().with(Capabilities::none(), bounds);
            (terms.chunk, terms.longest)
        };
        assert_eq!(with(Bounds::default()), (100_004, 100_000));
        assert_eq!(with(bounds(50_000, 300_000)), (50_004, 50_000));
    }

    #[test]
    fn r1_headers_are_counted_where_it_is_known_how_many_are_taken() {
        let metadata = Metadata::builder().header("a", b"").header("b", b"").build();
        let takes = |headers: Option<u64>| {
            let mut bounds = Bounds::default();
            bounds.headers = headers;
            terms().with(Capabilities::all(), bounds).takes(Some(&metadata))
        };
        assert!(takes(None) && takes(Some(2)) && !takes(Some(1)));
        assert!(terms().takes(Some(&metadata)) && terms().takes(None));
    }
}
