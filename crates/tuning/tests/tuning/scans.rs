//! Scans of files in memory: whatever the size, the rows and the case, each row is read once by each scanner, and reads
//! are those of the case.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mayfly_memory::io::{
    DIRECT_ALIGNMENT, Fault, FaultIo, IoBackend, PageCache, ScanIo, ScannedFile, SystemIo,
};
use mayfly_tuning::{
    Access, Case, Clock, Failure, FileScans, ROW_BYTES, RowOrder, Scanners, Scans, Window,
    make_table, read_bytes, row, write_row,
};
use proptest::prelude::*;

/// A clock that advances by a millisecond at each reading.
#[derive(Default)]
struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A file in memory that records how it was read.
#[derive(Debug, Clone, Default)]
struct Memory(Arc<Content>);

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// Greatest number of bytes that a read returns; 0 for all.
    short: usize,
    /// Bytes that stay in the cache after it was emptied.
    stuck: u64,
    refuses_direct: bool,
    is_cached: Mutex<bool>,
    /// Offset, length, and whether it went past the cache.
    reads: Mutex<Vec<(u64, usize, bool)>>,
    evictions: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct MemoryFile(Arc<Content>, PageCache);

impl ScanIo for Memory {
    fn open_scanned(&self, _: &Path, cache: PageCache) -> io::Result<Box<dyn ScannedFile>> {
        if cache == PageCache::Bypassed && self.0.refuses_direct {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Box::new(MemoryFile(Arc::clone(&self.0), cache)))
    }
}

impl ScannedFile for MemoryFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.bytes.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let is_direct = self.1 == PageCache::Bypassed;
        locked(&self.0.reads).push((offset, bytes.len(), is_direct));
        if is_direct {
            let numbers = [offset as usize, bytes.len(), bytes.as_ptr().addr()];
            if numbers
                .iter()
                .any(|number| !number.is_multiple_of(DIRECT_ALIGNMENT))
            {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        } else {
            *locked(&self.0.is_cached) = true;
        }
        let from = &self.0.bytes[(offset as usize).min(self.0.bytes.len())..];
        let mut count = from.len().min(bytes.len());
        if self.0.short > 0 && !is_direct {
            count = count.min(self.0.short);
        }
        bytes[..count].copy_from_slice(&from[..count]);
        Ok(count)
    }

    fn evict(&self) -> io::Result<()> {
        self.0.evictions.fetch_add(1, Ordering::Relaxed);
        *locked(&self.0.is_cached) = false;
        Ok(())
    }

    fn cached_bytes(&self, _: u64, length: u64) -> io::Result<u64> {
        let stuck = self.0.stuck.min(length);
        Ok(if *locked(&self.0.is_cached) {
            length
        } else {
            stuck
        })
    }
}

fn table(rows: u64, row_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..rows {
        let mut row = vec![number as u8; row_bytes.max(ROW_BYTES)];
        write_row(number, &mut row);
        bytes.extend_from_slice(&row[..row_bytes]);
    }
    bytes
}

/// The digest by the definition: both ends of each row, added up.
fn digest<'r>(rows: impl Iterator<Item = &'r [u8]>) -> u64 {
    let end = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let row = |row: &[u8]| match row.len() {
        0..8 => row.iter().fold(0, |sum, byte| sum * 256 + u64::from(*byte)),
        length => end(&row[..8]).wrapping_add(end(&row[length - 8..]).rotate_left(32)),
    };
    rows.fold(0, |sum, bytes| sum.wrapping_add(row(bytes)))
}

fn case(name: &str) -> Case {
    let found = Case::all(3).into_iter().find(|case| case.name == name);
    found.expect("there is such a case")
}

fn never() -> bool {
    false
}

fn open<'a>(files: &Memory, row_bytes: usize, clock: &'a Ticks) -> FileScans<'a> {
    FileScans::open(files, Path::new("t"), row_bytes, clock, &never).expect("it opens")
}

