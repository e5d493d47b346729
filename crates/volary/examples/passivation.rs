//! Passivation: sessions that let go of their state when nobody needs it, and come back with the next message.
//!
//! `cargo run -p volary --example passivation`

use std::time::Duration;

use volary::prelude::*;
use volary::{Eviction, Passivation, Props};

/// What a database would be.
static SAVED: std::sync::Mutex<Vec<(u64, u32)>> = std::sync::Mutex::new(Vec::new());

struct Session {
    user: u64,
    clicks: u32,
}

#[actor]
impl Session {
    /// Runs for the first message, and for the first after each sleep.
    fn started(&mut self) {
        let saved = SAVED.lock().expect("not poisoned");
        let last = saved.iter().rev().find(|(user, _)| *user == self.user);
        self.clicks = last.map_or(0, |(_, clicks)| *clicks);
    }

    /// Runs before each sleep, as before the end.
    fn stopped(&mut self) {
        SAVED.lock().expect("not poisoned").push((self.user, self.clicks));
    }

    fn click(&mut self) -> u32 {
        self.clicks += 1;
        self.clicks
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        // Whatever each session wants, about 100 are awake at a time.
        let system = ActorSystem::builder("web")
            .eviction(Eviction::lru().at_most(100))
            .start()
            .await?;
        let props = Props::new().passivation(Passivation::after(Duration::from_millis(50)));
        let mut sessions = Vec::new();
        for user in 0..1_000 {
            let session = system.spawn(move || Session { user, clicks: 0 }).props(props.clone());
            sessions.push(session.await?);
        }
        for session in &sessions {
            session.ask(Click).await?;
        }
        let asleep = sessions.iter().filter(|session| session.status().asleep).count();
        println!("{asleep} of {} sessions sleep", sessions.len());
        system.sleep(Duration::from_millis(200)).await;
        let asleep = sessions.iter().filter(|session| session.status().asleep).count();
        println!("after a while {asleep} do");
        println!("the first comes back with click {}", sessions[0].ask(Click).await?);
        let metrics = system.metrics();
        println!(
            "{} times one fell asleep, {} times one woke up",
            metrics.passivated, metrics.woken
        );
        Ok(system.stop().await?)
    })
}
