//! A queue of jobs: workers pull, what fails is tried again later, what keeps failing is parked, and a worker that
//! crashes is restarted.
//!
//! ```text
//!   submit ──▶ queue ──job──▶ worker      a worker says that it is free and gets one job: nobody is ever flooded
//!                 ▲            │          the queue is the parent of its workers, and supervises them
//!                 └─free, done─┘
//! ```
//!
//! In the end the queue drains: it takes nothing more and answers when nothing is left. Every job is then done or
//! parked, and the program checks that.
//!
//! `cargo run -p volary --example job_queue`

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::time::Duration;

use volary::prelude::*;
use volary::{ActorId, Backoff, Supervision};

const JOBS: u64 = 500;
const WORKERS: usize = 4;
const ROOM: usize = 64;
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone)]
struct Job {
    number: u64,
    attempt: u32,
}

/// What a job does depends on its number alone, so that we know what must come out.
enum Nature {
    Sound,
    FailsOnce,
    CrashesItsWorkerOnce,
    Hopeless,
}

fn nature(number: u64) -> Nature {
    match number % 50 {
        3 | 13 | 23 => Nature::FailsOnce,
        7 => Nature::CrashesItsWorkerOnce,
        11 => Nature::Hopeless,
        _ => Nature::Sound,
    }
}

// ---- the worker

#[derive(Debug)]
enum Outcome {
    Done,
    Failed,
}

struct Worker {
    queue: ActorRef<Queue>,
}

#[actor]
impl Worker {
    /// Runs again after each restart, and so a worker that has crashed asks for work again.
    fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.queue.tell(Free { worker: ctx.me() }).or_fault()
    }

    async fn work(&mut self, job: Job, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.sleep(Duration::from_micros(100)).await; // something that takes time
        let outcome = match nature(job.number) {
            Nature::FailsOnce if job.attempt == 1 => Outcome::Failed,
            Nature::CrashesItsWorkerOnce if job.attempt == 1 => return Err(Fault::msg("out of paper")),
            Nature::Hopeless => Outcome::Failed,
            _ => Outcome::Done,
        };
        let worker = ctx.me();
        self.queue.tell(Finished { worker, outcome }).or_fault()
    }
}

// ---- the queue

#[derive(Debug, Rejection)]
enum NotTaken {
    Full,
    Closed,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    done: u64,
    retries: u64,
    parked: Vec<u64>,
}

#[derive(Message)]
struct Retry {
    job: Job,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<Job>,
    free: VecDeque<ActorRef<Worker>>,
    /// Who works on what.
    out: BTreeMap<ActorId, Job>,
    /// Jobs that wait for their next attempt, each in a timer.
    pausing: usize,
    tally: Tally,
    intake: Intake,
}

#[derive(Default)]
enum Intake {
    #[default]
    Open,
    /// Somebody waits for the last job.
    Draining(ReplyTo<Tally>),
    Closed,
}

#[actor]
impl Queue {
    fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        for number in 0..WORKERS {
            let queue = ctx.me();
            // Restart, but not in a hurry: what crashed it may still be there.
            let backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(50));
            let worker = ctx
                .spawn_child(move || Worker { queue: queue.clone() })
                .named(format!("worker-{number}"))
                .supervision(Supervision::new().otherwise(Directive::Restart).backoff(backoff))
                .start()
                .or_fault()?;
            ctx.watch(&worker);
        }
        Ok(())
    }

    fn submit(&mut self, number: u64) -> Result<(), NotTaken> {
        if !matches!(self.intake, Intake::Open) {
            return Err(NotTaken::Closed);
        }
        if self.ready.len() >= ROOM {
            return Err(NotTaken::Full);
        }
        self.ready.push_back(Job { number, attempt: 1 });
        self.hand_out();
        Ok(())
    }

    /// A worker that says it is free, and has a job of ours, has crashed on it.
    fn free(&mut self, worker: ActorRef<Worker>, ctx: &mut Context<Self>) {
        self.settle(worker.id(), Outcome::Failed, ctx);
        self.free.push_back(worker);
        self.hand_out();
    }

    fn finished(&mut self, worker: ActorRef<Worker>, outcome: Outcome, ctx: &mut Context<Self>) {
        self.settle(worker.id(), outcome, ctx);
        self.free.push_back(worker);
        self.hand_out();
    }

    #[handles]
    fn retry(&mut self, retry: Retry) {
        self.pausing -= 1;
        self.ready.push_back(retry.job);
        self.hand_out();
    }

    /// A worker that is gone for good gives its job back as well.
    #[handles]
    fn terminated(&mut self, gone: Terminated, ctx: &mut Context<Self>) {
        self.free.retain(|worker| worker.id() != gone.id());
        self.settle(gone.id(), Outcome::Failed, ctx);
    }

    /// From now on nothing is taken; the answer comes when everything is done or parked.
    fn drain(&mut self, reply: ReplyTo<Tally>) {
        self.intake = Intake::Draining(reply);
        self.answer_if_empty();
    }
}

