//! S21, O4: what can be set of remoting is set in files and in the environment too, with the precedence of all settings,
//! and what is wrong is said at the start: the setting, the value, where it came from and what is allowed.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::settings::SettingsBuilder;
use volary_remote::{PeerEvent, Remote, RemoteBuilder, RemoteOptions, RemoteStartError, SETTINGS};

async fn system(set: impl FnOnce(SettingsBuilder) -> SettingsBuilder) -> ActorSystem {
    let system = ActorSystem::builder("one").ignore_environment();
    system.settings(|s| set(s.log_config(false))).start().await.unwrap()
}

fn variables<const N: usize>(variables: [(&str, &str); N]) -> impl Iterator<Item = (String, String)> {
    let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    owned.into_iter()
}

/// Why it does not start, line by line.
async fn why_not(system: &ActorSystem, builder: RemoteBuilder) -> Vec<String> {
    match soon("a start", builder.start(system, "127.0.0.1:0")).await {
        Err(RemoteStartError::Settings(error)) => error.mistakes().iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it started"),
    }
}

/// The options in force, as they are shown.
fn shown(remote: &Remote) -> Vec<String> {
    remote.settings().iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o4_options_come_from_code_then_the_environment_then_files() {
    let file = r#"
        [remote]
        window = 32
        receiver-share = 32
        silence = "7s"
        outbound-bytes = "1MiB"
        overflow = "drop-oldest"
        cluster = "of the file"
    "#;
    let system = system(|s| {
        s.toml_str("bank.toml", file).environment(variables([
            ("VOLARY_REMOTE_WINDOW", "64"),
            ("VOLARY_REMOTE_SILENCE", "8s"),
        ]))
    })
    .await;
    let options = RemoteOptions::new().silence(Duration::from_secs(9));
    let remote = Remote::builder()
        .options(options)
        .start(&system, "127.0.0.1:0")
        .await
        .unwrap();
    let shown = shown(&remote);
    for line in [
        "remote.listen = 127.0.0.1:0 (code)",
        "remote.cluster = of the file (file bank.toml, line 8, key remote.cluster)",
        "remote.window = 64 (environment variable VOLARY_REMOTE_WINDOW)",
        "remote.receiver-share = 32 (file bank.toml, line 4, key remote.receiver-share)",
        "remote.silence = 9s (code)",
        "remote.outbound-bytes = 1MiB (file bank.toml, line 6, key remote.outbound-bytes)",
        "remote.overflow = drop-oldest (file bank.toml, line 7, key remote.overflow)",
        "remote.heartbeat = 1s (default)",
    ] {
        assert!(shown.iter().any(|one| one == line), "no {line:?} in {shown:#?}");
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o4_every_option_can_be_set_in_a_file() {
    // As it is shown in code, each option has a name; with hyphens it is that of the setting.
    let shown = format!("{:?}", RemoteOptions::new());
    let names: Vec<String> = shown
        .trim_start_matches("RemoteOptions { ")
        .split(", ")
        .map(|option| option.split(':').next().unwrap().replace('_', "-"))
        .collect();
    assert!(names.len() >= 20, "{names:?}");
    for name in names {
        // No option is a switch, and so each complains of itself.
        let file = format!("[remote]\n{name} = true");
        let system = system(|s| s.toml_str("bank.toml", file)).await;
        let why = why_not(&system, builder()).await;
        let beginning =
            format!("remote.{name}: the value `true` (from file bank.toml, line 2, key remote.{name}) is refused: ");
        assert!(why.len() == 1 && why[0].starts_with(&beginning), "{why:?}");
        system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s21_whatever_is_wrong_of_remoting_is_said_at_once_with_its_setting_value_origin_and_what_is_allowed() {
    let file = r#"
        [remote]
        windwo = 64
        window = 7
        heartbeat = 5
        overflow = "drop"
        compressions = ["arj"]
        listen = "nowhere"
        advertise = "0.0.0.0"
        allow-peers = ["a b"]
        max-frame = "8KB"
    "#;
    let system = system(|s| {
        s.toml_str("bank.toml", file).environment(variables([
            ("VOLARY_REMOTE_PEERZ", "hunter2"),
            ("VOLARY_REMOTE_PEERS", "0"),
        ]))
    })
    .await;
    let why = why_not(&system, Remote::builder()).await;
    for (beginning, end) in [
        (
            "remote.window: the value `7` (from file bank.toml, line 4, key remote.window)",
            "at least 16",
        ),
        (
            "remote.heartbeat: the value `5` (from file bank.toml, line 5",
            "longer than 0",
        ),
        (
            "remote.overflow: the value `drop` (from file bank.toml, line 6",
            "or `drop-oldest`",
        ),
        ("remote.compressions: the value `arj`", "deflate and brotli"),
        ("remote.listen: the value `nowhere`", "127.0.0.1:4242"),
        ("remote.advertise: the value `0.0.0.0`", "stands for all"),
        ("remote.allow-peers: the value `a b`", ""),
        ("remote.max-frame: the value `8KB`", "at most 1GiB"),
        (
            "remote.peers: the value `0` (from environment variable VOLARY_REMOTE_PEERS)",
            "at least 1",
        ),
        (
            "unknown setting remote.windwo in file bank.toml, line 3: did you mean remote.window",
            "?",
        ),
        (
            "unknown environment variable VOLARY_REMOTE_PEERZ: did you mean VOLARY_REMOTE_PEERS",
            "?",
        ),
        // What these two left at their defaults cannot be beside what was given.
        (
            "remote.receiver-share: the value `16384` (from default)",
            "at most the window",
        ),
    ] {
        let found = why.iter().find(|line| line.starts_with(beginning));
        let line = found.unwrap_or_else(|| panic!("no {beginning:?} in {why:#?}"));
        assert!(line.ends_with(end), "{line}");
    }
    assert_eq!(why.len(), 12, "{why:#?}");
    assert!(!why.iter().any(|line| line.contains("hunter2")));
    // Nothing is left of the attempt, but the settings are as they are.
    assert_eq!(why_not(&system, Remote::builder()).await.len(), 12);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s21_a_default_that_cannot_be_beside_what_a_file_says_is_named_as_the_setting() {
    for (file, expected) in [
        (
            "heartbeat = \"10s\"",
            "remote.silence: the value `5s` (from default) is refused: allowed is a time such as 5s, longer than the one \
             between heartbeats",
        ),
        (
            "window = 64",
            "remote.receiver-share: the value `16384` (from default) is refused: allowed is a whole number, at least 1 \
             and at most the window",
        ),
    ] {
        let system = system(|s| s.toml_str("bank.toml", format!("[remote]\n{file}"))).await;
        assert_eq!(why_not(&system, Remote::builder()).await, [expected]);
        system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s21_declared_settings_of_remoting_are_checked_and_logged_with_those_of_the_system() {
    let builder = |file: &str| {
        let builder = ActorSystem::builder("one").ignore_environment();
        let builder = builder.settings(|s| s.log_config(false).section(SETTINGS));
        builder.toml_str("bank.toml", format!("{file}\nthroughput = 64"))
    };
    let refused = builder("remote.peers = 0\nworkers = 1")
        .start()
        .await
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("remote.peers: the value `0`") && refused.contains("workers: the value `1`"),
        "{refused}"
    );
    let system = builder("remote.peers = 7").start().await.unwrap();
    let lines: Vec<_> = system.settings().effective().iter().map(ToString::to_string).collect();
    let peers = "remote.peers = 7 (file bank.toml, line 1, key remote.peers)";
    assert!(lines.iter().any(|line| line == peers), "{lines:?}");
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_where_a_node_listens_and_whom_it_speaks_with_can_be_set() {
    let file = r#"
        [remote]
        listen = "0.0.0.0:0"
        advertise = "127.0.0.1"
        plaintext-beyond-loopback = true
        cluster = "production"
        allow-peers = ["127.0.0.1"]
        compressions = []
    "#;
    let one = system(|s| s.toml_str("bank.toml", file)).await;
    let remote = Remote::builder().kind::<Desk>().start_as_set(&one).await.unwrap();
    assert!(remote.node().starts_with("127.0.0.1:"), "{}", remote.node());
    let of_cluster = builder().cluster("production");
    let other = Node::start("other", of_cluster).await;
    assert!(soon("kinds", other.remote.kinds(remote.node())).await.is_ok());
    let stranger = Node::start("stranger", builder()).await;
    let events = stranger.system.events().subscribe::<PeerEvent>();
    let desk = format!("volary://one@{}/user/desk", remote.node()).parse().unwrap();
    let desk: ActorRef<Desk> = stranger.remote.actor(&desk).unwrap();
    desk.tell(Note { number: 1 }).unwrap();
    let refused = soon("a reason", events.next()).await.unwrap();
    assert!(
        matches!(&refused, PeerEvent::NotConnected { why, .. } if why.contains("production")),
        "{refused:?}"
    );
    let elsewhere = "volary://x@10.0.0.7:4242/user/desk".parse().unwrap();
    assert!(remote.actor::<Desk>(&elsewhere).is_none(), "not among those allowed");
    stop(other, stranger).await;
    one.stop().await.unwrap();

    let silent = system(|s| s).await;
    let why = soon("a start", Remote::builder().start_as_set(&silent))
        .await
        .map(drop)
        .unwrap_err();
    assert!(matches!(why, RemoteStartError::NoListen), "{why}");
    assert!(why.to_string().contains("remote.listen"));
    silent.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_full_way_does_what_a_file_says() {
    let file = "[remote]\noverflow = \"drop-newest\"\nwindow = 16\nreceiver-share = 16";
    let system = system(|s| s.toml_str("bank.toml", file)).await;
    let remote = builder()
        .options(RemoteOptions::new())
        .start(&system, "127.0.0.1:0")
        .await
        .unwrap();
    // Nobody is there.
    let far: ActorRef<Desk> = remote
        .actor(&"volary://x@127.0.0.1:9/user/desk".parse().unwrap())
        .unwrap();
    (0..20).for_each(|number| far.tell(Note { number }).unwrap());
    let peer = &remote.peers()[0];
    assert_eq!((peer.sent, peer.busy, peer.under_way), (20, 4, 16));
    system.stop().await.unwrap();
}

#[tokio::test]
async fn s21_what_is_in_force_of_remoting_is_logged_when_it_starts() {
    for logs in [true, false] {
        let system = ActorSystem::builder("one").ignore_environment();
        let system = system
            .settings(|s| s.log_config(logs))
            .toml_str("bank.toml", "remote.peers = 7");
        let system = system.start().await.unwrap();
        let told = Told::default();
        let remote = {
            let _told = tracing::subscriber::set_default(told.clone());
            builder().start(&system, "127.0.0.1:0").await.unwrap()
        };
        let told: Vec<_> = told
            .0
            .all()
            .into_iter()
            .filter(|line| line.starts_with("remote."))
            .collect();
        let expected = if logs { shown(&remote) } else { Vec::new() };
        assert_eq!(told, expected);
        assert!(!logs || told.contains(&"remote.peers = 7 (file bank.toml, line 1, key remote.peers)".to_owned()));
        system.stop().await.unwrap();
    }
}

/// The messages that are logged on a thread.
#[derive(Clone, Default)]
struct Told(Log);

impl tracing::Subscriber for Told {
    fn enabled(&self, about: &tracing::Metadata<'_>) -> bool {
        *about.level() == tracing::Level::INFO
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Message(&self.0));
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

struct Message<'a>(&'a Log);

impl tracing::field::Visit for Message<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.push(format!("{value:?}"));
        }
    }
}
