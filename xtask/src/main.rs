//! The commands of the project: `cargo xtask COMMAND`.
//!
//! One file per command, each a thin and readable wrapper around the cargo calls it stands for. What a command says
//! about itself goes to stderr; stdout belongs to the program it runs (and to the summary of `test`), so that
//! `cargo xtask sim --seed 7 > trace` holds the trace alone. There is one small dependency, because every command of
//! the README waits for this program to be built.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod check;
mod demo;
mod failure;
mod fuzz;
mod instructions;
mod invocation;
mod libtest;
mod loom;
mod miri;
mod nearest;
mod proto;
mod shuttle;
mod sim;
mod soak;
mod stamp;
mod test;
mod workspace;

use std::process::ExitCode;

use args::Args;
use failure::{Failure, Outcome};

struct Subcommand {
    name: &'static str,
    options: &'static str,
    about: &'static str,
    run: fn(Args) -> Outcome,
}

const COMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "demo",
        options: "[ARGS]",
        about: "run the bank: accounts as actors, faults injected, money conserved",
        run: demo::run,
    },
    Subcommand {
        name: "test",
        options: "[CARGO TEST ARGS] | --axum [CARGO TEST ARGS]",
        about: "build and run all tests, doc tests included; or those of the HTTP service",
        run: test::run,
    },
    Subcommand {
        name: "check",
        options: "[--bench] [STEP…]",
        about: "format, sources, licences, clippy, docs, features alone and in pairs",
        run: check::run,
    },
    Subcommand {
        name: "bench",
        options: "[--quick] [--rounds N] [--peers A,B] [--no-foreign] [--json FILE] [WORKLOAD…]",
        about: "measure Volary and its peers side by side",
        run: bench::run,
    },
    Subcommand {
        name: "sim",
        options: "[--seeds N] [--seed S] [SCENARIO] | --raft",
        about: "run the scenarios in the simulator, or openraft; a seed replays one to the letter",
        run: sim::run,
    },
    Subcommand {
        name: "loom",
        options: "[FILTER]",
        about: "every interleaving of the small concurrent parts",
        run: loom::run,
    },
    Subcommand {
        name: "shuttle",
        options: "[--iterations N] [FILTER]",
        about: "random interleavings of the whole dispatcher",
        run: shuttle::run,
    },
    Subcommand {
        name: "miri",
        options: "[FILTER]",
        about: "undefined behaviour in the unsafe modules (needs nightly with miri)",
        run: miri::run,
    },
    Subcommand {
        name: "fuzz",
        options: "[--seconds N] [TARGET]",
        about: "random bytes for everything that reads the network's (needs nightly and cargo-fuzz)",
        run: fuzz::run,
    },
    Subcommand {
        name: "soak",
        options: "[--seconds N | --reconnects]",
        about: "random load that accounts for every message",
        run: soak::run,
    },
    Subcommand {
        name: "instructions",
        options: "[--write] [CASE…]",
        about: "instructions per operation against the recorded baseline (needs valgrind)",
        run: instructions::run,
    },
    Subcommand {
        name: "proto",
        options: "[--check]",
        about: "write the Rust code of the protobuf schemas, or fail if it is not what is committed",
        run: proto::run,
    },
];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let name = words.remove(0);
    match dispatch(&name, words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nxtask {name}: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn dispatch(name: &str, mut words: Vec<String>) -> Outcome {
    if matches!(name, "help" | "--help" | "-h") {
        match words.first() {
            Some(topic) => println!("{}", usage(find(topic)?)),
            None => print!("{}", help()),
        }
        return Ok(());
    }
    let command = find(name)?;
    match words.first().map(String::as_str) {
        Some("--help" | "-h") => {
            println!("{}", usage(command));
            return Ok(());
        }
        Some("--") => drop(words.remove(0)),
        _ => {}
    }
    (command.run)(Args::new(words))
}

fn find(name: &str) -> Result<&'static Subcommand, Failure> {
    COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| {
        let names = COMMANDS.iter().map(|command| command.name);
        Failure::Usage(match nearest::nearest(name, names) {
            Some(close) => format!("no such command; did you mean `cargo xtask {close}`?"),
            None => "no such command; `cargo xtask help` lists them".to_owned(),
        })
    })
}

fn help() -> String {
    let mut text = String::from("The commands of the project. Usage: cargo xtask COMMAND [OPTIONS]\n\n");
    for command in COMMANDS {
        text += &format!("  {:<13} {}\n", command.name, command.about);
    }
    text + "\n`cargo xtask help COMMAND` shows its options.\n"
}

fn usage(command: &Subcommand) -> String {
    format!("cargo xtask {} {}\n  {}", command.name, command.options, command.about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_has_one_line_for_each_command() {
        let help = help();
        for command in COMMANDS {
            let start = format!("  {} ", command.name);
            let lines = help.lines().filter(|line| line.starts_with(&start));
            assert_eq!(lines.count(), 1, "{}", command.name);
        }
    }

    #[test]
    fn unknown_command_suggests_the_nearest() {
        let failure = dispatch("benhc", Vec::new()).expect_err("`benhc` is not a command");
        assert!(failure.to_string().contains("`cargo xtask bench`"), "{failure}");
        assert_eq!(failure.exit_code(), 2);
    }
}
