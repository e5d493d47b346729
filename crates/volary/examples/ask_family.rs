//! Everything an ask can do: a deadline, an answer that comes later, one by somebody else, many at once.
//!
//! `cargo run --example ask_family`

use std::future::IntoFuture;
use std::time::Duration;

use volary::prelude::*;

/// Knows, but takes its time.
struct Expert;

#[actor]
impl Expert {
    async fn square(&mut self, number: u64, ctx: &mut Context<Self>) -> u64 {
        ctx.sleep(Duration::from_millis(number)).await; // the thread does other work meanwhile
        number * number
    }
}

/// Knows nothing, but knows an expert.
struct Reception {
    expert: ActorRef<Expert>,
    waiting: Vec<ReplyTo<&'static str>>,
}

#[actor]
impl Reception {
    fn knowing(expert: &ActorRef<Expert>) -> Self {
        let (expert, waiting) = (expert.clone(), Vec::new());
        Reception { expert, waiting }
    }

    /// Answers through somebody else: the reception is free again at once, and the asker hears from the expert.
    fn consult(&mut self, number: u64, reply: ReplyTo<u64>) {
        let _ = self.expert.forward(Square { number }, reply); // if the expert is gone, the asker is told so
    }

    /// Answers later: whoever comes before the doors open has to wait.
    fn enter(&mut self, reply: ReplyTo<&'static str>) {
        self.waiting.push(reply);
    }

    fn open_doors(&mut self) {
        self.waiting.drain(..).for_each(|reply| reply.send("welcome"));
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("office").start().await?;
    let expert = system.spawn(|| Expert).await?;
    let known = expert.clone();
    let reception = system.spawn(move || Reception::knowing(&known)).await?;

    // Every ask has a deadline; without one of its own it is the setting `ask-timeout`, five seconds.
    let hurried = expert.ask(Square { number: 200 }).timeout(Duration::from_millis(20));
    match hurried.await {
        Err(AskError::Timeout { after }) => println!("no answer within {after:?}"),
        answer => println!("faster than expected: {}", answer?),
    }

    let square = reception.ask(Consult { number: 12 }).await?;
    println!("12 squared, by way of the reception: {square}");

    // The question is in the mailbox when the ask is made, so before the doors open.
    let guest = reception.ask(Enter).into_future();
    reception.tell(OpenDoors)?;
    println!("the guest hears: {}", guest.await?);

    // Many questions to one actor; the answers come in the order of the questions.
    let answers = expert.ask_all((1..=5).map(|number| Square { number })).await;
    let squares: Vec<u64> = answers.into_iter().collect::<Result<_, _>>()?;
    println!("squares: {squares:?}");

    system.stop().await?;
    Ok(())
}
