//! The file of a recording: text, one line a turn, a checksum before each.
//!
//! ```text
//!   volary-recording 1
//!   6d0c51a2 header  <actor> <path> <keep> <most turns> <most bytes> <dropped>
//!   8f3e0b71 turn    <number> <message> <sender> <origin> <now> <wall> <size> <payload> <marks> <whole|open>
//!   …
//!   1c2a9d40 end     <turns>
//! ```
//!
//! Fields are separated by tabs. The payload is `+` and hexadecimal digits, or `redacted`, `failed`, `too-large`; marks
//! are separated by commas, `n`, `w` and `r` for readings. Numbers run on, and the last line says how many there are, so
//! that a line that is missing is noticed as well as one that was changed.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use super::book::{Mark, Payload, Source, Turn};
use super::checksum::checksum;
use super::recorder::Keep;

const FIRST_LINE: &str = "volary-recording 1";
const NAME: &str = "volary-recording ";

/// What is said before the turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) actor: String,
    pub(super) path: String,
    pub(super) keep: Keep,
    pub(super) most_turns: u64,
    pub(super) most_bytes: u64,
    pub(super) dropped: u64,
}

/// Why a file of a recording was not written or read.
///
/// ```
/// use volary_testkit::record::{FileProblem, Replay};
/// let error = Replay::open("nowhere/to-be-found").unwrap_err();
/// assert!(matches!(error.problem, FileProblem::Io(_)));
/// assert!(error.to_string().starts_with("nowhere/to-be-found: "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: FileProblem,
}

/// What is wrong with a file.
///
/// ```
/// use volary_testkit::record::FileProblem;
/// assert_eq!(FileProblem::Truncated { offset: 80 }.to_string(), "truncated: it ends at byte 80 without its last line");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileProblem {
    /// It could not be read or written.
    Io(std::io::Error),
    /// It does not begin as a recording does.
    NotARecording,
    /// It was written by another version of this crate. Read it with that one.
    Version {
        /// What it says of itself.
        found: String,
    },
    /// It ends too early: whoever wrote it did not come to an end, or it was not copied whole.
    Truncated {
        /// Where it ends.
        offset: usize,
    },
    /// A line is not what was written.
    Corrupt {
        /// Where the line begins.
        offset: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileProblem::Io(error) => write!(f, "{error}"),
            FileProblem::NotARecording => write!(f, "not a recording: it does not begin with {FIRST_LINE:?}"),
            FileProblem::Version { found } => write!(f, "it is of version {found:?}; allowed is 1"),
            FileProblem::Truncated { offset } => {
                write!(f, "truncated: it ends at byte {offset} without its last line")
            }
            FileProblem::Corrupt { offset, what } => write!(f, "corrupt at byte {offset}: {what}"),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            FileProblem::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Writes beside the file and renames, so that there is a whole one or none.
pub(super) fn write(path: &Path, header: &Header, turns: &[Arc<Turn>]) -> Result<(), FileError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let written = fs::write(&beside, print(header, turns)).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        // What was begun is of no use to anybody, and the first error is the one to tell.
        let _ = fs::remove_file(&beside);
        FileError {
            path: path.to_owned(),
            problem: FileProblem::Io(error),
        }
    })
}

pub(super) fn read(path: &Path) -> Result<(Header, Vec<Turn>), FileError> {
    let parsed = fs::read(path).map_err(FileProblem::Io).and_then(|bytes| parse(&bytes));
    parsed.map_err(|problem| FileError {
        path: path.to_owned(),
        problem,
    })
}

fn print(header: &Header, turns: &[Arc<Turn>]) -> String {
    let mut text = format!("{FIRST_LINE}\n");
    let keep = match header.keep {
        Keep::First => "first",
        Keep::Last => "last",
    };
    let limits = format!(
        "{keep}\t{}\t{}\t{}",
        header.most_turns, header.most_bytes, header.dropped
    );
    print_line(
        &mut text,
        &format!("header\t{}\t{}\t{limits}", escape(&header.actor), escape(&header.path)),
    );
    for (number, turn) in turns.iter().enumerate() {
        print_line(&mut text, &print_turn(number, turn));
    }
    print_line(&mut text, &format!("end\t{}", turns.len()));
    text
}

fn print_line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{:08x} {line}", checksum(line.as_bytes()));
}

fn print_turn(number: usize, turn: &Turn) -> String {
    let origin = match turn.origin {
        Source::Sent => "sent",
        Source::Timer => "timer",
        Source::Stash => "stash",
        Source::Answer => "answer",
    };
    let payload = match &turn.payload {
        Payload::Bytes(bytes) => bytes.iter().fold("+".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
        Payload::Redacted => "redacted".to_owned(),
        Payload::Failed => "failed".to_owned(),
        Payload::TooLarge => "too-large".to_owned(),
    };
    let marks: Vec<String> = turn.marks.iter().map(print_mark).collect();
    format!(
        "turn\t{number}\t{}\t{:x}\t{origin}\t{}\t{}\t{}\t{payload}\t{}\t{}",
        escape(&turn.message),
        turn.sender,
        turn.now,
        turn.wall,
        turn.size,
        marks.join(","),
        if turn.open { "open" } else { "whole" },
    )
}

fn print_mark(mark: &Mark) -> String {
    match mark {
        Mark::Now(nanos) => format!("n{nanos}"),
        Mark::Wall(nanos) => format!("w{nanos}"),
        Mark::Random(number) => format!("r{number}"),
        Mark::Failed => "failed".to_owned(),
        Mark::Restarted => "restarted".to_owned(),
        Mark::Passivated => "passivated".to_owned(),
        Mark::Woken => "woken".to_owned(),
        Mark::Stopped => "stopped".to_owned(),
    }
}

/// Keeps names from looking like the end of a field or a line.
fn escape(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

fn unescape(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '\\' => match letters.next()? {
                '\\' => '\\',
                't' => '\t',
                'n' => '\n',
                _ => return None,
            },
            other => other,
        });
    }
    Some(name)
}

