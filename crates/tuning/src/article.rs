//! Measurements of the article: MySQL 5.1.21, MyISAM, two Xeon CPUs, two drives in RAID 0.

use crate::case::{Access, Case, RowOrder, Scanners};

/// A published table: `read_buffer_size` and seconds.
#[derive(Debug, PartialEq)]
pub struct Published {
    /// Name of the measurement.
    pub name: &'static str,
    /// Sizes in bytes, and seconds.
    pub seconds: &'static [(u64, f64)],
}

/// 75 million rows in 4 GB, twice the memory.
const DISK: Published = Published {
    name: "article, 4 GB on disk, 2007",
    seconds: &[
        (8200, 45.2),
        (16 << 10, 44.8),
        (32 << 10, 45.6),
        (64 << 10, 43.4),
        (128 << 10, 43.0),
        (256 << 10, 51.9),
        (512 << 10, 60.8),
        (2 << 20, 65.2),
        (8 << 20, 66.8),
        (32 << 20, 67.2),
    ],
};

/// A table that fits into the operating system's cache.
const CACHED: Published = Published {
    name: "article, cached, 2007",
    seconds: &[
        (8200, 4.15),
        (16 << 10, 4.15),
        (32 << 10, 4.12),
        (64 << 10, 4.11),
        (128 << 10, 4.11),
        (256 << 10, 4.12),
        (512 << 10, 4.25),
        (2 << 20, 4.49),
        (8 << 20, 4.54),
        (32 << 20, 4.58),
    ],
};

/// The article's table of a case, if it has one.
pub fn published(case: &Case) -> Option<&'static Published> {
    let is_the_articles = case.scanners == Scanners::One
        && case.order == RowOrder::Stored
        && case.table_bytes.is_none();
    match case.access {
        Access::Cached if is_the_articles => Some(&CACHED),
        Access::Disk if is_the_articles => Some(&DISK),
        _ => None,
    }
}

impl Published {
    /// By which share a size takes longer than the best one: 0.05 is 5 % longer.
    pub fn excess(&self, size: u64) -> Option<f64> {
        let best = self
            .seconds
            .iter()
            .map(|(_, seconds)| *seconds)
            .fold(f64::MAX, f64::min);
        let found = self.seconds.iter().find(|(known, _)| *known == size)?;
        Some(found.1 / best - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_buffers_were_half_slower_from_disk_and_a_tenth_in_memory() {
        let excess = |table: &Published, size| table.excess(size).expect("it is published");
        assert_eq!(excess(&DISK, 128 << 10), 0.0);
        assert!((excess(&DISK, 32 << 20) - 0.563).abs() < 0.001);
        assert!((excess(&CACHED, 32 << 20) - 0.114).abs() < 0.001);
        assert_eq!(DISK.excess(1 << 20), None);
    }

    #[test]
    fn only_plain_scans_of_one_scanner_are_the_articles() {
        let with = Case::all(4)
            .into_iter()
            .filter(|case| published(case).is_some());
        let names: Vec<&str> = with.map(|case| case.name).collect();
        assert_eq!(names, ["cached", "disk"]);
    }
}
