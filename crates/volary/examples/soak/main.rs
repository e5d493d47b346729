//! Random life for a while, and then the books: every message, ask, watch, timer and thread must be accounted for.
//!
//! `cargo xtask soak [--seconds N]`, or this example with `--seconds N --seed S`. The seed decides what is done; when
//! it happens, the machine decides. The time is split into rounds, each with a system of its own that is stopped and
//! checked, so that what a stop leaves behind shows.

mod books;
mod crowd;
mod drive;
mod process;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use books::{ENTRIES, Entry, read};
use crowd::{Crowd, PANIC, Watcher};
use drive::{Dice, drive};
use volary::prelude::*;
use volary::{DispatcherOptions, Metrics};

const DRIVERS: u64 = 64;
const WATCHERS: usize = 4;
/// How long anything may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let (seconds, seed) = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(mistake) => {
            eprintln!("soak: {mistake}");
            return ExitCode::from(2);
        }
    };
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(PANIC) {
            default(info);
        }
    }));
    println!("soak for {seconds} s, seed {seed}");
    let problems = soak(seconds, seed);
    for entry in ENTRIES {
        println!("  {entry:?} {}", read(*entry));
    }
    for problem in &problems {
        println!("WRONG: {problem}");
    }
    println!(
        "{}",
        if problems.is_empty() {
            "every message is accounted for"
        } else {
            "THE BOOKS DO NOT BALANCE"
        }
    );
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<(u64, u64), String> {
    let (mut seconds, mut seed) = (60, 1);
    while let Some(option) = args.next() {
        let place = match option.as_str() {
            "--seconds" => &mut seconds,
            "--seed" => &mut seed,
            _ => return Err(format!("no option `{option}`; there are --seconds N and --seed S")),
        };
        let value = args.next().unwrap_or_else(|| "nothing".to_owned());
        *place = value
            .parse()
            .map_err(|_| format!("{option} needs a number, not `{value}`"))?;
    }
    Ok((seconds.max(1), seed))
}

#[tokio::main]
async fn soak(seconds: u64, seed: u64) -> Vec<String> {
    let rounds = (seconds / 10).max(3);
    let time = Duration::from_secs(seconds) / u32::try_from(rounds).unwrap_or(u32::MAX);
    let (mut problems, mut dead_letters, mut refused, mut resident) = (Vec::new(), 0, 0, 0);
    let threads = process::threads();
    for round in 0..rounds {
        let metrics = match tokio::spawn(self::round(seed.wrapping_add(round), time)).await {
            Ok(Ok(metrics)) => metrics,
            Ok(Err(problem)) => {
                problems.push(format!("round {round}: {problem}"));
                break;
            }
            Err(panic) => {
                problems.push(format!("round {round}: {panic}"));
                break;
            }
        };
        dead_letters += metrics.dead_letters;
        refused += metrics.refused;
        let _ = settled(|| read(Entry::Created) == read(Entry::Dropped) && process::threads() <= threads).await;
        problems.extend(
            check(&metrics, dead_letters, refused, threads)
                .into_iter()
                .map(|p| format!("round {round}: {p}")),
        );
        println!(
            "round {round}: {} faults, {} restarts, {} dead letters, {} late replies; {} KiB resident, {} threads",
            metrics.faults,
            metrics.restarts,
            metrics.dead_letters,
            metrics.late_replies,
            process::resident(),
            process::threads(),
        );
        if round == 0 {
            resident = process::resident();
        }
    }
    // The first round has warmed up allocator and pools; what comes on top of it is a leak.
    let allowed = resident + resident / 4 + 16 * 1024;
    if process::resident() > allowed {
        problems.push(format!(
            "{resident} KiB resident after the first round, {} in the end",
            process::resident()
        ));
    }
    problems
}

