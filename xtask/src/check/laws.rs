//! Two laws of the design that a reader of the sources relies on: `unsafe` lives in a few known places and says why it
//! is sound, and the environment (time, threads, randomness) is reached through `env` alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::below;
use super::none_of;
use super::rust_text::{code_of, line_number, words};
use super::test_code::{test_modules, without_tests};
use crate::failure::Outcome;
use crate::workspace;

/// The crates that may contain `unsafe`, and the modules in which they may. All others forbid it in `lib.rs`.
const UNSAFE_HOMES: &[(&str, &[&str])] = &[
    ("volary-core", &["cell", "mailbox", "dispatch", "reference"]),
    ("volary-testkit", &["interposed"]),
];
/// How far above its block a `SAFETY:` comment may stand, not counting lines of comment.
const SAFETY_REACH: usize = 6;

/// The module that may touch the environment.
const ENVIRONMENT_HOME: &str = "env";
const ENVIRONMENT: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    "tokio::spawn",
    "tokio::select",
    "thread::spawn",
    "thread_rng",
    "rand::rng",
];

/// File, line and what is wrong there.
type Finding = (String, usize, String);

pub(super) fn check() -> Outcome {
    let mut findings = Vec::new();
    for directory in fs::read_dir(workspace::root().join("crates"))
        .into_iter()
        .flatten()
        .flatten()
    {
        if let Ok(name) = directory.file_name().into_string() {
            findings.extend(check_crate(&name, &directory.path().join("src")));
        }
    }
    findings.sort();
    let findings = findings
        .into_iter()
        .map(|(file, line, what)| format!("{file}:{line}: {what}"))
        .collect();
    none_of(findings, "sources that break a law")
}

fn check_crate(name: &str, directory: &Path) -> Vec<Finding> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let sources: Vec<Source> = below(directory, &[])
        .into_iter()
        .filter(is_rust)
        .filter_map(Source::read)
        .collect();
    let test_only: BTreeSet<PathBuf> = sources.iter().flat_map(Source::test_files).collect();
    let homes = UNSAFE_HOMES
        .iter()
        .find(|(home, _)| *home == name)
        .map_or(&[][..], |(_, modules)| modules);
    let mut findings = Vec::new();
    for source in &sources {
        let module = source.path.strip_prefix(directory).unwrap_or(&source.path);
        let place = workspace::relative(&source.path);
        let mut found = |line: usize, what: &str| findings.push((place.clone(), line, what.to_owned()));
        if !homes.iter().any(|home| is_within(module, home)) {
            source
                .unsafe_words()
                .for_each(|line| found(line, "`unsafe` outside the modules that may have it"));
        }
        source
            .unexplained()
            .for_each(|line| found(line, "`unsafe` without a `SAFETY:` comment above it"));
        let tests = test_only.iter().any(|file| source.path.starts_with(file));
        if !tests && !is_within(module, ENVIRONMENT_HOME) {
            source
                .environment()
                .for_each(|(line, call)| found(line, &format!("`{call}` outside `env`")));
        }
        if homes.is_empty() && module == Path::new("lib.rs") && !source.code.contains("#![forbid(unsafe_code)]") {
            found(1, "`#![forbid(unsafe_code)]` is missing");
        }
    }
    findings
}

/// Whether a file of a crate belongs to the module `name`: `name.rs`, or anything in a directory `name`.
fn is_within(file: &Path, name: &str) -> bool {
    file.with_extension("")
        .components()
        .any(|component| component.as_os_str() == name)
}

struct Source {
    path: PathBuf,
    text: String,
    code: String,
}

impl Source {
    fn read(path: PathBuf) -> Option<Self> {
        let text = fs::read_to_string(&path).ok()?;
        Some(Self::new(path, text))
    }

    fn new(path: PathBuf, text: String) -> Self {
        let code = code_of(&text);
        Self { path, text, code }
    }

    /// The files and directories of the modules this one declares for tests.
    fn test_files(&self) -> Vec<PathBuf> {
        let stem = self.path.with_extension("");
        let is_directory_root = ["lib", "main", "mod"].iter().any(|name| stem.ends_with(name));
        let directory = if is_directory_root {
            stem.parent().unwrap_or(&stem)
        } else {
            &stem
        };
        let modules = test_modules(&self.code).into_iter();
        modules
            .flat_map(|name| [directory.join(format!("{name}.rs")), directory.join(name)])
            .collect()
    }

