//! One operation many times on one thread, for counting instructions: `cargo xtask instructions`.
//!
//! `--list` names the cases; `CASE N` does it N times. Callgrind counts only what happens inside `volary_measured`,
//! and only on the thread that calls it, so everything runs on a runtime of one thread. `…/sampled` is the same in a
//! system that measures one message in a hundred.

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};
use volary::Telemetry;
use volary::prelude::*;

const CASES: [&str; 7] = [
    "tell",
    "tell/sampled",
    "tell/bounded",
    "send/bounded",
    "ask",
    "ask/sampled",
    "spawn",
];
/// What a bounded mailbox holds at most; never reached.
const CAPACITY: usize = 1_024;
/// Tells before the receiver has its turn, so that its mailbox is neither always empty nor ever growing.
const BURST: u64 = 64;

struct Sink {
    sum: u64,
}

#[actor]
impl Sink {
    fn add(&mut self, by: u64) -> u64 {
        self.sum += by;
        self.sum
    }
}

/// Sends from within a handler, so that sender and deadline are on.
struct Source {
    sink: ActorRef<Sink>,
}

#[actor]
impl Source {
    async fn tell_on(&mut self, times: u64) -> Result<(), Fault> {
        for n in 0..times {
            self.sink.tell(Add { by: 1 }).or_fault()?;
            if n % BURST == BURST - 1 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    async fn send_on(&mut self, times: u64) -> Result<(), Fault> {
        for n in 0..times {
            self.sink.send(Add { by: 1 }).await.or_fault()?;
            if n % BURST == BURST - 1 {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    async fn ask_on(&mut self, times: u64) -> Result<(), Fault> {
        for _ in 0..times {
            self.sink.ask(Add { by: 1 }).await.or_fault()?;
        }
        Ok(())
    }
}

struct Stage {
    runtime: Runtime,
    system: ActorSystem,
    sink: ActorRef<Sink>,
    source: ActorRef<Source>,
}

impl Stage {
    fn set(case: &str) -> volary::Result<Stage> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (system, sink, source) = runtime.block_on(async {
            let mut builder = ActorSystem::builder("counted");
            if case.ends_with("/sampled") {
                builder = builder.telemetry(Telemetry::sampled(0.01));
            }
            let system = builder.start().await?;
            let mut props = Props::new();
            if case.ends_with("/bounded") {
                props = props.mailbox(MailboxKind::Bounded(CAPACITY));
            }
            let sink = system.spawn(|| Sink { sum: 0 }).props(props).await?;
            let theirs = sink.clone();
            let source = system.spawn(move || Source { sink: theirs.clone() }).await?;
            Ok::<_, volary::Error>((system, sink, source))
        })?;
        Ok(Stage {
            runtime,
            system,
            sink,
            source,
        })
    }

    async fn perform(&self, case: &str, times: u64) -> volary::Result<()> {
        match case {
            "tell" | "tell/sampled" | "tell/bounded" => {
                self.source.ask(TellOn { times }).await?;
                self.sink.ask(Add { by: 0 }).await?;
            }
            "send/bounded" => {
                self.source.ask(SendOn { times }).await?;
                self.sink.ask(Add { by: 0 }).await?;
            }
            "ask" | "ask/sampled" => self.source.ask(AskOn { times }).await?,
            _ => {
                for n in 0..times {
                    self.system.spawn(|| Sink { sum: 0 }).named(format!("sink-{n}")).await?;
                }
            }
        }
        Ok(())
    }
}

/// What callgrind looks for by name: the name must be kept as it is, and the call must not be inlined.
// `unsafe` says that no other symbol of the program has this name; none has.
#[unsafe(no_mangle)]
#[inline(never)]
fn volary_measured(stage: &Stage, case: &str, times: u64) -> volary::Result<()> {
    stage.runtime.block_on(stage.perform(case, times))
}

fn main() -> volary::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let times = args.get(1).and_then(|times| times.parse().ok());
    match (args.first().map(String::as_str), times) {
        (Some("--list"), None) => CASES.iter().for_each(|case| println!("{case}")),
        (Some(case), Some(times)) if CASES.contains(&case) => {
            let stage = Stage::set(case)?;
            volary_measured(&stage, case, times)?;
            stage.runtime.block_on(stage.system.stop())?;
        }
        _ => {
            eprintln!(
                "instructions: needs --list, or one of {} and a number",
                CASES.join(", ")
            );
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
