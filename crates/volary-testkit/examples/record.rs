//! A recording of one actor in a running system, and its replay: a lottery that draws its winners from the context.
//!
//! `cargo run -p volary-testkit --example record`

use std::error::Error;

use volary::prelude::*;
use volary_testkit::record::{Codecs, Recorder, Replay};

#[derive(Default)]
struct Lottery {
    players: Vec<String>,
    winners: Vec<String>,
}

#[actor]
impl Lottery {
    fn join(&mut self, name: String) {
        self.players.push(name);
    }

    fn draw(&mut self, ctx: &mut Context<Self>) {
        let at = ctx.random() as usize % self.players.len().max(1);
        if let Some(winner) = self.players.get(at) {
            self.winners.push(winner.clone());
        }
    }

    fn winners(&mut self) -> Vec<String> {
        self.winners.clone()
    }
}

/// What may be written down. Without this, only the types of messages are, their senders, times and sizes.
fn codecs() -> Codecs<Lottery> {
    Codecs::new()
        .message(
            |join: &Join| join.name.clone().into_bytes(),
            |bytes| {
                Ok(Join {
                    name: std::str::from_utf8(bytes)?.to_owned(),
                })
            },
        )
        .message(|_: &Draw| Vec::new(), |_| Ok(Draw))
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("lottery-{}.recording", std::process::id()));

    let winners = volary::run(async {
        let system = ActorSystem::builder("fair").start().await?;
        let lottery = system.spawn(Lottery::default).named("lottery").await?;
        let recording = Recorder::new(codecs()).turns(1_000).start(&lottery)?;
        for name in ["ada", "grace", "barbara"] {
            lottery.tell(Join { name: name.to_owned() })?;
        }
        for _ in 0..4 {
            lottery.ask(Draw).await?;
        }
        recording.finish(&file)?;
        let winners = lottery.ask(Winners).await?;
        system.stop().await?;
        Ok::<_, Box<dyn Error>>(winners)
    })?;
    println!("drawn:    {winners:?}");

    // Another day, under the debugger: everything on this thread, with a breakpoint in the handler.
    let replayed = Replay::open(&file)?
        .before_each(|turn, message| println!("  {turn}: {message}"))
        .run(codecs(), Lottery::default, async |lottery| lottery.ask(Winners).await)?;
    println!("replayed: {:?}", replayed.answer?);
    assert!(replayed.divergences.is_empty());

    std::fs::remove_file(&file)?;
    Ok(())
}
