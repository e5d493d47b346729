//! A message that will not arrive, or perhaps has.

use volary_core::foreign::PendingReply;
use volary_core::{ActorId, DeadReason, RemoteError};

/// A message that will not arrive, or perhaps has.
pub(crate) struct Lost {
    pub(crate) receiver: ActorId,
    pub(crate) sender: Option<ActorId>,
    pub(crate) type_name: &'static str,
    pub(crate) reason: DeadReason,
    pub(crate) reply: Option<PendingReply>,
}

impl Lost {
    /// What its asker hears.
    pub(crate) fn error(&self, node: &str, why: &str) -> RemoteError {
        let node = node.to_owned();
        match self.reason {
            DeadReason::Unconfirmed => RemoteError::Unconfirmed { node },
            DeadReason::Full => RemoteError::Busy { node },
            DeadReason::Unsendable => RemoteError::Codec {
                name: self.type_name.to_owned(),
                why: "it is too large for that node".to_owned(),
            },
            _ => RemoteError::Unreachable {
                node,
                why: why.to_owned(),
            },
        }
    }
}
