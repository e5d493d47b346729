//! Mailboxes: bounded ones that let senders wait, bounded ones that refuse, urgent first, each sender in turn, and one
//! of our own.
//!
//! `cargo run --example mailboxes`

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use volary::prelude::*;
use volary::{Letter, Mailbox};

#[derive(Default)]
struct Printer {
    printed: Vec<String>,
}

#[actor]
impl Printer {
    async fn print(&mut self, page: String, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(2)).await;
        self.printed.push(page);
    }

    fn pages(&self) -> Vec<String> {
        self.printed.clone()
    }
}

/// Sends its pages all at once.
struct Author {
    name: &'static str,
    printer: ActorRef<Printer>,
}

#[actor]
impl Author {
    fn publish(&mut self, pages: usize) -> Result<(), Fault> {
        for n in 1..=pages {
            let page = format!("{}{n}", self.name);
            self.printer.tell(Print { page }).or_fault()?;
        }
        Ok(())
    }
}

/// The marks at the end of a page say how urgent it is.
fn urgency(letter: &Letter) -> usize {
    let print = letter.message::<Print>();
    print.map_or(0, |print| print.page.matches('!').count())
}

/// Urgent pages first, the newest of them at the front. The runtime does the rest: waking, closing, counting.
#[derive(Default)]
struct UrgentFirst(Mutex<VecDeque<Letter>>);

const SOUND: &str = "nothing panics while the lock is held";

impl Mailbox for UrgentFirst {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let print = letter.message::<Print>();
        let urgent = print.is_some_and(|print| print.page.ends_with('!'));
        let mut letters = self.0.lock().expect(SOUND);
        let place = if urgent { 0 } else { letters.len() };
        letters.insert(place, letter);
        Ok(()) // or `Err(letter)`: the sender gets its message back
    }

    fn pop(&self) -> Option<Letter> {
        self.0.lock().expect(SOUND).pop_front()
    }

    fn len(&self) -> usize {
        self.0.lock().expect(SOUND).len()
    }
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("office").start().await?;
    let page = |text: String| Print { page: text };
    let waiting = system.spawn(Printer::default).mailbox(MailboxKind::Bounded(2)).await?;
    let refused = (0..10).filter(|n| waiting.tell(page(format!("{n}"))).is_err()).count();
    println!("bounded: {refused} of 10 tells were refused, for tell never waits");
    for n in 0..10 {
        waiting.send(page(format!("{n}"))).await?; // waits for room, and blocks no thread
    }
    println!("bounded: all 10 sends arrived");

    let kind = MailboxKind::BoundedRefusing(2);
    let (refusing, mut refused) = (system.spawn(Printer::default).mailbox(kind).await?, 0);
    for n in 0..10 {
        refused += u32::from(refusing.send(page(format!("{n}"))).await.is_err());
    }
    println!("refusing: {refused} of 10 sends were refused, for here not even send waits");

    // Equals in any order: `priority`. Equals in the order they came: `stable_priority`. Any of them with a bound.
    for (name, kind) in [
        ("priority", MailboxKind::stable_priority(urgency)),
        ("bounded priority", MailboxKind::stable_priority(urgency).bounded(8)),
        ("own", MailboxKind::custom(UrgentFirst::default)),
    ] {
        let printer = system.spawn(Printer::default).mailbox(kind).await?;
        for text in ["a", "b", "c!", "d!!", "e!"] {
            printer.send(page(text.to_owned())).await?;
        }
        println!("{name}: printed {:?}", printer.ask(Pages).await?);
    }

    let fair = system.spawn(Printer::default).mailbox(MailboxKind::fair()).await?;
    for name in ["ann", "bob"] {
        let printer = fair.clone();
        let author = system
            .spawn(move || Author {
                name,
                printer: printer.clone(),
            })
            .await?;
        author.ask(Publish { pages: 3 }).await?;
    }
    fair.tell_all(["me1", "me2", "me3"].map(|text| page(text.to_owned())))?;
    println!("fair: printed {:?}", fair.ask(Pages).await?); // my fourth letter: the others have had three turns too
    system.stop().await?;
    Ok(())
}
