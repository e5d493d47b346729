//! Files as such: no path of somebody's machine in any of them, and sources that are still one idea.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::none_of;
use crate::failure::Outcome;
use crate::workspace;

/// Top-level directories in which people keep their checkouts.
const LOCAL: &[&str] = &["home", "root", "work"];
const GIANT_LINES: usize = 600;

pub(super) fn check() -> Outcome {
    let root = workspace::root();
    let mut findings = Vec::new();
    for file in project_files(&root) {
        // What is not text cannot be looked into.
        let Ok(text) = fs::read_to_string(root.join(&file)) else {
            continue;
        };
        let name = file.display();
        for (number, line) in text.lines().enumerate() {
            if has_local_path(line) {
                findings.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
        let lines = text.lines().count();
        if lines > GIANT_LINES && file.extension().is_some_and(|extension| extension == "rs") {
            eprintln!("    warning: {name} has {lines} lines; is it still one idea?");
        }
    }
    none_of(findings, "absolute paths of a local machine")
}

/// The files git knows, or all but build output where git cannot be asked.
fn project_files(root: &Path) -> BTreeSet<PathBuf> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let names = String::from_utf8_lossy(&output.stdout);
            names
                .split('\0')
                .filter(|name| !name.is_empty())
                .map(PathBuf::from)
                .collect()
        }
        _ => below(root, &["target", ".git"])
            .into_iter()
            .filter_map(|path| path.strip_prefix(root).map(Path::to_path_buf).ok())
            .collect(),
    }
}

/// All files below `directory`, except in directories named in `skipped`.
pub(super) fn below(directory: &Path, skipped: &[&str]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_file() {
            found.insert(path);
        } else if kind.is_dir() && !skipped.iter().any(|name| entry.file_name() == *name) {
            found.append(&mut below(&path, skipped));
        }
    }
    found
}

fn has_local_path(line: &str) -> bool {
    LOCAL.iter().any(|directory| {
        line.match_indices(&format!("/{directory}/")).any(|(at, _)| {
            let before = &line[..at];
            before.ends_with("file://") || !before.ends_with(continues_a_path)
        })
    })
}

/// Whether a slash after this character is in the middle of a path or an address, not at its start.
fn continues_a_path(c: char) -> bool {
    c.is_alphanumeric() || "_-./~*}>)]".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_machine_is_found() {
        for directory in LOCAL {
            assert!(has_local_path(&format!("/{directory}/me/volary")));
            assert!(has_local_path(&format!("let path = \"/{directory}/me\";")));
            assert!(has_local_path(&format!("see file:///{directory}/me")));
        }
    }

    #[test]
    fn other_paths_are_left_alone() {
        let near = LOCAL.iter().flat_map(|directory| {
            [
                format!("crates/{directory}/src"),
                format!("~/{directory}/volary"),
                format!("https://volary.dev/{directory}/"),
                format!("$X{{}}/{directory}/a"),
            ]
        });
        for line in near.chain(["/tmp/volary", "/workers/1"].map(str::to_owned)) {
            assert!(!has_local_path(&line), "{line}");
        }
    }
}
