//! The state of the actors that are passivated, the same for all contenders.
//! It reports when it is dropped, and reports each message it handles.

use crate::latch::Latch;

/// What a `Dormant` is built from, beside its id.
#[derive(Clone, Copy)]
pub struct Dormancy {
    /// Whom each drop of a state is reported to.
    pub asleep: &'static Latch,
    /// Whom each handled message is reported to.
    pub awake: &'static Latch,
}

/// What is let go of, and built anew.
pub struct Dormant {
    id: u64,
    dormancy: Dormancy,
}

impl Dormant {
    /// The state of the actor `id`.
    pub fn new(id: u64, dormancy: Dormancy) -> Self {
        Self { id, dormancy }
    }

    /// Handles a message.
    pub fn handle(&mut self, id: u64) {
        assert_eq!(self.id, id, "the actor that was meant");
        self.dormancy.awake.arrive();
    }
}

impl Drop for Dormant {
    fn drop(&mut self) {
        self.dormancy.asleep.arrive();
    }
}
