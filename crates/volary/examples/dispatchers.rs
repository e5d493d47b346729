//! Dispatchers: which threads run an actor.
//!
//! `cargo run --example dispatchers`

use std::time::{Duration, Instant};

use volary::DispatcherOptions;
use volary::prelude::*;

struct Clerk;

#[actor]
impl Clerk {
    /// Blocks its thread: on the default dispatcher, others would wait for it.
    fn file(&mut self) -> String {
        std::thread::sleep(Duration::from_millis(50));
        thread()
    }

    /// Tokio's timers, sockets and channels work on every dispatcher.
    async fn wait(&mut self) -> String {
        tokio::time::sleep(Duration::from_millis(50)).await;
        thread()
    }
}

fn thread() -> String {
    std::thread::current()
        .name()
        .unwrap_or("a thread without a name")
        .to_owned()
}

#[tokio::main]
async fn main() -> volary::Result<()> {
    let system = ActorSystem::builder("archive")
        // Workers and a budget of its own, so that reports do not delay anybody else.
        .dispatcher("reports", DispatcherOptions::new().workers(2).throughput(8))
        .start()
        .await?;

    let kinds = [
        Dispatcher::Default,                     // workers on the caller's tokio runtime
        Dispatcher::Blocking,                    // threads that may block: as many as needed, gone when idle
        Dispatcher::Pinned,                      // one thread for this one actor
        Dispatcher::Named("reports".to_owned()), // the one from above
    ];
    for kind in kinds {
        let clerk = system.spawn(|| Clerk).dispatcher(kind.clone()).await?;
        println!("{kind:?} runs on {}", clerk.ask(Wait).await?);
    }

    // Ten clerks that block for 50 ms each: on blocking threads they do so at the same time.
    let began = Instant::now();
    let mut filing = Vec::new();
    for _ in 0..10 {
        let clerk = system.spawn(|| Clerk).dispatcher(Dispatcher::Blocking).await?;
        filing.push(tokio::spawn(async move { clerk.ask(File).await }));
    }
    for filed in filing {
        filed.await??;
    }
    println!("ten blocking clerks took {:?}", began.elapsed());

    let typo = system
        .spawn(|| Clerk)
        .dispatcher(Dispatcher::Named("raports".to_owned()))
        .await;
    println!("a typo: {}", typo.expect_err("there is no such dispatcher"));

    system.stop().await?;
    Ok(())
}
