//! Actors elsewhere that messages of a peer have made known here. An address of two dozen bytes becomes a cell of about a
//! kilobyte, so there is a bound to how many of them one peer's messages, and those of all peers, may keep alive.

use std::sync::Arc;

use super::Inflow;

/// Room for one of them, for as long as anybody here refers to it.
pub(crate) struct Referred(Arc<Inflow>);

impl Referred {
    /// None if there is no more. For one reader at a time.
    pub(crate) fn by(references: &Arc<Inflow>) -> Option<Self> {
        references.charge(1).then(|| Referred(references.clone()))
    }
}

impl Drop for Referred {
    fn drop(&mut self) {
        self.0.discharge(1);
    }
}
