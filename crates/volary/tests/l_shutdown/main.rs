//! L27: coordinated shutdown.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod drain;
mod failing_hooks;
mod hurry;
mod phases;
mod registration;
mod runtime;
mod time;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    CutShort, Env, HookError, HookRecovery, PhasePlace, Reentrancy, SeededEnv, ShutdownHook, StopProblem,
    SystemBuilder, SystemStartError, shutdown,
};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn on(env: &(impl Env + Clone)) -> SystemBuilder {
    builder("down").environment(env.clone())
}

/// A hook that writes its name into the log.
fn noting(log: &Log, phase: &str, name: &'static str) -> ShutdownHook {
    let log = log.clone();
    ShutdownHook::new(phase, name, move || {
        let log = log.clone();
        async move { log.push(name) }
    })
}

/// A hook that never ends.
fn hanging(log: &Log, phase: &str, name: &'static str) -> ShutdownHook {
    let log = log.clone();
    ShutdownHook::new(phase, name, move || {
        let log = log.clone();
        async move {
            let _gone = OnDrop(log.clone(), "hang dropped");
            log.push(name);
            pending::<()>().await;
        }
    })
}

/// A hook that fails so many times, and then no more.
fn failing(log: &Log, name: &'static str, times: u32, recovery: HookRecovery) -> ShutdownHook {
    let (log, failures) = (log.clone(), Arc::new(AtomicU32::new(0)));
    let hook = ShutdownHook::new(shutdown::INTAKE, name, move || {
        let (log, failures) = (log.clone(), failures.clone());
        async move {
            log.push(name);
            match failures.fetch_add(1, Ordering::SeqCst) {
                n if n < times => Err(Broken(n)),
                _ => Ok(()),
            }
        }
    });
    hook.recovery(recovery)
}

fn not_run(phase: &str, hook: &str, why: CutShort) -> StopProblem {
    StopProblem::HookNotRun {
        phase: phase.to_owned(),
        hook: hook.to_owned(),
        why,
    }
}
