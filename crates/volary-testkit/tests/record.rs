//! T7: what comes into one actor is recorded while its system runs, and replayed into a fresh one.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

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

/// What the `started` hook saw before a recording began is not in it.
fn without_the_start(mut ledger: Ledger) -> Ledger {
    ledger.stamps.remove(0);
    ledger
}

fn same(replayed: volary_testkit::record::Replayed<Ledger>, recorded: Ledger) {
    assert_eq!(replayed.divergences, []);
    assert_eq!(without_the_start(replayed.answer), without_the_start(recorded));
}

fn recorder() -> Recorder<Account> {
    Recorder::new(codecs())
}

#[test]
fn t7_a_replay_reaches_the_same_state_with_the_same_readings() {
    for seed in 0..20 {
        let file = TestFile::new();
        let ledger = recorded(seed, &file, recorder(), async |system, account| {
            for cents in 0..5 {
                account.tell(Deposit { cents }).unwrap();
                account.tell(Transfer { cents: -cents }).unwrap();
                system.sleep(7 * MS).await;
            }
            account.tell(Deposit { cents: 100 }).unwrap();
            system.sleep(Duration::from_secs(60)).await;
        });
        assert_eq!(ledger.lines.len(), 11);
        let replayed = replayed(&file);
        assert_eq!(replayed.turns, 11);
        same(replayed, ledger);
    }
}

#[test]
fn t7_what_the_actor_sends_itself_is_replayed_once() {
    for seed in 0..20 {
        let file = TestFile::new();
        let ledger = recorded(seed, &file, recorder(), async |system, account| {
            account.tell(Remind { times: 3 }).unwrap();
            system.sleep(18 * MS).await; // three ticks
            account.tell(Transfer { cents: 1 }).unwrap(); // ticks all the while
            system.sleep(Duration::from_secs(4)).await;
        });
        assert!(ledger.lines.iter().filter(|(what, _)| *what == "tick").count() > 3);
        let mut replayed = replayed(&file);
        // The clock of the recorded system went on ticking between the end of the recording and the last look at it.
        let handled = replayed.answer.lines.len();
        assert_eq!(replayed.answer.lines, ledger.lines[..handled]);
        assert_eq!(replayed.answer.moments, ledger.moments[..replayed.answer.moments.len()]);
        assert!(handled + 2 >= ledger.lines.len());
        assert_eq!(std::mem::take(&mut replayed.divergences), []);
    }
}

#[test]
fn t7_messages_put_aside_are_replayed_once_and_in_their_place() {
    for seed in 0..20 {
        let file = TestFile::new();
        let ledger = recorded(seed, &file, recorder(), async |_, account| {
            account.tell(Freeze { frozen: true }).unwrap();
            account.tell(Withdraw { cents: 1 }).unwrap();
            account.tell(Withdraw { cents: 2 }).unwrap();
            account.tell(Freeze { frozen: false }).unwrap();
            account.tell(Withdraw { cents: 3 }).unwrap();
            account.ask(Deposit { cents: 4 }).await.unwrap();
        });
        assert_eq!(ledger.lines.len(), 6, "{:?}", ledger.lines);
        let replayed = replayed(&file);
        assert_eq!(replayed.turns, 8, "those put aside are seen twice");
        same(replayed, ledger);
    }
}

#[test]
fn t7_crashes_and_restarts_are_replayed() {
    for seed in 0..20 {
        let file = TestFile::new();
        let ledger = recorded(seed, &file, recorder(), async |_, account| {
            account.tell(Deposit { cents: 1 }).unwrap();
            account.ask(Crash { cents: 2 }).await.unwrap_err();
            account.ask(Deposit { cents: 3 }).await.unwrap();
            account.restart();
            account.ask(Deposit { cents: 4 }).await.unwrap();
        });
        assert_eq!(ledger.lines, [("deposit", 4)]);
        let replayed = replayed(&file);
        assert_eq!(replayed.divergences, []);
        assert_eq!(
            replayed.answer, ledger,
            "what the hook of the new incarnation saw included"
        );
    }
}

