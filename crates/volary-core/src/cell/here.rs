//! A handle to the cell of the actor that is running, for its context.

use std::ops::Deref;
use std::ptr::NonNull;

use super::header::Header;

/// The cell of a running actor; as good as a reference for the length of a turn.
pub(crate) struct Here(NonNull<Header>);

impl Here {
    /// # Safety
    /// Used only while a handler or hook of this actor runs or is suspended: the actor, and with it
    /// the cell, outlives them.
    pub(crate) unsafe fn new(cell: &Header) -> Self {
        Here(cell.raw())
    }
}

impl Deref for Here {
    type Target = Header;
    fn deref(&self) -> &Header {
        // SAFETY: the promise made at creation.
        unsafe { self.0.as_ref() }
    }
}

// SAFETY: moves with the handler's future, which is run by one thread at a time.
unsafe impl Send for Here {}
// SAFETY: gives shared access to a header, which is made for that; owner-only fields are not
// reached through a context.
unsafe impl Sync for Here {}
