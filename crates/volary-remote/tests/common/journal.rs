//! Warnings that the nodes of a test log.

use std::fmt::{Debug, Write};
use std::sync::OnceLock;

use super::Log;

/// Whoever is called knows no peer yet, and says in the log whom it did not take.
#[derive(Clone, Default)]
struct Journal(Log);

impl tracing::Subscriber for Journal {
    fn enabled(&self, about: &tracing::Metadata<'_>) -> bool {
        *about.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.push(line.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[derive(Default)]
struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        write!(self.0, "{}={value} ", field.name()).unwrap();
    }
}

/// What is logged by any test of this program.
pub fn journal() -> &'static Log {
    static JOURNAL: OnceLock<Log> = OnceLock::new();
    JOURNAL.get_or_init(|| {
        let journal = Journal::default();
        tracing::subscriber::set_global_default(journal.clone()).unwrap();
        journal.0
    })
}
