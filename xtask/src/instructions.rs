//! `instructions`: what one operation costs in instructions, which unlike time is the same on a busy machine.
//!
//! Each case of the example `instructions` runs twice under callgrind, with a different number of operations. Only
//! the function `volary_measured` is counted, and the difference of the two runs cancels what happens once. A case
//! that costs noticeably more than its baseline in `bench/instructions.json` fails the command. It is counted again first:
//! two runs differ by where things lie in memory and who comes first, a few percent at most, and that only adds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::{Invocation, Step};
use crate::workspace;

const BASELINE: &str = "bench/instructions.json";
const FEW: u64 = 1_000;
const MANY: u64 = 11_000;
const TOLERANCE_PERCENT: f64 = 5.0;
/// How often a case that seems to cost too much is counted.
const ATTEMPTS: usize = 3;
/// The compiler that the baseline was counted with. Another one makes other instructions of the same source.
const COUNTED_WITH: &str = env!("CARGO_PKG_RUST_VERSION");

/// Instructions per operation, by case.
type Costs = BTreeMap<String, f64>;

pub(crate) fn run(mut args: Args) -> Outcome {
    let write = args.flag("--write");
    let wanted = args.positional()?;
    if !Invocation::new("valgrind").arg("--version").succeeds() {
        eprintln!("skipped: instructions: valgrind is not installed");
        return Ok(());
    }
    let compiler = Invocation::new("rustc").arg("--version").output()?;
    if !write && !is_of(&compiler, COUNTED_WITH) {
        eprintln!("skipped: instructions: the baseline was counted with Rust {COUNTED_WITH}, and this is {compiler}");
        return Ok(());
    }
    Invocation::cargo(["build", "--release", "-p", "volary", "--example", "instructions"]).run("build")?;
    let binary = workspace::target_dir().join("release/examples/instructions");
    let listed = Invocation::new(&binary).arg("--list").output()?;
    let cases = selected(&listed, &wanted)?;
    let path = workspace::root().join(BASELINE);
    let mut baseline = read_baseline(&path)?;
    let mut costs = Costs::new();
    for case in cases {
        let step = Step::begin(&case, "counting under callgrind");
        let cost = least(baseline.get(&case).copied(), || cost(&binary, &case));
        step.end(&cost);
        costs.insert(case, cost?);
    }
    if write {
        if wanted.is_empty() {
            baseline.clear();
        }
        baseline.extend(costs);
        return write_baseline(&path, &baseline);
    }
    report(&costs, &baseline)
}

/// Whether this is what a compiler of that version says of itself.
fn is_of(compiler: &str, version: &str) -> bool {
    compiler
        .split_whitespace()
        .nth(1)
        .and_then(|it| it.strip_prefix(version))
        .is_some_and(|rest| rest.starts_with('.'))
}

fn selected(listed: &str, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = listed.split_whitespace().map(str::to_owned).collect();
    match wanted.iter().find(|case| !all.contains(case)) {
        Some(unknown) => Err(Failure::Usage(format!(
            "no case `{unknown}`; there are: {}",
            all.join(", ")
        ))),
        None if wanted.is_empty() => Ok(all),
        None => Ok(wanted.to_vec()),
    }
}

/// What `count` says, or the least that it says in some attempts, if the first ones are too much.
fn least(before: Option<f64>, mut count: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut least = count()?;
    for _ in 1..ATTEMPTS {
        if before.is_none_or(|before| !is_worse(least, before)) {
            break;
        }
        least = least.min(count()?);
    }
    Ok(least)
}

fn is_worse(now: f64, before: f64) -> bool {
    change_percent(now, before) > TOLERANCE_PERCENT
}

fn change_percent(now: f64, before: f64) -> f64 {
    (now / before - 1.0) * 100.0
}

fn cost(binary: &Path, case: &str) -> Result<f64, Failure> {
    let few = count(binary, case, FEW)?;
    let many = count(binary, case, MANY)?;
    let cost = (many as f64 - few as f64) / (MANY - FEW) as f64;
    if cost > 0.0 {
        Ok((cost * 10.0).round() / 10.0)
    } else {
        Err(Failure::Failed(format!(
            "{case}: {few} instructions for {FEW} operations and {many} for {MANY}; is `volary_measured` called?"
        )))
    }
}

fn count(binary: &Path, case: &str, operations: u64) -> Result<u64, Failure> {
    let file = out_file(case, operations);
    let call = Invocation::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--toggle-collect=volary_measured"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(binary)
        .args([case, &operations.to_string()]);
    let shown = call.shown();
    call.output()?;
    let unreadable = |why: String| Failure::Failed(format!("{}: {why}\n  {shown}", file.display()));
    let text = fs::read_to_string(&file).map_err(|error| unreadable(error.to_string()))?;
    total(&text).ok_or_else(|| unreadable("no total in the callgrind output".to_owned()))
}

fn out_file(case: &str, operations: u64) -> PathBuf {
    let name: String = case
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    workspace::target_dir().join(format!("callgrind-{name}-{operations}.out"))
}

/// The instruction count of a callgrind output: the first figure of its `totals:` line, or of `summary:`.
fn total(text: &str) -> Option<u64> {
    let figure = |key: &str| {
        text.lines()
            .filter_map(|line| line.strip_prefix(key))
            .filter_map(|figures| figures.split_whitespace().next()?.parse().ok())
            .next_back()
    };
    figure("totals:").or_else(|| figure("summary:"))
}

