//! Scans of a file as MyISAM does them: one buffer's length is read at a time, and each row in it is copied into a
//! record and evaluated, as a server does before the WHERE clause.

use std::io;
use std::path::Path;
use std::time::Duration;

use mayfly_memory::io::{DIRECT_ALIGNMENT, PageCache, ScanIo, ScannedFile};

use crate::Clock;
use crate::buffer::Buffer;
use crate::case::{Access, Case, RowOrder, Scanners};
use crate::fragments::Fragments;
use crate::random::Random;
use crate::sizes::read_bytes;

/// Rows of the table per row that is read by its position.
const ROWS_PER_POSITION: u64 = 512;
/// Bytes that a position and its index among the results take in the buffer beside the row.
const POSITION_BYTES: usize = 16;
/// Share of a table that must be in the cache, or out of it, for a cached or uncached scan.
const MOSTLY: f64 = 0.9;
const SEED: u64 = 2007;

/// Shape of a table: rows of fixed length, from the beginning of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableShape {
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Whole rows in the file.
    pub rows: u64,
}

/// The rows that a scan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first.
    pub first_row: u64,
    /// Number of rows.
    pub rows: u64,
}

/// Result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// The time from the start of the first scanner to the end of the last.
    pub elapsed: Duration,
    /// Number of rows of all scanners.
    pub rows: u64,
    /// A sum over the rows, the same for every size.
    pub digest: u64,
}

/// Error of a scan.
#[derive(Debug)]
pub enum Failure {
    /// The machine cannot do the case; the text says why.
    Skipped(String),
    /// The measurement was stopped.
    Stopped,
    /// The file cannot be read.
    Io(io::Error),
    /// Two scans of the same rows read different ones: the file is being changed.
    Differs,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Skipped(why) => f.write_str(why),
            Self::Stopped => f.write_str("it was interrupted"),
            Self::Io(error) => write!(f, "{error}"),
            Self::Differs => {
                f.write_str("two scans found different rows: the file is changed meanwhile")
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A source of scans.
pub trait Scans {
    /// Prepares scans of a case over windows with as many rows as this one.
    ///
    /// # Errors
    /// [`Failure::Skipped`] where the case is impossible.
    fn prepare(&mut self, case: &Case, window: Window) -> Result<(), Failure>;

    /// Scans once, with a buffer of `size` bytes.
    ///
    /// # Errors
    /// The reason why there is no scan.
    fn scan(&mut self, case: &Case, window: Window, size: u64) -> Result<Scan, Failure>;
}

/// Scans of a file.
pub struct FileScans<'a> {
    file: Box<dyn ScannedFile>,
    /// The file opened for reads past the cache, or the reason why that is impossible.
    direct: Result<Box<dyn ScannedFile>, String>,
    shape: TableShape,
    clock: &'a dyn Clock,
    stop: &'a (dyn Fn() -> bool + Sync),
    fragments: Option<Fragments>,
    /// Rows to read by their position, counted from the beginning of the window.
    positions: Vec<u64>,
}

impl<'a> FileScans<'a> {
    /// Scans of a file that holds rows of `row_bytes` bytes. The file stays open, so its name is no longer needed.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(
        files: &dyn ScanIo,
        path: &Path,
        row_bytes: usize,
        clock: &'a dyn Clock,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> io::Result<Self> {
        let file = files.open_scanned(path, PageCache::Used)?;
        let direct = files.open_scanned(path, PageCache::Bypassed);
        let row_bytes = row_bytes.max(1);
        let rows = file.length()? / row_bytes as u64;
        Ok(Self {
            file,
            direct: direct.map_err(|error| error.to_string()),
            shape: TableShape { row_bytes, rows },
            clock,
            stop,
            fragments: None,
            positions: Vec::new(),
        })
    }

    /// The table.
    pub fn shape(&self) -> TableShape {
        self.shape
    }

    fn bytes(&self, window: Window) -> (u64, u64) {
        let row_bytes = self.shape.row_bytes as u64;
        (window.first_row * row_bytes, window.rows * row_bytes)
    }

