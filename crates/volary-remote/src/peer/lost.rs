//! A message that will not arrive, or perhaps has.

use std::sync::Arc;

use volary_core::foreign::{PendingReply, Undeliverable};
use volary_core::{ActorId, DeadReason, RemoteError};

/// A message that will not arrive, or perhaps has.
pub(crate) struct Lost {
    pub(crate) receiver: ActorId,
    pub(crate) sender: Option<ActorId>,
    pub(crate) type_name: &'static str,
    pub(crate) reason: DeadReason,
    pub(crate) reply: Option<PendingReply>,
    /// Why it cannot be sent, if that is the reason.
    pub(crate) unfit: Option<Undeliverable>,
    #[expect(dead_code, reason = "it is there to be held")]
    pub(crate) unreported: Unreported,
}

/// Held by each that is lost until it was said. Until then its receiver is not let go of, although nothing is on its way
/// there any more: or nobody could say whose dead letter it is.
#[derive(Clone, Default)]
pub(crate) struct Unreported(Arc<()>);

impl Unreported {
    /// Whether one that was handed out is held still.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl Lost {
    /// What its asker hears.
    pub(crate) fn error(&self, node: &str, why: &str) -> RemoteError {
        let node = node.to_owned();
        match self.reason {
            DeadReason::Unconfirmed => RemoteError::Unconfirmed { node },
            DeadReason::Full => RemoteError::Busy { node },
            DeadReason::Unsendable => {
                let name = self.type_name.to_owned();
                match self.unfit.unwrap_or(Undeliverable::Unsendable) {
                    Undeliverable::TooLarge { bytes, most } => RemoteError::TooLarge { name, bytes, most },
                    unfit => RemoteError::Unsendable {
                        name,
                        why: unfit.to_string(),
                    },
                }
            }
            _ => RemoteError::Unreachable {
                node,
                why: why.to_owned(),
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets an error fails")]
mod tests {
    use std::time::Duration;

    use serde::{Deserialize, Serialize};
    use volary::prelude::*;
    use volary_core::DeadReason;

    use crate::{Remote, RemoteOptions};

    struct Desk;

    #[actor(kind = "lost.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "lost.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn s2_a_receiver_is_not_let_go_of_before_it_is_said_what_it_lost() {
        let system = ActorSystem::builder("here").ignore_environment().start().await.unwrap();
        // It is dialled, in vain, and not given up while the test runs.
        let options = RemoteOptions::new().lost_after(Duration::from_secs(600));
        let remote = Remote::builder().kind::<Desk>().options(options);
        let remote = remote.start(&system, "127.0.0.1:0").await.unwrap();
        let address = "volary://there@127.0.0.1:9/user/desk".parse().unwrap();
        remote.actor::<Desk>(&address).unwrap().tell(Note).unwrap();
        let peer = remote.shared().peer("127.0.0.1:9").unwrap();
        let lost = peer.outbound.lock().give_up(DeadReason::Unreachable);
        assert_eq!((lost.len(), peer.read().under_way), (1, 0));
        // Nothing is on its way to the receiver, and nobody refers to it.
        peer.sweep();
        peer.report(lost);
        assert_eq!(system.metrics().dead_letters, 1);
        peer.sweep();
        assert_eq!(peer.read().known, 0, "then it is let go of");
        system.stop().await.unwrap();
    }
}