#[test]
fn t7_a_message_without_a_codec_is_recorded_without_its_content() {
    let file = TestFile::new();
    let password = "a very good password".to_owned();
    recorded(1, &file, recorder(), async |_, account| {
        account.tell(Deposit { cents: 5 }).unwrap();
        account.ask(Sign { password }).await.unwrap();
    });
    let text = file.text();
    assert!(!text.contains("password\t") && !text.contains("very good"), "{text}");
    assert!(!text.contains(&hex("a very good password")), "{text}");
    let line = text.lines().find(|line| line.contains("::Sign")).unwrap();
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!(fields[7], size_of::<Sign>().to_string());
    assert_eq!(fields[8], "redacted");
    let error = Replay::open(&file)
        .unwrap()
        .run(codecs(), Account::open, async |_| ())
        .unwrap_err();
    let ReplayError::Redacted { turn: 1, message } = &error else {
        panic!("{error}");
    };
    assert!(message.ends_with("::Sign"), "{message}");
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn t7_the_first_or_the_last_messages_are_kept_and_the_file_says_so() {
    for (keep, kept) in [(Keep::First, 0..4), (Keep::Last, 6..10)] {
        let file = TestFile::new();
        recorded(1, &file, recorder().turns(4).keep(keep), async |_, account| {
            for cents in 0..10 {
                account.ask(Deposit { cents }).await.unwrap();
            }
        });
        let replay = Replay::open(&file).unwrap();
        assert_eq!((replay.turns(), replay.dropped()), (4, 6));
        assert_eq!(replay.path(), "/user/alice");
        let header = file.text().lines().nth(1).unwrap().to_owned();
        let word = if keep == Keep::First { "first" } else { "last" };
        assert!(header.ends_with(&format!("\t{word}\t4\t16777216\t6")), "{header}");
        let lines: Vec<_> = kept.map(|cents| ("deposit", cents)).collect();
        assert_eq!(replayed(&file).answer.lines, lines);
    }
}

#[test]
fn t7_a_recording_never_takes_more_than_its_bytes() {
    struct Blob;
    #[derive(Message)]
    struct Bytes(usize, u32);
    #[actor]
    impl Blob {
        #[handles]
        fn bytes(&mut self, bytes: Bytes, ctx: &mut Context<Self>) {
            for _ in 0..bytes.1 {
                let _ = ctx.random();
            }
        }
    }
    fn blobs() -> Codecs<Blob> {
        Codecs::new().message(|b: &Bytes| vec![7; b.0], |b| Ok(Bytes(b.len(), 0)))
    }
    for keep in [Keep::First, Keep::Last] {
        let (all, large, readings) = (TestFile::new(), TestFile::new(), TestFile::new());
        let env = SeededEnv::new(1);
        env.clone().block_on(async {
            let system = ActorSystem::builder("b").environment(env).start().await.unwrap();
            let blob = system.spawn(|| Blob).await.unwrap();
            let recorder = || Recorder::new(blobs()).bytes(10_000).keep(keep);
            for (file, size, random, times) in [
                (&all, 1_000, 0, 100),
                (&large, 50_000, 0, 1),
                (&readings, 0, 100_000, 1),
            ] {
                let recording = recorder().start(&blob).unwrap();
                for _ in 0..times {
                    blob.ask(Bytes(size, random)).await.unwrap();
                }
                assert_eq!(recording.turns() as u64 + recording.dropped(), times);
                recording.finish(file).unwrap();
            }
            system.stop().await.unwrap();
        });
        let kept = Replay::open(&all).unwrap().turns();
        assert!((5..10).contains(&kept), "{kept}");
        assert!(large.text().contains("\ttoo-large\t"));
        assert!(readings.text().len() < 20_000, "{}", readings.text().len());
        assert!(readings.text().contains("\topen\n"));
    }
}

#[test]
fn t7_wrong_limits_are_refused_with_what_is_allowed() {
    let env = SeededEnv::new(1);
    env.clone().block_on(async {
        let system = ActorSystem::builder("b").environment(env).start().await.unwrap();
        let account = system.spawn(Account::open).await.unwrap();
        for (recorder, words) in [
            (
                recorder().turns(0),
                "the recorder's turns is 0; allowed are 1 to 100000000",
            ),
            (
                recorder().bytes(9),
                "the recorder's bytes is 9; allowed are 1024 to 4294967296",
            ),
        ] {
            assert_eq!(recorder.start(&account).unwrap_err().to_string(), words);
        }
        let recording = recorder().start(&account).unwrap();
        let error = recorder().start(&account).unwrap_err();
        assert!(matches!(error, RecordError::Tap(TapError::Taken { .. })), "{error}");
        drop(recording);
        drop(recorder().start(&account).unwrap());
        account.stop();
        account.terminated().await;
        let error = recorder().start(&account).unwrap_err();
        assert!(matches!(error, RecordError::Tap(TapError::Ended { .. })), "{error}");
        system.stop().await.unwrap();
    });
}

#[test]
fn t7_every_changed_byte_and_every_cut_is_found_and_its_place_named() {
    let file = TestFile::new();
    recorded(1, &file, recorder(), async |_, account| {
        account.tell(Deposit { cents: 1 }).unwrap();
        account.ask(Deposit { cents: 2 }).await.unwrap();
    });
    let whole = std::fs::read(&file).unwrap();
    let text = file.text();
    let damaged = TestFile::new();
    let problem = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).unwrap();
        Replay::open(&damaged).unwrap_err().problem
    };
    let first = text.find('\n').unwrap() + 1;
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        match problem(&changed) {
            FileProblem::NotARecording | FileProblem::Version { .. } => assert!(at < first, "byte {at}"),
            FileProblem::Corrupt { offset, .. } => {
                let begins = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
                assert!(offset == begins, "byte {at}: said {offset}, line begins at {begins}");
            }
            FileProblem::Truncated { offset } => assert_eq!((offset, at), (whole.len(), whole.len() - 1)),
            other => panic!("byte {at}: {other}"),
        }
        match problem(&whole[..at]) {
            FileProblem::NotARecording | FileProblem::Version { .. } => assert!(at < first, "cut at {at}"),
            FileProblem::Truncated { offset } => assert_eq!(offset, at),
            other => panic!("cut at {at}: {other}"),
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let joined = |numbers: &[usize]| numbers.iter().map(|at| format!("{}\n", lines[*at])).collect::<String>();
    for numbers in [
        &[0, 1, 3, 4][..],
        &[0, 1, 3, 2, 4],
        &[0, 1, 2, 4],
        &[0, 1, 2, 3, 4, 4],
        &[0, 2, 3, 4],
    ] {
        let problem = problem(joined(numbers).as_bytes());
        assert!(matches!(problem, FileProblem::Corrupt { .. }), "{numbers:?}: {problem}");
    }
    let other = problem(text.replacen("recording 1", "recording 2", 1).as_bytes());
    assert_eq!(other.to_string(), "it is of version \"2\"; allowed is 1");
}

