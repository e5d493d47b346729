//! T7: what comes into one actor is recorded while its system runs, and replayed into a fresh one.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod content;
mod limits;
mod load;
mod replaying;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, SystemTime};

use volary::prelude::*;
use volary::{Moment, SeededEnv, TapError};
use volary_testkit::record::{Codecs, FileProblem, Keep, RecordError, Recorder, Recording, Replay, ReplayError};

const MS: Duration = Duration::from_millis(1);

/// A file that is gone after the test.
struct TestFile(PathBuf);

impl TestFile {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("volary-record-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        TestFile(std::env::temp_dir().join(name))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl AsRef<Path> for TestFile {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Everything that an account has ever seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Ledger {
    lines: Vec<(&'static str, i64)>,
    moments: Vec<Moment>,
    stamps: Vec<SystemTime>,
    dice: Vec<u64>,
}

#[derive(Default)]
struct Account {
    ledger: Ledger,
    frozen: bool,
}

#[derive(Message, Clone)]
struct Tick;

#[derive(Message, Clone)]
struct Echo(i64);

#[actor]
impl Account {
    fn open() -> Self {
        Account::default()
    }

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.ledger.stamps.push(ctx.wall_clock());
    }

    fn deposit(&mut self, cents: i64, ctx: &mut Context<Self>) {
        self.ledger.lines.push(("deposit", cents));
        self.ledger.moments.push(ctx.now());
        self.ledger.dice.push(ctx.random());
    }

    async fn transfer(&mut self, cents: i64, ctx: &mut Context<Self>) {
        self.ledger.moments.push(ctx.now());
        ctx.sleep(Duration::from_secs(3)).await;
        self.ledger.moments.push(ctx.now());
        self.ledger.stamps.push(ctx.wall_clock());
        self.ledger.dice.push(ctx.random() ^ ctx.random());
        self.ledger.lines.push(("transfer", cents));
    }

    fn sign(&mut self, password: String) {
        self.ledger.lines.push(("sign", password.len() as i64));
    }

    fn remind(&mut self, times: i64, ctx: &mut Context<Self>) {
        ctx.set_interval("remind", 5 * MS, Tick);
        ctx.me().tell(Echo(times)).unwrap();
    }

    #[handles]
    fn tick(&mut self, _: Tick, ctx: &mut Context<Self>) {
        self.ledger.lines.push(("tick", 0));
        self.ledger.moments.push(ctx.now());
    }

    #[handles]
    fn echo(&mut self, echo: Echo) {
        self.ledger.lines.push(("echo", echo.0));
    }

    fn freeze(&mut self, frozen: bool, ctx: &mut Context<Self>) {
        self.frozen = frozen;
        self.ledger.lines.push(("freeze", i64::from(frozen)));
        if !frozen {
            ctx.unstash_all();
        }
    }

    fn withdraw(&mut self, cents: i64, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if self.frozen {
            return Err(ctx.stash(Withdraw { cents }).map_err(Fault::from)?.into());
        }
        self.ledger.lines.push(("withdraw", cents));
        self.ledger.dice.push(ctx.random());
        Ok(())
    }

    fn crash(&mut self, cents: i64) -> Result<(), Fault> {
        Err(Fault::msg(format!("no {cents}")))
    }

    fn show(&mut self) -> Ledger {
        self.ledger.clone()
    }
}

fn number(bytes: &[u8]) -> Result<i64, volary_testkit::record::CodecError> {
    Ok(std::str::from_utf8(bytes)?.parse()?)
}

/// For everything but `Sign` and `Show`.
fn codecs() -> Codecs<Account> {
    let text = |value: i64| value.to_string().into_bytes();
    Codecs::new()
        .message(move |m: &Deposit| text(m.cents), |b| Ok(Deposit { cents: number(b)? }))
        .message(
            move |m: &Transfer| text(m.cents),
            |b| Ok(Transfer { cents: number(b)? }),
        )
        .message(move |m: &Remind| text(m.times), |b| Ok(Remind { times: number(b)? }))
        .message(|_: &Tick| Vec::new(), |_| Ok(Tick))
        .message(move |m: &Echo| text(m.0), |b| Ok(Echo(number(b)?)))
        .message(
            move |m: &Freeze| text(i64::from(m.frozen)),
            |b| {
                Ok(Freeze {
                    frozen: number(b)? == 1,
                })
            },
        )
        .message(
            move |m: &Withdraw| text(m.cents),
            |b| Ok(Withdraw { cents: number(b)? }),
        )
        .message(move |m: &Crash| text(m.cents), |b| Ok(Crash { cents: number(b)? }))
}

/// Records an account on virtual time; what it had seen at the end of the recording.
fn recorded(
    seed: u64,
    file: &TestFile,
    recorder: Recorder<Account>,
    story: impl AsyncFnOnce(&ActorSystem, &ActorRef<Account>),
) -> Ledger {
    let env = SeededEnv::new(seed);
    env.clone().block_on(async {
        let system = ActorSystem::builder("bank").environment(env).start().await.unwrap();
        let account = system.spawn(Account::open).named("alice").await.unwrap();
        // Another moment than that at which a replay begins.
        system.sleep(Duration::from_secs(1_000 + seed)).await;
        let recording = recorder.start(&account).unwrap();
        story(&system, &account).await;
        recording.finish(file).unwrap();
        let ledger = account.ask(Show).await.unwrap();
        system.stop().await.unwrap();
        ledger
    })
}

fn replayed(file: &TestFile) -> volary_testkit::record::Replayed<Ledger> {
    let replay = Replay::open(file).unwrap();
    replay
        .run(codecs(), Account::open, async |account| {
            account.ask(Show).await.unwrap()
        })
        .unwrap()
}

fn recorder() -> Recorder<Account> {
    Recorder::new(codecs())
}
