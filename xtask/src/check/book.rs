//! The chapters of the book: each is a file, is in the summary, and has its programs run as doc tests. All three are lists
//! kept by hand, so that a chapter could be missing from one of them without anybody noticing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::none_of;
use crate::failure::Outcome;
use crate::workspace;

const CHAPTERS: &str = "docs/book/src";
const SUMMARY: &str = "SUMMARY.md";
/// Where chapters are included for the sake of their programs.
const RUN: [&str; 2] = ["crates/volary-testkit/src/book.rs", "crates/volary/src/lib.rs"];

pub(super) fn check() -> Outcome {
    none_of(
        findings(&workspace::root()),
        "chapters of the book that are not where they belong",
    )
}

fn findings(root: &Path) -> Vec<String> {
    let chapters = root.join(CHAPTERS);
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let written: BTreeSet<String> = fs::read_dir(&chapters)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && name != SUMMARY)
        .collect();
    let listed = listed(&text(&chapters.join(SUMMARY)));
    let run: Vec<String> = RUN.iter().flat_map(|place| run(&text(&root.join(place)))).collect();
    compare(&written, &listed, &run)
}

fn compare(written: &BTreeSet<String>, listed: &[String], run: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    let lists = [(listed, format!("{CHAPTERS}/{SUMMARY}")), (run, RUN.join(" and "))];
    for (list, place) in lists {
        let mut seen = BTreeSet::new();
        for name in list {
            if !written.contains(name) {
                findings.push(format!("{place}: there is no {name}"));
            } else if !seen.insert(name) {
                findings.push(format!("{place}: {name} is there twice"));
            }
        }
        let missing = written.iter().filter(|name| !seen.contains(name));
        findings.extend(missing.map(|name| format!("{place}: {name} is missing")));
    }
    findings
}

/// What the links of a summary lead to.
fn listed(summary: &str) -> Vec<String> {
    let targets = summary.split("](").skip(1);
    targets
        .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
        .collect()
}

/// The chapters that a source includes: those of a `chapters!` list, and those included by their path.
fn run(source: &str) -> Vec<String> {
    let prefix = format!("../../../{CHAPTERS}/");
    let chapter = |line: &str| {
        let literal = line.split_once(".md\"")?.0.rsplit_once('"')?.1;
        let name = literal.strip_prefix(&prefix).unwrap_or(literal);
        (!name.contains('/')).then(|| format!("{name}.md"))
    };
    source.lines().filter_map(chapter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_lists_are_read() {
        let summary = "# Summary\n\n- [First hour](first-hour.md)\n  - [Time](time.md)\n";
        assert_eq!(listed(summary), ["first-hour.md", "time.md"]);
        let source = "#[doc = include_str!(\"../../../docs/book/src/wire.md\")] struct A;\n\
                      chapters! {\n    Time: \"time.md\",\n}\n#[doc = include_str!(\"../../../README.md\")] struct B;";
        assert_eq!(run(source), ["wire.md", "time.md"]);
    }

    #[test]
    fn a_chapter_that_is_missing_somewhere_is_found() {
        let written = BTreeSet::from_iter(names(&["a.md", "b.md"]));
        let all = names(&["a.md", "b.md"]);
        assert_eq!(compare(&written, &all, &all), [""; 0]);
        let found = compare(&written, &names(&["a.md", "c.md"]), &names(&["a.md", "a.md", "b.md"]));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].ends_with("there is no c.md") && found[1].ends_with("b.md is missing"));
        assert!(found[2].ends_with("a.md is there twice"));
    }

    #[test]
    fn the_book_of_this_project_is_whole() {
        let root = workspace::root();
        assert!(!listed(&fs::read_to_string(root.join(CHAPTERS).join(SUMMARY)).unwrap_or_default()).is_empty());
        assert_eq!(findings(&root), [""; 0]);
    }
}
