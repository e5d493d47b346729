//! The processor time of this process, all threads, user and system: what `getrusage` adds up, to the nanosecond.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds so far.
pub fn micros() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

#[cfg(test)]
mod tests {
    #[test]
    fn work_takes_time() {
        let before = super::micros();
        let sum = (0..5_000_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
        std::hint::black_box(sum);
        assert!(super::micros() > before);
    }
}
