//! A replay does what the recorded actor did.

use super::*;

/// What the `started` hook saw before a recording began is not in it.
fn without_the_start(mut ledger: Ledger) -> Ledger {
    ledger.stamps.remove(0);
    ledger
}

fn same(replayed: volary_testkit::record::Replayed<Ledger>, recorded: Ledger) {
    assert_eq!(replayed.divergences, []);
    assert_eq!(without_the_start(replayed.answer), without_the_start(recorded));
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
