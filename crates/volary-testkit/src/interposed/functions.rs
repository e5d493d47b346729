//! What the functions do that a test binary defines: answer from the run around them, or ask the kernel.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::time::Duration;

use crate::sim::interpose as run;

/// The kernel's `timespec`; `timeval` is the same with microseconds.
#[repr(C)]
#[derive(Debug)]
pub struct Time {
    seconds: c_long,
    fraction: c_long,
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const CLOCK_GETTIME: std::ffi::c_long = 228;
    pub(super) const GETRANDOM: std::ffi::c_long = 318;
}
#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const CLOCK_GETTIME: std::ffi::c_long = 113;
    pub(super) const GETRANDOM: std::ffi::c_long = 278;
}

const REALTIME: c_int = 0;
const MONOTONIC: c_int = 1;
const MONOTONIC_RAW: c_int = 4;
const REALTIME_COARSE: c_int = 5;
const MONOTONIC_COARSE: c_int = 6;
const BOOTTIME: c_int = 7;

/// The most that `getentropy` gives.
const ENTROPY: usize = 256;

/// What the run says that a clock shows. Clocks of the processor are left to the kernel.
fn shown(clock: c_int) -> Option<Duration> {
    match clock {
        REALTIME | REALTIME_COARSE => Some(run::clocks()?.calendar),
        MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME => Some(run::clocks()?.monotonic),
        _ => None,
    }
}

/// `clock_gettime`.
///
/// # Safety
/// `time` is null or may be written to.
pub unsafe fn clock_gettime(clock: c_int, time: *mut Time) -> c_int {
    if !time.is_null()
        && let Some(shown) = shown(clock)
    {
        // SAFETY: it is not null, and the caller says that it may be written to.
        unsafe {
            time.write(Time {
                seconds: shown.as_secs() as c_long,
                fraction: c_long::from(shown.subsec_nanos()),
            });
        }
        return 0;
    }
    // SAFETY: the arguments are those of the kernel's function, which checks the pointer.
    unsafe { syscall(number::CLOCK_GETTIME, c_long::from(clock), time) as c_int }
}

/// `gettimeofday`, of which nobody wants the time zone any more.
///
/// # Safety
/// `time` is null or may be written to.
pub unsafe fn gettimeofday(time: *mut Time) -> c_int {
    if time.is_null() {
        return 0;
    }
    // SAFETY: it is not null, and the caller says that it may be written to.
    let failed = unsafe { clock_gettime(REALTIME, time) };
    if failed == 0 {
        // SAFETY: as above; `clock_gettime` has just written to it.
        unsafe { (*time).fraction /= 1_000 };
    }
    failed
}

/// `getrandom`.
///
/// # Safety
/// `length` bytes from `bytes` on may be written to.
pub unsafe fn getrandom(bytes: *mut c_void, length: usize, flags: c_uint) -> isize {
    // SAFETY: the same is asked of our caller.
    if unsafe { fill(bytes, length) } {
        return length as isize;
    }
    // SAFETY: the arguments are those of the kernel's function, which checks the pointer.
    unsafe { syscall(number::GETRANDOM, bytes, length, flags) as isize }
}

/// `getentropy`.
///
/// # Safety
/// `length` bytes from `bytes` on may be written to.
pub unsafe fn getentropy(bytes: *mut c_void, length: usize) -> c_int {
    // SAFETY: the same is asked of our caller. Up to this length the kernel gives all or nothing.
    let given = unsafe { getrandom(bytes, length.min(ENTROPY), 0) };
    if given == length as isize { 0 } else { -1 }
}

/// # Safety
/// `length` bytes from `bytes` on may be written to.
unsafe fn fill(bytes: *mut c_void, length: usize) -> bool {
    if bytes.is_null() || length == 0 {
        return false;
    }
    // Nobody may have written to them yet.
    // SAFETY: they may be written to, and any byte is a byte.
    unsafe { bytes.write_bytes(0, length) };
    // SAFETY: as above, and they are initialised now.
    run::fill(unsafe { std::slice::from_raw_parts_mut(bytes.cast(), length) })
}
