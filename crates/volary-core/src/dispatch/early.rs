//! A word to the processor about memory that will be wanted.

/// Has the processor bring a cache line nearer. Whoever stood there may be gone: it is a hint, and no address is wrong.
#[inline]
pub(crate) fn fetch_early<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing and fails for no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast::<i8>()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}
