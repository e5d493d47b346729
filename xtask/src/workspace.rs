//! Where things are: the workspace root, its target directory, and what cargo knows about its packages.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::Failure;
use crate::invocation::Invocation;

/// The side-by-side measurements. Their peers are heavy, so they are a workspace of their own, built only when asked for.
pub(crate) const BENCH_MANIFEST: &str = "bench/Cargo.toml";

/// openraft in the simulator, a workspace of its own for the same reason.
pub(crate) const RAFT_MANIFEST: &str = "interop/openraft/Cargo.toml";

/// The HTTP service among the examples, a workspace of its own for the same reason.
pub(crate) const AXUM_MANIFEST: &str = "examples/axum-service/Cargo.toml";

/// The generator of code from protobuf schemas, a workspace of its own for the same reason.
pub(crate) const PROTOGEN_MANIFEST: &str = "tools/protogen/Cargo.toml";

/// The directory above this package.
pub(crate) fn root() -> PathBuf {
    let package =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map(Path::to_path_buf).unwrap_or(package)
}

pub(crate) fn target_dir() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}

/// `path` as seen from the workspace root, for messages.
pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The arguments that select everything but the measurements.
pub(crate) fn all_but_bench() -> Vec<&'static str> {
    vec!["--workspace"]
}

pub(crate) enum Dependencies {
    Included,
    Left,
}

/// The packages `cargo metadata` reports.
pub(crate) fn packages(dependencies: Dependencies) -> Result<Vec<Value>, Failure> {
    let mut call = Invocation::cargo(["metadata", "--format-version", "1"]);
    if matches!(dependencies, Dependencies::Left) {
        call = call.arg("--no-deps");
    }
    let text = call.output()?;
    let unreadable = |why: &str| Failure::Failed(format!("cargo metadata: {why}"));
    let mut metadata: Value = serde_json::from_str(&text).map_err(|error| unreadable(&error.to_string()))?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err(unreadable("no packages")),
    }
}
