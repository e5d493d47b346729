//! A pool of workers in other processes: this program starts itself twice more, starts workers there, and routes to
//! them as if they were its own.
//!
//! ```text
//!   this process ── router ──┬── loopback ──▶ process 1: worker, worker
//!                            └── loopback ──▶ process 2: worker, worker
//! ```
//!
//! A worker process allows one kind to be started by others, says where it listens, and ends when its input does.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::remote::Remote;
use volary::routing::RoundRobin;

const BELOW: u64 = 200_000;
const STEP: u64 = 5_000;
const PATIENCE: Duration = Duration::from_secs(60);

struct Worker;

#[actor(kind = "pool.Worker", remote(CountPrimes))]
impl Worker {
    #[message(remote = "pool.CountPrimes", codec = postcard, derive(Serialize, Deserialize))]
    fn count_primes(&mut self, from: u64, to: u64) -> u64 {
        let is_prime = |n: u64| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        (from..to).filter(|n| is_prime(*n)).count() as u64
    }
}

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    match std::env::args().nth(1).as_deref() {
        Some("--workers") => serve().await,
        _ => tokio::time::timeout(PATIENCE, work()).await?,
    }
}

/// A worker process.
async fn serve() -> volary::Result<ExitCode> {
    let system = ActorSystem::builder("workers").start().await?;
    let remote = Remote::builder().spawnable::<Worker>(|_| Ok(Worker));
    let remote = remote.start(&system, "127.0.0.1:0").await?;
    println!("{}", remote.node());
    tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new())).await??;
    system.stop().await?;
    Ok(ExitCode::SUCCESS)
}

fn start_process() -> volary::Result<(Child, String)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--workers").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn()?;
    let mut node = String::new();
    let output = process
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("it has no output"))?;
    BufReader::new(output).read_line(&mut node)?;
    Ok((process, node.trim().to_owned()))
}

async fn work() -> volary::Result<ExitCode> {
    let system = ActorSystem::builder("front").start().await?;
    let remote = Remote::builder().kind::<Worker>().start(&system, "127.0.0.1:0").await?;
    let (mut processes, mut workers) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (process, node) = tokio::task::spawn_blocking(start_process).await??;
        for number in 0..2 {
            workers.push(
                remote
                    .spawn::<Worker>(node.as_str(), format!("worker-{number}"))
                    .await?,
            );
        }
        processes.push((process, node));
    }
    let pool = system.router(RoundRobin, workers.clone()).named("pool").await?;
    let mut asked = Vec::new();
    for from in (0..BELOW).step_by(STEP as usize) {
        let pool = pool.clone();
        asked.push(tokio::spawn(async move {
            pool.ask(CountPrimes { from, to: from + STEP }).timeout(PATIENCE).await
        }));
    }
    let mut primes = 0;
    for answer in asked {
        primes += answer.await??;
    }
    println!("{primes} primes below {BELOW}");
    let mut lazy = 0;
    for worker in &workers {
        let address = worker.address();
        let node = address
            .node()
            .ok_or_else(|| io::Error::other("it lives elsewhere"))?
            .to_string();
        let done = remote.at(node).actor_metrics(&address).await?.taken;
        println!("{address}: {done} ranges");
        lazy += usize::from(done == 0);
    }
    if lazy == 0 {
        println!("every worker has done its part");
    }
    system.stop().await?;
    for (mut process, _) in processes {
        drop(process.stdin.take()); // its input ends, and so does it
        process.wait()?;
    }
    Ok(ExitCode::from(u8::from(lazy > 0)))
}
