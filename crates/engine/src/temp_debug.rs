//! `tmp_debug`: faults of temporary space that a session asks for.
//!
//! The value is a list of `fail_after_bytes=n`, `fail_on_write=n`, `spill_after_rows=n`, `slow_io=ms`, `full_disk` and
//! `corrupt_block=n`, separated by commas or `|`. It takes effect only where the database was opened with
//! [`DatabaseOptions::allow_tmp_debug`](crate::DatabaseOptions::allow_tmp_debug).

use std::time::Duration;

use mayfly_memory::TempFaults;

/// The greatest `slow_io` in milliseconds: a statement that is killed ends after at most one such delay.
const SLOWEST: u64 = 1000;

/// The parsed value of `tmp_debug`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TempDebug {
    /// Faults of temporary files.
    pub(crate) faults: TempFaults,
    /// Number of rows after which temporary tables overflow.
    pub(crate) spill_after_rows: Option<u64>,
}

impl TempDebug {
    /// Reads a value of the variable; `None` if it is wrong.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut debug = Self::default();
        let items = text.split([',', '|']).map(str::trim);
        for item in items.filter(|item| !item.is_empty()) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim().parse::<u64>().ok()?)),
                None => (item, None),
            };
            let faults = &mut debug.faults;
            match (name.to_ascii_lowercase().as_str(), value) {
                ("full_disk", None) => faults.full_disk = true,
                ("fail_after_bytes", Some(bytes)) => faults.fail_after_bytes = Some(bytes),
                ("fail_on_write", Some(number @ 1..)) => faults.fail_on_write = Some(number),
                ("corrupt_block", Some(number @ 1..)) => faults.corrupt_block = Some(number),
                ("slow_io", Some(time @ 0..=SLOWEST)) => {
                    faults.slow_io = Duration::from_millis(time);
                }
                ("spill_after_rows", Some(rows)) => debug.spill_after_rows = Some(rows),
                _ => return None,
            }
        }
        Some(debug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_faults() {
        let parse = TempDebug::parse;
        assert_eq!(parse(""), Some(TempDebug::default()));
        let debug = parse("full_disk, spill_after_rows = 3|SLOW_IO=7").unwrap();
        assert!(debug.faults.full_disk);
        assert_eq!(debug.spill_after_rows, Some(3));
        assert_eq!(debug.faults.slow_io, Duration::from_millis(7));
        let debug = parse("fail_after_bytes=0|fail_on_write=2|corrupt_block=1").unwrap();
        assert_eq!(debug.faults.fail_after_bytes, Some(0));
        assert_eq!(debug.faults.fail_on_write, Some(2));
        assert_eq!(debug.faults.corrupt_block, Some(1));
        for wrong in [
            "x",
            "full_disk=1",
            "fail_on_write",
            "fail_on_write=0",
            "corrupt_block=0",
            "slow_io=1001",
            "fail_after_bytes=-1",
            "spill_after_rows=",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
