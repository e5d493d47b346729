//! Erlang/OTP: modules compiled by `erlc`, run by `erl` with room for a million processes and more.

use std::process::Command;

use super::{Harness, Place, Scope, Share};
use crate::contender::Role;

/// How it is built and started.
pub const HARNESS: Harness = Harness {
    name: "erlang",
    role: Role::ForeignPeer,
    folder: "erlang",
    scope: Scope::BeyondRust,
    share: Share::Full,
    tools: &["erl", "erlc"],
    build,
    launch,
};

/// More than the million and a bit that are alive at once in `skynet`.
const PROCESSES: &str = "4000000";

fn build(place: &Place) -> Command {
    let mut command = Command::new("erlc");
    command.arg("-o").arg(&place.output);
    let files = std::fs::read_dir(&place.source).into_iter().flatten().flatten();
    let sources = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "erl"));
    command.args(sources);
    command
}

fn launch(place: &Place) -> Command {
    let mut command = Command::new("erl");
    command.args(["+P", PROCESSES, "-noshell", "-pa"]).arg(&place.output);
    command.args(["-s", "bench", "main", "-extra"]);
    command
}
