//! The memory of the machine, and how much of it the process may use.
//!
//! A control group gives a container or a unit of systemd less than the machine has, and kills it without a message
//! when it takes more. A limit of any group above the process applies to it, so the smallest counts
//! (`Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst` of Linux).

use std::path::{Component, Path, PathBuf};

/// Bytes of the machine's memory, where the system reports it.
#[cfg_attr(unix, expect(unsafe_code, reason = "calls into the C library"))]
pub fn physical_memory() -> Option<u64> {
    #[cfg(unix)]
    {
        // SAFETY: sysconf reads a number of the system's configuration.
        let configured = |name| u64::try_from(unsafe { libc::sysconf(name) }).ok();
        configured(libc::_SC_PHYS_PAGES)?.checked_mul(configured(libc::_SC_PAGESIZE)?)
    }
    #[cfg(not(unix))]
    None
}

/// Bytes of memory that the process may use: the machine's, or less where a control group says so.
pub fn usable_memory() -> Option<u64> {
    let physical = physical_memory();
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limited = group_limit(&groups, Path::new("/sys/fs/cgroup"));
    physical.into_iter().chain(limited).min()
}

/// The smallest limit of the control groups of a process, whose lines of `/proc/PID/cgroup` are `groups`, in the file
/// system at `mount`: groups of version 2, and of version 1's memory controller.
fn group_limit(groups: &str, mount: &Path) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next(), fields.next().unwrap_or("/"));
        match controllers {
            Some("") => limits_above(mount, path, "memory.max"),
            Some(names) if names.split(',').any(|name| name == "memory") => {
                limits_above(&mount.join("memory"), path, "memory.limit_in_bytes")
            }
            _ => Vec::new(),
        }
    });
    limits.min()
}

/// The limits in the files `name` of a group and of those above it. In a container the group is at the root of what
/// is mounted, whatever its path is outside.
fn limits_above(root: &Path, path: &str, name: &str) -> Vec<u64> {
    let within = Path::new(path).components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let group = root.join(within.collect::<PathBuf>());
    let above = group
        .ancestors()
        .take_while(|above| above.starts_with(root));
    let read = |directory: &Path| std::fs::read_to_string(directory.join(name)).ok();
    // `max` means no limit.
    above
        .filter_map(read)
        .filter_map(|text| text.trim().parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_the_groups_above_counts() {
        let mount = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let file = mount.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            std::fs::write(file, text).expect("written");
        };
        let limit = |groups: &str| group_limit(groups, mount.path());
        assert_eq!(limit(""), None);
        assert_eq!(limit("0::/user.slice/shell"), None);
        write("user.slice/shell/memory.max", "max\n");
        assert_eq!(limit("0::/user.slice/shell\n"), None);
        write("user.slice/memory.max", "1073741824\n");
        assert_eq!(limit("0::/user.slice/shell\n"), Some(1 << 30));
        write("user.slice/shell/memory.max", "4096\n");
        assert_eq!(limit("0::/user.slice/shell\n"), Some(4096));
        assert_eq!(limit("0::/system.slice\n"), None);
        // Version 1, with other controllers.
        write("memory/docker/memory.limit_in_bytes", "536870912\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let groups = "5:cpu,cpuacct:/docker\n4:memory:/docker\n1:name=systemd:/docker\n";
        assert_eq!(limit(groups), Some(512 << 20));
        // In a container, only the root of its group is mounted.
        write("memory.max", "2147483648\n");
        assert_eq!(limit("0::/../../elsewhere\n"), Some(2 << 30));
        assert_eq!(limit("0::/not/mounted\n"), Some(2 << 30));
        assert!(usable_memory() <= physical_memory());
    }
}
