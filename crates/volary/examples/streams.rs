//! Streams out of an actor and into another, at the pace of the slower.
//!
//! `cargo run --example streams`

use volary::prelude::*;
use volary::{StreamEnd, Streaming};

struct Archive;

#[actor]
impl Archive {
    /// Answers with a stream. The actor goes on with other messages while the task produces.
    fn read(&mut self, lines: u32, ctx: &mut Context<Self>) -> Streaming<String> {
        let (mut reply, stream) = Streaming::channel(4);
        ctx.spawn(async move {
            for line in 1..=lines {
                if reply.send(format!("line {line}")).await.is_err() {
                    return; // nobody reads any more
                }
            }
        });
        stream
    }
}

#[derive(Default)]
struct Index {
    letters: usize,
    done: Option<ReplyTo<usize>>,
    ended: bool,
}

#[derive(Message)]
struct Line(String);

#[derive(Message)]
struct End(StreamEnd);

#[actor]
impl Index {
    #[handles]
    fn line(&mut self, line: Line) {
        self.letters += line.0.len();
    }

    #[handles]
    fn end(&mut self, end: End) {
        println!("the stream has ended: {:?}", end.0);
        self.ended = true;
        self.answer();
    }

    /// Answered when the stream is over.
    fn letters(&mut self, reply: ReplyTo<usize>) {
        self.done = Some(reply);
        self.answer();
    }
}

impl Index {
    fn answer(&mut self) {
        if self.ended
            && let Some(reply) = self.done.take()
        {
            reply.send(self.letters);
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("library").start().await?;
    let archive = system.spawn(|| Archive).await?;
    let index = system.spawn(Index::default).await?;

    // Read it yourself …
    let mut lines = archive.ask(Read { lines: 3 }).await?;
    while let Some(line) = lines.next().await {
        println!("{}", line?);
    }

    // … or attach it to an actor, which has at most eight lines before it at any time.
    let lines = archive.ask(Read { lines: 1_000 }).await?;
    index
        .attach(lines)
        .window(8)
        .on_end(End)
        .each(|line| Line(line.unwrap_or_default()));
    println!("{} letters", index.ask(Letters).await?);

    system.stop().await?;
    Ok(())
}
