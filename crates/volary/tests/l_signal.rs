//! L3: a system that runs until it is told to go.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use volary::prelude::*;

#[test]
fn l3_a_stop_by_somebody_else_ends_run_until_signal() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        let mut running = std::pin::pin!(system.run_until_signal());
        let bell = Bell::new();
        let waker = bell.clone().into();
        let mut task = std::task::Context::from_waker(&waker);
        assert!(running.as_mut().poll(&mut task).is_pending());
        system.stop().await.unwrap();
        assert!(bell.rung() > 0, "it is told");
        running.await.unwrap();
        assert!(!actor.is_alive());
        system.stopped().await.unwrap();
    });
}

/// Runs this very test binary as a program with a system in it, and sends that a signal.
#[cfg(unix)]
mod process {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const CHILD: &str = "VOLARY_TEST_SIGNAL_CHILD";

    /// Says when it has ended, on stdout.
    struct Witness;

    #[actor]
    impl Witness {
        fn ping(&self) {}
    }

    /// Not a test of its own: the program that the others start.
    #[test]
    fn the_program() -> volary::Result<()> {
        if std::env::var_os(CHILD).is_none() {
            return Ok(());
        }
        volary::run(async {
            let system = builder("signalled").start().await?;
            let witness = system.spawn(|| Witness).named("witness").await?;
            witness.ask(Ping).await?;
            let mut running = std::pin::pin!(system.run_until_signal());
            // The first poll catches the signals; only then may the parent send one.
            let pending = std::future::poll_fn(|task| std::task::Poll::Ready(running.as_mut().poll(task).is_pending()));
            assert!(pending.await);
            println!("\nready");
            running.await?;
            println!("alive after the stop: {}", witness.is_alive());
            Ok(())
        })
    }

    fn ends_well_on(signal: &str) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::the_program", "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wait_for = |text: &str| lines.by_ref().any(|line| line.unwrap().contains(text));
        assert!(wait_for("ready"));
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        assert!(wait_for("alive after the stop: false"));
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn l3_sigterm_stops_the_system_and_the_program_ends_well() {
        ends_well_on("-TERM");
    }

    #[test]
    fn l3_sigint_stops_the_system_and_the_program_ends_well() {
        ends_well_on("-INT");
    }
}
