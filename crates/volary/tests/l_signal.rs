//! L3 and L27: a system that runs until it is told to go, and how it goes then.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use volary::prelude::*;
use volary::{ShutdownHook, shutdown};

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
    use std::io::{BufRead, BufReader, Lines};
    use std::process::{Child, ChildStdout, Command, Stdio};

    /// What the program is to do.
    const CHILD: &str = "VOLARY_TEST_SIGNAL_CHILD";

    /// Says when it has ended, on stdout.
    struct Witness;

    #[actor]
    impl Witness {
        fn ping(&self) {}
        async fn work(&mut self, number: u32, ctx: &mut Context<Self>) {
            ctx.sleep(std::time::Duration::from_millis(50)).await;
            println!("worked {number}");
        }
        fn stopped(&mut self) {
            println!("the actor ends");
        }
    }

    /// Says what it is called and whether the system is ready.
    fn told(system: &ActorSystem, phase: &'static str) -> ShutdownHook {
        let readiness = system.readiness();
        ShutdownHook::new(phase, phase, move || {
            println!("{phase}, ready: {}", readiness.is_ready());
            async {}
        })
    }

    /// Says that it begins, and ends only when it is cut off: by its timeout if by nobody else, so that a test that
    /// fails leaves no program behind.
    fn endless() -> ShutdownHook {
        let hook = ShutdownHook::new(shutdown::DRAIN, "endless", || async {
            println!("endless");
            std::future::pending::<()>().await;
        });
        hook.timeout(PATIENCE)
    }

    /// Not a test of its own: the program that the others start.
    #[test]
    fn the_program() -> volary::Result<()> {
        let Some(role) = std::env::var_os(CHILD) else {
            return Ok(());
        };
        volary::run(async {
            let system = builder("signalled").start().await?;
            let witness = system.spawn(|| Witness).named("witness").await?;
            witness.ask(Ping).await?;
            for phase in [shutdown::AFTER_ACTORS, shutdown::INTAKE, shutdown::UNREADY] {
                system.on_shutdown(told(&system, phase))?;
            }
            if role == "endless" {
                system.on_shutdown(endless())?;
            }
            let mut running = std::pin::pin!(system.run_until_signal());
            // The first poll catches the signals; only then may the parent send one.
            let pending = std::future::poll_fn(|task| std::task::Poll::Ready(running.as_mut().poll(task).is_pending()));
            assert!(pending.await);
            if role == "busy" {
                for number in 1..=5 {
                    witness.tell(Work { number })?;
                }
            }
            println!("\nready: {}", system.is_ready());
            match running.await {
                Ok(()) => println!("down"),
                Err(error) => println!("down, but {error}"),
            }
            println!("alive after the stop: {}", witness.is_alive());
            Ok(())
        })
    }

    /// The program, and what it says.
    struct Program {
        child: Child,
        lines: Lines<BufReader<ChildStdout>>,
    }

    impl Program {
        fn start(role: &str) -> Self {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "process::the_program", "--nocapture"])
                .env(CHILD, role)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            Program { child, lines }
        }

        /// The lines up to the one that begins with this.
        fn lines_up_to(&mut self, text: &str) -> Vec<String> {
            let mut all = Vec::new();
            for line in self.lines.by_ref() {
                all.push(line.unwrap());
                if all.last().unwrap().starts_with(text) {
                    return all;
                }
            }
            panic!("no {text} in {all:?}");
        }

        fn send(&self, signal: &str) {
            let sent = Command::new("kill")
                .args([signal, &self.child.id().to_string()])
                .status()
                .unwrap();
            assert!(sent.success());
        }

        fn ends_well(mut self) {
            for _ in self.lines.by_ref() {} // or it could not write
            assert!(self.child.wait().unwrap().success());
        }
    }

    fn ends_well_on(signal: &str) {
        let mut program = Program::start("plain");
        program.lines_up_to("ready: true");
        program.send(signal);
        program.lines_up_to("alive after the stop: false");
        program.ends_well();
    }

    #[test]
    fn l3_sigterm_stops_the_system_and_the_program_ends_well() {
        ends_well_on("-TERM");
    }

    #[test]
    fn l3_sigint_stops_the_system_and_the_program_ends_well() {
        ends_well_on("-INT");
    }

    #[test]
    fn l27_sigterm_turns_readiness_false_and_then_runs_the_phases_in_order() {
        let mut program = Program::start("plain");
        program.lines_up_to("ready: true");
        program.send("-TERM");
        assert_eq!(
            program.lines_up_to("alive"),
            [
                "unready, ready: false",
                "intake, ready: false",
                "the actor ends",
                "after-actors, ready: false",
                "down",
                "alive after the stop: false",
            ]
        );
        program.ends_well();
    }

    #[test]
    fn l27_after_a_signal_actors_do_the_work_they_have_before_they_are_stopped() {
        let mut program = Program::start("busy");
        program.lines_up_to("ready: true");
        program.send("-TERM");
        let lines = program.lines_up_to("the actor ends");
        let worked = lines.iter().filter(|line| line.starts_with("worked")).count();
        assert_eq!(worked, 5, "{lines:?}");
        assert!(
            lines.iter().any(|line| line.starts_with("intake")),
            "the signal came before: {lines:?}"
        );
        program.lines_up_to("down");
        program.ends_well();
    }

    #[test]
    fn l27_a_second_signal_cuts_off_what_still_waits() {
        let mut program = Program::start("endless");
        program.lines_up_to("ready: true");
        program.send("-INT");
        program.lines_up_to("endless");
        program.send("-INT");
        let lines = program.lines_up_to("alive after the stop: false");
        let error = &lines[lines.len() - 2];
        for words in [
            "\"endless\" of phase \"drain\" was cut off: the stop was hurried",
            "\"after-actors\" of phase \"after-actors\" was not run: the stop was hurried",
        ] {
            assert!(error.contains(words), "no {words} in {lines:?}");
        }
        assert!(lines.iter().any(|line| line == "the actor ends"), "{lines:?}");
        program.ends_well();
    }
}
