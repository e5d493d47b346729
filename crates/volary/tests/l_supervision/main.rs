//! L10, S10: what is done about an actor that crashes. Everything under seeds and virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod directives;
mod escalation;
mod limits;
mod threads;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, ActorReinstated, ActorSuspended, Backoff, ChildFailed, ChildrenPolicy};
use volary::{SpawnError, Strategy, Supervision};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug, thiserror::Error)]
#[error("disk")]
struct Disk;

#[derive(Debug, thiserror::Error)]
#[error("network")]
struct Network(#[source] Disk);

/// A worker that can fail in several ways, and counts what it has done in this incarnation.
struct Worker {
    name: &'static str,
    log: Log,
    done: u64,
}

impl Worker {
    fn make(name: &'static str, log: &Log) -> impl Fn() -> Worker + Send + Sync + Clone + use<> {
        let log = log.clone();
        move || Worker {
            name,
            log: log.clone(),
            done: 0,
        }
    }
}

#[actor]
impl Worker {
    fn started(&mut self) {
        self.log.push(format!("{} started", self.name));
    }
    fn stopped(&mut self) {
        self.log.push(format!("{} stopped", self.name));
    }
    fn work(&mut self) -> u64 {
        self.done += 1;
        self.done
    }
    fn fail_disk(&mut self) -> Result<u64, Fault> {
        Err(Disk).or_fault()
    }
    fn fail_network(&mut self) -> Result<u64, Fault> {
        Err(Network(Disk)).or_fault()
    }
    fn panic(&mut self) -> u64 {
        panic!("on purpose")
    }
}

/// A parent with workers below it, which hears of their failures.
struct Boss {
    log: Log,
    staff: Vec<(&'static str, Supervision)>,
}

#[actor]
impl Boss {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.push("boss started".to_owned());
        for (name, supervision) in &self.staff {
            if ctx.child::<Worker>(name).is_some() {
                continue; // it has outlived our last incarnation
            }
            let child = ctx.spawn_child(Worker::make(name, &self.log)).named(*name);
            child.supervision(supervision.clone()).await.or_fault()?;
        }
        Ok(())
    }
    fn stopped(&mut self) {
        self.log.push("boss stopped".to_owned());
    }
    #[handles]
    fn child_failed(&mut self, failed: ChildFailed) {
        let name = failed.path.name();
        self.log
            .push(format!("boss hears of {name}: {} {:?}", failed.fault, failed.directive));
    }
}

async fn a_boss(
    system: &ActorSystem,
    log: &Log,
    own: Supervision,
    staff: Vec<(&'static str, Supervision)>,
) -> (ActorRef<Boss>, Vec<ActorRef<Worker>>) {
    let names: Vec<_> = staff.iter().map(|(name, _)| *name).collect();
    let make = {
        let log = log.clone();
        move || Boss {
            log: log.clone(),
            staff: staff.clone(),
        }
    };
    let boss = system.spawn(make).named("boss").supervision(own).await.unwrap();
    let find = |name: &&str| system.lookup(&format!("/user/boss/{name}")).unwrap();
    (boss, names.iter().map(find).collect())
}

fn restart() -> Supervision {
    Supervision::new()
}

/// Long enough for everything that is ready to run, and shorter than any delay here.
async fn settle(system: &ActorSystem) {
    system.sleep(MS).await;
}

fn escalating() -> Supervision {
    Supervision::new().otherwise(Directive::Escalate)
}
