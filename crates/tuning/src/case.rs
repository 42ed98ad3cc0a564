//! Cases of the measurement: one case is one kind of scan, at every size.

/// Source of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The page cache, which holds the whole table.
    Cached,
    /// The disk, through the page cache, from which the table is removed before each scan.
    Disk,
    /// The disk, past the page cache.
    Direct,
}

/// Number and division of concurrent scanners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanners {
    /// One scanner.
    One,
    /// `n` scanners at once, each of a part of the table.
    Parts(usize),
    /// `n` scanners at once, each of the whole table.
    Whole(usize),
}

impl Scanners {
    /// Number of scanners.
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Parts(count) | Self::Whole(count) => count.max(1),
        }
    }
}

/// Order in which the bytes of rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// The order in the file.
    Stored,
    /// The order in the file, but the second part of one row in 128 is elsewhere in the table, as in a table whose rows
    /// were updated and deleted.
    Fragmented,
    /// Random positions, sorted by a buffer's worth at a time, as a sort reads the rows in their sorted order. The size
    /// is that of `read_rnd_buffer_size`.
    Positions,
}

/// One kind of scan.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, one word, unique among the cases.
    pub name: &'static str,
    /// Its description, one line.
    pub title: String,
    /// Source of the rows.
    pub access: Access,
    /// Number and division of the scanners.
    pub scanners: Scanners,
    /// Order in which rows are read.
    pub order: RowOrder,
    /// The length of a table, where many small tables are scanned instead of one.
    pub table_bytes: Option<u64>,
    /// Whether each scan allocates its buffer and frees it, instead of reusing one.
    pub has_fresh_buffer: bool,
}

/// The length of a small table: its scan is so short that allocating the buffer counts.
const SMALL_TABLE: u64 = 4 << 20;

impl Case {
    /// All cases, beginning with the article's two; `scanners`: number of scanners in the concurrent cases.
    pub fn all(scanners: usize) -> Vec<Self> {
        use Access::{Cached, Direct, Disk};
        use RowOrder::{Fragmented, Positions, Stored};
        let n = scanners.max(2);
        let (one, parts, whole) = (Scanners::One, Scanners::Parts(n), Scanners::Whole(n));
        let case = |name, title: &str, access, scanners, order| Self {
            name,
            title: title.replace("{n}", &n.to_string()),
            access,
            scanners,
            order,
            table_bytes: None,
            has_fresh_buffer: false,
        };
        let small = |name, title: &str, has_fresh_buffer| Self {
            table_bytes: Some(SMALL_TABLE),
            has_fresh_buffer,
            ..case(name, title, Cached, one, Stored)
        };
        vec![
            case(
                "cached",
                "a table in the cache, one scanner",
                Cached,
                one,
                Stored,
            ),
            case("disk", "a table on disk, one scanner", Disk, one, Stored),
            case(
                "direct",
                "a table on disk, past the cache, one scanner",
                Direct,
                one,
                Stored,
            ),
            case(
                "cached-many",
                "a table in the cache, {n} scanners, each all of it",
                Cached,
                whole,
                Stored,
            ),
            case(
                "disk-many",
                "a table on disk, {n} scanners, each all of it",
                Disk,
                whole,
                Stored,
            ),
            case(
                "cached-parts",
                "a table in the cache, {n} scanners, each a part",
                Cached,
                parts,
                Stored,
            ),
            case(
                "disk-parts",
                "a table on disk, {n} scanners, each a part",
                Disk,
                parts,
                Stored,
            ),
            case(
                "direct-parts",
                "a table on disk, past the cache, {n} scanners, each a part",
                Direct,
                parts,
                Stored,
            ),
            case(
                "cached-fragmented",
                "a fragmented table in the cache, one scanner",
                Cached,
                one,
                Fragmented,
            ),
            case(
                "disk-fragmented",
                "a fragmented table on disk, one scanner",
                Disk,
                one,
                Fragmented,
            ),
            small(
                "kept-buffer",
                "tables of 4 MiB in the cache, one buffer for all scans",
                false,
            ),
            small(
                "fresh-buffer",
                "tables of 4 MiB in the cache, a new buffer for each scan",
                true,
            ),
            case(
                "positions",
                "rows on disk by their sorted positions (read_rnd_buffer_size)",
                Disk,
                one,
                Positions,
            ),
        ]
    }

    /// The most informative cases that take little time.
    pub fn quick(scanners: usize) -> Vec<Self> {
        let names = ["cached", "disk", "direct", "cached-many", "disk-many"];
        let mut cases = Self::all(scanners);
        cases.retain(|case| names.contains(&case.name));
        cases
    }

    /// Whether the case measures `read_buffer_size`.
    pub(crate) fn is_sequential(&self) -> bool {
        self.order != RowOrder::Positions
    }

    /// The variable that the case measures.
    pub fn variable(&self) -> &'static str {
        if self.is_sequential() {
            "read_buffer_size"
        } else {
            "read_rnd_buffer_size"
        }
    }
}
