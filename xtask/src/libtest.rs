//! Runs test binaries, lets their output through untouched and counts from it what passed, failed and was skipped.

use std::io::{self, Write};

use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;

/// Runs `call`, which is some form of `cargo test`, and prints a summary. A run without a single test is a failure.
pub(crate) fn run(title: &str, call: Invocation) -> Outcome {
    let mut report = Report::default();
    report.binaries(title, call);
    report.finish()
}

/// Several runs under one summary.
#[derive(Debug, Default)]
pub(crate) struct Report {
    tally: Tally,
    first_failure: Option<Failure>,
}

impl Report {
    /// Runs `call`, which is some form of `cargo test`.
    pub(crate) fn binaries(&mut self, title: &str, call: Invocation) {
        let tally = &mut self.tally;
        let outcome = call.stream(title, |bytes| {
            // A closed stdout must not stop the tests.
            let _ = show(bytes);
            tally.feed(bytes);
        });
        tally.close(outcome.is_ok());
        self.keep(outcome);
    }

    /// Runs one test that no test binary can hold, and shows it as libtest would.
    pub(crate) fn single(&mut self, name: &str, test: impl FnOnce() -> Outcome) {
        let outcome = test();
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        let _ = show(format!("\ntest {name} ... {verdict}\n").as_bytes());
        self.tally.single(name, outcome.is_ok());
        self.keep(outcome);
    }

    /// Prints the summary. A run without a single test is a failure.
    pub(crate) fn finish(self) -> Outcome {
        let tally = self.tally;
        print!("{}", tally.summary());
        if let Some(failure) = self.first_failure {
            return Err(failure);
        }
        if tally.failed > 0 {
            return Err(Failure::Failed(format!("{} failed", tally.failed)));
        }
        if tally.passed == 0 && tally.skipped == 0 {
            return Err(Failure::Failed("no test was run".to_owned()));
        }
        Ok(())
    }

    fn keep(&mut self, outcome: Outcome) {
        if let Err(failure) = outcome {
            self.first_failure.get_or_insert(failure);
        }
    }
}

fn show(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// What the lines of libtest add up to, over any number of test binaries.
#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failed_names: Vec<String>,
    skipped_names: Vec<String>,
    /// Tests that called themselves skipped, which libtest takes for passed.
    noted: u64,
    unfinished_line: Vec<u8>,
    /// A binary said `running N tests` and has not yet said how it ended.
    running: bool,
}

impl Tally {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.unfinished_line);
                self.line(String::from_utf8_lossy(&line).trim_end());
            } else {
                self.unfinished_line.push(*byte);
            }
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(note) = skip_note(line) {
            self.skipped += 1;
            self.noted += 1;
            self.skipped_names.push(note.to_owned());
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.running = false;
            self.passed += count(result, "passed");
            self.failed += count(result, "failed");
            self.skipped += count(result, "ignored");
        } else if is_start(line) {
            self.end_binary();
            self.running = true;
        } else if let Some((name, verdict)) = line.strip_prefix("test ").and_then(|test| test.rsplit_once(" ... ")) {
            if verdict == "FAILED" {
                self.failed_names.push(name.to_owned());
            } else if let Some(reason) = verdict.strip_prefix("ignored") {
                let reason = reason.trim_start_matches(", ");
                let reason = if reason.is_empty() { "ignored" } else { reason };
                self.skipped_names.push(format!("{name}: {reason}"));
            }
        }
    }

    fn single(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
            self.failed_names.push(name.to_owned());
        }
    }

    /// A binary that began and never reported has crashed.
    fn end_binary(&mut self) {
        if std::mem::take(&mut self.running) {
            self.failed += 1;
            self.failed_names
                .push("a test binary that ended without a result".to_owned());
        }
    }

    fn close(&mut self, success: bool) {
        self.feed(b"\n");
        self.end_binary();
        self.passed = self.passed.saturating_sub(std::mem::take(&mut self.noted));
        if !success && self.failed == 0 {
            self.failed = 1;
            self.failed_names
                .push("the build, or a test binary that could not start".to_owned());
        }
    }

    fn summary(&self) -> String {
        let mut text = String::from("\n");
        for name in &self.skipped_names {
            text += &format!("skipped: {name}\n");
        }
        for name in &self.failed_names {
            text += &format!("failed: {name}\n");
        }
        text + &format!(
            "{} passed, {} failed, {} skipped\n",
            self.passed, self.failed, self.skipped
        )
    }
}

