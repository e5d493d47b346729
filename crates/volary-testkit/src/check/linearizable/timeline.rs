//! Draws calls over time, one line for each client.
//!
//! ```text
//!   client 1 ├ Write(1) → Done ┤
//!   client 2          ├ Read → Value(0) ┤ ✗
//!            0        3        5        7
//! ```
//! Only the order of the instants counts: they are as far apart as the texts need. What does not fit on a screen is
//! drawn with numbers, and the texts are listed below.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::violation::{label, shortened};
use crate::check::history::{At, Call, Client};

const SCREEN: usize = 120;

/// Draws calls that came back; the last one is the one to look at.
pub(super) fn draw<O: fmt::Debug, R: fmt::Debug>(f: &mut fmt::Formatter<'_>, calls: &[Call<O, R>]) -> fmt::Result {
    let texts: Vec<String> = calls.iter().map(|call| shortened(&label(call))).collect();
    let picture = Picture::new(calls, texts.clone());
    if picture.width() <= SCREEN {
        return write!(f, "{picture}");
    }
    let numbers = (1..=calls.len()).map(|number| number.to_string()).collect();
    writeln!(f, "{}", Picture::new(calls, numbers))?;
    for (number, (call, text)) in calls.iter().zip(texts).enumerate() {
        let (begin, end) = (call.begin, end_of(call));
        writeln!(
            f,
            "  {:>3}  client {}  {text}  from {begin} to {end}",
            number + 1,
            call.client
        )?;
    }
    Ok(())
}

struct Picture {
    boxes: Vec<Interval>,
    columns: BTreeMap<At, usize>,
}

struct Interval {
    client: Client,
    begin: At,
    end: At,
    text: String,
}

impl Picture {
    fn new<O, R>(calls: &[Call<O, R>], texts: Vec<String>) -> Self {
        let boxes: Vec<Interval> = calls
            .iter()
            .zip(texts)
            .map(|(call, text)| Interval {
                client: call.client,
                begin: call.begin,
                end: end_of(call),
                text,
            })
            .collect();
        let columns = columns(&boxes);
        Self { boxes, columns }
    }

    fn width(&self) -> usize {
        self.columns.values().next_back().copied().unwrap_or(0)
    }

    /// The lines of each client: calls that overlap need more than one.
    fn lines(&self) -> Vec<(Client, Vec<usize>)> {
        let mut order: Vec<usize> = (0..self.boxes.len()).collect();
        order.sort_by_key(|number| (self.boxes[*number].client, self.boxes[*number].begin, *number));
        let mut lines: Vec<(Client, Vec<usize>)> = Vec::new();
        for number in order {
            let next = &self.boxes[number];
            let has_room = |(client, line): &&mut (Client, Vec<usize>)| {
                let free_from = line.last().map(|last| self.boxes[*last].end);
                *client == next.client && free_from.is_none_or(|free_from| free_from < next.begin)
            };
            match lines.iter_mut().find(has_room) {
                Some((_, line)) => line.push(number),
                None => lines.push((next.client, vec![number])),
            }
        }
        lines
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let names: Vec<String> = lines.iter().map(|(client, _)| format!("client {client}")).collect();
        let margin = names.iter().map(String::len).max().unwrap_or(0);
        for (name, (_, line)) in names.iter().zip(&lines) {
            let mut drawn = Line::default();
            for number in line {
                let call = &self.boxes[*number];
                let (from, to) = (self.columns[&call.begin], self.columns[&call.end]);
                let inside = to.saturating_sub(from + 1);
                let mark = if number + 1 == self.boxes.len() { " ✗" } else { "" };
                drawn.put(from, &format!("├{:─^inside$}┤{mark}", format!(" {} ", call.text)));
            }
            writeln!(f, "  {name:<margin$} {}", drawn.text)?;
        }
        let mut scale = Line::default();
        for (at, column) in &self.columns {
            // A number ends below the end of a call, and begins below the begin of one.
            let text = at.to_string();
            let is_end = self.boxes.iter().any(|call| call.end == *at);
            let column = if is_end {
                (column + 1).saturating_sub(text.len())
            } else {
                *column
            };
            scale.put_if_room(column, &text);
        }
        writeln!(f, "  {:<margin$} {}", "", scale.text)
    }
}

/// A line of text that is filled from left to right.
#[derive(Default)]
struct Line {
    text: String,
    width: usize,
}

impl Line {
    fn put(&mut self, column: usize, text: &str) {
        let gap = column.saturating_sub(self.width);
        self.text.extend(std::iter::repeat_n(' ', gap));
        self.text.push_str(text);
        self.width += gap + text.chars().count();
    }

    /// Leaves the text out if it would touch the one before.
    fn put_if_room(&mut self, column: usize, text: &str) {
        if self.width == 0 || column > self.width {
            self.put(column, text);
        }
    }
}

/// Where each instant is drawn: as far left as the texts between them allow.
fn columns(boxes: &[Interval]) -> BTreeMap<At, usize> {
    let instants: BTreeSet<At> = boxes.iter().flat_map(|call| [call.begin, call.end]).collect();
    let mut columns: BTreeMap<At, usize> = BTreeMap::new();
    let mut next = 0;
    for at in instants {
        let fitting = boxes.iter().filter(|call| call.end == at && call.begin < at);
        let needed = fitting
            .map(|call| columns[&call.begin] + call.text.chars().count() + 3)
            .max();
        let column = next.max(needed.unwrap_or(0));
        columns.insert(at, column);
        // A call that takes no time still needs room for its text.
        let points = boxes.iter().filter(|call| call.begin == at && call.end == at);
        let point = points.map(|call| call.text.chars().count() + 4).max();
        next = column + point.unwrap_or(0).max(2);
    }
    columns
}

fn end_of<O, R>(call: &Call<O, R>) -> At {
    call.returned.as_ref().map_or(call.begin, |returned| returned.at)
}