fn parse(bytes: &[u8]) -> Result<(Header, Vec<Turn>), FileProblem> {
    let first_length = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let first = &bytes[..first_length];
    if first != FIRST_LINE.as_bytes() {
        return Err(match first.strip_prefix(NAME.as_bytes()) {
            Some(found) if !found.is_empty() => FileProblem::Version {
                found: String::from_utf8_lossy(found).into_owned(),
            },
            _ => FileProblem::NotARecording,
        });
    }
    let mut lines = Lines {
        bytes,
        offset: (first_length + 1).min(bytes.len()),
    };
    let (offset, line) = lines.next()?;
    let header = parse_header(line).ok_or(FileProblem::Corrupt {
        offset,
        what: "no header",
    })?;
    let mut turns = Vec::new();
    loop {
        let (offset, line) = lines.next()?;
        let corrupt = |what| FileProblem::Corrupt { offset, what };
        if let Some(count) = line.strip_prefix("end\t") {
            if count.parse() != Ok(turns.len()) {
                return Err(corrupt("turns are missing before the end"));
            }
            if lines.offset != bytes.len() {
                return Err(FileProblem::Corrupt {
                    offset: lines.offset,
                    what: "something follows the end",
                });
            }
            return Ok((header, turns));
        }
        let (number, turn) = parse_turn(line).ok_or_else(|| corrupt("no turn"))?;
        if number != turns.len() {
            return Err(corrupt("turns are missing, or not in their order"));
        }
        turns.push(turn);
    }
}

struct Lines<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Lines<'a> {
    /// The next line without its checksum, and where it begins.
    fn next(&mut self) -> Result<(usize, &'a str), FileProblem> {
        let offset = self.offset;
        let rest = &self.bytes[offset..];
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err(FileProblem::Truncated {
                offset: self.bytes.len(),
            });
        };
        self.offset += length + 1;
        let corrupt = |what| FileProblem::Corrupt { offset, what };
        let line = std::str::from_utf8(&rest[..length]).map_err(|_| corrupt("not text"))?;
        let (sum, line) = line.split_once(' ').ok_or_else(|| corrupt("no checksum"))?;
        if sum != format!("{:08x}", checksum(line.as_bytes())) {
            return Err(corrupt("the checksum does not fit"));
        }
        Ok((offset, line))
    }
}

fn parse_header(line: &str) -> Option<Header> {
    let mut fields = Fields(line.split('\t'));
    fields.word("header")?;
    let header = Header {
        actor: unescape(fields.text()?)?,
        path: unescape(fields.text()?)?,
        keep: match fields.text()? {
            "first" => Keep::First,
            "last" => Keep::Last,
            _ => return None,
        },
        most_turns: fields.value()?,
        most_bytes: fields.value()?,
        dropped: fields.value()?,
    };
    fields.end().then_some(header)
}

fn parse_turn(line: &str) -> Option<(usize, Turn)> {
    let mut fields = Fields(line.split('\t'));
    fields.word("turn")?;
    let number = fields.value()?;
    let turn = Turn {
        message: unescape(fields.text()?)?,
        sender: u64::from_str_radix(fields.text()?, 16).ok()?,
        origin: match fields.text()? {
            "sent" => Source::Sent,
            "timer" => Source::Timer,
            "stash" => Source::Stash,
            "answer" => Source::Answer,
            _ => return None,
        },
        now: fields.value()?,
        wall: fields.value()?,
        size: fields.value()?,
        payload: parse_payload(fields.text()?)?,
        marks: match fields.text()? {
            "" => Vec::new(),
            marks => marks.split(',').map(parse_mark).collect::<Option<_>>()?,
        },
        open: match fields.text()? {
            "whole" => false,
            "open" => true,
            _ => return None,
        },
    };
    fields.end().then_some((number, turn))
}

struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn text(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn word(&mut self, word: &str) -> Option<()> {
        (self.text()? == word).then_some(())
    }

    fn value<T: FromStr>(&mut self) -> Option<T> {
        self.text()?.parse().ok()
    }

    fn end(mut self) -> bool {
        self.0.next().is_none()
    }
}

fn parse_payload(text: &str) -> Option<Payload> {
    Some(match text {
        "redacted" => Payload::Redacted,
        "failed" => Payload::Failed,
        "too-large" => Payload::TooLarge,
        bytes => {
            let digits = bytes.strip_prefix('+')?.as_bytes();
            let byte = |pair: &[u8]| match pair {
                [_, _] => u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok(),
                _ => None,
            };
            Payload::Bytes(digits.chunks(2).map(byte).collect::<Option<_>>()?)
        }
    })
}

fn parse_mark(text: &str) -> Option<Mark> {
    Some(match text {
        "failed" => Mark::Failed,
        "restarted" => Mark::Restarted,
        "passivated" => Mark::Passivated,
        "woken" => Mark::Woken,
        "stopped" => Mark::Stopped,
        reading => {
            let (kind, value) = reading.split_at_checked(1)?;
            match kind {
                "n" => Mark::Now(value.parse().ok()?),
                "w" => Mark::Wall(value.parse().ok()?),
                "r" => Mark::Random(value.parse().ok()?),
                _ => return None,
            }
        }
    })
}