/// `running 3 tests`
fn is_start(line: &str) -> bool {
    line.strip_prefix("running ")
        .and_then(|rest| rest.split_once(' '))
        .is_some_and(|(number, unit)| number.parse::<u64>().is_ok() && matches!(unit, "test" | "tests"))
}

/// The number before `word` in `ok. 3 passed; 0 failed; 1 ignored; 0 measured; …`
fn count(result: &str, word: &str) -> u64 {
    result
        .split([';', '.'])
        .filter_map(|part| part.trim().split_once(' '))
        .find(|(_, unit)| *unit == word)
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(0)
}

/// `NAME: reason` of a line `skipped: NAME: reason`, which may follow an unfinished `test NAME ... `
fn skip_note(line: &str) -> Option<&str> {
    let line = match line.split_once(" ... skipped: ") {
        Some((test, _)) if test.starts_with("test ") => &line[test.len() + " ... ".len()..],
        _ => line,
    };
    line.strip_prefix("skipped: ").filter(|note| note.contains(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(output: &str, success: bool) -> Tally {
        let mut tally = Tally::default();
        // Odd pieces: output does not arrive line by line.
        for piece in output.as_bytes().chunks(7) {
            tally.feed(piece);
        }
        tally.close(success);
        tally
    }

    #[test]
    fn adds_up_over_binaries_and_names_what_did_not_pass() {
        let output = "
running 4 tests
test mailbox::tests::s1_order ... ok
test needs_server ... ignored, needs a NATS server
test later ... ignored
test tree::tests::s3_stop ... FAILED

test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 5 filtered out; finished in 0.10s

running 1 test
test crates/volary/src/lib.rs - (line 12) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s
";
        assert_eq!(
            tally(output, false).summary(),
            "
skipped: needs_server: needs a NATS server
skipped: later: ignored
failed: tree::tests::s3_stop
2 passed, 1 failed, 2 skipped
"
        );
    }

    #[test]
    fn a_test_may_call_itself_skipped() {
        let output = "
running 3 tests
skipped: io::v6: no IPv6 on this machine
test io::v6 ... ok
test io::v4 ... ok
test io::dns ... skipped: io::dns: no resolver
ok

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let tally = tally(output, true);
        assert_eq!((tally.passed, tally.failed, tally.skipped), (1, 0, 2));
        assert_eq!(
            tally.skipped_names,
            ["io::v6: no IPv6 on this machine", "io::dns: no resolver"]
        );
    }

    #[test]
    fn a_binary_without_a_result_has_failed() {
        let crashed_then_ok = "
running 2 tests
test a ... ok

running 1 test
test b ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let first = tally(crashed_then_ok, false);
        assert_eq!((first.passed, first.failed), (1, 1));
        let last = tally("running 2 tests\ntest a ... ok", false);
        assert_eq!((last.passed, last.failed), (0, 1));
    }

    #[test]
    fn a_test_without_a_binary_counts_and_is_named() {
        let output = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n";
        let mut tally = tally(output, true);
        tally.single("b", true);
        tally.single("c", false);
        assert_eq!(tally.summary(), "\nfailed: c\n2 passed, 1 failed, 0 skipped\n");
    }

    #[test]
    fn a_build_that_breaks_is_not_a_success() {
        let tally = tally("", false);
        assert_eq!((tally.passed, tally.failed, tally.skipped), (0, 1, 0));
    }

    #[test]
    fn other_lines_do_not_count() {
        let output = "running late\nrunning 3 tests of strength\nskipped: nothing\ntest drive\n";
        let tally = tally(output, true);
        assert_eq!((tally.passed, tally.failed, tally.skipped), (0, 0, 0));
    }
}
