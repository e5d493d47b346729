//! How much is kept, and files that were changed.

use super::*;

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
