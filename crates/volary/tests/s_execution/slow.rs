//! S8: handlers that keep their thread.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_that_blocks_a_worker_is_counted_and_named() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    assert_eq!(event.id, desk.id());
    assert!(event.running >= Duration::from_millis(20));
    assert_eq!(system.metrics().slow_handlers, 1);
    // Others go on meanwhile.
    let other = system.spawn(a_desk(&Log::new())).await.unwrap();
    other.tell(Note { number: 1 }).unwrap();
    assert_eq!(soon("somebody else", other.ask(Note { number: 2 })).await.unwrap(), 2);
    open.send(()).unwrap();
    assert_eq!(soon("the sloth itself", desk.ask(Note { number: 1 })).await.unwrap(), 1);
    assert_eq!(system.metrics().slow_handlers, 1, "one blockage, one warning");
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_that_blocks_a_worker_is_named_in_a_warning_that_says_what_to_do() {
    let warnings = Journal::common();
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    // Other tests of this program have slow ones too, of other names.
    let desk = system.spawn(a_desk(&Log::new())).named("in-the-way").await.unwrap();
    let said = || {
        let all = warnings.all().into_iter();
        all.filter(|line| line.contains("actor=/user/in-the-way"))
            .collect::<Vec<_>>()
    };
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    eventually_async("a warning", || !said().is_empty()).await;
    let said = said(); // before a machine that stands still can make another handler slow
    open.send(()).unwrap();
    soon("the end of the block", desk.ask(Note { number: 1 }))
        .await
        .unwrap();
    assert_eq!(said.len(), 1, "one blockage, one warning: {said:?}");
    assert!(
        said[0].contains("blocks its worker; use the blocking dispatcher"),
        "{said:?}"
    );
    assert!(said[0].contains("running="), "for how long: {said:?}");
    system.stop().await.unwrap();
}

/// What a blocked worker made ready before it blocked is run by others: its ring and its last-in slot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_others_take_over_the_queue_of_a_blocked_worker() {
    let system = system().await;
    let log = Log::new();
    let mut desks = Vec::new();
    for _ in 0..40 {
        desks.push(system.spawn(a_desk(&log)).await.unwrap());
    }
    for count in [1, 2, 40] {
        let before = log.count("7");
        let (open, gate) = std::sync::mpsc::channel();
        let blocker = system
            .spawn({
                let desks = desks[..count].to_vec();
                move || Blocker { desks: desks.clone() }
            })
            .await
            .unwrap();
        blocker.tell(TellAndBlock { gate }).unwrap();
        eventually_async("what the blocked worker has sent", || log.count("7") == before + count).await;
        open.send(()).unwrap();
    }
    system.stop().await.unwrap();
}

struct Blocker {
    desks: Vec<ActorRef<Desk>>,
}

#[actor]
impl Blocker {
    fn tell_and_block(&mut self, gate: std::sync::mpsc::Receiver<()>) {
        for desk in &self.desks {
            desk.tell(Note { number: 7 }).unwrap();
        }
        let _ = gate.recv();
    }
    async fn pass_on(&mut self, gate: std::sync::mpsc::Receiver<()>) {
        let _ = self.desks[0].ask(Block { gate }).timeout(Duration::from_secs(60)).await;
    }
}

/// An ask runs its target on the asker's thread: the one who blocks is to be named, not the one who asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_the_warning_names_the_actor_that_blocks_not_its_asker() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let asker = system
        .spawn({
            let desks = vec![desk.clone()];
            move || Blocker { desks: desks.clone() }
        })
        .named("innocent")
        .await
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    asker.tell(PassOn { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    open.send(()).unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    system.stop().await.unwrap();
}

/// The same when the asker is a task of the caller: a thread of its runtime is blocked all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_that_blocks_the_thread_of_an_asking_task_is_visible() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    let asking = tokio::spawn({
        let desk = desk.clone();
        async move { desk.ask(Block { gate }).timeout(Duration::from_secs(60)).await }
    });
    eventually_async("it blocks", || log.has("blocking")).await;
    let event = tokio::time::timeout(Duration::from_secs(3), slow.next()).await;
    open.send(()).unwrap();
    soon("the ask", asking).await.unwrap().unwrap();
    let event = event.expect("a blocked thread was not noticed").unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    system.stop().await.unwrap();
}

/// The same on a dispatcher of one's own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_slow_handler_on_a_named_dispatcher_is_visible() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .dispatcher("own", DispatcherOptions::new().workers(2))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system
        .spawn(a_desk(&log))
        .named("sloth")
        .dispatcher(Dispatcher::Named("own".to_owned()))
        .await
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    open.send(()).unwrap();
    system.stop().await.unwrap();
}