proptest! {
    #[test]
    fn every_row_is_seen_once_by_each_scanner(
        (row_bytes, rows) in prop_oneof![(1..200_usize, 0..3000_u64), (4000..20_000_usize, 0..40_u64)],
        (begin, end) in (0.0..1.0_f64, 0.0..1.0_f64),
        size in prop_oneof![Just(8200_u64), 1..100_000_u64],
        short in prop_oneof![Just(0_usize), 1..5000_usize],
        scanners in 1..5_usize,
        whole in any::<bool>(),
        access in prop::sample::select(vec![Access::Cached, Access::Disk, Access::Direct]),
        table_bytes in prop::option::of(1..60_000_u64),
        has_fresh_buffer in any::<bool>(),
    ) {
        let bytes = table(rows, row_bytes);
        let files = Memory(Arc::new(Content { bytes: bytes.clone(), short, ..Content::default() }));
        let clock = Ticks::default();
        let mut scans = open(&files, row_bytes, &clock);
        prop_assert_eq!(scans.shape().rows, rows);
        let first_row = (rows as f64 * begin) as u64;
        let window = Window { first_row, rows: ((rows - first_row) as f64 * end) as u64 };
        let case = Case {
            access,
            scanners: if whole { Scanners::Whole(scanners) } else { Scanners::Parts(scanners) },
            table_bytes,
            has_fresh_buffer,
            ..case("cached")
        };
        if bytes.is_empty() || window.rows == 0 {
            return Ok(());
        }
        scans.prepare(&case, window).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let scan = scans.scan(&case, window, size);
        let scan = scan.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let times = if whole { scanners as u64 } else { 1 };
        let seen = bytes.chunks_exact(row_bytes).skip(first_row as usize).take(window.rows as usize);
        prop_assert_eq!(scan.rows, window.rows * times);
        prop_assert_eq!(scan.digest, digest(seen).wrapping_mul(times));
    }

    #[test]
    fn fragmented_rows_and_positions_are_the_same_at_every_size(
        rows in 1..5000_u64,
        first_row in 0..500_u64,
        sizes in prop::collection::vec(1..300_000_u64, 2..4),
        order in prop::sample::select(vec![RowOrder::Fragmented, RowOrder::Positions]),
    ) {
        let bytes = table(rows + first_row, ROW_BYTES);
        let files = Memory(Arc::new(Content { bytes, ..Content::default() }));
        let clock = Ticks::default();
        let mut scans = open(&files, ROW_BYTES, &clock);
        let case = Case { order, ..case("disk") };
        let window = Window { first_row, rows };
        scans.prepare(&case, window).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut found = BTreeSet::new();
        for size in sizes {
            let scan = scans.scan(&case, window, size);
            let scan = scan.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let expected = if order == RowOrder::Fragmented { rows } else { (rows / 512).max(1) };
            prop_assert_eq!(scan.rows, expected);
            found.insert(scan.digest);
        }
        prop_assert_eq!(found.len(), 1);
    }
}

/// The reads of a scan: offsets and lengths.
fn reads(name: &str, size: u64, rows: u64) -> Vec<(u64, usize, bool)> {
    let files = Memory(Arc::new(Content {
        bytes: table(rows, ROW_BYTES),
        ..Content::default()
    }));
    let clock = Ticks::default();
    let mut scans = open(&files, ROW_BYTES, &clock);
    let (case, window) = (case(name), Window { first_row: 0, rows });
    scans.prepare(&case, window).expect("it is possible");
    locked(&files.0.reads).clear();
    scans.scan(&case, window, size).expect("it is scanned");
    locked(&files.0.reads).clone()
}

