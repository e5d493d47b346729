//! Memory as the kernel counts it, from `/proc/self/status`: the resident set
//! now (`VmRSS`, for bytes per actor) and its peak (`VmHWM`). Zero where the
//! file does not exist.

/// The resident set in bytes.
pub fn resident() -> u64 {
    field("VmRSS:")
}

/// The largest resident set so far in bytes.
pub fn peak() -> u64 {
    field("VmHWM:")
}

fn field(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}
