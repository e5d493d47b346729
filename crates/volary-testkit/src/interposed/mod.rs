//! System functions that a test binary may define itself, so that code which knows nothing of the simulator gets its time
//! and its randomness from the run that goes on around it.
//!
//! A program's own definition of a function comes before that of the C library, for everybody in the program: the standard
//! library, other crates, C code.
#![allow(unsafe_code, reason = "functions of the C library take pointers")]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod functions;

/// Lets code that knows nothing of the simulator live on the time and the randomness of the run around it.
///
/// Once in a test binary, on Linux, it defines the C library's `clock_gettime`, `gettimeofday`, `getrandom` and
/// `getentropy`. On a thread where a [`Sim`](crate::Sim) runs they answer from its seed and from the clock of the node whose code runs, so
/// that `Instant::now`, `SystemTime::now`, the order of a `HashMap` and other crates' random numbers are the same in every
/// run of a seed. On all other threads they do what they always did, a little more slowly. Elsewhere than on Linux (x86-64
/// and 64-bit ARM) it does nothing.
///
/// Not covered: sleeping and waiting threads, clocks of the processor, `/dev/urandom`, and whoever asks the kernel without the
/// C library. A clock stands still during a step, but moves on by a microsecond whenever it was read 64 times.
///
/// The standard library draws the keys of its maps once per thread. [`Sim::check`](crate::Sim::check) runs each seed on a new thread; a run of
/// `Sim::new(..).run(..)` is on yours, which may have had maps before.
///
/// ```
/// use std::collections::HashMap;
/// use std::time::{Duration, Instant};
/// use volary_testkit::sim::Check;
///
/// volary_testkit::interpose!();
///
/// let check = Check::new().seeds(10).twice_every(1);
/// let summary = check.run(|sim| async move {
///     let began = Instant::now();
///     sim.sleep(Duration::from_secs(3_600)).await;
///     let map: HashMap<u32, u32> = (0..10).map(|number| (number, number)).collect();
///     sim.note(format!("{:?} after {:?}", map.keys(), began.elapsed()));
/// });
/// # #[cfg(target_os = "linux")]
/// assert_eq!(summary?.twice, 10); // every run was the same twice
/// # Ok::<(), volary_testkit::sim::FailedRun>(())
/// ```
#[macro_export]
macro_rules! interpose {
    () => {
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        #[allow(unsafe_code)]
        const _: () = {
            use ::core::ffi::{c_int, c_uint, c_void};
            use $crate::interposed::functions::{self, Time};

            // SAFETY: it has the type of the C library's function, and keeps its promises.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Time) -> c_int {
                // SAFETY: our caller promises what that of the C library's function does.
                unsafe { functions::clock_gettime(clock, time) }
            }
            // SAFETY: it has the type of the C library's function, and keeps its promises.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn gettimeofday(time: *mut Time, _zone: *mut c_void) -> c_int {
                // SAFETY: our caller promises what that of the C library's function does.
                unsafe { functions::gettimeofday(time) }
            }
            // SAFETY: it has the type of the C library's function, and keeps its promises.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn getrandom(bytes: *mut c_void, length: usize, flags: c_uint) -> isize {
                // SAFETY: our caller promises what that of the C library's function does.
                unsafe { functions::getrandom(bytes, length, flags) }
            }
            // SAFETY: it has the type of the C library's function, and keeps its promises.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn getentropy(bytes: *mut c_void, length: usize) -> c_int {
                // SAFETY: our caller promises what that of the C library's function does.
                unsafe { functions::getentropy(bytes, length) }
            }
        };
    };
}
