//! tonic, kameo and ractor between two processes: one program for all three, in a workspace of its own, so that their
//! features for it do not reach the rows within one process.

use std::env;
use std::path::{PathBuf, absolute};
use std::process::Command;

use super::{Harness, Place, Scope, Share};
use crate::contender::Role;

const fn harness(name: &'static str, role: Role, share: Share, launch: fn(&Place) -> Command) -> Harness {
    Harness {
        name,
        role,
        folder: "rust",
        scope: Scope::BetweenProcesses,
        share,
        tools: &["cargo"],
        build,
        launch,
    }
}

/// gRPC streams, which is what one would write by hand.
pub const TONIC: Harness = harness("tonic", Role::Reference, Share::Full, |place| program(place, "tonic"));
/// kameo with its feature `remote`.
pub const KAMEO: Harness = harness("kameo", Role::ActorPeer, Share::Quick, |place| program(place, "kameo"));
/// ractor with ractor_cluster.
pub const RACTOR: Harness = harness("ractor", Role::ActorPeer, Share::Full, |place| program(place, "ractor"));

/// Where cargo is told to build: with everything else, if that was chosen.
fn target(place: &Place) -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").and_then(|directory| absolute(directory).ok());
    chosen.unwrap_or_else(|| place.output.clone())
}

fn build(place: &Place) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--locked", "--target-dir"])
        .arg(target(place));
    command
}

fn program(place: &Place, peer: &str) -> Command {
    let mut command = Command::new(target(place).join("release/volary-bench-peers"));
    command.arg(peer);
    command
}
