//! A handle to the cell of the actor that is running.
//!
//! It is a pointer, not a reference: the moment an actor is given up somebody else may run it, end
//! it and free its cell, and a reference in an argument would promise that this cannot happen before
//! the function returns.

use std::ops::Deref;
use std::ptr::NonNull;

use super::header::Header;

/// The cell of a running actor; as good as a reference for the length of a turn.
#[derive(Clone, Copy)]
pub(crate) struct Here(NonNull<Header>);

impl Here {
    /// # Safety
    /// Used only by the owner of the actor, or while a handler or hook of it runs or is suspended:
    /// the actor, and with it the cell, outlives them.
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
