//! The program in the other process: counters, a speaker, and commands on stdin.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use volary::prelude::*;
use volary_remote::{PeerEvent, Remote, RemoteBuilder, RemoteOptions};

use crate::counter::{Counter, End, Pen, Speak, Speaker};
use crate::skewed::Skewed;

/// What the program is told at its start, one variable for each.
pub(crate) const PREFIX: &str = "VOLARY_TROUBLE_";

/// The receivers of words, and one that tests hold.
const COUNTERS: [&str; 3] = ["a", "b", "stuck"];

/// Not a test of its own: the program that the others start.
#[test]
fn the_program() {
    if variable("AT").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(run());
    // Tasks that still wait for a network that is gone are nobody's concern.
    std::process::exit(0);
}

fn variable(name: &str) -> Option<String> {
    std::env::var(format!("{PREFIX}{name}")).ok()
}

fn number(name: &str) -> Option<u64> {
    variable(name).map(|text| text.parse().unwrap())
}

/// One write for each line, so that it is out when the handler goes on.
fn say(line: impl std::fmt::Display) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// Times that let trouble be seen soon, unless told otherwise.
pub(crate) fn options(silence: Duration, lost_after: Duration) -> RemoteOptions {
    let ms = Duration::from_millis;
    RemoteOptions::new()
        .heartbeat(silence / 8)
        .silence(silence)
        .connect_timeout(silence)
        .backoff_first(ms(20))
        .backoff_most(ms(100))
        .lost_after(lost_after)
        .chunk_bytes(4_096)
}

fn builder() -> RemoteBuilder {
    let time = |name, otherwise| Duration::from_millis(number(name).unwrap_or(otherwise));
    let mut options = options(time("SILENCE", 700), time("LOST", 20_000));
    if let Some(share) = number("SHARE") {
        options = options.receiver_share(share);
    }
    if let Some(bytes) = number("INBOUND") {
        options = options.inbound_bytes(usize::try_from(bytes).unwrap());
    }
    if let Some(bytes) = number("OUTBOUND") {
        options = options.outbound_bytes(usize::try_from(bytes).unwrap());
    }
    if let Some(peers) = number("PEERS") {
        options = options.peers(usize::try_from(peers).unwrap());
    }
    let mut builder = Remote::builder().kind::<Counter>().options(options);
    if let Some(host) = variable("ADVERTISE") {
        builder = builder.advertise(host);
    }
    if variable("BEYOND").is_some() {
        builder = builder.plaintext_beyond_loopback();
    }
    #[cfg(feature = "tls")]
    if let (Some(chain), Some(key), Some(authority)) = (variable("CHAIN"), variable("KEY"), variable("AUTHORITY")) {
        let source = volary_remote::transport::CertificateSource::pem(chain, key, authority);
        builder = builder.transport(volary_remote::transport::Tls::new(source).unwrap());
    }
    builder
}

async fn run() {
    let mut system = ActorSystem::builder("child")
        .ignore_environment()
        .settings(|s| s.log_config(false));
    if let Some(percent) = number("PERCENT") {
        let hours = variable("HOURS").map_or(0, |text| text.parse().unwrap());
        system = system.environment(Skewed::new(hours, u32::try_from(percent).unwrap()));
    }
    let system = system.start().await.unwrap();
    let pen: Pen = Arc::new(say);
    let gate = Arc::new(Semaphore::new(0));
    for name in COUNTERS {
        let (pen, gate) = (pen.clone(), gate.clone());
        let counter = system.spawn(move || Counter {
            name,
            pen: pen.clone(),
            gate: gate.clone(),
        });
        counter.named(name).await.unwrap();
    }
    // Now that they are there, or the first messages of whoever waits for this node would find nobody.
    let remote = builder().start(&system, &variable("AT").unwrap()).await.unwrap();
    let home = variable("TO").unwrap();
    let hush = Arc::new(AtomicBool::new(false));
    let speaker = {
        let (remote, hush) = (remote.clone(), hush.clone());
        let to: volary_core::Address = format!("volary://home@{home}/user/guard").parse().unwrap();
        let speaker = system.spawn(move || Speaker {
            from: format!("speaker-{}", std::process::id()),
            to: to.clone(),
            remote: remote.clone(),
            found: None,
            number: 0,
            hush: hush.clone(),
        });
        speaker.named("speaker").await.unwrap()
    };
    let events = system.events().subscribe::<PeerEvent>();
    tokio::spawn(async move {
        while let Ok(event) = events.next().await {
            say(format_args!("event {event:?}"));
        }
    });
    say(format_args!("\nready {}", remote.node()));
    let mut commands = commands();
    while let Some(command) = commands.recv().await {
        let words: Vec<&str> = command.split(' ').collect();
        match words[..] {
            ["speak", words] => drop(speaker.tell(Speak {
                words: words.parse().unwrap(),
            })),
            ["hush"] => hush.store(true, Release),
            ["end"] => drop(speaker.tell(End)),
            ["release"] => gate.add_permits(1_000_000),
            ["report"] => report(&system, &remote, &home),
            _ => panic!("no such command: {command}"),
        }
    }
}

/// Lines of stdin; the end of it, which is also the end of the parent, ends the program.
fn commands() -> mpsc::Receiver<String> {
    let (send, commands) = mpsc::channel(100);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    commands
}

fn report(system: &ActorSystem, remote: &Remote, home: &str) {
    let peers = remote.peers();
    let count = |of: fn(&volary_remote::PeerReading) -> u64| -> u64 {
        peers.iter().filter(|peer| peer.node == home).map(of).sum()
    };
    let figures = [
        ("sent", count(|peer| peer.sent)),
        ("confirmed", count(|peer| peer.confirmed)),
        ("unconfirmed", count(|peer| peer.unconfirmed)),
        ("unreachable", count(|peer| peer.unreachable)),
        ("busy", count(|peer| peer.busy)),
        ("under_way", count(|peer| peer.under_way)),
        ("refused", count(|peer| peer.refused)),
        ("connections", count(|peer| peer.connections)),
        ("peers", peers.len() as u64),
        // Of all peers, whoever they are.
        ("inbound", remote.inbound_bytes() as u64),
        ("kept", peers.iter().map(|peer| peer.kept_bytes as u64).sum()),
        ("asks", peers.iter().map(|peer| peer.open_asks as u64).sum()),
        ("known", peers.iter().map(|peer| peer.known as u64).sum()),
        ("dead", system.metrics().dead_letters),
    ];
    let words: Vec<String> = figures
        .iter()
        .map(|(name, figure)| format!("{name}={figure}"))
        .collect();
    say(format_args!("report {}", words.join(" ")));
}
