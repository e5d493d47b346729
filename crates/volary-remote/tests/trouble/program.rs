//! A child process in the hands of a test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::child::PREFIX;
use crate::home::{Home, until};

/// Lines that somebody wrote, in their order.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    pub(crate) fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, prefix: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|line| line.starts_with(prefix))
            .count()
    }

    pub(crate) fn find(&self, words: &[&str]) -> Option<String> {
        let lines = self.0.lock().unwrap();
        lines
            .iter()
            .find(|line| words.iter().all(|word| line.contains(word)))
            .cloned()
    }
}

/// How a child is to be started.
#[derive(Clone)]
pub(crate) struct Setup {
    variables: BTreeMap<&'static str, String>,
    /// What runs it, with its arguments; nothing for the shell of none.
    before: Vec<String>,
}

impl Setup {
    /// On any port of this machine.
    pub(crate) fn of(home: &Home) -> Self {
        let setup = Setup {
            variables: BTreeMap::new(),
            before: Vec::new(),
        };
        setup.with("AT", "127.0.0.1:0").with("TO", home.remote.node())
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.variables.insert(name, value.to_string());
        self
    }

    /// Started by another program.
    pub(crate) fn run_by(mut self, program: &[&str]) -> Self {
        self.before = program.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    pub(crate) async fn start(&self) -> Child {
        let program = std::env::current_exe().unwrap();
        let words = self
            .before
            .iter()
            .cloned()
            .chain([program.to_string_lossy().into_owned()]);
        let words: Vec<String> = words.collect();
        let mut process = Command::new(&words[0])
            .args(&words[1..])
            .args(["--exact", "child::the_program", "--nocapture"])
            .envs(
                self.variables
                    .iter()
                    .map(|(name, value)| (format!("{PREFIX}{name}"), value)),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Lines::default();
        let written = lines.clone();
        let stdout = process.stdout.take().unwrap();
        // A pipe that nobody reads would hold the child up. Ends with the child.
        let reader = std::thread::spawn(move || {
            BufReader::new(stdout)
                .lines()
                .map_while(Result::ok)
                .for_each(|line| written.push(line));
        });
        let mut child = Child {
            process,
            lines,
            reader: Some(reader),
            node: String::new(),
            memory_at_first: 0,
        };
        until("the child is ready", || child.lines.count("ready") == 1).await;
        let ready = child.lines.find(&["ready "]).unwrap();
        child.node = ready.split(' ').nth(1).unwrap().to_owned();
        child.memory_at_first = child.memory();
        child
    }
}

/// A process with a node in it. Killed when it is dropped.
pub(crate) struct Child {
    process: Process,
    pub(crate) lines: Lines,
    reader: Option<std::thread::JoinHandle<()>>,
    /// `host:port`.
    pub(crate) node: String,
    /// Resident, in KiB, when it was ready.
    memory_at_first: u64,
}

/// Figures of a child, by name.
#[derive(Debug)]
pub(crate) struct Report(BTreeMap<String, u64>);

impl Report {
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.0[name]
    }
}

impl Child {
    pub(crate) fn command(&mut self, command: &str) {
        let stdin = self.process.stdin.as_mut().unwrap();
        stdin.write_all(format!("{command}\n").as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.process.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// `kill -9`; everything that it wrote is there then.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }

    pub(crate) async fn report(&mut self) -> Report {
        let before = self.lines.count("report ");
        self.command("report");
        until("a report", || self.lines.count("report ") > before).await;
        let lines = self.lines.all();
        let line = lines.iter().rfind(|line| line.starts_with("report ")).unwrap();
        let figures = line.split(' ').skip(1).filter_map(|word| word.split_once('='));
        Report(
            figures
                .map(|(name, figure)| (name.to_owned(), figure.parse().unwrap()))
                .collect(),
        )
    }

    /// How its words call the speaker of this life.
    pub(crate) fn speaker(&self) -> String {
        format!("speaker-{}", self.process.id())
    }

    /// How many messages it has handled.
    pub(crate) fn handled(&self) -> usize {
        self.lines.count("h ")
    }

    /// Resident memory, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// How much more that is than when it was ready.
    pub(crate) fn memory_more(&self) -> u64 {
        self.memory().saturating_sub(self.memory_at_first)
    }

    /// How many sockets it has open.
    pub(crate) fn open_sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap();
        // One may be closed while it is looked at.
        let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        targets
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    }

    /// How many files and sockets it has open.
    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id()))
            .unwrap()
            .count()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
