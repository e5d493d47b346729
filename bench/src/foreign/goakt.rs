//! GoAkt: one binary of `go build`, with the versions of `go.mod` and `go.sum`.

use std::process::Command;

use super::{Harness, Place, Scope, Share};
use crate::contender::Role;

/// How it is built and started.
pub const HARNESS: Harness = Harness {
    name: "goakt",
    role: Role::ForeignPeer,
    folder: "goakt",
    scope: Scope::BeyondRust,
    share: Share::Full,
    tools: &["go"],
    build,
    launch,
};

fn build(place: &Place) -> Command {
    let mut command = Command::new("go");
    command
        .args(["build", "-mod=readonly", "-o"])
        .arg(place.output.join("goakt"))
        .arg(".");
    command
}

fn launch(place: &Place) -> Command {
    Command::new(place.output.join("goakt"))
}
