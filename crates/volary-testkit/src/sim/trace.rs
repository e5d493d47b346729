//! What happened in a run, step by step.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use volary::ActorId;

/// Where something happened: a node, or outside of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeNumber(pub(crate) u32);

/// One line of the trace.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) at: Duration,
    pub(crate) node: Option<NodeNumber>,
    pub(crate) actor: Option<u32>,
    pub(crate) what: String,
}

/// The trace of a run: always its hash, and its lines if they are wanted.
pub(crate) struct Trace {
    hash: u64,
    count: u64,
    lines: Option<Vec<Line>>,
    /// Names of actors, in the order in which they were first seen.
    actors: Vec<String>,
    known: BTreeMap<(NodeNumber, u64, ActorId), u32>,
    /// The hashes of another run of the same seed, the last of them from its end, and where this one first differed.
    expected: Option<Vec<u64>>,
    hashes: Option<Vec<u64>>,
    differs: Option<Difference>,
}

/// Where two runs of one seed part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) step: u64,
    pub(crate) line: String,
}

/// What to keep of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keep {
    pub(crate) lines: bool,
    /// All lines are wanted in the end, and not just the last.
    pub(crate) whole: bool,
    /// The hash after every line, to compare another run with.
    pub(crate) hashes: bool,
    pub(crate) expected: Option<Vec<u64>>,
}

impl Trace {
    pub(crate) fn new(keep: Keep) -> Self {
        Trace {
            hash: 0xcbf2_9ce4_8422_2325,
            count: 0,
            lines: keep.lines.then(Vec::new),
            actors: Vec::new(),
            known: BTreeMap::new(),
            expected: keep.expected,
            hashes: keep.hashes.then(Vec::new),
            differs: None,
        }
    }

    /// The number of an actor, which gets its name when it is new.
    pub(crate) fn actor(
        &mut self,
        node: NodeNumber,
        incarnation: u64,
        id: ActorId,
        name: impl FnOnce() -> String,
    ) -> u32 {
        if let Some(number) = self.known.get(&(node, incarnation, id)) {
            return *number;
        }
        let number = self.actors.len() as u32;
        self.actors.push(name());
        self.known.insert((node, incarnation, id), number);
        number
    }

    pub(crate) fn note(
        &mut self,
        at: Duration,
        node: Option<NodeNumber>,
        actor: Option<u32>,
        what: fmt::Arguments<'_>,
    ) {
        self.mix(at.as_nanos() as u64);
        self.mix(node.map_or(u64::MAX, |node| u64::from(node.0)));
        self.mix(actor.map_or(u64::MAX, u64::from));
        // Formatting straight into the hash: most runs keep no text.
        let mut into = HashText(self.hash);
        let _ = fmt::write(&mut into, what);
        self.hash = into.0;
        self.count += 1;
        if let Some(hashes) = &mut self.hashes {
            hashes.push(self.hash);
        }
        let step = self.count - 1;
        if self.differs.is_none()
            && let Some(expected) = &self.expected
            && expected.get(step as usize) != Some(&self.hash)
        {
            let who = actor.and_then(|actor| self.actors.get(actor as usize));
            let line = format!("{}: {what}", who.map_or("outside", String::as_str));
            self.differs = Some(Difference { step, line });
        }
        if let Some(lines) = &mut self.lines {
            let what = what.to_string();
            lines.push(Line { at, node, actor, what });
        }
    }

    /// Something that has no line of its own, but must be the same in every run of the seed.
    pub(crate) fn absorb(&mut self, number: u64) {
        self.mix(number);
    }

    fn mix(&mut self, number: u64) {
        self.hash = (self.hash ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The hash after every line and, since the last line need not be the last that happened, at the end.
    pub(crate) fn take_hashes(&mut self) -> Vec<u64> {
        let end = self.hash;
        let hashes = self.hashes.take();
        hashes.map_or_else(Vec::new, |mut hashes| {
            hashes.push(end);
            hashes
        })
    }

    /// Where this run parts from the one it was compared with.
    pub(crate) fn difference(&self) -> Option<Difference> {
        let at_the_end = || {
            let expected = self.expected.as_ref()?;
            let same = expected.len() as u64 == self.count + 1 && expected.last() == Some(&self.hash);
            (!same).then(|| Difference {
                step: self.count,
                line: "the end of the run".to_owned(),
            })
        };
        self.differs.clone().or_else(at_the_end)
    }

    pub(crate) fn lines(&self) -> &[Line] {
        self.lines.as_deref().unwrap_or_default()
    }

    pub(crate) fn actor_name(&self, actor: u32) -> &str {
        self.actors.get(actor as usize).map_or("?", String::as_str)
    }
}

struct HashText(u64);

impl fmt::Write for HashText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}
