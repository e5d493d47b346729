//! A process with a time limit, and what it wrote.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A process that did not end well.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub reason: String,
    /// What it wrote to stdout until then.
    pub output: String,
}

/// Runs `command` and hands back its stdout, or why there is none. A process that takes longer than `limit`
/// is ended.
pub fn output(mut command: Command, limit: Duration) -> Result<String, Failure> {
    let failed = |reason: String, output: String| Failure { reason, output };
    let early = |error: std::io::Error| failed(error.to_string(), String::new());
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(early)?;
    let mut stdout = child.stdout.take().expect("stdout is piped");
    // Read beside the wait, so that a full pipe holds nobody up.
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let _ = stdout.read_to_string(&mut text);
        text
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(early)? {
            Some(status) => break status,
            None if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                // Its own children may still hold the pipe, so what it wrote is not waited for.
                return Err(failed(format!("took over {} s", limit.as_secs()), String::new()));
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    let text = reader.join().unwrap_or_default();
    if status.success() {
        Ok(text)
    } else {
        Err(failed(format!("ended with {status}"), text))
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
    fn output_failure_and_overtime_are_told_apart() {
        let limit = Duration::from_secs(10);
        assert_eq!(output(shell("echo out"), limit).ok().as_deref(), Some("out\n"));
        let failure = output(shell("echo why; exit 3"), limit).expect_err("it failed");
        assert!(
            failure.reason.contains('3') && failure.output == "why\n",
            "{}",
            failure.reason
        );
        let overtime = output(shell("exec sleep 30"), Duration::ZERO).expect_err("it took too long");
        assert_eq!(overtime.reason, "took over 0 s");
    }

    #[test]
    fn more_than_a_pipe_holds_is_read() {
        let text = output(shell("yes | head -c 300000"), Duration::from_secs(10));
        assert_eq!(text.ok().map(|text| text.len()), Some(300_000));
    }
}
