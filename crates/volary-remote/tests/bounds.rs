//! R1, R3: how much each node takes may differ. What is more than the other side takes is refused where it is sent, and harms
//! nothing else that goes there.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::*;
use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::routing::RoundRobin;
use volary_core::tree::MAX_PATH_BYTES;
use volary_core::{Baggage, DeadLetter, DeadReason, RemoteError, SendError};
use volary_remote::transport::Memory;
use volary_remote::{Argument, OperationError, RemoteBuilder, RemoteOptions, RemoteSpawnError};

const LITTLE: usize = 256 << 10;
const THERE: &str = "127.0.0.1:7002";

/// Takes no longer messages than this, in frames that are shorter still.
fn little() -> RemoteOptions {
    options().chunk_bytes(2_048).max_frame(9_216).max_message(LITTLE)
}

/// Makes as many bytes as it is told to, and children.
struct Mill;

#[actor(kind = "test.Mill", remote(Grind, Bear))]
impl Mill {
    #[message(remote = "test.Grind", codec = postcard, derive(Serialize, Deserialize))]
    fn grind(&mut self, bytes: usize) -> Vec<u8> {
        vec![7; bytes]
    }

    /// Has a child whose name is so long.
    #[message(remote = "test.Bear", codec = postcard, derive(Serialize, Deserialize))]
    async fn bear(&mut self, number: usize, ctx: &mut Context<Self>) -> bool {
        let name = format!("{number:0>200}");
        ctx.spawn_child(|| Mill).named(&name).await.is_ok()
    }
}

fn builder() -> RemoteBuilder {
    common::builder()
        .kind::<Mill>()
        .spawnable::<Mill>(|_: &Argument| Ok(Mill))
}

fn echo(bytes: usize) -> Echo {
    Echo { bytes: vec![7; bytes] }
}

