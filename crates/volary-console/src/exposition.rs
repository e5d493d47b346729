//! The figures of a system in the text format of Prometheus.
//!
//! A name is that of the instrument with underscores, then the unit, then `_total` for what only grows:
//! `actorsystem.deadletters.count` is `actorsystem_deadletters_count_total`.

use std::fmt::Write;

use volary_core::{ActorSystem, BOUNDS, Histogram, Instrument, InstrumentKind, Point, Readings};

/// All of them.
pub(crate) fn exposition(system: &ActorSystem) -> String {
    let mut page = Page {
        text: String::with_capacity(8 * 1024),
        system: escaped_label(system.name()),
    };
    for instrument in system.instruments() {
        page.instrument(&instrument);
    }
    page.histograms(&system.readings());
    page.text
}

struct Page {
    text: String,
    /// Escaped.
    system: String,
}

impl Page {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {}", escaped_help(help));
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, kind: Option<&str>, bound: Option<&str>, value: impl std::fmt::Display) {
        let _ = write!(self.text, "{name}{{actor_system=\"{}\"", self.system);
        if let Some(kind) = kind {
            let _ = write!(self.text, ",actor_kind=\"{}\"", escaped_label(kind));
        }
        if let Some(bound) = bound {
            let _ = write!(self.text, ",le=\"{bound}\"");
        }
        let _ = writeln!(self.text, "}} {value}");
    }

    fn instrument(&mut self, instrument: &Instrument) {
        if instrument.points.is_empty() {
            return;
        }
        let (suffix, kind) = match instrument.kind {
            InstrumentKind::Counter => ("_total", "counter"),
            _ => ("", "gauge"),
        };
        let name = name_of(instrument.name, instrument.unit) + suffix;
        self.head(&name, instrument.help, kind);
        for Point { actor_kind, value, .. } in &instrument.points {
            self.line(&name, *actor_kind, None, value);
        }
    }

    fn histograms(&mut self, readings: &Readings) {
        if readings.kinds.is_empty() {
            return;
        }
        let waited = name_of("actor.mailbox.wait.duration", "s");
        self.head(&waited, "How long measured messages waited in mailboxes", "histogram");
        for reading in &readings.kinds {
            self.histogram(&waited, reading.kind, &reading.waited);
        }
        let took = name_of("actor.handler.duration", "s");
        self.head(&took, "How long measured messages were handled", "histogram");
        for reading in &readings.kinds {
            self.histogram(&took, reading.kind, &reading.took);
        }
    }

    fn histogram(&mut self, name: &str, kind: &str, histogram: &Histogram) {
        let bucket = format!("{name}_bucket");
        let mut so_far = 0;
        for (at, count) in histogram.counts.iter().enumerate() {
            so_far += count;
            let bound = BOUNDS
                .get(at)
                .map_or_else(|| "+Inf".to_owned(), |bound| bound.as_secs_f64().to_string());
            self.line(&bucket, Some(kind), Some(&bound), so_far);
        }
        self.line(&format!("{name}_sum"), Some(kind), None, histogram.sum.as_secs_f64());
        self.line(&format!("{name}_count"), Some(kind), None, so_far);
    }
}

/// The name of an instrument as Prometheus spells it.
fn name_of(dotted: &str, unit: &str) -> String {
    let spell = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = dotted.chars().map(spell).collect();
    match unit {
        "s" => name + "_seconds",
        "By" => name + "_bytes",
        _ => name,
    }
}

fn escaped_label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn escaped_help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o3_names_are_spelled_for_prometheus() {
        assert_eq!(name_of("actor.stash.size", ""), "actor_stash_size");
        assert_eq!(name_of("actorsystem.uptime", "s"), "actorsystem_uptime_seconds");
        assert_eq!(
            name_of("actorsystem.mailbox.memory", "By"),
            "actorsystem_mailbox_memory_bytes"
        );
    }

    #[test]
    fn o3_labels_and_help_are_escaped() {
        assert_eq!(escaped_label("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
        assert_eq!(escaped_help("a\\b\"c\nd"), "a\\\\b\"c\\nd");
        let mut page = Page {
            text: String::new(),
            system: escaped_label("x\"y"),
        };
        page.line("n", Some("K<\"a\">"), None, 3);
        assert_eq!(page.text, "n{actor_system=\"x\\\"y\",actor_kind=\"K<\\\"a\\\">\"} 3\n");
    }
}