#[test]
fn t7_an_encoder_that_panics_costs_the_content_and_nothing_else() {
    let file = TestFile::new();
    let codecs = codecs().message(
        |deposit: &Deposit| match deposit.cents {
            13 => panic!("on purpose"),
            cents => cents.to_string().into_bytes(),
        },
        |bytes| Ok(Deposit { cents: number(bytes)? }),
    );
    let ledger = recorded(1, &file, Recorder::new(codecs), async |_, account| {
        for cents in 12..15 {
            account.ask(Deposit { cents }).await.unwrap();
        }
    });
    assert_eq!(
        ledger.lines,
        [("deposit", 12), ("deposit", 13), ("deposit", 14)],
        "not restarted"
    );
    let text = file.text();
    let payloads: Vec<&str> = text.lines().filter_map(|line| line.split('\t').nth(8)).collect();
    assert_eq!(payloads, ["+3132", "failed", "+3134"]);
}

#[test]
fn t7_an_actor_that_does_something_else_is_reported() {
    let file = TestFile::new();
    recorded(1, &file, recorder(), async |_, account| {
        account.tell(Freeze { frozen: true }).unwrap();
        account.tell(Withdraw { cents: 1 }).unwrap();
        account.tell(Freeze { frozen: false }).unwrap();
        account.ask(Deposit { cents: 1 }).await.unwrap();
    });
    // As if its code had changed: it takes the message for what it is not.
    let changed = codecs().message(|_: &Deposit| Vec::new(), |_| Ok(Deposit { cents: 1 }));
    let changed = changed.message(|_: &Freeze| Vec::new(), |_| Ok(Freeze { frozen: false }));
    let replay = Replay::open(&file).unwrap();
    let replayed = replay.run(changed, Account::open, async |_| ()).unwrap();
    let turns: Vec<usize> = replayed.divergences.iter().map(|divergence| divergence.turn).collect();
    assert_eq!(turns, [1, 3], "{:?}", replayed.divergences);
    assert!(
        replayed.divergences[0].what.contains("drew a number"),
        "{:?}",
        replayed.divergences
    );

    struct Other;
    impl Actor for Other {}
    let replay = Replay::open(&file).unwrap();
    let error = replay.run(Codecs::new(), || Other, async |_| ()).unwrap_err();
    assert!(matches!(error, ReplayError::OtherActor { .. }), "{error}");
}

