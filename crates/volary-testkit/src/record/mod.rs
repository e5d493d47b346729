//! Recording what comes into one actor of a running system, and replaying it into a fresh one.
//!
//! ```text
//!   running system                         file                     your debugger
//!   actor ──▶ Recorder ──▶ Recording ──▶ one line a turn ──▶ Replay ──▶ fresh actor, one thread
//!             (a tap)      (bounded)     (checksum each)               the same clock, the same chance
//! ```
//!
//! ```
//! use volary::prelude::*;
//! use volary_testkit::record::{Codecs, Recorder, Replay};
//!
//! struct Account { cents: i64, last: Option<std::time::SystemTime> }
//!
//! #[actor]
//! impl Account {
//!     fn new() -> Self {
//!         Account { cents: 0, last: None }
//!     }
//!     fn deposit(&mut self, cents: i64, ctx: &mut Context<Self>) -> i64 {
//!         self.last = Some(ctx.wall_clock());
//!         self.cents += cents;
//!         self.cents
//!     }
//!     fn last(&mut self) -> Option<std::time::SystemTime> {
//!         self.last
//!     }
//! }
//!
//! /// What may be written down. A message that is not listed is recorded without what it says.
//! fn codecs() -> Codecs<Account> {
//!     Codecs::new().message(
//!         |deposit: &Deposit| deposit.cents.to_string().into_bytes(),
//!         |bytes| Ok(Deposit { cents: std::str::from_utf8(bytes)?.parse()? }),
//!     )
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::env::temp_dir().join(format!("volary-record-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! # let file = directory.join("alice.recording");
//! # let to = file.clone();
//! # let seen = volary::run(async move {
//! # let file = to;
//! let system = ActorSystem::builder("bank").start().await?;
//! let alice = system.spawn(Account::new).named("alice").await?;
//!
//! let recording = Recorder::new(codecs()).start(&alice)?;
//! alice.tell(Deposit { cents: 10 })?;
//! alice.ask(Deposit { cents: 20 }).await?;
//! recording.finish(&file)?;
//!
//! let seen = alice.ask(Last).await?;
//! # system.stop().await?;
//! # Ok::<_, Box<dyn std::error::Error>>(seen)
//! # })?;
//!
//! // Another day, on a thread of its own.
//! let replay = Replay::open(&file)?;
//! let replayed = replay.run(codecs(), Account::new, async |alice| alice.ask(Last).await.unwrap())?;
//! assert_eq!(replayed.answer, seen, "the same calendar, to the nanosecond");
//! assert!(replayed.divergences.is_empty());
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok(()) }
//! ```
//!
//! # What is recorded
//!
//! For each message, in the order in which they were handled: its type, its sender, when it was handled, its size; what
//! it says only if [`Codecs`] has an encoder for its type. With it what the handler read through its context:
//! [`now`](volary::Context::now), [`wall_clock`](volary::Context::wall_clock) and [`random`](volary::Context::random),
//! and that the actor failed or was restarted, without the words of the fault. Numbers that a handler drew stand in the
//! file as they are: one that makes secrets of them makes the file a secret.
//!
//! # What is not
//!
//! The state that the actor had when the recording began; answers that a handler awaited from others; clocks and
//! randomness that a handler got elsewhere than from its context. What the factory gives a replayed actor stands in for
//! these.

mod book;
mod checksum;
mod codecs;
mod file;
mod player;
mod recorder;
mod replay;

pub use codecs::{CodecError, Codecs};
pub use file::{FileError, FileProblem};
pub use recorder::{Keep, RecordError, Recorder, Recording};
pub use replay::{Divergence, Replay, ReplayError, Replayed};
