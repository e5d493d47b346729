//! A hand-written SVG bar chart: one panel per workload, one bar per
//! contender, each panel on its own scale (operations per second or bytes per
//! actor, linear; p99 where the workload is about latency, logarithmic).

use crate::contender::CONTENDERS;
use crate::suite::{Cell, Outcome};
use crate::workloads::Metric;

const COLUMNS: usize = 3;
const PANEL_WIDTH: usize = 360;
const BAR_HEIGHT: usize = 16;
const LABEL: usize = 62;
const VALUE: usize = 92;
const COLOURS: &[&str] = &[
    "#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d9da1", "#c9c9cc", "#e45756", "#8c8c90", "#72b7b2",
];

/// The whole chart.
pub fn render(cells: &[Cell]) -> String {
    let groups: Vec<&[Cell]> = cells
        .chunk_by(|a, b| a.workload.name == b.workload.name)
        .collect();
    let bars = groups.iter().map(|group| group.len()).max().unwrap_or(0);
    let panel_height = 46 + bars * (BAR_HEIGHT + 4);
    let rows = groups.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS * PANEL_WIDTH + 20, rows * panel_height + 20);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (index, group) in groups.iter().enumerate() {
        let x = 10 + (index % COLUMNS) * PANEL_WIDTH;
        let y = 10 + (index / COLUMNS) * panel_height;
        svg.push_str(&panel(group, x, y));
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(group: &[Cell], x: usize, y: usize) -> String {
    let workload = group[0].workload;
    let unit = match workload.metric {
        Metric::Rate => "operations per second, longer is better",
        Metric::Latency => "p99 in µs, logarithmic, shorter is better",
        Metric::Median => "p50 in µs, logarithmic, shorter is better",
        Metric::Memory => "bytes per actor, shorter is better",
    };
    let mut svg = format!(
        "<text x=\"{x}\" y=\"{}\" font-weight=\"bold\" font-size=\"13\">{}</text>\n\
         <text x=\"{x}\" y=\"{}\" fill=\"#666666\" font-size=\"10\">{unit}</text>\n",
        y + 13,
        workload.name,
        y + 27
    );
    let largest = group.iter().filter_map(value).fold(0.0, f64::max);
    let span = (PANEL_WIDTH - LABEL - VALUE) as f64;
    for (index, cell) in group.iter().enumerate() {
        let top = y + 34 + index * (BAR_HEIGHT + 4);
        let baseline = top + BAR_HEIGHT - 4;
        let (length, label) = match (value(cell), &cell.outcome) {
            (Some(value), _) => (
                fraction(workload.metric, value, largest) * span,
                short(value),
            ),
            (None, Outcome::Failed(_)) => (0.0, "failed".to_owned()),
            (None, _) => (0.0, "not offered".to_owned()),
        };
        svg.push_str(&format!(
            "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{baseline}\">{label}</text>\n",
            x + LABEL - 6,
            cell.peer,
            x + LABEL,
            colour(cell.peer),
            (x + LABEL) as f64 + length + 5.0,
        ));
    }
    svg
}

/// How much of the panel's width a value takes.
fn fraction(metric: Metric, value: f64, largest: f64) -> f64 {
    match metric {
        Metric::Latency | Metric::Median => value.ln_1p() / largest.ln_1p(),
        Metric::Rate | Metric::Memory => value / largest,
    }
}

fn value(cell: &Cell) -> Option<f64> {
    let Outcome::Measured(record) = &cell.outcome else {
        return None;
    };
    match cell.workload.metric {
        Metric::Rate => record.ops_per_sec,
        Metric::Latency => record.p99_us,
        Metric::Median => record.p50_us,
        Metric::Memory => record.bytes_per_actor,
    }
}

fn colour(peer: &str) -> &'static str {
    let index = CONTENDERS
        .iter()
        .position(|contender| contender.name == peer)
        .unwrap_or(CONTENDERS.len());
    COLOURS[index % COLOURS.len()]
}

fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}