#[test]
fn t7_a_replay_stays_on_the_thread_of_its_caller_and_stops_before_each_message() {
    struct Where;
    #[derive(Message)]
    struct Look;
    static ELSEWHERE: AtomicBool = AtomicBool::new(false);
    static HERE: std::sync::Mutex<Option<std::thread::ThreadId>> = std::sync::Mutex::new(None);
    #[actor]
    impl Where {
        #[handles]
        async fn look(&mut self, _: Look, ctx: &mut Context<Self>) {
            ctx.sleep(MS).await;
            let here = *HERE.lock().unwrap();
            if here.is_some_and(|here| here != std::thread::current().id()) {
                ELSEWHERE.store(true, SeqCst);
            }
        }
    }
    fn codecs() -> Codecs<Where> {
        Codecs::new().message(|_: &Look| Vec::new(), |_| Ok(Look))
    }
    let file = TestFile::new();
    let env = SeededEnv::new(1);
    env.clone().block_on(async {
        let system = ActorSystem::builder("b").environment(env).start().await.unwrap();
        let actor = system.spawn(|| Where).await.unwrap();
        let recording = Recorder::new(codecs()).start(&actor).unwrap();
        for _ in 0..3 {
            actor.ask(Look).await.unwrap();
        }
        recording.finish(&file).unwrap();
        system.stop().await.unwrap();
    });
    *HERE.lock().unwrap() = Some(std::thread::current().id());
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let each = seen.clone();
    let replay = Replay::open(&file).unwrap();
    let replay = replay.before_each(move |turn, message| each.borrow_mut().push((turn, message.ends_with("::Look"))));
    replay.run(codecs(), || Where, async |_| ()).unwrap();
    assert_eq!(*seen.borrow(), [(0, true), (1, true), (2, true)]);
    assert!(!ELSEWHERE.load(SeqCst));
}

#[test]
fn t7_recording_begins_and_ends_under_load_and_nothing_is_lost_or_reordered() {
    const SENDERS: u64 = 3;
    const MESSAGES: u64 = 20_000;

    struct Counter {
        next: [u64; SENDERS as usize],
        wrong: u64,
    }
    #[derive(Message)]
    struct Numbered(u64, u64);
    #[actor]
    impl Counter {
        #[handles]
        fn numbered(&mut self, numbered: Numbered, ctx: &mut Context<Self>) {
            let Numbered(sender, number) = numbered;
            self.wrong += u64::from(std::mem::replace(&mut self.next[sender as usize], number + 1) != number);
            let _ = ctx.random();
        }
        fn counted(&mut self) -> (u64, u64) {
            (self.next.iter().sum(), self.wrong)
        }
    }
    fn codecs() -> Codecs<Counter> {
        Codecs::new().message(
            |n: &Numbered| format!("{} {}", n.0, n.1).into_bytes(),
            |_| Err("not replayed".into()),
        )
    }

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    runtime.block_on(async {
        let system = ActorSystem::builder("load").start().await.unwrap();
        let counter = system
            .spawn(|| Counter {
                next: [0; SENDERS as usize],
                wrong: 0,
            })
            .await
            .unwrap();
        let over = Arc::new(AtomicU64::new(0));
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (counter, over) = (counter.clone(), over.clone());
                std::thread::spawn(move || {
                    for number in 0..MESSAGES {
                        counter.tell(Numbered(sender, number)).unwrap();
                        if number % 100 == 0 {
                            std::thread::yield_now();
                        }
                    }
                    over.fetch_add(1, SeqCst);
                })
            })
            .collect();
        let mut files = Vec::new();
        while over.load(SeqCst) < SENDERS {
            let recording: Recording = Recorder::new(codecs()).start(&counter).unwrap();
            // For as long as it takes to see something.
            while recording.turns() < 50 && over.load(SeqCst) < SENDERS {
                tokio::task::yield_now().await;
            }
            let file = TestFile::new();
            recording.finish(&file).unwrap();
            files.push(file);
        }
        for sender in senders {
            sender.join().unwrap();
        }
        assert_eq!(counter.ask(Counted).await.unwrap(), (SENDERS * MESSAGES, 0));
        let seen: usize = files.iter().map(check).sum();
        assert!(seen > 0, "nothing was recorded");
        system.stop().await.unwrap();
    });

    /// Within one recording nothing of any sender is missing, and each turn has its reading.
    fn check(file: &TestFile) -> usize {
        let count = Replay::open(file).unwrap().turns();
        let mut next = [None; SENDERS as usize];
        for line in file.text().lines().filter(|line| line.contains("::Numbered")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let bytes = fields[8].as_bytes()[1..].chunks(2);
            let text: String = bytes
                .map(|pair| char::from(u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()))
                .collect();
            let (sender, number) = text.split_once(' ').unwrap();
            let (sender, number): (usize, u64) = (sender.parse().unwrap(), number.parse().unwrap());
            assert!(next[sender].is_none_or(|next| next == number), "{next:?}, then {text}");
            next[sender] = Some(number + 1);
            assert!(
                fields[9].starts_with('r') && !fields[9].contains(',') || fields[10] == "open",
                "{line}"
            );
        }
        count
    }
}
