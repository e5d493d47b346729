//! `fuzz`: the fuzz targets of `fuzz/`, one after the other, from the seeds that are committed there.
//!
//! What a run learns goes into the target directory, so that it leaves the sources as they were. A crash leaves its
//! input in `fuzz/artifacts/`. An allocation of more than [`MALLOC_MIB`] at once counts as a crash: no target is given
//! input that is worth it.
//!
//! What a target does with an input is in the library of `fuzz/`, apart from the engine: `seeds.rs` of the tests of
//! `volary-remote` replays all seeds with each run of the tests.

use std::fs;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;
use crate::nearest::nearest;
use crate::workspace;

const DEFAULT_SECONDS: u64 = 60;
const MALLOC_MIB: u32 = 64;

pub(crate) fn run(mut args: Args) -> Outcome {
    let seconds = args.number("--seconds")?.unwrap_or(DEFAULT_SECONDS);
    let chosen = args.at_most_one()?;
    let all = targets()?;
    let targets = match chosen {
        None => all,
        Some(target) if all.contains(&target) => vec![target],
        Some(target) => return Err(unknown(&target, &all)),
    };
    ensure_installed()?;
    for target in targets {
        fuzz(&target, seconds)?;
    }
    Ok(())
}

fn fuzz(target: &str, seconds: u64) -> Outcome {
    let build = workspace::target_dir().join("fuzz");
    let learned = build.join("corpus").join(target);
    let seeds = workspace::root().join("fuzz").join("seeds").join(target);
    let unwritable = |error| Failure::Failed(format!("cannot make {}: {error}", learned.display()));
    fs::create_dir_all(&learned).map_err(unwritable)?;
    nightly(["fuzz", "run", "--fuzz-dir", "fuzz", "--target-dir"])
        .arg(&build)
        .arg(target)
        .args([&learned, &seeds])
        .args([
            "--",
            "-max_len=4096",
            "-timeout=10",
            "-verbosity=0",
            "-print_final_stats=1",
        ])
        .arg(format!("-malloc_limit_mb={MALLOC_MIB}"))
        .arg(format!("-max_total_time={seconds}"))
        .run(&format!("fuzz {target}"))
}

/// The targets, by the names of their files.
fn targets() -> Result<Vec<String>, Failure> {
    let folder = workspace::root().join("fuzz").join("fuzz_targets");
    let unreadable = |error| Failure::Failed(format!("cannot read {}: {error}", folder.display()));
    let mut names: Vec<String> = fs::read_dir(&folder)
        .map_err(unreadable)?
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

fn unknown(target: &str, all: &[String]) -> Failure {
    let hint = nearest(target, all.iter().map(String::as_str)).map(|close| format!("; did you mean {close}?"));
    let known = all.join(", ");
    Failure::Usage(format!(
        "no fuzz target `{target}`{}\nthere are {known}",
        hint.unwrap_or_default()
    ))
}

fn nightly<const N: usize>(args: [&str; N]) -> Invocation {
    Invocation::new("rustup")
        .args(["run", "nightly", "cargo"])
        .args(args)
        .env_remove("CARGO")
}

fn ensure_installed() -> Outcome {
    if nightly(["fuzz", "--version"]).succeeds() {
        return Ok(());
    }
    Err(Failure::Missing(
        "cargo-fuzz or the nightly toolchain it needs is not installed; install them with\n  \
         rustup toolchain install nightly && cargo install cargo-fuzz"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target that starts from less than this starts from nothing.
    const SEEDS: usize = 5;

    #[test]
    fn every_target_is_built_and_has_seeds() {
        let root = workspace::root().join("fuzz");
        let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("it is committed");
        let targets = targets().expect("they are committed");
        assert!(!targets.is_empty());
        for target in targets {
            let built = format!("path = \"fuzz_targets/{target}.rs\"");
            assert!(manifest.contains(&built), "{target} is not in the manifest");
            let seeds = fs::read_dir(root.join("seeds").join(&target)).into_iter().flatten();
            let filled = seeds
                .flatten()
                .filter(|seed| seed.metadata().is_ok_and(|about| about.len() > 0))
                .count();
            assert!(filled >= SEEDS, "{target} has {filled} seeds that say something");
        }
    }
}
