//! A failed run in words: its seed, its faults, and what happened.

use std::fmt::Write;

use super::chaos::Seconds;
use super::world::Inner;

/// So many lines of the end of a timeline are shown.
const TAIL: usize = 60;

/// The last part of what happened, one line each: time, node, actor, what it did.
pub(crate) fn timeline(inner: &Inner) -> String {
    let skipped = inner.trace.lines().len().saturating_sub(TAIL);
    from_line(inner, skipped)
}

/// All of it.
pub(crate) fn whole(inner: &Inner) -> String {
    from_line(inner, 0)
}

fn from_line(inner: &Inner, skipped: usize) -> String {
    let lines = inner.trace.lines();
    let mut text = String::new();
    if skipped > 0 {
        let _ = writeln!(text, "  … {skipped} steps before");
    }
    for line in &lines[skipped..] {
        let node = line.node.map_or("-", |node| inner.node_name(node));
        let actor = line.actor.map_or("", |actor| inner.trace.actor_name(actor));
        let _ = writeln!(text, "{}  {node:<8} {actor:<24} {}", Seconds(line.at), line.what);
    }
    text
}
