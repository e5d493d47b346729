//! L3: starts of a system that fail for want of a thread, or go well and are warned of.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context as TaskContext, Waker};
use std::time::SystemTime;

use common::journal::Journal;
use common::{block_on, builder};
use tokio::runtime::Builder;
use volary::{BoxTask, Driver, Env, Moment, SystemStartError};

/// A world without a thread for the clock. It keeps the tasks that it is given.
#[derive(Clone, Default)]
struct Clockless {
    tasks: Arc<Mutex<Vec<BoxTask>>>,
    retired: Arc<AtomicBool>,
}

impl Env for Clockless {
    fn now(&self) -> Moment {
        Moment::ZERO
    }
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
    fn random(&self) -> u64 {
        4
    }
    fn spawn(&self, task: BoxTask) {
        self.tasks.lock().unwrap().push(task);
    }
    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        None
    }
    fn parallelism(&self) -> usize {
        2
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        None
    }
    fn attach(&self, _: Weak<dyn Driver>) -> io::Result<()> {
        Err(io::Error::other("no more threads"))
    }
    fn timer_changed(&self, _: Moment) {}
    fn retire(&self) {
        self.retired.store(true, SeqCst);
    }
}

#[test]
fn l3_a_system_that_has_no_clock_does_not_start_and_leaves_nothing_behind() {
    let env = Clockless::default();
    let own = volary::DispatcherOptions::new().workers(2);
    let started = builder("timeless")
        .environment(env.clone())
        .dispatcher("own", own)
        .start_now();
    let error = started.unwrap_err();
    assert!(matches!(error, SystemStartError::Clock(_)), "{error:?}");
    assert_eq!(error.to_string(), "cannot start the clock's thread: no more threads");
    assert_eq!(error.source().unwrap().to_string(), "no more threads");
    assert!(env.retired.load(SeqCst), "what was brought along for it can go");
    let mut tasks = std::mem::take(&mut *env.tasks.lock().unwrap());
    assert!(
        tasks.len() >= 4,
        "the workers of both dispatchers were there: {}",
        tasks.len()
    );
    for task in &mut tasks {
        let polled = task.as_mut().poll(&mut TaskContext::from_waker(Waker::noop()));
        assert!(polled.is_ready(), "a worker goes on although there is no system");
    }
}

#[test]
fn l3_a_runtime_of_one_thread_is_warned_of_and_one_of_several_is_not() {
    let warnings_on = |mut runtime: Builder| {
        let runtime = runtime.enable_all().build().unwrap();
        let start = || builder("lonely").start_now().unwrap();
        let (system, logged) = runtime.block_on(async { Journal::during(start) });
        runtime.block_on(system.stop()).unwrap();
        logged
    };
    let one = warnings_on(Builder::new_current_thread());
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(one[0].contains("single thread"), "it says what is the matter: {one:?}");
    assert!(one[0].contains("use a multi-thread runtime"), "and what to do: {one:?}");
    let several = warnings_on(Builder::new_multi_thread());
    assert!(several.is_empty(), "{several:?}");
    let (system, logged) = Journal::during(|| builder("own").start_now().unwrap());
    assert!(
        logged.is_empty(),
        "a runtime that the system brings is no cause: {logged:?}"
    );
    block_on(system.stop()).unwrap();
}
