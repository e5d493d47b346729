//! The time by which certificates are valid: that of the system, not of the machine.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use volary_core::Env;

/// The clock of the first system that uses these certificates. Before there is one, nothing is valid.
#[derive(Default)]
pub(super) struct Clock(OnceLock<Arc<dyn Env>>);

impl Clock {
    pub(super) fn set(&self, world: Arc<dyn Env>) {
        let _ = self.0.set(world);
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let wall = self.0.get()?.wall();
        Some(UnixTime::since_unix_epoch(wall.duration_since(UNIX_EPOCH).ok()?))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
