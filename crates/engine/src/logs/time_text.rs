//! Formats of times in log files.

use std::fmt::Write;

use mayfly_types::temporal::{DateTime, TimeZone};

fn local(microseconds: i64, zone: &TimeZone) -> DateTime {
    zone.local_of_unix(microseconds).unwrap_or_default()
}

/// ISO 8601 with microseconds: `2026-11-26T03:19:17.492789Z`, or the system's time with its offset.
pub(super) fn write_iso(microseconds: i64, system_time: bool, out: &mut String) {
    let zone = if system_time {
        TimeZone::System
    } else {
        TimeZone::UTC
    };
    let time = local(microseconds, &zone);
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}",
        time.year, time.month, time.day, time.hour, time.minute, time.second, time.microsecond
    );
    if !system_time {
        out.push('Z');
        return;
    }
    let minutes = zone.offset_at(microseconds.div_euclid(1_000_000)) / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    let _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
}

/// MariaDB's format, in the system's time zone: `261126  3:19:16`.
pub(super) fn write_short(microseconds: i64, out: &mut String) {
    let time = local(microseconds, &TimeZone::System);
    let _ = write!(
        out,
        "{:02}{:02}{:02} {:2}:{:02}:{:02}",
        time.year % 100,
        time.month,
        time.day,
        time.hour,
        time.minute,
        time.second
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_utc() {
        let mut text = String::new();
        write_iso(1_795_663_157_492_789, false, &mut text);
        assert_eq!(text, "2026-11-26T03:19:17.492789Z");
    }
}
