//! Readable forms of quantities.

/// A size in bytes as readable text.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// A time in seconds as readable text.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds >= 3600.0 {
        format!("{:.1} h", seconds / 3600.0)
    } else if seconds >= 100.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 0.001 {
        format!("{:.1} ms", seconds * 1000.0)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}

/// A number of runs as readable text.
pub(crate) fn runs(number: u64) -> String {
    counted(number, "run")
}

/// A number with a noun whose plural ends in `s`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(
            (size(12), size(2048), size(3 << 30)),
            ("12 B".into(), "2.0 KiB".into(), "3.0 GiB".into())
        );
        let times = [0.000_004, 0.25, 12.34, 250.0, 7200.0].map(seconds);
        assert_eq!(times, ["4 µs", "250.0 ms", "12.3 s", "250 s", "2.0 h"]);
        assert_eq!(
            (runs(1), counted(2, "table")),
            ("1 run".into(), "2 tables".into())
        );
    }
}
