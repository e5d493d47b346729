//! Apache Pekko: a jar of Maven and its dependencies beside it, on the default virtual machine.

use std::process::Command;

use super::{Harness, Place};

/// How it is built and started.
pub const HARNESS: Harness = Harness {
    name: "pekko",
    tools: &["java", "mvn"],
    build,
    launch,
};

fn build(_: &Place) -> Command {
    let mut command = Command::new("mvn");
    command.args(["-q", "-B", "package"]);
    command
}

fn launch(place: &Place) -> Command {
    let output = place.output.display();
    let mut command = Command::new("java");
    command.args(["-cp", &format!("{output}/pekko.jar:{output}/lib/*"), "bench.Main"]);
    command
}