    /// The lines with the word `unsafe`.
    fn unsafe_words(&self) -> impl Iterator<Item = usize> {
        words(&self.code, "unsafe").map(|at| line_number(&self.code, at))
    }

    /// The lines with an `unsafe` block or implementation that no comment explains.
    fn unexplained(&self) -> impl Iterator<Item = usize> {
        let claims = words(&self.code, "unsafe").filter(|at| {
            let what = self.code[at + "unsafe".len()..].trim_start();
            what.starts_with('{') || what.starts_with("impl")
        });
        claims
            .map(|at| line_number(&self.code, at))
            .filter(|line| !self.is_explained(*line))
    }

    fn is_explained(&self, line: usize) -> bool {
        let lines: Vec<&str> = self.text.lines().take(line).collect();
        let mut reach = SAFETY_REACH;
        for (distance, text) in lines.iter().rev().enumerate() {
            if text
                .split_once("//")
                .is_some_and(|(_, comment)| comment.contains("SAFETY:"))
            {
                return true;
            }
            if distance > 0 && !text.trim_start().starts_with("//") {
                reach -= 1;
                if reach == 0 {
                    return false;
                }
            }
        }
        false
    }

    /// The lines outside tests that reach for the environment, and for what.
    fn environment(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let code = without_tests(&self.code);
        let mut lines: Vec<(usize, &str)> = Vec::new();
        for call in ENVIRONMENT {
            lines.extend(words(&code, call).map(|at| (line_number(&code, at), *call)));
        }
        lines.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::new(PathBuf::from(path), text.to_owned())
    }

    fn unexplained(text: &str) -> Vec<usize> {
        source("a.rs", text).unexplained().collect()
    }

    #[test]
    fn unsafe_needs_a_reason_nearby() {
        assert_eq!(unexplained("fn f() {\n    unsafe { g() }\n}"), [2]);
        assert_eq!(unexplained("unsafe impl Send for A {}"), [1]);
        assert!(unexplained("// SAFETY: g has no demands.\nunsafe { g() }").is_empty());
        assert!(unexplained("// SAFETY: first\n// and more\n// and more\n//\n//\n//\n//\nunsafe { g() }").is_empty());
        assert!(unexplained("unsafe { g() } // SAFETY: none").is_empty());
        assert_eq!(
            unexplained("// SAFETY: far\na;\nb;\nc;\nd;\ne;\nf;\nunsafe { g() }"),
            [8]
        );
        assert_eq!(unexplained("let a = \"SAFETY:\";\nunsafe\n{ g() }"), [2]);
    }

    #[test]
    fn a_signature_is_not_a_claim() {
        assert!(unexplained("unsafe fn f() {}\ntype F = unsafe fn();\n#![forbid(unsafe_code)]").is_empty());
    }

    #[test]
    fn the_environment_is_found_outside_tests_and_comments() {
        let text = "//! Not Instant::now.\nlet a = std::time::Instant::now();\nstd::thread::spawn(f);\n\
                    #[cfg(test)]\nmod tests { fn f() { Instant::now(); } }\nMyInstant::nowhere();";
        let found: Vec<(usize, &str)> = source("a.rs", text).environment().collect();
        assert_eq!(found, [(2, "Instant::now"), (3, "thread::spawn")]);
    }

    #[test]
    fn modules_are_files_or_directories() {
        assert!(is_within(Path::new("env.rs"), "env"));
        assert!(is_within(Path::new("env/tokio.rs"), "env"));
        assert!(is_within(Path::new("a/env/mod.rs"), "env"));
        assert!(!is_within(Path::new("environment.rs"), "env"));
    }

    #[test]
    fn test_modules_lead_to_their_files() {
        let declares = "#[cfg(test)]\nmod tests;";
        let expected =
            |directory: &str| [format!("{directory}tests.rs"), format!("{directory}tests")].map(PathBuf::from);
        assert_eq!(source("src/lib.rs", declares).test_files(), expected("src/"));
        assert_eq!(source("src/cell/mod.rs", declares).test_files(), expected("src/cell/"));
        assert_eq!(source("src/cell.rs", declares).test_files(), expected("src/cell/"));
    }
}
