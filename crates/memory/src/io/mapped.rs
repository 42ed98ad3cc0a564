//! The addresses at which a file is mapped.

use std::ops::Range;
use std::path::Path;

/// The addresses at which a file is mapped, as one range; `None` where the system does not say.
///
/// A library that maps a file does not say where. Linux lists all mappings in `/proc/self/maps`
/// (proc_pid_maps(5)), one or several neighbouring lines for each.
pub fn mapped_range(file: &Path) -> Option<Range<usize>> {
    let file = file.canonicalize().ok()?;
    let maps = std::fs::read("/proc/self/maps").ok()?;
    range_of(&maps, file.as_os_str().as_encoded_bytes())
}

fn range_of(maps: &[u8], file: &[u8]) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    for line in maps.split(|byte| *byte == b'\n') {
        // Addresses, rights, offset, device, inode, and after blanks the path.
        if !line.ends_with(file) || !line[..line.len() - file.len()].ends_with(b" ") {
            continue;
        }
        let addresses = line.split(|byte| *byte == b' ').next()?;
        let addresses = std::str::from_utf8(addresses).ok()?;
        let (start, end) = addresses.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        match &mut found {
            Some(found) if found.end == start => found.end = end,
            Some(_) => return None,
            None => found = Some(start..end),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/x
7f0000000000-7f0000100000 r--s 00000000 08:02 7   /data/x.mdb
7f0000100000-7f0000300000 r--s 00100000 08:02 7   /data/x.mdb
7f1000000000-7f1000100000 r--s 00000000 08:02 8   /other/data/x.mdb
";

    #[test]
    fn neighbouring_lines_are_one_range() {
        let range = range_of(MAPS, b"/data/x.mdb");
        assert_eq!(range, Some(0x7f00_0000_0000..0x7f00_0030_0000));
        assert_eq!(range_of(MAPS, b"x.mdb"), None);
        assert_eq!(range_of(MAPS, b"/data/y.mdb"), None);
    }
}