    /// The share of a window that is in the page cache, where the system reports it.
    fn cached_share(&self, window: Window) -> Option<f64> {
        let (offset, length) = self.bytes(window);
        let cached = self.file.cached_bytes(offset, length).ok()?;
        Some(cached as f64 / length.max(1) as f64)
    }

    /// Reads a window into the page cache.
    fn warm(&self, window: Window) -> Result<(), Failure> {
        let (offset, length) = self.bytes(window);
        let mut bytes = vec![0; 1 << 20];
        let mut position = offset;
        while position < offset + length {
            if (self.stop)() {
                return Err(Failure::Stopped);
            }
            match read_fully(&*self.file, &mut bytes, position)? {
                0 => break,
                count => position += count as u64,
            }
        }
        Ok(())
    }

    fn scanner<'s>(&'s self, file: &'s dyn ScannedFile, case: &'s Case, size: u64) -> Scanner<'s> {
        Scanner {
            file,
            shape: self.shape,
            case,
            size,
            stop: self.stop,
            fragments: self.fragments.as_ref(),
            positions: &self.positions,
            record: vec![0; self.shape.row_bytes],
            seen: Seen::default(),
        }
    }
}

impl Scans for FileScans<'_> {
    fn prepare(&mut self, case: &Case, window: Window) -> Result<(), Failure> {
        self.fragments =
            (case.order == RowOrder::Fragmented).then(|| Fragments::new(window.rows, SEED));
        self.positions.clear();
        if case.order == RowOrder::Positions {
            let mut random = Random::new(SEED);
            let count = (window.rows / ROWS_PER_POSITION).max(1);
            self.positions
                .extend((0..count).map(|_| random.below(window.rows.max(1))));
        }
        match case.access {
            Access::Cached => {
                self.warm(window)?;
                if self
                    .cached_share(window)
                    .is_some_and(|share| share < MOSTLY)
                {
                    return Err(Failure::Skipped(
                        "the operating system does not keep the table in its cache".into(),
                    ));
                }
            }
            Access::Disk => {
                if let Err(error) = self.file.evict() {
                    return Err(Failure::Skipped(format!(
                        "the cache cannot be emptied of the table: {error}"
                    )));
                }
                if self
                    .cached_share(window)
                    .is_some_and(|share| share > 1.0 - MOSTLY)
                {
                    return Err(Failure::Skipped(
                        "the cache cannot be emptied of the table: the file system keeps it in memory, or others read it"
                            .into(),
                    ));
                }
            }
            Access::Direct => {
                let refused = |why: &dyn std::fmt::Display| {
                    Failure::Skipped(format!(
                        "the file system does not read past the cache: {why}"
                    ))
                };
                let file = self.direct.as_ref().map_err(|error| refused(error))?;
                let mut buffer = Buffer::new(DIRECT_ALIGNMENT, 0);
                let read = file.read_at(buffer.area(DIRECT_ALIGNMENT), 0);
                read.map_err(|error| refused(&error))?;
                // Otherwise every read would look for the file's pages in the cache.
                let _ = self.file.evict();
            }
        }
        Ok(())
    }

    fn scan(&mut self, case: &Case, window: Window, size: u64) -> Result<Scan, Failure> {
        let file: &dyn ScannedFile = match (case.access, &self.direct) {
            (Access::Direct, Ok(file)) => &**file,
            (Access::Direct, Err(error)) => return Err(Failure::Skipped(error.clone())),
            _ => &*self.file,
        };
        if case.access == Access::Disk {
            self.file.evict()?;
        }
        let count = case.scanners.count() as u64;
        let windows = (0..count).map(|index| match case.scanners {
            Scanners::Parts(_) => {
                let begin = window.rows * index / count;
                Window {
                    first_row: window.first_row + begin,
                    rows: window.rows * (index + 1) / count - begin,
                }
            }
            Scanners::One | Scanners::Whole(_) => window,
        });
        // Reused buffers are in memory before the clock starts.
        let work: Vec<(Window, Option<Buffer>)> = windows
            .map(|window| {
                let kept = (!case.has_fresh_buffer && case.is_sequential()).then(|| {
                    let mut buffer = Buffer::new(read_bytes(size), self.shape.row_bytes);
                    let length = buffer.area_bytes();
                    buffer.area(length).fill(1);
                    buffer
                });
                (window, kept)
            })
            .collect();
        let run = |(own, buffer): (Window, Option<Buffer>)| {
            let mut scanner = self.scanner(file, case, size);
            scanner.run(own, window.first_row, buffer)?;
            Ok(scanner.seen)
        };
        let start = self.clock.now();
        let seen: Vec<Result<Seen, Failure>> = if work.len() == 1 {
            work.into_iter().map(run).collect()
        } else {
            std::thread::scope(|scope| {
                let threads = work.into_iter().map(|work| scope.spawn(|| run(work)));
                let threads: Vec<_> = threads.collect();
                let died = |_| Err(Failure::Io(io::Error::other("a scanner died")));
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(died))
                    .collect()
            })
        };
        let elapsed = self.clock.now().saturating_sub(start);
        let mut all = Seen::default();
        for seen in seen {
            let seen = seen?;
            all.rows += seen.rows;
            all.digest = all.digest.wrapping_add(seen.digest);
        }
        Ok(Scan {
            elapsed,
            rows: all.rows,
            digest: all.digest,
        })
    }
}

