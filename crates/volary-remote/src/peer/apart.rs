//! Memory that shares its cache line with nothing else.

use std::ops::Deref;

/// Keeps what one thread writes all the time away from what another does.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
