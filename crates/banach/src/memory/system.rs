//! What the operating system leaves to this process.

use std::{fs, path::Path};

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The addresses of a thread's stack, and those that an allocator reserves for it.
const STACK_AND_ARENA: u64 = (4 + 64) << 20;
/// Threads that only wait: for signals, for the next picture of progress, and one that is about to end while another begins.
const IDLE_THREADS: u64 = 3;
/// The largest cache of a machine that does not tell it.
const USUAL_CACHE: u64 = 32 << 20;

/// The buffer of a matrix product, which every thread that makes one takes: twice the largest cache (private-gemm-x86). Most of it is never
/// touched.
fn product_buffer(caches: &Path) -> u64 {
    let size = |index: usize| {
        let text = fs::read_to_string(caches.join(format!("index{index}/size"))).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    let largest = (0..8).filter_map(size).max().map_or(0, |kilobytes| kilobytes << 10);
    2 * largest.max(USUAL_CACHE)
}

/// The addresses that a thread takes beside what is counted.
fn per_thread(caches: &Path) -> u64 {
    product_buffer(caches) + STACK_AND_ARENA
}

/// What the system tells of the caches of its first processor.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Bytes that are free to this process.
pub(super) fn free() -> u64 {
    let ram = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let available = System::new_with_specifics(ram).available_memory();
    available.min(groups(Path::new("/"))).min(addresses(Path::new("/proc/self")))
}

/// What the limit on addresses leaves beside what threads will take: those that compute a buffer each, those that are yet to come their stack.
fn addresses(process: &Path) -> u64 {
    let text = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
    // Work that can be ended has threads of its own beside those of the process, and the first thread computes as well.
    let computing = 2 * rayon::current_num_threads() as u64 + 1;
    let status = text("status");
    let to_come = (computing + IDLE_THREADS).saturating_sub(field(&status, "Threads:").unwrap_or(1));
    match address_limit(&text("limits")) {
        None => u64::MAX,
        Some(limit) => limit
            .saturating_sub(kilobytes(&status, "VmSize:"))
            .saturating_sub(computing * product_buffer(Path::new(CACHES)) + to_come * STACK_AND_ARENA),
    }
}

/// The number of threads, at most `wanted` and at least one, that take no more than half of the addresses that are left: the other
/// half is for what they work on.
pub(super) fn threads(wanted: usize, process: &Path) -> usize {
    let text = |name: &str| fs::read_to_string(process.join(name)).unwrap_or_default();
    let Some(limit) = address_limit(&text("limits")) else { return wanted };
    let left = limit.saturating_sub(kilobytes(&text("status"), "VmSize:"));
    usize::try_from(left / 2 / (2 * per_thread(Path::new(CACHES)))).unwrap_or(usize::MAX).clamp(1, wanted.max(1))
}

/// The limit that the process has now, in the words of Linux; `None` if there is none.
fn address_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A line such as `VmSize:  1234 kB`, in bytes.
fn kilobytes(status: &str, name: &str) -> u64 {
    1024 * field(status, name).unwrap_or(0)
}

/// The number in a line such as `Threads:  4`.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// The bytes that the control group of the process and the groups around it leave. `root` is where the files of the system begin.
fn groups(root: &Path) -> u64 {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut free = u64::MAX;
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (mount, most, now, cache) = if controllers.is_empty() {
            ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
        } else if controllers.split(',').any(|name| name == "memory") {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        } else {
            continue;
        };
        let mount = root.join(mount);
        // In a container the path may be the one outside of it. The root of the files is then the group itself.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let group = mount.join(group);
            let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
            let Some(most) = number(most) else { continue };
            // What is kept of files goes when it is needed.
            let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let kept = statistics.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == cache);
            let kept = kept.and_then(|(_, bytes)| bytes.trim().parse::<u64>().ok()).unwrap_or(0);
            free = free.min(most.saturating_sub(number(now).unwrap_or(0).saturating_sub(kept)));
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder with these files.
    fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("banach-memory-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn the_tightest_group_counts_whichever_is_above() {
        for (name, files, expected) in [
            ("none", &[("proc/self/cgroup", "0::/a/b\n")][..], u64::MAX),
            (
                "parent",
                &[
                    ("proc/self/cgroup", "0::/a/b\n"),
                    ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                    ("sys/fs/cgroup/a/b/memory.current", "100\n"),
                    ("sys/fs/cgroup/a/memory.max", "1000\n"),
                    ("sys/fs/cgroup/a/memory.current", "400\n"),
                    ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 150\n"),
                ],
                750,
            ),
            (
                "container",
                &[
                    ("proc/self/cgroup", "0::/outside/of/it\n"),
                    ("sys/fs/cgroup/memory.max", "500\n"),
                    ("sys/fs/cgroup/memory.current", "600\n"),
                ],
                0,
            ),
            (
                "first version",
                &[
                    ("proc/self/cgroup", "5:cpu,cpuacct:/x\n3:memory:/job\n"),
                    ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "900\n"),
                    ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "200\n"),
                    ("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 50\n"),
                    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ],
                750,
            ),
        ] {
            let root = tree(name, files);
            assert_eq!(groups(&root), expected, "{name}");
            fs::remove_dir_all(root).expect("removed");
        }
    }

    #[test]
    fn a_limit_on_addresses_counts_beside_what_is_taken_and_what_threads_need() {
        let none = "Limit Soft Hard Units\nMax address space         unlimited            unlimited            bytes\n";
        assert_eq!(address_limit(none), None);
        let some = "Max cpu time  unlimited unlimited seconds\nMax address space         4000000000 unlimited bytes\n";
        assert_eq!(address_limit(some), Some(4_000_000_000));
        assert_eq!(kilobytes("Name:\tbanach\nVmSize:\t  2000 kB\nVmRSS:\t 5 kB\n", "VmSize:"), 2_048_000);
        let small =
            tree("addresses", &[("limits", "Max address space 1000000 1000000 bytes\n"), ("status", "VmSize: 1 kB\n")]);
        assert_eq!((addresses(&small), threads(8, &small)), (0, 1));
        // A thread that is there has its stack already.
        let left = |threads: usize| {
            let status = format!("VmSize: 1 kB\nThreads:\t{threads}\n");
            let process =
                tree("threads", &[("limits", "Max address space 100000000000 unlimited bytes\n"), ("status", &status)]);
            addresses(&process)
        };
        assert_eq!(left(3) - left(1), 2 * STACK_AND_ARENA);
        assert_eq!(threads(8, Path::new("/nowhere")), 8);
        fs::remove_dir_all(small).expect("removed");
        fs::remove_dir_all(tree("threads", &[])).expect("removed");
    }

    #[test]
    fn a_thread_needs_twice_the_largest_cache() {
        let caches =
            tree("caches", &[("index0/size", "48K\n"), ("index2/size", "2048K\n"), ("index3/size", "266240K\n")]);
        assert_eq!(per_thread(&caches), (2 * 260 + 68) << 20);
        assert_eq!(per_thread(Path::new("/nowhere")), 132 << 20);
        fs::remove_dir_all(caches).expect("removed");
    }

    #[test]
    fn something_is_free_here() {
        assert!(free() > 0);
    }
}
