//! One call of another program: says what it does and how long it took, and on failure shows the exact command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::failure::{Failure, Outcome};
use crate::workspace;

pub(crate) struct Invocation {
    command: Command,
    name: String,
    environment: Vec<String>,
}

impl Invocation {
    /// A call from the workspace root.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let name = program.as_ref().to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.current_dir(workspace::root());
        Self {
            command,
            name,
            environment: Vec::new(),
        }
    }

    /// A call of the cargo that runs this program.
    pub(crate) fn cargo(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut call = Self::new(program).args(args);
        call.name = "cargo".to_owned();
        call
    }

    /// A release build of an example of a crate, run with `args`.
    pub(crate) fn example(package: &str, name: &str, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        Self::example_with([""; 0], package, name, args)
    }

    /// The same, with options for cargo.
    pub(crate) fn example_with(
        options: impl IntoIterator<Item = impl AsRef<OsStr>>,
        package: &str,
        name: &str,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Self {
        Self::cargo(["run", "--release", "-p", package, "--example", name])
            .args(options)
            .arg("--")
            .args(args)
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.environment.push(format!("{name}={}", quoted(value)));
        self
    }

    /// Sets `name` to `value` unless the caller's environment already decides it.
    pub(crate) fn env_default(self, name: &str, value: &str) -> Self {
        let value = env::var(name).unwrap_or_else(|_| value.to_owned());
        self.env(name, &value)
    }

    /// Adds `flags` to those the caller's environment already has in `name`.
    pub(crate) fn env_append(self, name: &str, flags: &str) -> Self {
        let value = match env::var(name) {
            Ok(set) if !set.trim().is_empty() => format!("{set} {flags}"),
            _ => flags.to_owned(),
        };
        self.env(name, &value)
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it with our stdin, stdout and stderr, as the step `title`.
    pub(crate) fn run(mut self, title: &str) -> Outcome {
        let step = Step::begin(title, &self.shown());
        let status = self.command.status();
        self.judge(step, status)
    }

    /// Runs it as the step `title` and hands its stdout to `read` as it comes.
    pub(crate) fn stream(mut self, title: &str, mut read: impl FnMut(&[u8])) -> Outcome {
        let step = Step::begin(title, &self.shown());
        self.command.stdout(Stdio::piped());
        let status = self.command.spawn().and_then(|mut child| {
            if let Some(mut stdout) = child.stdout.take() {
                let mut buffer = [0; 8192];
                loop {
                    match stdout.read(&mut buffer)? {
                        0 => break,
                        length => read(&buffer[..length]),
                    }
                }
            }
            child.wait()
        });
        self.judge(step, status)
    }

    /// Runs it silently and returns what it wrote to stdout.
    pub(crate) fn output(mut self) -> Result<String, Failure> {
        self.command.stderr(Stdio::inherit());
        let shown = self.shown();
        let output = self.command.output().map_err(|error| not_started(&shown, &error))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(ended(&shown, output.status))
        }
    }

    /// Runs it silently, expects it to end badly, and returns what it wrote to stderr.
    pub(crate) fn complaint(mut self) -> Result<String, Failure> {
        let shown = self.shown();
        let output = self.command.output().map_err(|error| not_started(&shown, &error))?;
        if output.status.success() {
            return Err(Failure::Failed(format!(
                "this command should have failed and did not:\n  {shown}"
            )));
        }
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// True if it can be run and ends well; its output is thrown away.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// The command line as one would type it.
    pub(crate) fn shown(&self) -> String {
        let args = self.command.get_args().map(|arg| quoted(&arg.to_string_lossy()));
        self.environment
            .iter()
            .cloned()
            .chain([self.name.clone()])
            .chain(args)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn judge(&self, step: Step, status: io::Result<ExitStatus>) -> Outcome {
        let outcome = match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(ended(&self.shown(), status)),
            Err(error) => Err(not_started(&self.shown(), &error)),
        };
        step.end(&outcome);
        outcome
    }
}

/// A step of a command: a line when it begins, a line when it ends.
pub(crate) struct Step {
    title: String,
    begun: Instant,
}

impl Step {
    pub(crate) fn begin(title: &str, detail: &str) -> Self {
        eprintln!("==> {title}: {detail}");
        Self {
            title: title.to_owned(),
            begun: Instant::now(),
        }
    }

    pub(crate) fn end<T>(self, outcome: &Result<T, Failure>) {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        eprintln!("    {}: {verdict} in {}", self.title, in_words(self.begun.elapsed()));
    }
}

pub(crate) fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{} min {:.0} s", duration.as_secs() / 60, seconds % 60.0)
    }
}

fn ended(shown: &str, status: ExitStatus) -> Failure {
    Failure::Failed(format!("this command failed ({status}):\n  {shown}"))
}

fn not_started(shown: &str, error: &io::Error) -> Failure {
    Failure::Missing(format!("this command could not be started ({error}):\n  {shown}"))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_shown_as_one_would_type_it() {
        let call = Invocation::cargo(["doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .arg("it's");
        assert_eq!(
            call.shown(),
            r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'"
        );
    }

    #[test]
    fn durations_are_short() {
        assert_eq!(in_words(Duration::from_millis(1_234)), "1.2 s");
        assert_eq!(in_words(Duration::from_secs(125)), "2 min 5 s");
    }
}
