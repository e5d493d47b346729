//! R3, R8: credits return whatever becomes of a message, so that one actor never stalls an association.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::{DeadLetter, DeadReason, RemoteError};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_an_actor_that_is_stuck_does_not_stall_the_others() {
    let options = options().window(2_048).receiver_share(2_048);
    let one = Node::start("one", builder().options(options.clone())).await;
    let other = Node::start("other", builder().options(options)).await;
    let stuck = other.desk("stuck").await;
    let quick = other.system.spawn(desk(&Log::default())).named("quick").await.unwrap();
    let (to_stuck, to_quick) = (one.far(&other, "stuck"), one.far(&other, "quick"));
    to_stuck.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || other.log.len() == 1).await;
    // One for each in turn: what the quick one has handled lies between what waits for the other.
    for number in 0..900 {
        to_stuck.tell(Note { number }).unwrap();
        to_quick.tell(Note { number }).unwrap();
    }
    eventually("the quick one's are confirmed", || reading(&one).under_way == 900).await;
    // And so it goes on, for longer than the window is.
    for number in 0..4_000 {
        soon("room", to_quick.send(Note { number })).await.unwrap();
    }
    assert_eq!(
        soon("an answer", to_quick.ask(Note { number: 0 })).await.unwrap(),
        4_901
    );
    assert!(stuck.is_alive() && quick.is_alive());
    stuck.kill();
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

/// Floods each of these actors, which nap, and asks another one.
async fn asked_beside_stuck_ones(one: &Node, other: &Node, stuck: usize, each: u64) {
    let mut napping = Vec::new();
    for number in 0..stuck {
        let name = format!("stuck-{number}");
        napping.push(other.desk(&name).await);
        one.far(other, &name).tell(Nap { millis: 3_600_000 }).unwrap();
    }
    eventually("they nap", || other.log.len() == stuck).await;
    let quick = other.desk("quick").await;
    let to_quick = one.far(other, "quick");
    for number in 0..stuck {
        let to_stuck = one.far(other, &format!("stuck-{number}"));
        for number in 0..each {
            soon("room on the way", to_stuck.send(Note { number })).await.unwrap();
        }
        // What was refused there may still be on its way back, and is in the window until then.
        let asked = async {
            while let Err(error) = to_quick.ask(Note { number: 0 }).await {
                assert!(
                    matches!(error, AskError::Full),
                    "beside {} that are stuck: {error:?}",
                    number + 1
                );
                tokio::task::yield_now().await;
            }
        };
        soon("an answer", asked).await;
    }
    assert!(quick.is_alive());
    napping.iter().for_each(ActorRef::kill);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_an_actor_that_is_stuck_does_not_keep_the_smaller_window_of_a_peer() {
    let small = options().window(1_024).receiver_share(256);
    let one = Node::start("one", builder().options(small)).await;
    let other = Node::start("other", builder().options(options())).await;
    asked_beside_stuck_ones(&one, &other, 1, 1_100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_many_actors_that_are_stuck_do_not_keep_the_window_between_them() {
    let small = options().window(256).receiver_share(64);
    let one = Node::start("one", builder().options(small.clone())).await;
    let other = Node::start("other", builder().options(small)).await;
    asked_beside_stuck_ones(&one, &other, 5, 300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_what_a_full_mailbox_refuses_is_known_to_the_sender() {
    let (one, other) = pair().await;
    let few = Props::new().mailbox(MailboxKind::BoundedRefusing(2));
    let stuck = other
        .system
        .spawn(desk(&other.log))
        .named("stuck")
        .props(few)
        .await
        .unwrap();
    let dead = one.system.events().subscribe::<DeadLetter>();
    let far = one.far(&other, "stuck");
    far.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || other.log.len() == 1).await;
    for number in 0..10 {
        far.tell(Note { number }).unwrap();
    }
    for _ in 0..8 {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Full);
    }
    let refused = soon("a refusal", far.ask(Note { number: 11 })).await;
    assert!(
        matches!(&refused, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Busy { .. })),
        "{refused:?}"
    );
    eventually("the rest waits there", || reading(&one).under_way == 2).await;
    let books = reading(&one);
    // The ask was answered, so it was confirmed.
    assert_eq!((books.sent, books.confirmed, books.busy), (12, 2, 8), "{books:?}");
    stuck.kill();
    eventually("all are settled", || reading(&one).under_way == 0).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_what_cannot_be_delivered_there_is_a_dead_letter_there() {
    let (one, other) = pair().await;
    let dead = other.system.events().subscribe::<DeadLetter>();
    let nobody = one.far(&other, "nobody");
    for number in 0..3 {
        nobody.tell(Note { number }).unwrap();
    }
    for _ in 0..3 {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Nobody);
        assert_eq!(letter.receiver().to_string(), "/user/nobody");
        assert!(letter.message_type().ends_with("Note"), "{}", letter.message_type());
    }
    // Who is asked for an answer gives one, and needs no letter.
    assert!(matches!(
        soon("an end", nobody.ask(Note { number: 4 })).await,
        Err(AskError::Stopped)
    ));
    // A kind that was not registered takes nothing.
    let plain = other.system.spawn(Hoarder::default).named("plain").await.unwrap();
    let far: ActorRef<Desk> = one.remote.actor(&other.address("plain")).unwrap();
    far.tell(Note { number: 5 }).unwrap();
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    assert_eq!(
        (letter.reason(), letter.receiver().to_string()),
        (DeadReason::Unhandled, "/user/plain".to_owned())
    );
    eventually("all are settled", || reading(&one).under_way == 0).await;
    assert!(plain.is_alive());
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_answers_come_at_once_however_many_are_on_their_way() {
    // An answer that comes between the first look at it and the note that it is waited for must not be lost.
    let (one, other) = pair().await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    let mut asking = Vec::new();
    for _ in 0..8 {
        let far = far.clone();
        asking.push(tokio::spawn(async move {
            for number in 0..2_000 {
                far.ask(Note { number }).timeout(Duration::from_secs(15)).await.unwrap();
            }
        }));
    }
    for task in asking {
        soon("all of them", task).await.unwrap();
    }
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}
