//! The other process, as the measuring one holds it. Every answer has a deadline, and the process ends with its handle.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take; the first one includes the start of a virtual machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the other process has used up so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Microseconds of processor time.
    pub cpu_us: f64,
    /// Allocations, while they are counted and where they can be.
    pub allocations: Option<f64>,
}

/// A process that serves.
pub struct Partner {
    process: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
}

impl Partner {
    /// Starts `command` and hands back the process and its invitation.
    ///
    /// # Panics
    /// If it does not start or does not say where it is: without it there is nothing to measure.
    pub fn start(mut command: Command) -> (Self, String) {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a second process");
        let orders = process.stdin.take().expect("stdin is piped");
        let output = process.stdout.take().expect("stdout is piped");
        let (said, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        let partner = Self { process, orders, lines };
        let line = partner.line();
        let invitation = line
            .strip_prefix("ready ")
            .unwrap_or_else(|| panic!("it said: {line}"))
            .to_owned();
        (partner, invitation)
    }

    /// What it has used up so far.
    pub fn usage(&mut self) -> Usage {
        self.order("usage")
    }

    /// The same, and its allocations are counted from now on.
    pub fn count(&mut self) -> Usage {
        self.order("count")
    }

    fn order(&mut self, order: &str) -> Usage {
        writeln!(self.orders, "{order}").expect("the second process listens");
        let value: Value = serde_json::from_str(&self.line()).expect("a line of JSON");
        Usage {
            cpu_us: value["cpu_us"].as_f64().unwrap_or(0.0),
            allocations: value["allocations"].as_f64(),
        }
    }

    fn line(&self) -> String {
        self.lines
            .recv_timeout(PATIENCE)
            .expect("the second process answers in time")
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn it_says_where_it_is_and_what_it_used() {
        let script = r#"echo ready 127.0.0.1:4; while read order; do echo '{"cpu_us":2.5,"allocations":null}'; done"#;
        let (mut partner, invitation) = Partner::start(shell(script));
        assert_eq!(invitation, "127.0.0.1:4");
        let usage = partner.usage();
        assert_eq!((usage.cpu_us, usage.allocations), (2.5, None));
        assert_eq!(partner.count().cpu_us, 2.5);
    }

    #[test]
    #[should_panic(expected = "it said: no")]
    fn one_that_does_not_serve_is_noticed() {
        let _ = Partner::start(shell("echo no"));
    }
}