/// Number and digest of rows that were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    rows: u64,
    digest: u64,
}

/// The scan of one thread.
struct Scanner<'s> {
    file: &'s dyn ScannedFile,
    shape: TableShape,
    case: &'s Case,
    size: u64,
    stop: &'s (dyn Fn() -> bool + Sync),
    fragments: Option<&'s Fragments>,
    positions: &'s [u64],
    record: Vec<u8>,
    seen: Seen,
}

impl Scanner<'_> {
    /// Scans its own window, a part of the case's window, which begins at the row `origin`.
    fn run(&mut self, own: Window, origin: u64, kept: Option<Buffer>) -> Result<(), Failure> {
        if self.case.order == RowOrder::Positions {
            return self.by_position(origin);
        }
        let row_bytes = self.shape.row_bytes as u64;
        let table_rows = self
            .case
            .table_bytes
            .map_or(own.rows, |bytes| (bytes / row_bytes).max(1));
        let mut kept = kept;
        let mut done = 0;
        while done < own.rows {
            let table = Window {
                first_row: own.first_row + done,
                rows: table_rows.min(own.rows - done),
            };
            done += table.rows;
            // A buffer is never much longer than its table (MySQL's init_io_cache()).
            let longest = (table.rows * row_bytes).next_multiple_of(DIRECT_ALIGNMENT as u64);
            let longest = longest + DIRECT_ALIGNMENT as u64;
            let at_a_time = read_bytes(self.size.min(longest));
            match &mut kept {
                Some(buffer) => self.table(table, origin, buffer, at_a_time)?,
                None => {
                    let mut buffer = Buffer::new(at_a_time, self.shape.row_bytes);
                    self.table(table, origin, &mut buffer, at_a_time)?;
                }
            }
        }
        Ok(())
    }

    /// Scans one table from beginning to end.
    fn table(
        &mut self,
        table: Window,
        origin: u64,
        buffer: &mut Buffer,
        at_a_time: usize,
    ) -> Result<(), Failure> {
        let row_bytes = self.shape.row_bytes;
        let begin = table.first_row * row_bytes as u64;
        let end = begin + table.rows * row_bytes as u64;
        let alignment = DIRECT_ALIGNMENT as u64;
        let mut position = begin / alignment * alignment;
        // Bytes before the first row, and bytes of a row whose rest is in the next read.
        let mut skipped = (begin - position) as usize;
        let mut kept = 0;
        let mut row = table.first_row - origin;
        while position < end {
            if (self.stop)() {
                return Err(Failure::Stopped);
            }
            let left = (end - position).next_multiple_of(alignment);
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(at_a_time);
            let read = read_fully(self.file, buffer.area(wanted), position)? as u64;
            if read == 0 || (read < wanted as u64 && position + read < end) {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let used = read.min(end - position) as usize;
            let content = &buffer.content(kept, used)[skipped..];
            let content_begin = position - kept as u64 + skipped as u64;
            let rows = content.chunks_exact(row_bytes);
            let rest = rows.remainder().len();
            for bytes in rows {
                self.record.copy_from_slice(bytes);
                let second = self
                    .fragments
                    .and_then(|fragments| fragments.second_part(row));
                if let Some(other) = second {
                    self.fetch_second_part(origin + other, content, content_begin)?;
                }
                self.look();
                row += 1;
            }
            buffer.keep(rest, used);
            (kept, skipped) = (rest, 0);
            position += read;
        }
        Ok(())
    }

    /// Copies the second half of another row behind the first half of this one: from the buffer if it is there.
    fn fetch_second_part(
        &mut self,
        other: u64,
        content: &[u8],
        content_begin: u64,
    ) -> Result<(), Failure> {
        let first_half = self.shape.row_bytes / 2;
        let place = other * self.shape.row_bytes as u64 + first_half as u64;
        let second = &mut self.record[first_half..];
        let in_buffer = place
            .checked_sub(content_begin)
            .and_then(|at| usize::try_from(at).ok());
        let in_buffer = in_buffer.and_then(|at| content.get(at..)?.get(..second.len()));
        if let Some(found) = in_buffer {
            second.copy_from_slice(found);
            return Ok(());
        }
        read_exactly(self.file, second, place)
    }

    /// Reads rows by their positions: as many as fit into the buffer are sorted into file order, read, and returned in
    /// the requested order.
    fn by_position(&mut self, origin: u64) -> Result<(), Failure> {
        let row_bytes = self.shape.row_bytes;
        let rows_at_a_time = (read_bytes(self.size) / (row_bytes + POSITION_BYTES)).max(1);
        let rows_at_a_time = rows_at_a_time.min(self.positions.len().max(1));
        let mut order: Vec<(u64, usize)> = Vec::with_capacity(rows_at_a_time);
        let mut rows = vec![0; rows_at_a_time * row_bytes];
        for positions in self.positions.chunks(rows_at_a_time) {
            order.clear();
            order.extend(
                positions
                    .iter()
                    .enumerate()
                    .map(|(place, row)| (*row, place)),
            );
            order.sort_unstable();
            for (row, place) in &order {
                if (self.stop)() {
                    return Err(Failure::Stopped);
                }
                let row_at = (origin + row) * row_bytes as u64;
                read_exactly(
                    self.file,
                    &mut rows[place * row_bytes..][..row_bytes],
                    row_at,
                )?;
            }
            for row in rows.chunks_exact(row_bytes).take(positions.len()) {
                self.record.copy_from_slice(row);
                self.look();
            }
        }
        Ok(())
    }

    /// Evaluates the record: both of its ends go into the digest.
    fn look(&mut self) {
        let record = &self.record;
        let ends = match (record.first_chunk::<8>(), record.last_chunk::<8>()) {
            (Some(first), Some(last)) => {
                u64::from_le_bytes(*first).wrapping_add(u64::from_le_bytes(*last).rotate_left(32))
            }
            _ => record
                .iter()
                .fold(0, |sum, byte| sum * 256 + u64::from(*byte)),
        };
        self.seen.rows += 1;
        self.seen.digest = self.seen.digest.wrapping_add(ends);
    }
}

/// Reads until `bytes` is full or the file ends; returns the number of bytes.
fn read_fully(file: &dyn ScannedFile, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A read past the cache that ended within a block ended at the end of the file.
            Err(error)
                if !done.is_multiple_of(DIRECT_ALIGNMENT)
                    && error.kind() == io::ErrorKind::InvalidInput =>
            {
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn read_exactly(file: &dyn ScannedFile, bytes: &mut [u8], offset: u64) -> Result<(), Failure> {
    let wanted = bytes.len();
    match read_fully(file, bytes, offset)? {
        read if read == wanted => Ok(()),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}