#[test]
fn a_scan_reads_a_buffer_at_a_time() {
    let rows = 10_000;
    let length = rows * ROW_BYTES as u64;
    for (name, size, is_direct) in [
        ("cached", 8200, false),
        ("disk", 64 << 10, false),
        ("direct", 128 << 10, true),
    ] {
        let bytes = read_bytes(size) as u64;
        let expected: Vec<(u64, usize, bool)> = (0..length.div_ceil(bytes))
            .map(|index| {
                let left = (length - index * bytes).next_multiple_of(4096);
                (index * bytes, left.min(bytes) as usize, is_direct)
            })
            .collect();
        // A read that the end of the file cut short is repeated once, to confirm the end.
        let mut found = reads(name, size, rows);
        found.retain(|(offset, ..)| *offset < length);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_fragmented_table_is_read_here_and_there() {
    let rows = 128 * 100;
    let plain = reads("disk", 64 << 10, rows).len();
    let fragmented = reads("disk-fragmented", 64 << 10, rows);
    let small: Vec<u64> = fragmented
        .iter()
        .filter(|(_, length, _)| *length == 28)
        .map(|read| read.0)
        .collect();
    // 100 second parts, of which those in the buffer (a tenth of the table) need no read.
    assert!((75..100).contains(&small.len()), "{}", small.len());
    assert_eq!(fragmented.len(), plain + small.len());
    let ascending = small.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!(
        (small.len() / 4..small.len() * 3 / 4).contains(&ascending),
        "{small:?}"
    );
    // A buffer that holds the whole table has them all.
    assert!(
        reads("disk-fragmented", 1 << 20, rows)
            .iter()
            .all(|(_, length, _)| *length != 28)
    );
}

#[test]
fn positions_are_sorted_by_the_buffer() {
    let rows = 512 * 400;
    for (size, least_runs, most_runs) in [(8200, 3, 4), (16 << 20, 1, 1)] {
        let found = reads("positions", size, rows);
        assert_eq!(found.len(), 400);
        let runs = 1 + found
            .windows(2)
            .filter(|pair| pair[0].0 > pair[1].0)
            .count();
        assert!((least_runs..=most_runs).contains(&runs), "{size}: {runs}");
    }
}

#[test]
fn cases_that_the_file_system_cannot_do_are_skipped_with_the_reason() {
    let window = Window {
        first_row: 0,
        rows: 1000,
    };
    let content = Content {
        bytes: table(1000, ROW_BYTES),
        stuck: 50_000,
        refuses_direct: true,
        ..Content::default()
    };
    let files = Memory(Arc::new(content));
    let clock = Ticks::default();
    let mut scans = open(&files, ROW_BYTES, &clock);
    for (name, why) in [("direct", "past the cache"), ("disk", "cannot be emptied")] {
        match scans.prepare(&case(name), window) {
            Err(Failure::Skipped(reason)) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(scans.prepare(&case("cached"), window).is_ok());
}

#[test]
fn the_cache_is_emptied_before_each_scan_from_disk_and_never_else() {
    let files = Memory(Arc::new(Content {
        bytes: table(1000, ROW_BYTES),
        ..Content::default()
    }));
    let clock = Ticks::default();
    let mut scans = open(&files, ROW_BYTES, &clock);
    let window = Window {
        first_row: 0,
        rows: 1000,
    };
    for (name, evictions) in [("cached", 0), ("disk", 4), ("direct", 1)] {
        files.0.evictions.store(0, Ordering::Relaxed);
        scans.prepare(&case(name), window).expect("it is possible");
        for size in [8200, 16384, 32768] {
            scans
                .scan(&case(name), window, size)
                .expect("it is scanned");
        }
        assert_eq!(
            files.0.evictions.load(Ordering::Relaxed),
            evictions,
            "{name}"
        );
    }
}

#[test]
fn a_file_that_was_cut_meanwhile_is_an_error() {
    let files = Memory(Arc::new(Content {
        bytes: table(1000, ROW_BYTES),
        ..Content::default()
    }));
    let clock = Ticks::default();
    let mut scans = open(&files, ROW_BYTES, &clock);
    for name in ["cached", "direct", "cached-parts", "positions"] {
        let window = Window {
            first_row: 600,
            rows: 600,
        };
        scans.prepare(&case(name), window).expect("it is possible");
        match scans.scan(&case(name), window, 8200) {
            Err(Failure::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof),
            // No position needs to be beyond the end.
            Ok(_) if name == "positions" => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_table_is_made_of_its_rows_or_not_at_all() {
    let name =
        |name: &str| std::env::temp_dir().join(format!("mayfly-{name}-{}", std::process::id()));
    let path = name("tuning-table");
    let made = make_table(&SystemIo, &path, 70_000, &never).expect("it can be made");
    let clock = Ticks::default();
    let scans = FileScans::open(&SystemIo, &path, ROW_BYTES, &clock, &never);
    let again = make_table(&SystemIo, &path, 1, &never);
    let bytes = std::fs::read(&path).expect("it can be read");
    std::fs::remove_file(&path).expect("it can be removed");
    assert!(made && again.is_err());
    assert_eq!(bytes, table(70_000, ROW_BYTES));
    assert!(
        bytes
            .chunks_exact(ROW_BYTES)
            .all(|bytes| row(bytes).is_some())
    );
    // The file is open, so it can be scanned without its name.
    let mut scans = scans.expect("it opens");
    let window = Window {
        first_row: 0,
        rows: 70_000,
    };
    scans
        .prepare(&case("cached-many"), window)
        .expect("it is possible");
    let scan = scans
        .scan(&case("cached-many"), window, 1 << 20)
        .expect("it is scanned");
    assert_eq!(
        scan.digest,
        digest(bytes.chunks_exact(ROW_BYTES)).wrapping_mul(3)
    );

    let path = name("tuning-stopped");
    assert!(!make_table(&SystemIo, &path, 70_000, &|| true).expect("it is no error"));
    assert!(!path.exists());
    for fault in Fault::ALL {
        let path = name("tuning-failed");
        let files = FaultIo::new(Arc::new(SystemIo), fault, 2);
        let made = make_table(&files, &path, 70_000, &never);
        let exists = SystemIo.exists(&path);
        if exists {
            std::fs::remove_file(&path).expect("it can be removed");
        }
        assert_eq!(exists, made.is_ok(), "{fault:?}");
    }
}
