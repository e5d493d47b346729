//! Whether a program is there, without running it.

use std::env;

/// The first of `tools` that is nowhere on the PATH.
pub fn missing(tools: &[&'static str]) -> Option<&'static str> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<_> = env::split_paths(&path).collect();
    let found = |tool: &str| directories.iter().any(|directory| directory.join(tool).is_file());
    tools.iter().copied().find(|tool| !found(tool))
}
