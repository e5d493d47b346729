//! R3, R6, R7: two nodes speak with each other as if they were one.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use tokio::sync::Notify;
use volary::prelude::*;
use volary_core::{Baggage, DeadLetter, DeadReason, RemoteError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_tell_and_ask_reach_an_actor_of_another_node() {
    for (one, other) in [pair().await, near_pair().await] {
        other.desk("desk").await;
        let desk = one.far(&other, "desk");
        desk.tell(Note { number: 1 }).unwrap();
        assert_eq!(soon("an answer", desk.ask(Note { number: 2 })).await.unwrap(), 2);
        assert_eq!(other.log.all(), ["1", "2"]);
        let refused = soon("a rejection", desk.ask(Refuse { code: 7 })).await;
        assert!(matches!(refused, Err(AskError::Rejected(Refused(7)))), "{refused:?}");
        let failed = soon("a failure", desk.ask(Fail { code: 7 })).await;
        assert!(
            matches!(&failed, Err(AskError::Failed(f)) if f.to_string().contains("failed with 7")),
            "{failed:?}"
        );
        assert!(matches!(
            soon("no answer", desk.ask(Forget)).await,
            Err(AskError::NoReply)
        ));
        one.system.stop().await.unwrap();
        other.system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_messages_of_one_sender_arrive_in_the_order_sent_large_ones_among_them() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    let large = vec![7_u8; 1 << 20];
    for number in 0..2_000 {
        desk.tell(Note { number }).unwrap();
        if number % 500 == 100 {
            desk.tell(Echo { bytes: large.clone() }).unwrap();
        }
    }
    assert_eq!(soon("the last", desk.ask(Note { number: 2_000 })).await.unwrap(), 2_001);
    let expected: Vec<String> = (0..=2_000).map(|n: u64| n.to_string()).collect();
    assert_eq!(other.log.all(), expected);
    let echoed = soon("a large answer", desk.ask(Echo { bytes: large.clone() }))
        .await
        .unwrap();
    assert_eq!(echoed, large);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_references_in_messages_lead_back_from_anywhere() {
    let (one, other) = pair().await;
    other.desk("far").await;
    let near = one.desk("near").await;
    let far = one.far(&other, "far");
    let told = soon(
        "told",
        far.ask(Tell {
            to: near.recipient(),
            number: 42,
        }),
    )
    .await
    .unwrap();
    assert!(told);
    eventually("the note comes back", || one.log.all() == ["42"]).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

protocol!(Noting { Note, Refuse });

struct Broker;

#[actor(kind = "test.Broker", remote(Pass))]
impl Broker {
    /// Asks somebody who speaks the protocol, wherever and whatever they are.
    #[message(remote = "test.WalkIn", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    async fn pass(&mut self, to: ActorRef<Noting>, number: u64) -> Result<u64, Fault> {
        let refused = to.ask(Refuse { code: 1 }).await;
        assert!(matches!(refused, Err(AskError::Rejected(Refused(1)))), "{refused:?}");
        to.ask(Note { number }).await.or_fault()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_references_of_a_protocol_lead_back_from_anywhere() {
    let one = Node::start("one", builder().kind::<Broker>()).await;
    let other = Node::start("other", builder().kind::<Broker>()).await;
    other.system.spawn(|| Broker).named("broker").await.unwrap();
    other.desk("far").await;
    let broker: ActorRef<Broker> = one.remote.actor(&other.address("broker")).unwrap();
    let pass = |to: ActorRef<Noting>, number: u64| soon("passed on", broker.ask(Pass { to, number }));
    let near = one.desk("near").await;
    assert_eq!(pass(near.narrow(), 42).await.unwrap(), 1);
    assert_eq!(one.log.all(), ["42"]);
    // One of the node where the message is read is the actor itself there.
    let far = one.remote.actor::<Noting>(&other.address("far")).unwrap();
    assert_eq!(pass(far, 43).await.unwrap(), 1);
    assert_eq!(other.log.all(), ["43"]);
    // What it takes is seen when it is sent something.
    let wrong = one.remote.actor::<Noting>(&other.address("broker")).unwrap();
    let refused = soon("refused", wrong.ask(Note { number: 1 })).await;
    let Err(AskError::Remote(why)) = refused else {
        panic!("{refused:?}")
    };
    assert!(matches!(*why, RemoteError::NotTaken { .. }), "{why}");
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_sender_deadline_and_headers_travel_along() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    let baggage = Baggage::new().with_header("word", "sesame").unwrap();
    let word = soon("the word", baggage.around(async { desk.ask(Word).await }))
        .await
        .unwrap();
    assert_eq!(word.as_deref(), Some("sesame"));
    assert_eq!(soon("nobody", desk.ask(WhoAsks)).await.unwrap(), None);
    let asker = desk.clone();
    struct Asker(ActorRef<Desk>);
    #[actor]
    impl Asker {
        async fn inquire(&mut self) -> Result<Option<String>, Fault> {
            self.0.ask(WhoAsks).await.or_fault()
        }
    }
    let asker = one
        .system
        .spawn(move || Asker(asker.clone()))
        .named("asker")
        .await
        .unwrap();
    let who = soon("somebody", asker.ask(Inquire)).await.unwrap();
    assert_eq!(who.as_deref(), Some("/user/asker"));
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

/// Lets nobody pass before the test does.
struct Gate {
    open: Arc<Notify>,
    log: Log,
}

#[actor(kind = "test.Gate", remote(WalkIn, Note))]
impl Gate {
    #[message(remote = "test.WalkIn", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    async fn walk_in(&mut self) {
        self.open.notified().await;
        self.log.push("passed");
    }
    #[handles]
    fn note(&mut self, note: Note) -> u64 {
        self.log.push(note.number);
        note.number
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_an_ask_that_takes_too_long_ends_here_and_is_given_up_there() {
    let one = Node::start("one", builder().kind::<Gate>()).await;
    let other = Node::start("other", builder().kind::<Gate>()).await;
    let open = Arc::new(Notify::new());
    let (opens, log) = (open.clone(), other.log.clone());
    let gate = move || Gate {
        open: opens.clone(),
        log: log.clone(),
    };
    other.system.spawn(gate).named("gate").await.unwrap();
    let gate: ActorRef<Gate> = one.remote.actor(&other.address("gate")).unwrap();
    assert_eq!(soon("first", gate.ask(Note { number: 0 })).await.unwrap(), 0);
    let walk = gate.ask(WalkIn).timeout(Duration::from_millis(50));
    assert!(matches!(soon("a timeout", walk).await, Err(AskError::Timeout { .. })));
    // One that has not begun by its deadline is not handled, when its turn comes.
    let late = gate.ask(Note { number: 13 }).timeout(Duration::from_millis(50));
    assert!(matches!(soon("a timeout", late).await, Err(AskError::Timeout { .. })));
    // Its time counts from its arrival there.
    eventually("it is there", || reading(&other).received == 3).await;
    let over = other.system.uptime() + Duration::from_millis(50);
    eventually("its time is over", || other.system.uptime() > over).await;
    open.notify_one();
    assert_eq!(soon("an answer", gate.ask(Note { number: 14 })).await.unwrap(), 14);
    assert_eq!(other.log.all(), ["0", "passed", "14"]);
    stop(one, other).await;
}

struct Watchman(Log);

#[actor]
impl Watchman {
    fn watch(&mut self, ctx: &mut Context<Self>, who: ActorRef<Desk>) {
        ctx.watch(&who);
    }
    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.0.push(format!("gone {}", gone.path()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s12_the_end_of_an_actor_elsewhere_is_heard() {
    let (one, other) = pair().await;
    let real = other.desk("desk").await;
    let desk = one.far(&other, "desk");
    let log = Log::default();
    let made = log.clone();
    let watchman = one.system.spawn(move || Watchman(made.clone())).await.unwrap();
    watchman.ask(Watch { who: desk.clone() }).await.unwrap();
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    assert_eq!(log.len(), 0);
    real.stop();
    eventually("the end is heard", || log.all() == ["gone /user/desk"]).await;
    // Of one who never was, too.
    let nobody = one.far(&other, "nobody");
    soon("nobody", nobody.terminated()).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

/// Hears what somebody elsewhere has to say, and of its end.
struct Heir(Log);

#[actor(kind = "test.Heir", remote(Note, Long))]
impl Heir {
    fn wait_for(&mut self, ctx: &mut Context<Self>, who: ActorRef<Testator>) {
        ctx.watch(&who);
    }
    #[handles]
    fn note(&mut self, note: Note) -> u64 {
        self.0.push(note.number);
        0
    }
    #[handles]
    fn long(&mut self, long: Long) {
        self.0.push(format!("long {}", long.number));
    }
    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.0.push(format!("gone {}", gone.path()));
    }
}

/// Says this many things, every tenth of them long and the last as well, and ends.
struct Testator;

#[actor(kind = "test.Testator", remote(Speak))]
impl Testator {
    #[message(remote = "test.Speak", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn speak(&mut self, count: u64, notes: Recipient<Note>, longs: Recipient<Long>, ctx: &mut Context<Self>) {
        for number in 1..=count {
            match number % 10 {
                0 => longs.tell(Long::of(number)).unwrap(),
                _ => notes.tell(Note { number }).unwrap(),
            }
        }
        ctx.stop();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s12_the_end_of_an_actor_elsewhere_is_heard_behind_its_last_message() {
    let both = || builder().kind::<Heir>().kind::<Testator>();
    let one = Node::start("one", both()).await;
    let other = Node::start("other", both()).await;
    for round in 0..5 {
        let name = format!("testator-{round}");
        other.system.spawn(|| Testator).named(&name).await.unwrap();
        let testator: ActorRef<Testator> = one.remote.actor(&other.address(&name)).unwrap();
        let log = Log::default();
        let made = log.clone();
        let heir = one.system.spawn(move || Heir(made.clone())).await.unwrap();
        heir.ask(WaitFor { who: testator.clone() }).await.unwrap();
        let (count, notes, longs) = (30, heir.recipient(), heir.recipient());
        testator.tell(Speak { count, notes, longs }).unwrap();
        eventually("all of it", || log.len() > 30).await;
        let said = (1..=30).map(|number| match number % 10 {
            0 => format!("long {number}"),
            _ => number.to_string(),
        });
        let all: Vec<String> = said.chain([format!("gone /user/{name}")]).collect();
        assert_eq!(log.all(), all);
    }
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_an_actor_elsewhere_is_looked_up_stopped_and_its_kinds_are_listed() {
    let (one, other) = pair().await;
    let real = other.desk("desk").await;
    let found = one
        .remote
        .lookup(other.remote.node(), &other.address("desk").to_string())
        .await
        .unwrap();
    assert_eq!(found.unwrap(), other.remote.address_of(&real));
    let nobody = one
        .remote
        .lookup(other.remote.node(), &other.address("nobody").to_string())
        .await
        .unwrap();
    assert_eq!(nobody, None);
    assert_eq!(one.remote.kinds(other.remote.node()).await.unwrap(), ["test.Desk"]);
    one.far(&other, "desk").stop();
    soon("it stops", real.terminated()).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r2_what_cannot_travel_is_said_loudly_on_each_side() {
    // `other` knows the actor, but takes nothing from other nodes.
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", volary_remote::Remote::builder().options(options())).await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    let error = desk.tell(Secret).unwrap_err();
    assert!(matches!(error, TellError::Unsendable(_)), "{error}");
    assert!(error.to_string().contains("Secret"), "{error}");
    let refused = soon("a refusal", desk.ask(Note { number: 1 })).await;
    let Err(AskError::Remote(error)) = refused else {
        panic!("{refused:?}")
    };
    assert!(
        matches!(&*error, RemoteError::NotTaken { name, .. } if name == "test.Note"),
        "{error:?}"
    );
    assert_eq!(other.log.len(), 0);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_messages_to_nobody_and_to_a_node_that_is_not_there_end() {
    let one = Node::start(
        "one",
        builder().options(options().lost_after(Duration::from_millis(100))),
    )
    .await;
    let other = Node::start("other", builder()).await;
    let nobody = one.far(&other, "nobody");
    assert!(matches!(
        soon("nobody", nobody.ask(Note { number: 1 })).await,
        Err(AskError::Stopped)
    ));
    let node = other.remote.node().to_owned();
    other.system.stop().await.unwrap();
    let address = format!("volary://other@{node}/user/desk").parse().unwrap();
    let gone: ActorRef<Desk> = one.remote.actor(&address).unwrap();
    // Not because the asker has waited long enough.
    let hour = Duration::from_secs(3_600);
    let asked = soon("an end", gone.ask(Note { number: 1 }).timeout(hour)).await;
    let Err(AskError::Remote(error)) = asked else {
        panic!("{asked:?}")
    };
    assert!(
        matches!(&*error, RemoteError::Unreachable { node: of, .. } if *of == node),
        "{error:?}"
    );
    let letters = one.system.events().subscribe::<DeadLetter>();
    // It is lost by now, and whoever is referred to anew may come.
    let gone: ActorRef<Desk> = one.remote.actor(&address).unwrap();
    gone.tell(Note { number: 2 }).unwrap();
    let letter = soon("a dead letter", letters.next()).await.unwrap();
    assert_eq!(
        (letter.reason(), letter.receiver().as_str()),
        (DeadReason::Unreachable, "/user/desk")
    );
    assert_eq!(reading(&one).under_way, 0);
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_the_books_balance() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    for number in 0..10_000 {
        while desk.tell(Note { number }).is_err() {
            tokio::task::yield_now().await;
        }
    }
    soon("the last", desk.ask(Note { number: 10_000 })).await.unwrap();
    eventually("all are confirmed", || one.remote.peers()[0].under_way == 0).await;
    let reading = &one.remote.peers()[0];
    assert_eq!((reading.sent, reading.confirmed), (10_001, 10_001), "{reading:?}");
    assert_eq!(other.remote.peers()[0].received, 10_001);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}
