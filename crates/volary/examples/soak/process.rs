//! What the operating system says of this process; zero where it does not say.

/// Resident memory in KiB.
pub(crate) fn resident() -> u64 {
    status("VmRSS:")
}

pub(crate) fn threads() -> u64 {
    status("Threads:")
}

fn status(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
