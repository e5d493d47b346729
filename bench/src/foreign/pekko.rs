//! Apache Pekko: a jar of Maven and its dependencies beside it, on the default virtual machine.

use std::process::Command;

use super::{Harness, Place, Scope, Share};
use crate::contender::Role;

/// How it is built and started.
pub const HARNESS: Harness = Harness {
    name: "pekko",
    role: Role::ForeignPeer,
    folder: "pekko",
    scope: Scope::BeyondRust,
    share: Share::Full,
    tools: &["java", "mvn"],
    build,
    launch,
};

fn build(_: &Place) -> Command {
    let mut command = Command::new("mvn");
    command.args(["-q", "-B", "package"]);
    command
}

/// `ActorContext.ask` continues on the common pool. On two cores that would have one thread, in which case the
/// class library starts a new thread for each continuation instead, and nothing else would be measured.
fn launch(place: &Place) -> Command {
    let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let output = place.output.display();
    let mut command = Command::new("java");
    command.arg(format!(
        "-Djava.util.concurrent.ForkJoinPool.common.parallelism={cores}"
    ));
    command.args(["-cp", &format!("{output}/pekko.jar:{output}/lib/*"), "bench.Main"]);
    command
}
