//! The recorder, and a recording under way.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use volary::{Actor, ActorRef, Input, Moment, Passage, Tap, TapError, Tapped, What};

use super::book::{Book, Mark, Turn};
use super::codecs::Codecs;
use super::file::{self, FileError, Header};

const TURNS: usize = 100_000;
const BYTES: usize = 16 << 20;
const MOST_TURNS: usize = 100_000_000;
/// Below this not even one message without its content fits.
const LEAST_BYTES: usize = 1 << 10;
const MOST_BYTES: usize = 4 << 30;

/// Which messages a recording keeps when there is no room for all of them.
///
/// ```
/// # use volary_testkit::record::Keep;
/// assert_eq!(Keep::default(), Keep::First);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Keep {
    /// The first ones: what is there can be replayed from the beginning.
    #[default]
    First,
    /// The last ones: what led to the end is there.
    Last,
}

/// Records what comes into one actor.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let recorder = Recorder::new(codecs()).turns(1_000).bytes(1 << 20).keep(Keep::Last);
/// let recording = recorder.start(&alice)?;
/// # alice.ask(Deposit { cents: 5 }).await?;
/// # assert_eq!(recording.turns(), 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "`start` begins the recording"]
pub struct Recorder<A: Actor> {
    codecs: Codecs<A>,
    turns: usize,
    bytes: usize,
    keep: Keep,
}

impl<A: Actor> Recorder<A> {
    /// A recorder that writes down the content of these messages, and of no others. It keeps the first 100 000 messages
    /// within 16 MiB.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let file = File::new();
    /// let recording = Recorder::new(Codecs::<Account>::new()).start(&alice)?; // everything redacted
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// recording.finish(&file)?;
    /// let replayed = Replay::open(&file)?.run(codecs(), Account::default, async |_| ());
    /// assert!(matches!(replayed, Err(ReplayError::Redacted { .. })));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn new(codecs: Codecs<A>) -> Self {
        Recorder {
            codecs,
            turns: TURNS,
            bytes: BYTES,
            keep: Keep::First,
        }
    }

    /// At most so many messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let recording = Recorder::new(codecs()).turns(1).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// alice.ask(Deposit { cents: 6 }).await?;
    /// assert_eq!(recording.turns(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn turns(mut self, most: usize) -> Self {
        self.turns = most;
        self
    }

    /// At most so many bytes of memory.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let recording = Recorder::new(codecs()).bytes(64 << 10).start(&alice)?;
    /// for cents in 0..2_000 {
    ///     alice.ask(Deposit { cents }).await?;
    /// }
    /// assert!(recording.dropped() > 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn bytes(mut self, most: usize) -> Self {
        self.bytes = most;
        self
    }

    /// Which messages are kept when there are more.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let file = File::new();
    /// let recording = Recorder::new(codecs()).turns(1).keep(Keep::Last).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// alice.ask(Deposit { cents: 6 }).await?;
    /// recording.finish(&file)?;
    /// let replayed = Replay::open(&file)?.run(codecs(), Account::default, async |alice| alice.ask(Balance).await);
    /// assert_eq!(replayed?.answer?, 6);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Begins to record, with the next message that the actor handles. It may be running, and busy.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let recording = Recorder::new(codecs()).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// assert_eq!(recording.turns(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If a limit is not allowed, the actor has ended, or somebody else records it.
    pub fn start(self, actor: &ActorRef<A>) -> Result<Recording, RecordError> {
        check("turns", self.turns, 1, MOST_TURNS)?;
        check("bytes", self.bytes, LEAST_BYTES, MOST_BYTES)?;
        let header = Header {
            actor: std::any::type_name::<A>().to_owned(),
            path: actor.path().to_string(),
            keep: self.keep,
            most_turns: self.turns as u64,
            most_bytes: self.bytes as u64,
            dropped: 0,
        };
        let book = Arc::new(Mutex::new(Book::new(self.keep, self.turns, self.bytes)));
        let codecs = self.codecs;
        let scribe = Scribe {
            book: book.clone(),
            codecs,
        };
        let tapped = actor.tap(Arc::new(scribe)).map_err(RecordError::Tap)?;
        let actor = actor.clone();
        Ok(Recording {
            tapped: Some(tapped),
            book,
            header,
            is_busy: Box::new(move || actor.status().busy),
        })
    }
}

fn check(setting: &'static str, value: usize, least: usize, most: usize) -> Result<(), RecordError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(RecordError::Limit {
        setting,
        value,
        least,
        most,
    })
}

