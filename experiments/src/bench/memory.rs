//! The memory of this process.

/// The most memory that this process has taken, where the operating system tells. (Of `ru_maxrss` a new process inherits
/// that of the one that started it.)
pub(super) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// From now on the peak is that of what follows; where the operating system refuses, it stays that of the whole process.
pub(super) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
