//! Facts about the machine for readers of the figures: processors, their caches, memory, the file system and its
//! read-ahead. Facts that the system does not report are left out.

use std::path::Path;

/// Facts about the machine, a few words each.
pub(crate) fn facts(file: &Path) -> Vec<(&'static str, String)> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let mut facts = Vec::new();
    if let Ok(cores) = std::thread::available_parallelism() {
        facts.push(("processors", cores.to_string()));
    }
    let caches: Vec<String> = (0..8)
        .filter_map(|index| {
            let directory = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
            let part = |name: &str| read(&format!("{directory}/{name}"));
            if part("type")?.trim() == "Instruction" {
                return None;
            }
            Some(format!(
                "L{} {}",
                part("level")?.trim(),
                part("size")?.trim()
            ))
        })
        .collect();
    if !caches.is_empty() {
        facts.push(("processor caches", caches.join(", ")));
    }
    if let Some(bytes) = memory(&read("/proc/meminfo").unwrap_or_default(), "MemTotal") {
        facts.push((
            "memory",
            format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
        ));
    }
    if let Some(system) = read("/proc/sys/kernel/osrelease") {
        facts.push(("Linux", system.trim().to_owned()));
    }
    let mounts = read("/proc/self/mountinfo").unwrap_or_default();
    if let Some((kind, device)) = file
        .canonicalize()
        .ok()
        .and_then(|path| mount(&mounts, &path))
    {
        facts.push(("file system", kind));
        // A partition's queue is that of its disk.
        let queue = |name: &str| {
            let block = format!("/sys/dev/block/{device}");
            read(&format!("{block}/queue/{name}"))
                .or_else(|| read(&format!("{block}/../queue/{name}")))
        };
        if let Some(kilobytes) = queue("read_ahead_kb") {
            facts.push(("read-ahead", format!("{} KiB", kilobytes.trim())));
        }
        if let Some(kilobytes) = queue("max_sectors_kb") {
            facts.push((
                "largest request to the device",
                format!("{} KiB", kilobytes.trim()),
            ));
        }
        if let Some(rotates) = queue("rotational") {
            let kind = if rotates.trim() == "1" {
                "said to rotate"
            } else {
                "does not rotate"
            };
            facts.push(("disk", kind.to_owned()));
        }
        if let Some(bytes) = read(&format!("/sys/dev/block/{device}/md/chunk_size"))
            .and_then(|text| text.trim().parse::<u64>().ok())
            .filter(|bytes| *bytes > 0)
        {
            facts.push(("RAID chunk", mayfly_tuning::size_text(bytes)));
        }
    }
    facts
}

/// Bytes of memory available without swapping.
pub(crate) fn available_memory() -> Option<u64> {
    memory(
        &std::fs::read_to_string("/proc/meminfo").ok()?,
        "MemAvailable",
    )
}

/// Bytes free in the file system of a directory.
pub(crate) fn free_space(directory: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(directory).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Number of columns of the terminal on standard output; 80 for any other output.
pub(crate) fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(80, |size| usize::from(size.ws_col))
        .clamp(60, 120)
}

/// Bytes in a line of /proc/meminfo.
fn memory(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Kind and device (`major:minor`) of the file system that holds a path, by /proc/self/mountinfo (proc_pid_mountinfo(5)).
fn mount(text: &str, path: &Path) -> Option<(String, String)> {
    let mounts = text.lines().filter_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(2);
        let (device, _root, point) = (fields.next()?, fields.next()?, fields.next()?);
        let point = Path::new(point);
        let depth = point.components().count();
        path.starts_with(point)
            .then(|| (depth, behind.split(' ').next().unwrap_or_default(), device))
    });
    // Of mounts over each other the last one is visible.
    let (_, kind, device) = mounts.max_by_key(|(depth, ..)| *depth)?;
    Some((kind.to_owned(), device.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_files_are_understood() {
        let text = "MemTotal:       24576000 kB\nMemFree: 1 kB\nMemAvailable:   20480 kB\n";
        assert_eq!(memory(text, "MemTotal"), Some(24_576_000 * 1024));
        assert_eq!(memory(text, "MemAvailable"), Some(20 << 20));
        assert_eq!(memory(text, "Mem"), None);
        let mounts = "22 1 8:2 / / rw - ext4 /dev/sda2 rw\n\
                      30 22 0:25 / /data rw shared:3 - tmpfs tmpfs rw\n\
                      31 30 259:1 / /data rw,noatime shared:4 - xfs /dev/nvme0n1p1 rw\n\
                      nonsense\n";
        let found = |path: &str| mount(mounts, Path::new(path));
        assert_eq!(found("/data/t.MYD"), Some(("xfs".into(), "259:1".into())));
        assert_eq!(found("/database"), Some(("ext4".into(), "8:2".into())));
        assert_eq!(mount("", Path::new("/")), None);
    }
}
