//! R3: the transport, seen as an actor.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::IntoFuture;
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::{Address, DeadLetter, DeadReason, SubscriptionOptions};
use volary_remote::{
    AskRemote, Connect, InboundMessage, Peers, RemoteDeadLetter, RemoteEnvelope, Right, Rights, SendRemote,
    TransportActor, Undelivered,
};
use volary_wire::{CodecId, DeliverError};

async fn transport(node: &Node) -> ActorRef<TransportActor> {
    let remote = node.remote.clone();
    let spawn = node.system.spawn(move || TransportActor::new(remote.clone()));
    spawn.named("transport").await.unwrap()
}

/// A note as it is on the wire: one number, in as few bytes as postcard needs.
fn note(target: Address, number: u8) -> RemoteEnvelope {
    RemoteEnvelope {
        target,
        sender: None,
        type_name: "test.Note".to_owned(),
        codec: CodecId::POSTCARD,
        payload: vec![number].into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_the_transport_is_told_reaches_actors_here_and_elsewhere() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    other.desk("far").await;
    assert!(
        soon("begun", transport.ask(Connect(other.remote.node().to_owned())))
            .await
            .unwrap()
    );
    for number in 1..=100 {
        transport.tell(SendRemote(note(other.address("far"), number))).unwrap();
    }
    soon("sent", transport.ask(SendRemote(note(other.address("far"), 101))))
        .await
        .unwrap();
    soon("sent", transport.ask(SendRemote(note(one.address("near"), 7))))
        .await
        .unwrap();
    let all: Vec<String> = (1..=101).map(|n| n.to_string()).collect();
    eventually("all arrive, in order", || other.log.all() == all).await;
    eventually("and here too", || one.log.all() == ["7"]).await;
    let peers = soon("peers", transport.ask(Peers)).await.unwrap();
    assert_eq!((peers.len(), peers[0].sent), (1, 101));
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_references_in_what_the_transport_sends_lead_back() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    let near = one.desk("near").await;
    other.desk("far").await;
    let address = one.remote.address_of(&near).to_string();
    let length = u8::try_from(address.len()).unwrap();
    let mut tell = note(other.address("far"), 0);
    tell.type_name = "test.Tell".to_owned();
    tell.payload = [&[length][..], address.as_bytes(), &[42]].concat().into();
    soon("sent", transport.ask(SendRemote(tell))).await.unwrap();
    eventually("the note comes back", || one.log.all() == ["42"]).await;
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_transport_says_whom_a_message_is_from() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    let letters = other.system.events().subscribe::<DeadLetter>();
    let mut envelope = note(other.address("nobody"), 1);
    envelope.sender = Some(one.address("near"));
    soon("sent", transport.ask(SendRemote(envelope))).await.unwrap();
    let letter = soon("a dead letter there", letters.next()).await.unwrap();
    assert!(letter.sender().is_some(), "{letter:?}");
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_cannot_be_sent_is_rejected_with_its_reason() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("near").await;
    let refused = async |envelope| match soon("an answer", transport.ask(SendRemote(envelope))).await {
        Err(AskError::Rejected(why)) => why,
        answer => panic!("{answer:?}"),
    };
    let far = || note(other.address("far"), 1);
    for target in [far().target, one.address("near")] {
        let mut unknown = note(target.clone(), 1);
        unknown.type_name = "test.Nope".to_owned();
        let why = refused(unknown).await;
        assert!(
            matches!(&why, Undelivered::Not(DeliverError::UnknownMessage { .. })),
            "{why}"
        );
        assert!(why.to_string().contains("test.No"), "{why}");
        let mut json = note(target.clone(), 1);
        json.codec = CodecId::JSON;
        let why = refused(json).await;
        assert!(matches!(&why, Undelivered::Not(DeliverError::Codec { .. })), "{why}");
        let mut empty = note(target, 1);
        empty.payload = Vec::new().into();
        let why = refused(empty).await;
        assert!(matches!(&why, Undelivered::Not(DeliverError::Decode(_))), "{why}");
    }
    let why = refused(note(one.address("nobody"), 1)).await;
    assert!(matches!(&why, Undelivered::Nobody { .. }), "{why}");
    let mut sent = far();
    sent.sender = Some(one.address("nobody"));
    let why = refused(sent).await;
    assert!(matches!(&why, Undelivered::Sender { .. }), "{why}");
    let here = one.remote.node().to_owned();
    assert!(!soon("not to itself", transport.ask(Connect(here))).await.unwrap());
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_the_transport_asks_is_answered_in_bytes() {
    let (one, other) = pair().await;
    let transport = transport(&one).await;
    one.desk("desk").await;
    other.desk("desk").await;
    for node in [&other, &one] {
        let target = || node.address("desk");
        for count in 1..=3 {
            let answer = soon("an answer", transport.ask(AskRemote(note(target(), 7))))
                .await
                .unwrap();
            assert_eq!((answer.codec, &answer.payload[..]), (CodecId::POSTCARD, &[count][..]));
        }
        let failed = async |type_name: &str, payload: &[u8]| {
            let envelope = RemoteEnvelope {
                type_name: type_name.to_owned(),
                payload: payload.to_vec().into(),
                ..note(target(), 0)
            };
            match soon("an end", transport.ask(AskRemote(envelope))).await {
                Err(AskError::Rejected(why)) => why,
                answer => panic!("{answer:?}"),
            }
        };
        let why = failed("test.Refuse", &[9]).await;
        assert!(
            matches!(&why, Undelivered::Rejected(no) if no.payload[..] == [9]),
            "{why:?}"
        );
        let why = failed("test.Fail", &[9]).await.to_string();
        assert!(
            why.starts_with("there is no answer") && why.contains("failed with 9"),
            "{why}"
        );
        let why = failed("test.Nope", &[]).await;
        assert!(
            matches!(&why, Undelivered::Not(DeliverError::UnknownMessage { .. })),
            "{why}"
        );
        let why = failed("test.Note", &[]).await;
        assert!(matches!(&why, Undelivered::Not(DeliverError::Decode(_))), "{why}");
    }
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_transport_goes_on_while_it_waits_for_an_answer_and_gives_it_its_time() {
    let kinds = || builder().kind::<Hoarder>().kind::<Witness>();
    let one = Node::start("one", kinds()).await;
    let other = Node::start("other", kinds()).await;
    let transport = transport(&one).await;
    other.system.spawn(Hoarder::default).named("hoarder").await.unwrap();
    let log = other.log.clone();
    let witness = move || Witness { log: log.clone() };
    other.system.spawn(witness).named("witness").await.unwrap();
    let mut left = note(other.address("witness"), 0);
    left.type_name = "test.Left".to_owned();
    left.payload = Vec::new().into();
    let ask = transport.ask(AskRemote(left)).timeout(Duration::from_secs(7 * 3_600));
    assert_eq!(soon("an answer", ask).await.unwrap().payload[..], [7]);
    let mut hoard = note(other.address("hoarder"), 0);
    hoard.type_name = "test.Hoard".to_owned();
    hoard.payload = Vec::new().into();
    let ask = transport.ask(AskRemote(hoard)).timeout(Duration::from_secs(1));
    let meanwhile = async {
        let is_asked = || one.remote.peers().first().is_some_and(|peer| peer.open_asks == 1);
        eventually("it is asked", is_asked).await;
        transport.ask(Peers).await.unwrap().len()
    };
    let (asked, peers) = soon("both end", async { tokio::join!(ask.into_future(), meanwhile) }).await;
    assert!(asked.is_err() && peers == 1, "{asked:?}");
    eventually("nobody waits there either", || reading(&one).open_asks == 0).await;
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_arrives_can_be_seen_by_whoever_subscribes_and_by_nobody_else() {
    let (one, other) = pair().await;
    let near = one.desk("near").await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    // Many, so that they would go the short way by then.
    for number in 0..100 {
        desk.tell(Note { number }).unwrap();
    }
    eventually("all arrive", || other.log.len() == 100).await;
    let came = other.system.events().subscribe::<InboundMessage>();
    let options = SubscriptionOptions::new().filter(|came: &InboundMessage| came.is_asked);
    let asked = other.system.events().subscribe_with(options);
    let is_from_near = soon(
        "told",
        near.ask(Tell {
            to: desk.recipient(),
            number: 7,
        }),
    )
    .await
    .unwrap();
    assert!(is_from_near);
    let first = soon("it is seen", came.next()).await.unwrap();
    assert_eq!((first.node.as_str(), first.is_asked), (one.remote.node(), false));
    let expected = RemoteEnvelope {
        sender: Some(one.remote.address_of(&near)),
        ..note(other.address("desk"), 7)
    };
    assert_eq!(first.envelope, expected);
    for number in 1..=100 {
        desk.tell(Note { number }).unwrap();
    }
    for number in 1..=100 {
        let next = soon("it is seen", came.next()).await.unwrap();
        assert_eq!(
            (next.envelope.sender, &next.envelope.payload[..]),
            (None, &[number][..])
        );
    }
    soon("an answer", desk.ask(Note { number: 3 })).await.unwrap();
    assert_eq!(soon("it is seen", came.next()).await.unwrap().envelope.payload[..], [3]);
    assert!(soon("it is seen", asked.next()).await.unwrap().is_asked);
    assert!(asked.try_next().is_none());
    eventually("and delivered", || other.log.len() == 202).await;
    // What nobody takes as well.
    one.far(&other, "nobody").tell(Note { number: 4 }).unwrap();
    let last = soon("it is seen", came.next()).await.unwrap();
    assert_eq!(last.envelope, note(other.address("nobody"), 4));
    drop((came, asked));
    desk.tell(Note { number: 5 }).unwrap();
    eventually("without them too", || other.log.len() == 203).await;
    stop(one, other).await;
}

/// Notes where what it gets is from.
struct Witness {
    log: Log,
}

#[actor(kind = "test.Witness", remote(See, Left))]
impl Witness {
    #[message(remote = "test.See", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn see(&mut self, number: u64, ctx: &mut Context<Self>) {
        let sender = ctx.sender().and_then(|id| ctx.system().address_of(id));
        let sender = sender.map_or_else(|| "nobody".to_owned(), |sender| sender.to_string());
        self.log.push(format!("{number} from {sender}"));
    }

    /// How many hours it has, as one byte.
    #[message(remote = "test.Left", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn left(&mut self, ctx: &mut Context<Self>) -> u8 {
        let hours = ctx.time_left().map_or(0, |left| left.as_secs().div_ceil(3_600));
        u8::try_from(hours).unwrap()
    }
}

/// Passes on what arrives for it to the witness of a third node, as it came.
struct Bridge {
    transport: ActorRef<TransportActor>,
    to: Address,
}

#[actor]
impl Bridge {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.subscribe_event::<InboundMessage>();
        Ok(())
    }

    #[handles]
    fn came(&mut self, came: InboundMessage) {
        let envelope = RemoteEnvelope {
            target: self.to.clone(),
            ..came.envelope
        };
        self.transport.tell(SendRemote(envelope)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_bridge_passes_on_messages_in_the_name_of_their_senders_if_it_may() {
    for may in [false, true] {
        let kinds = || builder().kind::<Witness>();
        let one = Node::start("one", kinds()).await;
        let middle = Node::start("middle", kinds()).await;
        let strict = kinds().rights(move |_| match may {
            true => Rights::all(),
            false => Rights::all().without(Right::Relay),
        });
        let last = Node::start("last", strict).await;
        for node in [&middle, &last] {
            let log = node.log.clone();
            let witness = move || Witness { log: log.clone() };
            node.system.spawn(witness).named("witness").await.unwrap();
        }
        let transport = transport(&middle).await;
        let (to, passing) = (last.address("witness"), transport.clone());
        let bridge = move || Bridge {
            transport: passing.clone(),
            to: to.clone(),
        };
        middle.system.spawn(bridge).await.unwrap();
        // From actors of the first node, and of the last.
        for (number, node) in [(1, &one), (2, &last)] {
            let near = node.desk("near").await;
            let far: ActorRef<Witness> = node.remote.actor(&middle.address("witness")).unwrap();
            let sender = node.remote.address_of(&near);
            let envelope = RemoteEnvelope {
                target: middle.address("witness"),
                sender: Some(sender.clone()),
                type_name: "test.See".to_owned(),
                codec: CodecId::POSTCARD,
                payload: vec![number].into(),
            };
            let remote = node.remote.clone();
            let sending = node
                .system
                .spawn(move || TransportActor::new(remote.clone()))
                .await
                .unwrap();
            soon("sent", sending.ask(SendRemote(envelope))).await.unwrap();
            let count = usize::from(number);
            eventually("the middle has it", || middle.log.len() == count).await;
            assert_eq!(middle.log.all()[count - 1], format!("{number} from {sender}"));
            eventually("and the last", || last.log.len() == count).await;
            let here = sender.to_string().replace(&format!("@{}", last.remote.node()), "");
            let expected = if may { here } else { "nobody".to_owned() };
            assert_eq!(last.log.all()[count - 1], format!("{number} from {expected}"));
            drop(far);
        }
        // Without rights of one's own, each speaks for itself.
        for node in [one, middle, last] {
            node.system.stop().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_without_being_asked_for_nobody_speaks_for_others() {
    let kinds = || builder().kind::<Witness>();
    let one = Node::start("one", kinds()).await;
    let other = Node::start("other", kinds()).await;
    let transport = transport(&one).await;
    let log = other.log.clone();
    let witness = move || Witness { log: log.clone() };
    other.system.spawn(witness).named("witness").await.unwrap();
    let envelope = RemoteEnvelope {
        sender: Some("volary://third@127.0.0.1:9/user/somebody".parse().unwrap()),
        type_name: "test.See".to_owned(),
        ..note(other.address("witness"), 1)
    };
    soon("sent", transport.ask(SendRemote(envelope))).await.unwrap();
    eventually("it arrives", || other.log.all() == ["1 from nobody"]).await;
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_what_does_not_get_to_another_node_is_said_with_its_whole_address() {
    let options = options().lost_after(Duration::from_millis(100));
    let one = Node::start("one", builder().options(options).allow_peers(["127.0.0.1"])).await;
    let near = one.desk("near").await;
    let transport = transport(&one).await;
    let letters = one.system.events().subscribe::<RemoteDeadLetter>();
    let sender = one.remote.address_of(&near);
    // Nobody listens there.
    let nowhere: Address = "volary://other@127.0.0.1:9/user/desk".parse().unwrap();
    let mut envelope = note(nowhere.clone(), 1);
    envelope.sender = Some(sender.clone());
    soon("on its way", transport.ask(SendRemote(envelope))).await.unwrap();
    let letter = soon("it is lost", letters.next()).await.unwrap();
    assert_eq!((&letter.target, letter.sender), (&nowhere, Some(sender)));
    assert_eq!(letter.reason, DeadReason::Unreachable);
    assert!(letter.message.ends_with("Note"), "{}", letter.message);
    // So is what others send.
    let far: ActorRef<Desk> = one.remote.actor(&nowhere).unwrap();
    far.tell(Note { number: 2 }).unwrap();
    let letter = soon("it is lost", letters.next()).await.unwrap();
    assert_eq!((letter.target, letter.sender), (nowhere.clone(), None));
    // And what the transport cannot send at all, although nobody waits for its answer.
    let forbidden: Address = "volary://other@10.0.0.7:4242/user/desk".parse().unwrap();
    transport.tell(SendRemote(note(forbidden.clone(), 3))).unwrap();
    let letter = soon("it is not sent", letters.next()).await.unwrap();
    assert_eq!((letter.target, letter.reason), (forbidden, DeadReason::Nobody));
    let mut unknown = note(nowhere.clone(), 4);
    unknown.type_name = "test.Nope".to_owned();
    transport.tell(SendRemote(unknown)).unwrap();
    let letter = soon("it is not sent", letters.next()).await.unwrap();
    assert_eq!((letter.target, letter.reason), (nowhere, DeadReason::Unsendable));
    assert_eq!(letter.message, "test.Nope");
    one.system.stop().await.unwrap();
}
