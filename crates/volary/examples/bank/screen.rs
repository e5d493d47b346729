//! The line that shows how it goes: one that changes in place on a terminal, one a second elsewhere.

use std::io::{IsTerminal, Write, stdout};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use volary::Metrics;

use crate::teller::Figures;

const BAR: usize = 16;

pub(crate) struct Screen {
    terminal: bool,
    began: Instant,
    total: Duration,
    /// When the last line was made, and what the figures were then.
    last: (Instant, u64, u64),
}

impl Screen {
    pub(crate) fn new(total: Duration) -> Self {
        let now = Instant::now();
        Screen { terminal: stdout().is_terminal(), began: now, total, last: (now, 0, 0) }
    }

    pub(crate) fn pause(&self) -> Duration {
        Duration::from_millis(if self.terminal { 200 } else { 1_000 })
    }

    pub(crate) fn show(&mut self, figures: &Figures, metrics: &Metrics) {
        let now = Instant::now();
        let (transfers, messages) = (figures.transfers.load(Relaxed), figures.messages.load(Relaxed));
        let rate = |new: u64, old: u64| grouped(((new - old) as f64 / (now - self.last.0).as_secs_f64()) as u64);
        let line = format!(
            "{:>4.1} s  {:>9} transfers/s  {:>9} messages/s  {} faults, {} restarts, {} dead letters",
            (now - self.began).as_secs_f64(),
            rate(transfers, self.last.1),
            rate(messages, self.last.2),
            grouped(metrics.faults),
            grouped(metrics.restarts),
            grouped(metrics.dead_letters),
        );
        self.last = (now, transfers, messages);
        if self.terminal {
            let done = (BAR as f64 * (now - self.began).as_secs_f64() / self.total.as_secs_f64()) as usize;
            let bar: String = (0..BAR).map(|at| if at < done { '█' } else { '░' }).collect();
            print!("\r\x1b[K{bar} {line}");
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
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