/// A system from its start to its stop; the metrics are those after the stop.
async fn round(seed: u64, time: Duration) -> Result<Metrics, String> {
    let system = ActorSystem::builder("soak")
        .settings(|s| {
            s.stop_grace(Duration::from_millis(100))
                .ask_timeout(Duration::from_secs(1))
                .dead_letter_log(0)
        })
        .dispatcher("own", DispatcherOptions::new().workers(2).throughput(8))
        .start()
        .await
        .map_err(|error| error.to_string())?;
    let crowd = Arc::new(Crowd::default());
    let mut watchers = Vec::new();
    for number in 0..WATCHERS {
        let watcher = system.spawn(Watcher::default).named(format!("watcher-{number}")).await;
        watchers.push(watcher.map_err(|error| error.to_string())?);
    }
    let until = Instant::now() + time;
    let drivers: Vec<_> = (0..DRIVERS)
        .map(|driver| {
            let dice = Dice::new(seed.wrapping_mul(1_000).wrapping_add(driver));
            tokio::spawn(drive(dice, until, system.clone(), crowd.clone(), watchers.clone()))
        })
        .collect();
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_secs(1).min(until - Instant::now())).await;
        println!(
            "{:>10} messages, {:>9} handled, {:>9} asks, {:>7} actors started, {} alive",
            read(Entry::Created),
            read(Entry::Handled),
            read(Entry::Asked),
            read(Entry::Spawned),
            system.actor_count(),
        );
    }
    for driver in drivers {
        match tokio::time::timeout(PATIENCE, driver).await {
            Ok(ended) => ended.map_err(|error| error.to_string())?,
            Err(_) => return Err("a driver hangs: an ask, send or spawn never ended".to_owned()),
        }
    }
    end_all(&system, &crowd, Dice::new(seed)).await?;
    settled(|| read(Entry::Terminated) >= read(Entry::Watched)).await; // if not, the check says so
    for watcher in watchers {
        watcher.drain();
        watcher.terminated().await;
    }
    match tokio::time::timeout(PATIENCE, system.stop()).await {
        Ok(stopped) => stopped.map_err(|error| error.to_string())?,
        Err(_) => return Err(format!("the stop hangs; {:?}", system.metrics())),
    }
    settled(|| read(Entry::Created) == read(Entry::Dropped)).await;
    Ok(system.metrics())
}

/// Ends everybody but the watchers, in every way there is.
async fn end_all(system: &ActorSystem, crowd: &Crowd, mut dice: Dice) -> Result<(), String> {
    loop {
        let all = std::mem::take(&mut *crowd.lock());
        if all.is_empty() && system.actor_count() == WATCHERS {
            return Ok(());
        }
        for worker in &all {
            drive::end(worker, &mut dice);
        }
        for worker in all {
            if tokio::time::timeout(PATIENCE, worker.terminated()).await.is_err() {
                return Err(format!(
                    "{worker} does not end; {} messages wait there",
                    worker.mailbox_len()
                ));
            }
        }
        if !settled(|| system.actor_count() == WATCHERS || !crowd.lock().is_empty()).await {
            let left: Vec<_> = system
                .actors()
                .iter()
                .map(|actor| format!("{actor:?}"))
                .take(8)
                .collect();
            return Err(format!(
                "{} actors are left, among them {}",
                system.actor_count(),
                left.join(", ")
            ));
        }
    }
}

/// Waits for something that must come about by itself. False: it did not.
async fn settled(condition: impl Fn() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

fn check(metrics: &Metrics, dead_letters: u64, refused: u64, threads: u64) -> Vec<String> {
    use Entry::*;
    let sum = |entries: &[Entry]| entries.iter().map(|entry| read(*entry)).sum::<u64>();
    let endings = [
        Answered,
        Rejected,
        Failed,
        NoReply,
        Full,
        Stopped,
        TimedOut,
        Cycle,
        GivenUp,
        OtherAskError,
    ];
    let figures = [
        ("messages created = dropped", read(Created), read(Dropped)),
        (
            "messages accepted = handled + dead letters",
            read(Accepted),
            read(Handled) + dead_letters,
        ),
        (
            "messages created = accepted + refused + withdrawn",
            read(Created),
            sum(&[Accepted, Refused, Withdrawn]),
        ),
        ("messages lost = dead letters", read(Lost), dead_letters),
        ("messages refused, as counted by the runtime", read(Refused), refused),
        ("asks = endings", read(Asked), sum(&endings)),
        ("watched = Terminated", read(Watched), read(Terminated)),
        ("Terminated twice", read(TerminatedTwice), 0),
        ("wrong answers", read(WrongAnswer), 0),
        ("actors left", metrics.actors as u64, 0),
        ("timers left", metrics.timers as u64, 0),
        ("bytes left in mailboxes", metrics.mailbox_bytes, 0),
        ("threads as before", process::threads(), threads),
    ];
    let wrong = figures.into_iter().filter(|(_, found, expected)| found != expected);
    wrong
        .map(|(what, found, expected)| format!("{what}: {found} and {expected}"))
        .collect()
}