/// Why a recording did not begin.
///
/// ```
/// # use volary_testkit::record::RecordError;
/// let error = RecordError::Limit { setting: "turns", value: 0, least: 1, most: 100 };
/// assert_eq!(error.to_string(), "the recorder's turns is 0; allowed are 1 to 100");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// A limit is not allowed.
    Limit {
        /// Which one.
        setting: &'static str,
        /// What it was set to.
        value: usize,
        /// The least that is allowed.
        least: usize,
        /// The most that is allowed.
        most: usize,
    },
    /// The actor cannot be recorded.
    Tap(TapError),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Limit {
                setting,
                value,
                least,
                most,
            } => write!(f, "the recorder's {setting} is {value}; allowed are {least} to {most}"),
            RecordError::Tap(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for RecordError {}

/// A recording under way. Dropping it ends the recording and writes nothing.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let recording: Recording = Recorder::new(codecs()).start(&alice)?;
/// alice.ask(Deposit { cents: 5 }).await?;
/// # let file = File::new();
/// if let Err(error) = recording.finish(&file) {
///     println!("not written: {error}");
/// }
/// # assert_eq!(Replay::open(&file)?.turns(), 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "dropping it ends the recording"]
pub struct Recording {
    /// Not there any more once it is finished.
    tapped: Option<Tapped>,
    book: Arc<Mutex<Book>>,
    header: Header,
    is_busy: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Recording {
    /// Writes what was recorded so far, and goes on. Blocks the calling thread for the file, and the actor hardly.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let file = File::new();
    /// let recording = Recorder::new(codecs()).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// recording.save(&file)?;
    /// alice.ask(Deposit { cents: 6 }).await?; // is recorded too
    /// assert_eq!((Replay::open(&file)?.turns(), recording.turns()), (1, 2));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written. One that was there before is not touched then.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let before = self.rests_after();
        let pages = lock(&self.book).pages();
        let is_whole = before.is_some() && before == self.rests_after();
        self.write(path.as_ref(), pages, is_whole)
    }

    /// Ends the recording and writes it. Blocks the calling thread for the file.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let file = File::new();
    /// let recording = Recorder::new(codecs()).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// recording.finish(&file)?;
    /// assert_eq!(Replay::open(&file)?.turns(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let before = self.rests_after();
        self.tapped.take();
        let is_whole = before.is_some() && before == self.rests_after();
        let pages = lock(&self.book).pages();
        self.write(path.as_ref(), pages, is_whole)
    }

    /// How many messages are kept.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let recording = Recorder::new(codecs()).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// assert_eq!(recording.turns(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn turns(&self) -> usize {
        lock(&self.book).len()
    }

    /// How many messages were seen and are not kept, for want of room.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/recorded.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let recording = Recorder::new(codecs()).turns(1).start(&alice)?;
    /// alice.ask(Deposit { cents: 5 }).await?;
    /// alice.ask(Deposit { cents: 6 }).await?;
    /// assert_eq!((recording.turns(), recording.dropped()), (1, 1));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn dropped(&self) -> u64 {
        lock(&self.book).dropped()
    }

    /// How many messages were seen, if the actor has done with the last of them. If that is so before and after
    /// something, no turn was under way in between.
    fn rests_after(&self) -> Option<u64> {
        let book = lock(&self.book);
        let seen = book.len() as u64 + book.dropped();
        (!(self.is_busy)()).then_some(seen)
    }

    fn write(&self, path: &Path, pages: (Vec<Arc<Turn>>, u64), is_whole: bool) -> Result<(), FileError> {
        let (mut turns, dropped) = pages;
        if !is_whole && let Some(last) = turns.last_mut() {
            Arc::make_mut(last).open = true;
        }
        let header = Header {
            dropped,
            ..self.header.clone()
        };
        file::write(path, &header, &turns)
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("of", &self.tapped)
            .field("turns", &self.turns())
            .field("dropped", &self.dropped())
            .finish()
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tap that writes the book.
struct Scribe<A: Actor> {
    book: Arc<Mutex<Book>>,
    codecs: Codecs<A>,
}

impl<A: Actor> Scribe<A> {
    fn note(&self, mark: Mark) {
        lock(&self.book).note(mark);
    }
}

impl<A: Actor> Tap for Scribe<A> {
    fn input(&self, input: &Input<'_>) -> Passage {
        let turn = Turn {
            message: input.type_name().to_owned(),
            sender: input.sender().map_or(0, |sender| sender.uid().get()),
            origin: input.origin().into(),
            now: moment_nanos(input.at()),
            wall: wall_nanos(input.wall_clock()),
            size: input.size() as u64,
            // Before the lock: it is the user's code.
            payload: self.codecs.encode(input.type_name(), input.message()),
            marks: Vec::new(),
            open: false,
        };
        lock(&self.book).begin(turn);
        Passage::Handle
    }

    fn now(&self, read: Moment) -> Moment {
        self.note(Mark::Now(moment_nanos(read)));
        read
    }

    fn wall_clock(&self, read: SystemTime) -> SystemTime {
        self.note(Mark::Wall(wall_nanos(read)));
        read
    }

    fn random(&self, drawn: u64) -> u64 {
        self.note(Mark::Random(drawn));
        drawn
    }

    fn happens(&self, what: &What<'_>) {
        if let Some(mark) = Mark::of(what) {
            self.note(mark);
        }
    }
}

fn moment_nanos(moment: Moment) -> u64 {
    u64::try_from(moment.since(Moment::ZERO).as_nanos()).unwrap_or(u64::MAX)
}

fn wall_nanos(wall: SystemTime) -> i128 {
    let signed = |time: Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
    match wall.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => signed(after),
        Err(before) => -signed(before.duration()),
    }
}