fn report(costs: &Costs, baseline: &Costs) -> Outcome {
    eprintln!(
        "\n{:<24} {:>12} {:>12} {:>9}",
        "instructions/op", "now", "baseline", "change"
    );
    let mut worse = Vec::new();
    for (case, now) in costs {
        let Some(before) = baseline.get(case) else {
            eprintln!("{case:<24} {now:>12.1} {:>12} {:>9}", "none", "");
            worse.push(format!("{case} has no baseline"));
            continue;
        };
        let change = change_percent(*now, *before);
        eprintln!("{case:<24} {now:>12.1} {before:>12.1} {change:>+8.1}%");
        if is_worse(*now, *before) {
            worse.push(format!("{case} costs {now:.1} instructions instead of {before:.1}"));
        }
    }
    if worse.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{}\nif that is meant, record it: cargo xtask instructions --write",
        worse.join("\n")
    )))
}

fn read_baseline(path: &Path) -> Result<Costs, Failure> {
    if !path.exists() {
        return Ok(Costs::new());
    }
    let unreadable = |why: String| Failure::Failed(format!("{BASELINE}: {why}"));
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    parse_baseline(&text).map_err(unreadable)
}

fn parse_baseline(text: &str) -> Result<Costs, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(cases)) => cases
            .into_iter()
            .map(|(case, cost)| match cost.as_f64() {
                Some(cost) if cost > 0.0 => Ok((case, cost)),
                _ => Err(format!("`{case}` is not a positive number")),
            })
            .collect(),
        Ok(_) => Err("not an object of case and cost".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn write_baseline(path: &Path, baseline: &Costs) -> Outcome {
    let cases = baseline.iter().map(|(case, cost)| (case.clone(), Value::from(*cost)));
    let text = format!("{:#}\n", Value::Object(cases.collect()));
    let written = match path.parent() {
        Some(directory) => fs::create_dir_all(directory).and_then(|()| fs::write(path, text)),
        None => fs::write(path, text),
    };
    written.map_err(|error| Failure::Failed(format!("cannot write {BASELINE}: {error}")))?;
    eprintln!("    baseline: {BASELINE}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_compilers_are_not_held_against_the_baseline() {
        assert!(is_of("rustc 1.95.0 (59807616e 2026-04-14)\n", "1.95"));
        assert!(!is_of("rustc 1.96.1 (59807616e 2026-06-14)", "1.95"));
        assert!(!is_of("rustc 1.950.0", "1.95") && !is_of("", "1.95"));
    }

    fn costs(cases: &[(&str, f64)]) -> Costs {
        cases.iter().map(|(case, cost)| ((*case).to_owned(), *cost)).collect()
    }

    #[test]
    fn the_total_is_found_in_either_line() {
        assert_eq!(total("events: Ir\nsummary: 7\n\ntotals: 42\n"), Some(42));
        assert_eq!(total("events: Ir Dr\nsummary: 7 3\n"), Some(7));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn a_case_may_be_five_percent_worse_but_not_more() {
        let baseline = costs(&[("tell", 100.0), ("ask", 200.0)]);
        assert_eq!(report(&costs(&[("tell", 104.9), ("ask", 120.0)]), &baseline), Ok(()));
        let failure = report(&costs(&[("tell", 105.1)]), &baseline).expect_err("5.1 % is too much");
        assert!(failure.to_string().contains("tell costs 105.1"), "{failure}");
    }

    #[test]
    fn a_case_that_seems_worse_is_counted_again_and_the_least_counts() {
        let counted = |before: Option<f64>, counts: &[f64]| {
            let mut left = counts.iter().copied();
            let least = least(before, || {
                left.next().ok_or_else(|| Failure::Failed("once too often".to_owned()))
            });
            (least, left.count())
        };
        assert_eq!(
            counted(Some(100.0), &[104.0, 90.0]),
            (Ok(104.0), 1),
            "good enough at once"
        );
        assert_eq!(counted(Some(100.0), &[106.0, 101.0, 90.0]), (Ok(101.0), 1), "noise");
        assert_eq!(
            counted(Some(100.0), &[108.0, 106.0, 107.0, 90.0]),
            (Ok(106.0), 1),
            "a regression"
        );
        assert_eq!(
            counted(None, &[106.0, 101.0]),
            (Ok(106.0), 1),
            "nothing to compare with"
        );
    }

    #[test]
    fn a_case_without_a_baseline_is_named() {
        let failure = report(&costs(&[("spawn", 9.0)]), &Costs::new()).expect_err("nothing to compare with");
        assert!(failure.to_string().contains("spawn has no baseline"), "{failure}");
    }

    #[test]
    fn the_baseline_is_an_object_of_positive_numbers() {
        assert_eq!(parse_baseline(r#"{"tell": 123.4}"#), Ok(costs(&[("tell", 123.4)])));
        assert!(parse_baseline("[]").is_err());
        assert!(parse_baseline(r#"{"tell": "fast"}"#).is_err());
        assert!(parse_baseline(r#"{"tell": 0}"#).is_err());
    }

    #[test]
    fn only_listed_cases_can_be_selected() {
        assert_eq!(
            selected("tell\nask\n", &[]),
            Ok(vec!["tell".to_owned(), "ask".to_owned()])
        );
        assert_eq!(selected("tell\nask\n", &["ask".to_owned()]), Ok(vec!["ask".to_owned()]));
        assert!(selected("tell\nask\n", &["spawn".to_owned()]).is_err());
    }
}