/// Blocking where blocking is allowed is no news.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_may_block_on_the_blocking_dispatcher() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(5)))
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let desk = system
        .spawn(a_desk(&log))
        .dispatcher(Dispatcher::Blocking)
        .await
        .unwrap();
    let sloth = system.spawn(a_desk(&Log::new())).await.unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    eventually_async("it blocks", || log.has("blocking")).await;
    // By the time that a worker was found slow, the other would have been found too.
    let (open_other, gate) = std::sync::mpsc::channel();
    sloth.tell(Block { gate }).unwrap();
    assert_eq!(soon("the event", slow.next()).await.unwrap().id, sloth.id());
    assert!(slow.try_next().is_none());
    open.send(()).unwrap();
    open_other.send(()).unwrap();
    system.stop().await.unwrap();
}

/// Is seen to be slow whenever it is told to.
struct Sloth {
    log: Log,
}

#[actor]
impl Sloth {
    fn dawdle(&mut self, ctx: &mut Context<Self>) {
        let me = ctx.me();
        eventually("somebody sees it", || me.status().slow);
    }
    fn thread(&mut self) -> std::thread::ThreadId {
        std::thread::current().id()
    }
    fn say(&mut self, word: &'static str) {
        self.log.push(word);
    }
    /// Makes both ready in one turn, so that they stand in the queue of the same worker.
    fn fill(&mut self, slow: ActorRef<Sloth>, other: ActorRef<Sloth>) {
        slow.tell_all((0..10).map(|_| Say { word: "slow" })).unwrap();
        other.tell_all((0..80).map(|_| Say { word: "other" })).unwrap();
    }
}

/// This thread belongs to the test: no worker ever lives on it, only asks can bring an actor here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_seen_to_be_slow_is_not_run_by_askers() {
    let system = system().await;
    let log = Log::new();
    let sloth = system.spawn(move || Sloth { log: log.clone() }).await.unwrap();
    let here = std::thread::current().id();
    let until = std::time::Instant::now() + PATIENCE;
    while soon("a quick one", sloth.ask(Thread)).await.unwrap() != here {
        assert!(
            std::time::Instant::now() < until,
            "no ask was ever run where it was made"
        );
    }
    assert!(!sloth.status().slow);
    sloth.tell(Dawdle).unwrap();
    eventually_async("it is seen", || sloth.status().slow).await;
    for _ in 0..30 {
        // Fewer than it takes to be forgiven.
        eventually_async("it is idle", || !sloth.status().busy).await;
        assert_ne!(soon("a slow one", sloth.ask(Thread)).await.unwrap(), here);
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_seen_to_be_slow_has_one_message_per_turn() {
    let system = builder("turns")
        .settings(|s| s.workers(2).throughput(8))
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let mut actors = Vec::new();
    for _ in 0..3 {
        let log = log.clone();
        actors.push(system.spawn(move || Sloth { log: log.clone() }).await.unwrap());
    }
    let [slow, other, filler] = &actors[..] else {
        unreachable!()
    };
    slow.tell(Dawdle).unwrap();
    eventually_async("it is seen", || slow.status().slow && !slow.status().busy).await;
    // With one of the two workers kept busy, the order is that of the other's queue.
    let blocked = Log::new();
    let blocker = system.spawn(a_desk(&blocked)).await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    blocker.tell(Block { gate }).unwrap();
    eventually_async("it blocks", || blocked.has("blocking")).await;
    filler
        .tell(Fill {
            slow: slow.clone(),
            other: other.clone(),
        })
        .unwrap();
    eventually_async("all is said", || log.len() == 90).await;
    open.send(()).unwrap();
    let said = log.all();
    let rivals = said.iter().rposition(|word| word == "other").unwrap();
    assert!(
        said[..rivals].windows(2).all(|two| two != ["slow", "slow"]),
        "two in a row while another was ready: {said:?}"
    );
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_that_is_quick_again_is_not_slow_any_more() {
    let system = builder("forgiven").settings(|s| s.workers(2)).start().await.unwrap();
    let log = Log::new();
    let sloth = log.clone();
    let slow = system.spawn(move || Sloth { log: sloth.clone() }).await.unwrap();
    slow.tell(Dawdle).unwrap();
    eventually_async("it is seen", || slow.status().slow && !slow.status().busy).await;
    eventually_async("it is forgiven", || {
        slow.tell(Say { word: "quick" }).unwrap();
        !slow.status().slow
    })
    .await;
    system.stop().await.unwrap();
}
