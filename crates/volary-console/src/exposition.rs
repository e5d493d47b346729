//! The figures of a system in the text format of Prometheus.
//!
//! A name is that of the instrument with underscores, then the unit, then `_total` for what only grows:
//! `actorsystem.deadletters.count` is `actorsystem_deadletters_count_total`.

use std::fmt::Write;

use volary_core::{ActorSystem, BOUNDS, Histogram, Instrument, InstrumentKind, Readings};

const KIND: &str = "actor.kind";

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

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let _ = write!(self.text, "{name}{{actor_system=\"{}\"", self.system);
        for (label, value) in labels {
            let _ = write!(self.text, ",{}=\"{}\"", spelt(label), escaped_label(value));
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
        for point in &instrument.points {
            let kind = point.actor_kind.map(|kind| (KIND, kind));
            let others = point.labels.iter().map(|(label, value)| (*label, value.as_str()));
            let labels: Vec<_> = kind.into_iter().chain(others).collect();
            self.line(&name, &labels, point.value);
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
            self.line(&bucket, &[(KIND, kind), ("le", &bound)], so_far);
        }
        let labels = [(KIND, kind)];
        self.line(&format!("{name}_sum"), &labels, histogram.sum.as_secs_f64());
        self.line(&format!("{name}_count"), &labels, so_far);
    }
}

/// The name of an instrument as Prometheus spells it.
fn name_of(dotted: &str, unit: &str) -> String {
    let name = spelt(dotted);
    match unit {
        "s" => name + "_seconds",
        "us" => name + "_microseconds",
        "By" => name + "_bytes",
        _ => name,
    }
}

fn spelt(dotted: &str) -> String {
    let spell = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    dotted.chars().map(spell).collect()
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
        assert_eq!(name_of("gate.delay", "us"), "gate_delay_microseconds");
    }

    #[test]
    fn o3_labels_and_help_are_escaped() {
        assert_eq!(escaped_label("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
        assert_eq!(escaped_help("a\\b\"c\nd"), "a\\\\b\"c\\nd");
        let mut page = Page {
            text: String::new(),
            system: escaped_label("x\"y"),
        };
        page.line("n", &[(KIND, "K<\"a\">"), ("remote.peer", "a\nb")], 3);
        assert_eq!(
            page.text,
            "n{actor_system=\"x\\\"y\",actor_kind=\"K<\\\"a\\\">\",remote_peer=\"a\\nb\"} 3\n"
        );
    }
}
