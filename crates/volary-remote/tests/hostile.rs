//! S20, R8: what a peer that keeps no rule can make a node hold, wait for or believe.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::stranger::{Stranger, envelope, hello, note, operation};
use common::*;
use volary_remote::{PeerReading, RemoteOptions};
use volary_wire::native::{Confirm, Frame, Hello, Intern, InternSpace, Lane, Limits, Metadata, Name, RefuseReason};
use volary_wire::{Codec, Postcard};

const NAME: &str = "127.0.0.1:9";

fn reading(node: &Node) -> PeerReading {
    node.remote.peers().into_iter().find(|peer| peer.node == NAME).unwrap()
}

/// Patient ones: what a test waits for must come of the rule that is broken.
fn patient() -> RemoteOptions {
    let hour = Duration::from_secs(3_600);
    options().silence(hour).connect_timeout(hour)
}

async fn node() -> Node {
    let node = Node::start("one", builder().options(patient())).await;
    node.desk("desk").await;
    node
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_peer_that_confirms_what_it_was_not_sent_is_closed() {
    let node = node().await;
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say([Frame::Confirm(Confirm::new(1 << 40, &[]).unwrap())]).await;
    soon("the end", peer.hear_the_end()).await;
    assert_eq!((reading(&node).breaches, reading(&node).confirmed), (1, 0));
    // The same for a single message that was never sent.
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say([Frame::Busy { sequence: 3 }]).await;
    soon("the end", peer.hear_the_end()).await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_connection_for_another_lane_is_refused_with_the_reason() {
    let node = node().await;
    for lane in [Lane::Ordinary(1), Lane::Large] {
        let Frame::Hello(said) = hello(NAME, 7) else {
            unreachable!("it is one")
        };
        let mut peer = Stranger::knock(&node).await;
        peer.say([Frame::Hello(Hello { lane, ..said })]).await;
        let heard = soon("an answer", peer.hear()).await;
        assert!(
            matches!(&heard, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Duplicate),
            "{heard:?}"
        );
    }
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_number_that_gets_another_name_means_another_type() {
    let node = node().await;
    let mut peer = Stranger::enter(&node, NAME).await;
    let intern = |space, text: &str| {
        Frame::Intern(Intern {
            space,
            id: 1,
            text: text.into(),
        })
    };
    let tell = |sequence, payload: Vec<u8>| {
        let mut envelope = envelope("", sequence, "", payload);
        (envelope.receiver, envelope.type_name) = (Name::Id(1), Name::Id(1));
        Frame::Tell(envelope)
    };
    let desk = node.address("desk").to_string();
    peer.say([
        intern(InternSpace::Address, &desk),
        intern(InternSpace::Type, "test.Note"),
        tell(1, vec![1]),
        tell(2, vec![2]),
        intern(InternSpace::Type, "test.Echo"),
        tell(3, vec![3, 9, 9, 9]),
        intern(InternSpace::Type, "test.Note"),
        tell(4, vec![4]),
    ])
    .await;
    eventually("all but the echo are notes", || node.log.all() == ["1", "2", "4"]).await;
    assert_eq!((reading(&node).received, reading(&node).refused), (4, 0));
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_peer_that_does_not_read_its_answers_is_not_read_either() {
    let small = patient().outbound_bytes(1 << 16);
    let node = Node::start("one", builder().options(small)).await;
    let mut peer = Stranger::enter(&node, NAME).await;
    // Each of these asks for an answer, and none is read. Sockets hold a few megabytes, the node not much more.
    let mut asked = 0_usize;
    let mut bytes = bytes::BytesMut::new();
    for correlation in 1..=2_000 {
        let frame = operation(correlation, "node-metrics");
        volary_wire::native::FrameWriter::new(&mut bytes).frame(&frame).unwrap();
    }
    while asked < 12 << 20 && peer.pour(&bytes, Duration::from_secs(5)).await {
        asked += bytes.len();
    }
    assert!(asked < 12 << 20, "it read everything, and holds the answers");
    // It listens again when they are read.
    let heard =
        async { while !matches!(peer.hear().await, Some(Frame::Answer(answer)) if answer.correlation == 2_000) {} };
    soon("the answers", heard).await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_the_share_of_an_actor_counts_whatever_it_is_called() {
    let share = patient().receiver_share(10);
    let node = Node::start("one", builder().options(share)).await;
    let desk = node.desk("desk").await;
    desk.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || node.log.len() == 1).await;
    let mut peer = Stranger::enter(&node, NAME).await;
    let (plain, full) = (
        node.address("desk").to_string(),
        node.remote.address_of(&desk).to_string(),
    );
    let numbered = |id: u32| {
        Frame::Intern(Intern {
            space: InternSpace::Address,
            id,
            text: plain.as_str().into(),
        })
    };
    peer.say((1..=4).map(numbered)).await;
    let messages = (1..=60).map(|sequence| {
        let mut message = note(if sequence % 2 == 0 { &plain } else { &full }, sequence, sequence);
        if sequence > 30 {
            message.receiver = Name::Id(1 + (sequence % 4) as u32);
        }
        Frame::Tell(message)
    });
    peer.say(messages).await;
    let mut busy = 0;
    soon("refusals", async {
        while busy < 50 {
            match peer.hear_news().await {
                Some(Frame::Busy { .. }) => busy += 1,
                Some(Frame::Confirm(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert_eq!(reading(&node).refused, 50);
    desk.kill();
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_what_waits_here_of_all_peers_together_is_bounded() {
    let node = Node::start("one", builder().options(patient().inbound_bytes(1 << 20))).await;
    let (mut stuck, mut peers) = (Vec::new(), Vec::new());
    for number in 0..4 {
        let desk = node.desk(&format!("desk{number}")).await;
        desk.tell(Nap { millis: 3_600_000 }).unwrap();
        stuck.push(desk);
        peers.push(Stranger::enter(&node, &format!("127.0.0.1:{}", 9 + number)).await);
    }
    eventually("all nap", || node.log.len() == 4).await;
    let mut payload = bytes::BytesMut::new();
    Postcard::encode(
        &Echo {
            bytes: vec![7; 100_000],
        },
        &mut payload,
    )
    .unwrap();
    let payload = payload.freeze();
    for (number, peer) in peers.iter_mut().enumerate() {
        let to = node.address(&format!("desk{number}")).to_string();
        peer.say((1..=5).map(|sequence| Frame::Tell(envelope(&to, sequence, "test.Echo", payload.clone()))))
            .await;
    }
    let refused = || node.remote.peers().iter().map(|peer| peer.refused).sum::<u64>();
    let received = || node.remote.peers().iter().map(|peer| peer.received).sum::<u64>();
    eventually("all came", || received() == 20).await;
    assert!(
        (10..20).contains(&refused()),
        "ten of them fit a mebibyte, and {} were refused",
        refused()
    );
    assert!(node.remote.inbound_bytes() <= 1 << 20);
    stuck.iter().for_each(|desk| desk.kill());
    eventually("what waited is let go", || node.remote.inbound_bytes() == 0).await;
    drop(peers);
    node.system.stop().await.unwrap();
}

/// A pad of receipts for each is what a peer gets that spells the receiver out, or gives it another number, every time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_memory_for_receipts_counts_as_what_waits_here() {
    const UNIT: usize = 256;
    let node = Node::start("one", builder().options(patient())).await;
    let stuck = node.desk("desk").await;
    let desk = node.address("desk").to_string();
    stuck.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || node.log.len() == 1).await;
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say((1..=10).map(|sequence| Frame::Tell(note(&desk, sequence, sequence))))
        .await;
    eventually("two units for each", || node.remote.inbound_bytes() == 20 * UNIT).await;
    let intern = |space, text: &str| {
        Frame::Intern(Intern {
            space,
            id: 1,
            text: text.into(),
        })
    };
    let numbered = |sequence| {
        let mut note = note("", sequence, sequence);
        (note.receiver, note.type_name) = (Name::Id(1), Name::Id(1));
        Frame::Tell(note)
    };
    let names = [
        intern(InternSpace::Address, &desk),
        intern(InternSpace::Type, "test.Note"),
    ];
    peer.say(names.into_iter().chain((11..=20).map(numbered))).await;
    eventually("one for each, and one more", || {
        node.remote.inbound_bytes() == 31 * UNIT
    })
    .await;
    stuck.kill();
    eventually("nothing", || node.remote.inbound_bytes() == 0).await;
    drop(peer);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_numbers_that_no_message_can_have_are_refused() {
    let node = node().await;
    let to = node.address("desk").to_string();
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say([Frame::Tell(note(&to, u64::MAX, 1))]).await;
    soon("the end", peer.hear_the_end()).await;
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say([Frame::Tell(note(&to, 0, 1))]).await;
    soon("the end", peer.hear_the_end()).await;
    assert_eq!(reading(&node).breaches, 2);
    // Gaps as large messages leave them are none.
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say((1..=400).rev().map(|n| Frame::Tell(note(&to, n, n)))).await;
    soon("the receipt", async {
        while !matches!(peer.hear().await, Some(Frame::Confirm(confirm)) if confirm.up_to == 400) {}
    })
    .await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_asks_that_nobody_answers_are_bounded() {
    let few = patient().window(64).receiver_share(64);
    let node = Node::start("one", builder().kind::<Hoarder>().options(few)).await;
    let hoarder = node.system.spawn(Hoarder::default).named("hoarder").await.unwrap();
    let to = node.address("hoarder").to_string();
    let mut peer = Stranger::enter(&node, NAME).await;
    for sequence in 1..=100 {
        let envelope = envelope(&to, sequence, "test.Hoard", bytes::Bytes::new());
        peer.say([Frame::Ask {
            correlation: sequence,
            envelope,
        }])
        .await;
        if sequence <= 64 {
            eventually("it is hoarded", || {
                hoarder.is_alive() && reading(&node).received == sequence
            })
            .await;
        }
    }
    let mut busy = 0;
    soon("refusals", async {
        while busy < 36 {
            match peer.hear_news().await {
                Some(Frame::Busy { .. }) => busy += 1,
                Some(Frame::Confirm(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    hoarder.kill();
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_an_ask_that_was_given_up_before_it_came_is_not_handled() {
    let node = node().await;
    let to = node.address("desk").to_string();
    let ask = |sequence| Frame::Ask {
        correlation: sequence,
        envelope: note(&to, sequence, sequence),
    };
    let mut peer = Stranger::enter(&node, NAME).await;
    // What is said first may pass what waits to be written.
    peer.say([Frame::Cancel { correlation: 1 }, ask(1), ask(2)]).await;
    let heard = soon("an answer", async {
        loop {
            match peer.hear_news().await {
                Some(Frame::Reply(reply)) => break reply.correlation,
                Some(Frame::Confirm(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    });
    assert_eq!(heard.await, 2);
    assert_eq!(node.log.all(), ["2"]);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_caller_cannot_say_much_before_it_is_known() {
    let node = node().await;
    let mut peer = Stranger::knock(&node).await;
    let mut bytes = vec![0_u8; 4 << 20];
    bytes[..4].copy_from_slice(&(8_u32 << 20).to_be_bytes());
    bytes[4] = 1; // a hello of eight megabytes
    let taken = peer.pour(&bytes, Duration::from_secs(10)).await;
    if taken {
        soon("the end", peer.hear_the_end()).await;
    }
    // Whoever is known may say more.
    let mut peer = Stranger::enter(&node, NAME).await;
    let to = node.address("desk").to_string();
    let mut payload = bytes::BytesMut::new();
    Postcard::encode(
        &Echo {
            bytes: vec![7; 1 << 20],
        },
        &mut payload,
    )
    .unwrap();
    peer.say([Frame::Tell(envelope(&to, 1, "test.Echo", payload.freeze()))])
        .await;
    eventually("it arrives", || reading(&node).received == 1).await;
    assert_eq!(reading(&node).refused, 0);
    assert!(Limits::default().max_frame > 8 << 20);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_peers_are_bounded_however_many_call_or_are_named() {
    let node = Node::start("one", builder().options(patient().peers(8))).await;
    let desk = node.desk("desk").await;
    // Named in addresses: those whom nobody needs make room.
    for port in 1..=100 {
        let address = format!("volary://x@127.0.0.1:{port}/user/x").parse().unwrap();
        let _ = node.remote.actor::<Desk>(&address);
    }
    eventually("no more than eight", || node.remote.peers().len() <= 8).await;
    // Callers: those who stay are kept, the others are refused.
    let mut callers = Vec::new();
    for port in 1..=12 {
        let mut caller = Stranger::call(&node, &format!("127.0.0.1:{port}")).await;
        let answer = soon("an answer", caller.hear()).await;
        callers.push((caller, answer));
    }
    let taken = callers
        .iter()
        .filter(|(_, answer)| matches!(answer, Some(Frame::Welcome(_))))
        .count();
    assert_eq!(taken, 8);
    assert!(node.remote.peers().len() <= 8);
    assert!(desk.is_alive());
    drop(callers);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_connections_that_are_not_taken_are_counted() {
    let node = node().await;
    let Frame::Hello(known) = hello(NAME, 7) else {
        unreachable!()
    };
    let with = |change: fn(&mut Hello)| {
        let mut hello = known.clone();
        change(&mut hello);
        Frame::Hello(hello)
    };
    let mut count = 0;
    // What no node says, and nothing at all.
    for words in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0x16, 0x03, 0x01, 0x02, 0x00, 0x01],
        &[0xff; 64],
        &[],
    ] {
        let mut peer = Stranger::knock(&node).await;
        peer.pour(words, PATIENCE).await;
        if words.is_empty() {
            drop(peer);
        } else {
            soon("the end", peer.hear_the_end()).await;
        }
        count += 1;
        eventually("it is counted", || node.remote.refused_connections() == count).await;
    }
    let strange = [
        with(|hello| hello.versions = (900, 901)),
        with(|hello| hello.cluster = "elsewhere".into()),
        with(|hello| hello.node = "no node".into()),
        operation(1, "kinds"),
    ];
    for first in strange {
        let mut peer = Stranger::knock(&node).await;
        peer.say([first]).await;
        soon("the end", peer.hear_the_end()).await;
        count += 1;
        eventually("it is counted", || node.remote.refused_connections() == count).await;
    }
    // Those who are taken are not among them, whatever they do then.
    let mut peer = Stranger::enter(&node, NAME).await;
    peer.say([Frame::Busy { sequence: 3 }]).await;
    soon("the end", peer.hear_the_end()).await;
    eventually("it broke a rule", || reading(&node).breaches == 1).await;
    assert_eq!(node.remote.refused_connections(), count);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_connections_beyond_the_handshakes_or_too_slow_are_counted() {
    let few = patient().handshakes(2);
    let node = Node::start("one", builder().options(few)).await;
    // Two say nothing, and may take their time. They are called first, and so are taken first.
    let waiting = [Stranger::knock(&node).await, Stranger::knock(&node).await];
    for number in 1..=3 {
        let mut peer = Stranger::knock(&node).await;
        soon("the end", peer.hear_the_end()).await;
        eventually("it is counted", || node.remote.refused_connections() == number).await;
    }
    drop(waiting);
    eventually("these too", || node.remote.refused_connections() == 5).await;
    node.system.stop().await.unwrap();

    let hasty = patient().connect_timeout(Duration::from_millis(50));
    let node = Node::start("one", builder().options(hasty)).await;
    let mut slow = Stranger::knock(&node).await;
    soon("the end", slow.hear_the_end()).await;
    eventually("it is counted", || node.remote.refused_connections() == 1).await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_calls_that_cross_are_not_counted_as_refused() {
    let node = node().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    // Of two that call each other, the one with the lower name is heard: this one is higher than any number.
    let name = format!("localhost:{}", listener.local_addr().unwrap().port());
    let address = format!("volary://stranger@{name}/user/desk").parse().unwrap();
    let far: volary::ActorRef<Desk> = node.remote.actor(&address).unwrap();
    far.tell(Note { number: 1 }).unwrap();
    // The node calls and is not answered yet, when it is called itself.
    let _called = soon("a call", listener.accept()).await.unwrap();
    let mut peer = Stranger::call(&node, &name).await;
    let answer = soon("an answer", peer.hear()).await;
    assert!(
        matches!(&answer, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Duplicate),
        "{answer:?}"
    );
    soon("the end", peer.hear_the_end()).await;
    // One more that is counted comes behind it.
    let mut peer = Stranger::knock(&node).await;
    peer.say([operation(1, "kinds")]).await;
    soon("the end", peer.hear_the_end()).await;
    eventually("it is counted", || node.remote.refused_connections() > 0).await;
    assert_eq!(node.remote.refused_connections(), 1);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_one_address_that_says_nothing_leaves_room_to_others() {
    let node = Node::start("one", builder().options(patient().handshakes(16))).await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(Stranger::knock(&node).await);
    }
    let mut more = Stranger::knock(&node).await;
    soon("the end", more.hear_the_end()).await;
    eventually("it is counted", || node.remote.refused_connections() == 1).await;
    let mut other = Stranger::knock_from(&node, "127.0.0.2").await;
    other.say([hello(NAME, 7)]).await;
    let heard = soon("an answer", other.hear()).await;
    assert!(matches!(heard, Some(Frame::Welcome(_))), "{heard:?}");
    drop(silent);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_a_header_beyond_what_handlers_may_have_is_said_once_and_the_message_is_handled() {
    let node = node().await;
    let events = node.system.events().subscribe::<volary_remote::PeerEvent>();
    let mut peer = Stranger::enter(&node, NAME).await;
    let tell = |sequence| {
        let half = vec![b'a'; 9_000];
        let metadata = Metadata::builder().header("first", &half).header("second", &half);
        let mut message = note(&node.address("desk").to_string(), sequence, sequence);
        message.metadata = Some(metadata.build());
        Frame::Tell(message)
    };
    peer.say((1..=3).map(tell)).await;
    eventually("all are handled", || node.log.len() == 3).await;
    let mut said = Vec::new();
    while let Some(event) = events.try_next() {
        if let volary_remote::PeerEvent::Refused { why, .. } = event.unwrap() {
            said.push(why);
        }
    }
    assert!(said.len() == 1 && said[0].contains("header"), "{said:?}");
    node.system.stop().await.unwrap();
}
