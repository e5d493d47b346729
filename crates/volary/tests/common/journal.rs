//! What the runtime logs.

use std::fmt::{Debug, Write};
use std::sync::OnceLock;

use super::Log;

/// Keeps the lines that are logged. An [own one](Journal::during) sees what its own thread logs, the
/// [common one](Journal::common) all warnings of the program.
#[derive(Clone, Default)]
pub struct Journal {
    lines: Log,
    only_warnings: bool,
}

impl Journal {
    /// What is logged on this thread meanwhile.
    pub fn during<T>(body: impl FnOnce() -> T) -> (T, Vec<String>) {
        let journal = Journal::default();
        let value = tracing::subscriber::with_default(journal.clone(), body);
        (value, journal.lines.all())
    }

    /// The warnings that any test of this program causes on any thread, from the first call on.
    pub fn common() -> &'static Log {
        static COMMON: OnceLock<Log> = OnceLock::new();
        COMMON.get_or_init(|| {
            let journal = Journal {
                only_warnings: true,
                ..Journal::default()
            };
            tracing::subscriber::set_global_default(journal.clone()).unwrap();
            journal.lines
        })
    }
}

impl tracing::Subscriber for Journal {
    fn enabled(&self, about: &tracing::Metadata<'_>) -> bool {
        !self.only_warnings || *about.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.lines.push(format!("{}{}", line.message, line.fields));
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// The message, and the other fields behind it.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => write!(self.fields, " {name}={value:?}").unwrap(),
        }
    }
}
