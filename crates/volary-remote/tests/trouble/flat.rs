//! Memory is flat: what was kept for the sake of a trouble is let go when it is over, on both sides.
//!
//! What a node keeps for its peers has books of its own, which must come back to nothing: bytes that wait to be written or
//! confirmed, bytes that wait in mailboxes, asks, and actors elsewhere that nobody refers to any more. What those do not
//! know is seen in the memory of the child's process. The process of the tests is that of all of them at once, and says
//! nothing.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::program::Child;

/// Stand-ins there may be for each peer: those of the writers and of the speaker.
const FEW: u64 = 4;
/// What the process may have grown by, in KiB: buffers that are kept, and what its allocator does not give back.
const MORE: u64 = 32 << 10;
/// Those that nobody refers to are let go of with a heartbeat.
const PATIENCE: Duration = Duration::from_secs(40);

async fn soon_flat<F: Debug>(of: &str, mut look: impl AsyncFnMut() -> (bool, F)) {
    let end = Instant::now() + PATIENCE;
    loop {
        let (is_flat, figures) = look().await;
        if is_flat {
            return;
        }
        assert!(Instant::now() < end, "{of} keeps what is over: {figures:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Nothing is kept at home, for any peer.
pub(crate) async fn flat_here(home: &Home) {
    soon_flat("home", async || {
        let (peers, inbound) = (home.remote.peers(), home.remote.inbound_bytes());
        let kept = |peer: &volary_remote::PeerReading| {
            peer.under_way > 0 || peer.kept_bytes > 0 || peer.open_asks > 0 || peer.known as u64 > FEW
        };
        (inbound == 0 && !peers.iter().any(kept), (inbound, peers))
    })
    .await;
}

/// Nothing is kept by a child that lives, for home or anybody else, nor has its process grown much.
pub(crate) async fn flat_there(child: &mut Child) {
    soon_flat("the child", async || {
        let report = child.report().await;
        let is_empty = ["under_way", "inbound", "kept", "asks"]
            .iter()
            .all(|name| report.get(name) == 0);
        (is_empty && report.get("known") <= FEW * report.get("peers"), report)
    })
    .await;
    let more = child.memory_more();
    assert!(more < MORE, "{more} KiB more than at first");
}
