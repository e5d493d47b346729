//! Mailboxes: bounded ones that let senders wait, bounded ones that refuse, and one of our own.
//!
//! `cargo run --example mailboxes`

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
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

/// Urgent pages first, the newest of them at the front. The runtime does the rest: waking, closing, counting.
#[derive(Default)]
struct UrgentFirst(Mutex<VecDeque<Letter>>);

const SOUND: &str = "nothing panics while the lock is held";

impl Mailbox for UrgentFirst {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        let print = letter.message::<Print>();
        let urgent = print.is_some_and(|print| print.page.starts_with('!'));
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

    let own = MailboxKind::Custom(Arc::new(|| Box::new(UrgentFirst::default())));
    let urgent = system.spawn(Printer::default).mailbox(own).await?;
    urgent.tell_all(["a", "b", "!c", "d", "!e"].map(|text| page(text.to_owned())))?;
    println!("own: printed {:?}", urgent.ask(Pages).await?);
    system.stop().await?;
    Ok(())
}