/// What a message that is too large is said to have and might have.
fn too_large<T: std::fmt::Debug>(asked: Result<T, AskError>) -> (usize, usize) {
    match asked {
        Err(AskError::Remote(error)) => match *error {
            RemoteError::TooLarge { bytes, most, .. } => {
                assert!(RemoteError::is_certainly_not_handled(&error));
                (bytes, most)
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// One connection carried everything.
async fn undisturbed(one: Node, other: Node) {
    for node in [&one, &other] {
        let reading = reading(node);
        assert_eq!((reading.connections, reading.breaches), (1, 0), "{reading:?}");
    }
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_message_that_the_other_node_does_not_take_is_refused_where_it_is_sent() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().options(little())).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    soon("a note", far.ask(Note { number: 1 })).await.unwrap();
    let bounds = reading(&one).bounds;
    assert_eq!((bounds.frame, bounds.message), (Some(9_216), Some(LITTLE as u64)));

    let (bytes, most) = too_large(soon("an end", far.ask(echo(LITTLE))).await);
    assert!(bytes >= LITTLE && most == LITTLE, "{bytes} of {most}");
    let told = far.tell(echo(LITTLE));
    assert!(matches!(told, Err(TellError::Unsendable(Echo { bytes })) if bytes.len() == LITTLE));
    let sent = soon("an end", far.send(echo(LITTLE))).await;
    assert_eq!(sent.map_err(|error| error.into_message().bytes.len()), Err(LITTLE));
    // And just what is taken, in many pieces.
    let longest = LITTLE - (bytes - LITTLE) - 64;
    let answer = soon("an echo", far.ask(echo(longest)).timeout(PATIENCE)).await;
    assert_eq!(answer.unwrap().len(), longest);
    assert_eq!(soon("a note", far.ask(Note { number: 2 })).await.unwrap(), 2);
    assert_eq!(reading(&one).sent, 3, "what is refused is not sent");
    undisturbed(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_has_waited_and_is_not_taken_ends_and_the_rest_arrives_in_order() {
    let network = Memory::default();
    let one = Node::start("one", builder().transport(network.clone())).await;
    let dead = one.system.events().subscribe::<DeadLetter>();
    let address = format!("volary://other@{THERE}/user/desk").parse().unwrap();
    let far: ActorRef<Desk> = one.remote.actor(&address).unwrap();
    // Nobody is there yet, so nobody knows what they take: notes, those that are long enough to go in pieces there, one
    // that goes in pieces from here, and two that will not be taken.
    far.tell(Note { number: 1 }).unwrap();
    far.tell(echo(20_000)).unwrap();
    far.tell(Note { number: 2 }).unwrap();
    far.tell(echo(LITTLE)).unwrap();
    far.tell(Long::of(3)).unwrap();
    far.tell(Note { number: 4 }).unwrap();
    let asker = far.clone();
    let asked = tokio::spawn(async move { asker.ask(echo(2 * LITTLE)).timeout(PATIENCE).await });
    eventually("that all wait", || reading(&one).under_way == 7).await;

    let options = little().lost_after(Duration::from_secs(600));
    let there = builder().options(options).transport(network);
    let other = Node::start_at("other", there, THERE).await;
    other.desk("desk").await;
    let (bytes, most) = too_large(soon("an end", asked).await.unwrap());
    assert!(bytes >= 2 * LITTLE && most == LITTLE, "{bytes} of {most}");
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    assert_eq!(letter.reason(), DeadReason::Unsendable);
    soon("a note", far.ask(Note { number: 5 })).await.unwrap();
    assert_eq!(other.log.all(), ["1", "2", "3", "4", "5"]);
    eventually("that nothing is on its way", || reading(&one).under_way == 0).await;
    undisturbed(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_an_answer_that_the_other_node_does_not_take_is_said_to_be_too_large() {
    let one = Node::start("one", builder().options(little())).await;
    let other = Node::start("other", builder()).await;
    other.system.spawn(|| Mill).named("mill").await.unwrap();
    let mill: ActorRef<Mill> = one.remote.actor(&other.address("mill")).unwrap();
    let answer = soon("an end", mill.ask(Grind { bytes: LITTLE }).timeout(PATIENCE)).await;
    let why = answer.map(drop).unwrap_err().to_string();
    assert!(why.contains("too large") && why.contains(&LITTLE.to_string()), "{why}");
    let answer = mill.ask(Grind { bytes: LITTLE - 64 }).timeout(PATIENCE);
    assert_eq!(soon("an answer", answer).await.unwrap().len(), LITTLE - 64);
    undisturbed(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r6_operations_and_answers_that_the_other_node_does_not_take_end_at_once() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().options(little())).await;
    let there = one.remote.at(other.remote.node());
    assert!(soon("kinds", there.kinds()).await.is_ok());
    let spawn = there.spawn::<Mill>("mill").argument(vec![7; LITTLE]);
    let spawned = soon("an end", spawn).await;
    assert!(
        matches!(
            spawned,
            Err(RemoteSpawnError::Operation(OperationError::Remote(
                RemoteError::TooLarge { most: LITTLE, .. }
            )))
        ),
        "{spawned:?}"
    );
    // And what it would hear from this one.
    let mill = one.system.spawn(|| Mill).named("mill").await.unwrap();
    for number in 0..1_200 {
        assert!(soon("a child", mill.ask(Bear { number })).await.unwrap());
    }
    let here = other.remote.at(one.remote.node());
    let children = soon("an end", here.children("/user/mill")).await;
    let why = children.map(drop).unwrap_err().to_string();
    assert!(why.contains("too large") && why.contains(&LITTLE.to_string()), "{why}");
    assert!(soon("kinds", here.kinds()).await.is_ok());
    undisturbed(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_router_says_of_what_its_routees_elsewhere_do_not_take_that_it_is_too_large_and_not_that_they_are_full() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().options(little())).await;
    let mut routees = Vec::new();
    for name in ["first", "second"] {
        other.desk(name).await;
        let far = one.far(&other, name);
        soon("a note", far.ask(Note { number: 1 })).await.unwrap();
        routees.push(far);
    }
    let pool = one.system.router(RoundRobin, routees).named("pool").await.unwrap();
    let told = pool.tell(echo(LITTLE));
    assert!(matches!(told, Err(TellError::Unsendable(_))), "{told:?}");
    // Nobody waits for room that would not help.
    let sent = soon("an end", pool.send(echo(LITTLE))).await;
    assert!(
        matches!(sent, Err(SendError::Refused(TellError::Unsendable(_)))),
        "{sent:?}"
    );
    assert_eq!(too_large(soon("an end", pool.ask(echo(LITTLE))).await).1, LITTLE);
    // And by its address.
    let dead = one.system.events().subscribe::<DeadLetter>();
    let asked = soon("an end", pool.recipient().ask(echo(LITTLE))).await;
    assert_eq!(too_large(asked).1, LITTLE);
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    assert_eq!(letter.reason(), DeadReason::Unsendable);
    // One that is here takes it in their place.
    let here = one.desk("here").await;
    soon("a change", pool.add(&here)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(soon("an echo", pool.ask(echo(LITTLE))).await.unwrap().len(), LITTLE);
    }
    undisturbed(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_the_longest_address_fits_into_the_shortest_frames() {
    let shortest = options().chunk_bytes(1_024).max_frame(9_216);
    let one = Node::start("one", builder().options(shortest.clone())).await;
    let other = Node::start("other", builder().options(shortest.clone())).await;
    let third = ActorSystem::builder("third")
        .ignore_environment()
        .start()
        .await
        .unwrap();
    let too_short = builder().options(shortest.max_frame(9_215)).start(&third, THERE).await;
    let why = too_short.map(drop).unwrap_err().to_string();
    assert!(why.contains("`max_frame` cannot be 9215: at least 9KiB"), "{why}");
    third.stop().await.unwrap();
    // As long as paths can be.
    let mut mill = other.system.spawn(|| Mill).named("mill").await.unwrap();
    let mut path = "/user/mill".to_owned();
    let mut number = 0;
    while path.len() + 201 < MAX_PATH_BYTES {
        number += 1;
        assert!(soon("a child", mill.ask(Bear { number })).await.unwrap());
        path += &format!("/{number:0>200}");
        mill = other.system.lookup(&path).unwrap();
    }
    let address = format!("volary://other@{}{path}", other.remote.node());
    assert!(address.len() > 6_900, "{}", address.len());
    let far: ActorRef<Mill> = one.remote.actor(&address.parse().unwrap()).unwrap();
    for bytes in [0, 100, 20_000] {
        let answer = soon("an answer", far.ask(Grind { bytes }).timeout(PATIENCE)).await;
        assert_eq!(answer.unwrap().len(), bytes);
    }
    // Whoever watches it names it, and so does who tells of its end.
    mill.stop();
    soon("the end", far.terminated()).await;
    undisturbed(one, other).await;
}

/// So many headers around what is done.
fn headers(count: usize) -> Baggage {
    let header = |baggage: Baggage, number| baggage.with_header(format!("word-{number}"), "a").unwrap();
    (0..count).fold(Baggage::new(), header)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_headers_that_the_other_node_does_not_take_are_refused_where_they_are_sent() {
    let network = Memory::default();
    let one = Node::start("one", builder().transport(network.clone())).await;
    let dead = one.system.events().subscribe::<DeadLetter>();
    let address = format!("volary://other@{THERE}/user/desk").parse().unwrap();
    let far: ActorRef<Desk> = one.remote.actor(&address).unwrap();
    for (count, number) in [(2, 1), (3, 2), (0, 3)] {
        headers(count).in_scope(|| far.tell(Note { number })).unwrap();
    }
    let early = far.clone();
    let early = headers(3).around(async move { early.ask(Note { number: 9 }).timeout(PATIENCE).await });
    let early = tokio::spawn(early);
    eventually("that it waits", || reading(&one).open_asks == 1).await;
    let there = builder().options(options().max_headers(2)).transport(network);
    let other = Node::start_at("other", there, THERE).await;
    other.desk("desk").await;
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    assert_eq!(letter.reason(), DeadReason::Unsendable);
    let certainly_not_handled = |answer: Result<u64, AskError>| match answer {
        Err(AskError::Remote(error)) => {
            assert!(error.is_certainly_not_handled(), "{error}");
            assert!(
                error.to_string().contains("more headers than that node takes"),
                "{error}"
            );
        }
        other => panic!("{other:?}"),
    };
    certainly_not_handled(soon("an end", early).await.unwrap());
    let with = async |count: usize| {
        let asked = headers(count).around(async { far.ask(Note { number: 4 }).await });
        soon("an end", asked).await
    };
    assert_eq!(with(2).await.unwrap(), 3);
    certainly_not_handled(with(3).await);
    assert_eq!(other.log.all(), ["1", "3", "4"]);
    undisturbed(one, other).await;
}
