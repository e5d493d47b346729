//! R1, R5: what makes no sense is refused when remoting starts, by its name, and nothing is left running.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_remote::{PeerEvent, RemoteBuilder, RemoteOptions, RemoteStartError};
use volary_wire::RegisterError;

const HERE: &str = "127.0.0.1:0";
const MS: Duration = Duration::from_millis(1);

async fn system() -> ActorSystem {
    ActorSystem::builder("one")
        .ignore_environment()
        .settings(|s| s.log_config(false))
        .start()
        .await
        .unwrap()
}

/// Why it does not start.
async fn why_not(system: &ActorSystem, builder: RemoteBuilder, at: &str) -> RemoteStartError {
    match soon("a start", builder.start(system, at)).await {
        Ok(_) => panic!("it started at {at}"),
        Err(error) => error,
    }
}

/// The option that has this name, what it is set to, and that as it is told.
macro_rules! senseless {
    ($($option:ident: $value:expr => $told:literal),+ $(,)?) => {
        [$((stringify!($option), RemoteOptions::new().$option($value), $told)),+]
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_each_senseless_option_is_refused_by_its_name() {
    let zero = Duration::ZERO;
    let table = senseless! {
        outbound_bytes: 0 => "0",
        outbound_bytes: (1 << 16) - 1 => "65535",
        window: 0 => "0",
        window: 15 => "15",
        receiver_share: 0 => "0",
        receiver_share: 65_537 => "65537",
        inbound_bytes: 0 => "0",
        inbound_bytes: (1 << 20) - 1 => "1048575",
        chunk_bytes: 0 => "0",
        chunk_bytes: 1_023 => "1023",
        chunk_bytes: (8 << 20) + 1 => "8388609",
        large_window: 0 => "0",
        max_frame: 63 << 10 => "64512",
        max_frame: (1 << 30) + 1 => "1073741825",
        max_message: (16 << 20) - 1 => "16777215",
        max_message: (1 << 30) + 1 => "1073741825",
        max_headers: 65 => "65",
        connect_timeout: zero => "0ns",
        backoff_first: zero => "0ns",
        backoff_most: zero => "0ns",
        backoff_most: 999 * MS => "999ms",
        heartbeat: zero => "0ns",
        silence: zero => "0ns",
        silence: 1_000 * MS => "1s",
        lost_after: zero => "0ns",
        operation_timeout: zero => "0ns",
        peers: 0 => "0",
        peer_figures: 65_537 => "65537",
        handshakes: 0 => "0",
        references: 1 => "1",
        stretch_bytes: 0 => "0",
        stretch_bytes: (1 << 16) - 1 => "65535",
    };
    let system = system().await;
    for (name, options, told) in &table {
        let error = why_not(&system, builder().options(options.clone()), HERE).await;
        let RemoteStartError::Option { option, value, allowed } = &error else {
            panic!("{name} = {told}: {error}")
        };
        assert_eq!((option, value.as_str()), (name, *told));
        assert!(!allowed.is_empty() && error.to_string().contains(*name), "{error}");
    }
    // Every option is in the table: as it is shown, each has a name of its own.
    let shown = format!("{:?}", RemoteOptions::new());
    let all: Vec<&str> = shown
        .trim_start_matches("RemoteOptions { ")
        .split(", ")
        .map(|option| option.split(':').next().unwrap())
        .collect();
    // Whichever overflow it is makes sense.
    for option in all.into_iter().filter(|option| *option != "overflow") {
        assert!(
            table.iter().any(|(name, ..)| *name == option),
            "{option} may be anything"
        );
    }
    // The least that makes sense does start, on the same system: nothing was left of the attempts.
    let least = RemoteOptions::new()
        .outbound_bytes(1 << 16)
        .window(16)
        .receiver_share(16)
        .inbound_bytes(1 << 20)
        .chunk_bytes(1_024)
        .large_window(1)
        .backoff_first(MS)
        .backoff_most(MS)
        .heartbeat(1_000 * MS)
        .silence(1_001 * MS)
        .peers(1)
        .handshakes(1)
        .references(2)
        .stretch_bytes(1 << 16);
    builder().options(least).start(&system, HERE).await.unwrap();
    system.stop().await.unwrap();
}

/// As much as can be said of all that has no upper bound.
fn greatest() -> RemoteOptions {
    let ever = Duration::MAX;
    RemoteOptions::new()
        .outbound_bytes(usize::MAX)
        .window(u64::MAX)
        .receiver_share(u64::MAX)
        .inbound_bytes(usize::MAX)
        .large_window(usize::MAX)
        .connect_timeout(ever)
        .backoff_first(ever)
        .backoff_most(ever)
        .heartbeat(ever - MS)
        .silence(ever)
        .lost_after(ever)
        .operation_timeout(ever)
        .peers(usize::MAX)
        .handshakes(usize::MAX)
        .references(usize::MAX)
        .stretch_bytes(usize::MAX)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_what_has_no_upper_bound_may_be_as_great_as_can_be() {
    let one = Node::start("one", builder().options(greatest())).await;
    let other = Node::start("other", builder().options(greatest())).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    for number in 1..=3 {
        far.tell(Long::of(number)).unwrap();
        let answer = soon("an answer", far.ask(Note { number })).await;
        assert_eq!(answer.unwrap(), number);
    }
    soon("kinds", one.remote.kinds(other.remote.node())).await.unwrap();
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_plaintext_beyond_loopback_must_be_asked_for() {
    let system = system().await;
    for beyond in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "bank.internal:0", ":0"] {
        let error = why_not(&system, builder(), beyond).await;
        assert!(
            matches!(&error, RemoteStartError::Beyond { at } if at == beyond),
            "{beyond}: {error}"
        );
    }
    let asked_for = builder().plaintext_beyond_loopback().advertise("127.0.0.1");
    asked_for.start(&system, "0.0.0.0:0").await.unwrap();
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_system_has_remoting_once_and_keeps_the_first() {
    let (one, other) = pair().await;
    one.desk("desk").await;
    let error = why_not(&one.system, builder(), HERE).await;
    assert!(matches!(error, RemoteStartError::Twice), "{error}");
    let answer = soon("an answer", other.far(&one, "desk").ask(Note { number: 1 })).await;
    assert_eq!(answer.unwrap(), 1);
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_an_address_that_cannot_be_used_is_refused() {
    let system = system().await;
    let first = Node::start("first", builder()).await;
    let taken = first.remote.node();
    let error = why_not(&system, builder(), taken).await;
    assert!(
        matches!(&error, RemoteStartError::Listen { at, error }
            if at == taken && error.kind() == std::io::ErrorKind::AddrInUse),
        "{error}"
    );
    for nonsense in ["", "nonsense", "127.0.0.1"] {
        let error = why_not(&system, builder(), nonsense).await;
        assert!(
            matches!(&error, RemoteStartError::Address { at, .. } if at == nonsense),
            "{nonsense:?}: {error}"
        );
    }
    for port in ["", "x", "65536", "-1"] {
        let nonsense = format!("127.0.0.1:{port}");
        let error = why_not(&system, builder(), &nonsense).await;
        // What a port is, the transport knows.
        assert!(
            matches!(&error, RemoteStartError::Listen { at, .. } if *at == nonsense),
            "{nonsense:?}: {error}"
        );
    }
    for host in ["", "a b", "a/b", "user@host"] {
        let error = why_not(&system, builder().advertise(host), HERE).await;
        assert!(
            matches!(&error, RemoteStartError::Address { at, .. } if at == host),
            "{host:?}: {error}"
        );
    }
    // Others would call themselves by it.
    for all in ["0.0.0.0", "[::]"] {
        let named = builder().advertise(all);
        let listening = builder().plaintext_beyond_loopback();
        for (builder, at) in [(named, HERE.to_owned()), (listening, format!("{all}:0"))] {
            let error = why_not(&system, builder, &at).await;
            assert!(
                matches!(&error, RemoteStartError::Address { at, why } if at == all && why.contains("advertise")),
                "{at}: {error}"
            );
        }
    }
    builder().start(&system, HERE).await.unwrap();
    system.stop().await.unwrap();
    first.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_node_that_is_called_otherwise_than_it_calls_itself_is_not_spoken_to_and_it_is_said_who_answers() {
    let one = Node::start("one", builder()).await;
    let other = Node::start("other", builder().advertise("bank.internal")).await;
    other.desk("desk").await;
    let (itself, port) = other.remote.node().split_once(':').unwrap();
    assert_eq!(itself, "bank.internal");
    let address = format!("volary://other@127.0.0.1:{port}/user/desk").parse().unwrap();
    let events = one.system.events().subscribe::<PeerEvent>();
    let desk: ActorRef<Desk> = one.remote.actor(&address).unwrap();
    desk.tell(Note { number: 1 }).unwrap();
    let event = soon("a reason", events.next()).await.unwrap();
    let PeerEvent::NotConnected { node, why } = &event else {
        panic!("{event:?}")
    };
    assert_eq!(*node, format!("127.0.0.1:{port}"));
    assert!(
        why.contains(&format!("bank.internal:{port} answers for 127.0.0.1:{port}")),
        "{why}"
    );
    assert_eq!(other.log.len(), 0);
    stop(one, other).await;
}

/// Has the name of another.
struct Impostor;

#[actor(kind = "test.Desk", remote(Pose))]
impl Impostor {
    #[message(remote = "test.Pose", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn pose(&mut self) {}
}

/// Has a message whose name is that of another.
struct Parrot;

#[actor(kind = "test.Parrot", remote(Squawk))]
impl Parrot {
    #[message(remote = "test.Note", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn squawk(&mut self) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_one_name_for_two_is_refused() {
    let system = system().await;
    let error = why_not(&system, builder().kind::<Impostor>(), HERE).await;
    let RemoteStartError::Register(RegisterError::DuplicateKind { name, first, second }) = &error else {
        panic!("{error}")
    };
    assert_eq!(name, "test.Desk");
    assert!(first.ends_with("Desk") && second.ends_with("Impostor"), "{error}");
    // The same when it comes in by being spawnable.
    let error = why_not(&system, builder().spawnable::<Impostor>(|_| Ok(Impostor)), HERE).await;
    assert!(
        matches!(&error, RemoteStartError::Register(RegisterError::DuplicateKind { name, .. }) if name == "test.Desk"),
        "{error}"
    );
    let error = why_not(&system, builder().kind::<Parrot>(), HERE).await;
    let RemoteStartError::Register(RegisterError::DuplicateMessage { name, first, second }) = &error else {
        panic!("{error}")
    };
    assert_eq!(name, "test.Note");
    assert!(first.ends_with("Note") && second.ends_with("Squawk"), "{error}");
    let twice = builder().spawnable::<Parrot>(|_| Ok(Parrot));
    let error = why_not(&system, twice.spawnable::<Parrot>(|_| Ok(Parrot)), HERE).await;
    assert!(
        matches!(&error, RemoteStartError::SpawnableTwice { kind } if kind == "test.Parrot"),
        "{error}"
    );
    // One type registered twice is one, not two.
    builder().kind::<Desk>().start(&system, HERE).await.unwrap();
    system.stop().await.unwrap();
}
