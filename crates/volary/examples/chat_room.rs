//! A chat: rooms and members are actors, a room passes on what is said, and whoever stops has left.
//!
//! ```text
//!   join, leave, say ──▶ room ──tell──▶ member    reads when it looks at the screen;
//!                          ▲            member    its mailbox holds 8 lines and no more
//!                          └─Terminated─ member
//! ```
//!
//! `cargo run -p volary --example chat_room`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use tokio::sync::watch;
use volary::prelude::*;

/// How many lines wait for a member that does not read. A room never waits for anybody: the rest goes past it.
const UNREAD: usize = 8;
const LINES: usize = 50;

/// Somebody in front of a screen.
struct Member {
    looking: watch::Receiver<bool>,
    heard: Vec<String>,
}

#[actor]
impl Member {
    /// While nobody looks this handler waits, and costs no thread; what comes meanwhile waits in the mailbox.
    async fn hear(&mut self, line: String) {
        let _ = self.looking.wait_for(|looking| *looking).await;
        self.heard.push(line);
    }

    fn heard(&self) -> Vec<String> {
        self.heard.clone()
    }
}

#[derive(Default)]
struct Room {
    members: BTreeMap<String, ActorRef<Member>>,
    missed: usize,
}

#[derive(Debug, Rejection)]
enum Refusal {
    NameTaken,
    NotHere,
}

#[actor]
impl Room {
    fn join(&mut self, name: String, member: ActorRef<Member>, ctx: &mut Context<Self>) -> Result<usize, Refusal> {
        if self.members.contains_key(&name) {
            return Err(Refusal::NameTaken);
        }
        ctx.watch(&member); // `terminated` below is called when it ends, however it ends
        self.pass_on(&format!("* {name} has joined"), None);
        self.members.insert(name, member);
        Ok(self.members.len())
    }

    fn leave(&mut self, name: String, ctx: &mut Context<Self>) -> Result<(), Refusal> {
        let member = self.members.remove(&name).ok_or(Refusal::NotHere)?;
        ctx.unwatch(&member);
        self.pass_on(&format!("* {name} has left"), None);
        Ok(())
    }

    /// Answers with the number of members that got the line.
    fn say(&mut self, name: String, text: String) -> Result<usize, Refusal> {
        if !self.members.contains_key(&name) {
            return Err(Refusal::NotHere);
        }
        Ok(self.pass_on(&format!("{name}: {text}"), Some(&name)))
    }

    fn members(&self) -> Vec<String> {
        self.members.keys().cloned().collect()
    }

    fn missed(&self) -> usize {
        self.missed
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        let found = self.members.iter().find(|(_, member)| member.id() == gone.id());
        if let Some(name) = found.map(|(name, _)| name.clone()) {
            self.members.remove(&name);
            self.pass_on(&format!("* {name} is gone"), None);
        }
    }
}

impl Room {
    /// To everybody but `speaker`; the number of those that it reached.
    fn pass_on(&mut self, line: &str, speaker: Option<&str>) -> usize {
        let mut reached = 0;
        for (name, member) in &self.members {
            if speaker == Some(name) {
                continue;
            }
            match member.tell(Hear { line: line.to_owned() }) {
                Ok(()) => reached += 1,
                Err(TellError::Full(_)) => self.missed += 1, // the line came back; this member is too slow for it
                Err(_) => {}                                 // it has ended: `Terminated` is on its way
            }
        }
        reached
    }
}

/// Starts a member, and gives the switch that makes it look.
async fn member(
    system: &ActorSystem,
    name: &str,
    looks: Looks,
) -> volary::Result<(ActorRef<Member>, watch::Sender<bool>)> {
    let (switch, looking) = watch::channel(matches!(looks, Looks::Always));
    let member = system.spawn(move || Member {
        looking: looking.clone(),
        heard: Vec::new(),
    });
    let member = member.named(name).mailbox(MailboxKind::Bounded(UNREAD)).await?;
    Ok((member, switch))
}

enum Looks {
    Always,
    Later,
}

/// An ask goes behind what waits, and a full mailbox does not take it: then the thing to do is to come again.
async fn heard_by(member: &ActorRef<Member>, system: &ActorSystem) -> volary::Result<Vec<String>> {
    loop {
        match member.ask(Heard).await {
            Err(AskError::Full) => system.sleep(Duration::from_millis(1)).await,
            answer => return Ok(answer?),
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let system = ActorSystem::builder("chat").start().await?;
    let room = system.spawn(Room::default).named("lobby").await?;
    let (alice, _alice) = member(&system, "alice", Looks::Always).await?;
    let (bob, _bob) = member(&system, "bob", Looks::Always).await?;
    let (carol, wake_carol) = member(&system, "carol", Looks::Later).await?;
    let join = |name: &str, member: &ActorRef<Member>| Join {
        name: name.to_owned(),
        member: member.clone(),
    };
    for (name, member) in [("alice", &alice), ("bob", &bob), ("carol", &carol)] {
        println!("{name} joins; now there are {}", room.ask(join(name, member)).await?);
    }
    let taken = room.ask(join("bob", &alice)).await;
    println!("alice as a second bob: {taken:?}");

    // Alice talks. Bob has read each line before the next one comes, and Carol is not looking.
    for number in 1..=LINES {
        let (name, text) = ("alice".to_owned(), format!("line {number}"));
        room.ask(Say { name, text }).await?;
        heard_by(&bob, &system).await?;
    }
    let bob_heard = heard_by(&bob, &system).await?;
    let by_alice = bob_heard.iter().filter(|line| line.starts_with("alice:")).count();
    let missed = room.ask(Missed).await?;
    println!("of {LINES} lines Bob got {by_alice}, and {missed} went past Carol");

    wake_carol.send_replace(true);
    let carol_heard = heard_by(&carol, &system).await?;
    println!("Carol wakes up and reads {} lines", carol_heard.len());

    // One leaves, one just stops.
    let name = "carol".to_owned();
    room.ask(Leave { name }).await?;
    alice.stop();
    let mut left = room.ask(Members).await?;
    for _ in 0..1_000 {
        if left == ["bob"] {
            break;
        }
        system.sleep(Duration::from_millis(10)).await; // the news of an end is a message like others
        left = room.ask(Members).await?;
    }
    let heard = heard_by(&bob, &system).await?;
    println!("in the end there is {left:?}, who heard last {:?}", heard.last());
    system.stop().await?;

    let right = matches!(taken, Err(AskError::Rejected(Refusal::NameTaken)))
        && by_alice == LINES
        && carol_heard.len() + missed == LINES
        && carol_heard.len() <= UNREAD + 1 // one is in its hands
        && left == ["bob"]
        && heard.last().is_some_and(|line| line == "* alice is gone");
    println!(
        "{}",
        if right {
            "every line is accounted for"
        } else {
            "SOMETHING WAS LOST"
        }
    );
    Ok(ExitCode::from(u8::from(!right)))
}