impl Queue {
    fn hand_out(&mut self) {
        while !self.ready.is_empty() {
            let Some(worker) = self.free.pop_front() else { return };
            let Some(job) = self.ready.pop_front() else { return };
            match worker.tell(Work { job: job.clone() }) {
                Ok(()) => drop(self.out.insert(worker.id(), job)),
                Err(refused) => self.ready.push_front(refused.into_message().job), // it has ended; to the next one
            }
        }
    }

    fn settle(&mut self, worker: ActorId, outcome: Outcome, ctx: &mut Context<Self>) {
        let Some(mut job) = self.out.remove(&worker) else {
            return;
        };
        match outcome {
            Outcome::Done => self.tally.done += 1,
            Outcome::Failed if job.attempt == ATTEMPTS => self.tally.parked.push(job.number),
            Outcome::Failed => {
                let pause = FIRST_PAUSE * 2u32.pow(job.attempt - 1);
                job.attempt += 1;
                self.tally.retries += 1;
                self.pausing += 1;
                ctx.set_timer(format!("retry-{}", job.number), pause, Retry { job });
            }
        }
        self.answer_if_empty();
    }

    fn answer_if_empty(&mut self) {
        let is_empty = self.ready.is_empty() && self.out.is_empty() && self.pausing == 0;
        if !is_empty || matches!(self.intake, Intake::Open) {
            return;
        }
        if let Intake::Draining(reply) = std::mem::replace(&mut self.intake, Intake::Closed) {
            reply.send(self.tally.clone());
        }
    }
}

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let system = ActorSystem::builder("jobs").start().await?;
    let queue = system.spawn(Queue::default).named("queue").await?;
    let mut pushed_back = 0;
    for number in 0..JOBS {
        while let Err(refused) = queue.ask(Submit { number }).await {
            let AskError::Rejected(NotTaken::Full) = refused else {
                return Err(refused.into());
            };
            pushed_back += 1;
            system.sleep(Duration::from_millis(1)).await;
        }
    }
    println!("{JOBS} jobs submitted; {pushed_back} times the queue was full, and said so");

    let drained = queue.ask(Drain).timeout(Duration::from_secs(60)).await?;
    let late = queue.ask(Submit { number: JOBS }).await;
    let crashes = system.metrics().faults;
    println!(
        "{} done, {} parked after {ATTEMPTS} attempts each",
        drained.done,
        drained.parked.len()
    );
    println!(
        "{} attempts were repeated, {crashes} workers crashed and were restarted",
        drained.retries
    );
    println!("parked: {:?}", drained.parked);
    system.stop().await?;

    let of = |wanted: fn(&Nature) -> bool| (0..JOBS).filter(|number| wanted(&nature(*number))).count() as u64;
    let hopeless = of(|nature| matches!(nature, Nature::Hopeless));
    let once = of(|nature| matches!(nature, Nature::FailsOnce));
    let crashing = of(|nature| matches!(nature, Nature::CrashesItsWorkerOnce));
    let right = drained.done + drained.parked.len() as u64 == JOBS
        && drained.parked.len() as u64 == hopeless
        && drained.retries == once + crashing + hopeless * u64::from(ATTEMPTS - 1)
        && crashes == crashing
        && matches!(late, Err(AskError::Rejected(NotTaken::Closed)));
    println!(
        "{}",
        if right {
            "the counts balance"
        } else {
            "THE COUNTS DO NOT BALANCE"
        }
    );
    Ok(ExitCode::from(u8::from(!right)))
}
