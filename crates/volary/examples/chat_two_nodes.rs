//! Two processes that chat: this program starts itself a second time, and both talk in one room.
//!
//! ```text
//!   first process                      second process
//!   room ◀── says ── ada               bob
//!    │ └──── hears ──▶ │                │
//!    └──── hears ──────┼── loopback ───▶│
//!    ◀──── says ───────┼────────────────┘
//! ```
//!
//! The room knows its guests as `Recipient<Hear>` and never asks where they are.

use std::io;
use std::process::{Command, ExitCode};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use volary::prelude::*;
use volary::remote::Remote;

const LINES: usize = 6;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Room {
    guests: Vec<Recipient<Hear>>,
}

#[actor(kind = "chat.Room", remote(Join, Say))]
impl Room {
    /// How many guests there are now.
    #[message(remote = "chat.Join", codec = postcard, derive(Serialize, Deserialize))]
    fn join(&mut self, guest: Recipient<Hear>) -> usize {
        self.guests.push(guest);
        self.guests.len()
    }

    #[message(remote = "chat.Say", codec = postcard, derive(Serialize, Deserialize))]
    fn say(&mut self, name: String, line: String) {
        let hear = || Hear {
            name: name.clone(),
            line: line.clone(),
        };
        self.guests.retain(|guest| guest.tell(hear()).is_ok());
    }
}

/// Prints what it hears, and passes it on to whoever plays the guest.
struct Guest {
    name: &'static str,
    heard: mpsc::UnboundedSender<String>,
}

#[actor(kind = "chat.Guest", remote(Hear))]
impl Guest {
    #[message(remote = "chat.Hear", codec = postcard, derive(Serialize, Deserialize))]
    fn hear(&mut self, name: String, line: String) {
        println!("{} hears {name}: {line}", self.name);
        let _ = self.heard.send(name);
    }
}

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let talk = async {
        match std::env::args().nth(1) {
            None => host().await,
            Some(room) => guest(&room).await,
        }
    };
    tokio::time::timeout(PATIENCE, talk).await?
}

async fn host() -> volary::Result<ExitCode> {
    let (system, remote) = node("ada").await?;
    let room = system.spawn(Room::default).named("room").await?;
    let mut heard = enter(&system, "ada", &room).await?;
    let address = remote.address_of(&room).to_string();
    let mut second = Command::new(std::env::current_exe()?).arg(address).spawn()?;
    // Ada answers whatever Bob says.
    let all = converse(
        &room,
        &mut heard,
        "ada",
        ["hello bob", "yes, I can hear you", "good bye"],
    )
    .await?;
    let left = tokio::task::spawn_blocking(move || second.wait()).await??;
    let good = all && left.success();
    if good {
        println!("both have heard all {LINES} lines");
    }
    system.stop().await?;
    Ok(ExitCode::from(u8::from(!good)))
}

async fn guest(room: &str) -> volary::Result<ExitCode> {
    let (system, remote) = node("bob").await?;
    let room: ActorRef<Room> = remote
        .actor(&room.parse()?)
        .ok_or_else(|| io::Error::other("that is no address of another node"))?;
    let mut heard = enter(&system, "bob", &room).await?;
    say(&room, "bob", "hello, is anybody there?")?;
    let all = converse(&room, &mut heard, "bob", ["can you hear me?", "good bye", ""]).await?;
    system.stop().await?;
    Ok(ExitCode::from(u8::from(!all)))
}

async fn node(name: &str) -> volary::Result<(ActorSystem, Remote)> {
    let system = ActorSystem::builder(name).start().await?;
    let remote = Remote::builder().kind::<Room>().kind::<Guest>();
    let remote = remote.start(&system, "127.0.0.1:0").await?;
    Ok((system, remote))
}

async fn enter(
    system: &ActorSystem,
    name: &'static str,
    room: &ActorRef<Room>,
) -> volary::Result<mpsc::UnboundedReceiver<String>> {
    let (send, heard) = mpsc::unbounded_channel();
    let make = move || Guest {
        name,
        heard: send.clone(),
    };
    let guest = system.spawn(make).named(name).await?;
    let guest = guest.recipient();
    room.ask(Join { guest }).await?;
    Ok(heard)
}

fn say(room: &ActorRef<Room>, name: &str, line: &str) -> volary::Result<()> {
    let (name, line) = (name.to_owned(), line.to_owned());
    Ok(room.tell(Say { name, line })?)
}

/// Says the next line whenever the other has said one; true when all lines were heard.
async fn converse(
    room: &ActorRef<Room>,
    heard: &mut mpsc::UnboundedReceiver<String>,
    own: &str,
    lines: [&str; 3],
) -> volary::Result<bool> {
    let mut lines = lines.into_iter().filter(|line| !line.is_empty());
    for _ in 0..LINES {
        let Some(who) = heard.recv().await else {
            return Ok(false);
        };
        if who != own
            && let Some(line) = lines.next()
        {
            say(room, own, line)?;
        }
    }
    Ok(true)
}
