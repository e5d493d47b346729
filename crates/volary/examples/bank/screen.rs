//! The line that shows how it goes: one that changes in place on a terminal, one a second elsewhere.

use std::io::{IsTerminal, Write, stdout};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use volary::Metrics;

use crate::teller::{MESSAGES, TRANSFERS};

const BAR: f64 = 16.0;

pub(crate) struct Screen {
    terminal: bool,
    began: Instant,
    total: Duration,
    /// When the last line was made, and what the figures were then.
    last: (Instant, u64, u64),
}

impl Screen {
    pub(crate) fn new(total: Duration) -> Self {
        let (terminal, began, last) = (stdout().is_terminal(), Instant::now(), (Instant::now(), 0, 0));
        Screen {
            terminal,
            began,
            total,
            last,
        }
    }

    pub(crate) fn pause(&self) -> Duration {
        Duration::from_millis(if self.terminal { 200 } else { 1_000 })
    }

    pub(crate) fn show(&mut self, metrics: &Metrics) {
        let (now, transfers, messages) = (Instant::now(), TRANSFERS.load(Relaxed), MESSAGES.load(Relaxed));
        let rate = |new, old| grouped(((new - old) as f64 / (now - self.last.0).as_secs_f64()) as u64);
        let (moved, sent) = (rate(transfers, self.last.1), rate(messages, self.last.2));
        let [faults, restarts, dead] = [metrics.faults, metrics.restarts, metrics.dead_letters].map(grouped);
        self.last = (now, transfers, messages);
        let rates = format!("{moved:>9} transfers/s {sent:>10} messages/s");
        let line = format!("{rates} {faults:>7} faults {restarts:>6} restarts {dead} dead letters");
        if self.terminal {
            let part = (now - self.began).div_duration_f64(self.total).min(1.0) * BAR;
            let bar: String = (0..BAR as u8)
                .map(|at| if f64::from(at) < part { '█' } else { '░' })
                .collect();
            print!("\r\x1b[K\x1b[?7l{bar} {line}\x1b[?7h"); // a narrow terminal cuts it off instead of wrapping it
            let _ = stdout().flush(); // a terminal that has gone away is no reason to stop
        } else {
            println!("{line}");
        }
    }

    pub(crate) fn done(&self) {
        if self.terminal {
            println!();
        }
    }
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}
