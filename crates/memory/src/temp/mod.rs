//! Temporary space: where tables go that outgrow their memory.
//!
//! A process has one directory under `tmpdir`, made when the first byte overflows and not before,
//! and in it a few files, the *lanes*. A table's [`TempFile`] is a set of [`Extent`]s in one lane;
//! there are several lanes because the kernel lets one thread at a time write a file.
//!
//! Space is recycled: an extent that is dropped can be taken by the next statement, which then
//! overwrites pages that are still in the page cache. That is several times cheaper than growing a
//! file. What waits for reuse is bounded by [`TempSpaceOptions::idle_limit`], charged to nobody,
//! and returned by [`TempSpace::trim`]. All files together, with what waits in them, never take
//! more than [`TempSpaceOptions::limit`]: where a file would have to grow beyond, what waits is
//! given back first.
//!
//! Every extent has a checksum, held in memory with its offset: a file that was changed or a device
//! that lies gives a clear error, never a wrong result.
//!
//! Whose directory is whose: before a process makes its directory `mayfly-<name>` it makes and
//! locks `mayfly-<name>.lock`. The lock ends with the process, however it ends, so
//! [`TempSpace::remove_orphans`] may remove exactly those whose lock it can take.

mod home;
mod lane;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sync::lock;
use xxhash_rust::xxh3::xxh3_64;

use crate::budget::{Budget, BudgetKind, Reservation, UNLIMITED};
use crate::counters::TempCounters;
use crate::error::{IoFailure, LimitError, MemoryError, Result};
use crate::io::IoBackend;
use home::Home;
use lane::{Lane, Taken};

/// Extents start at multiples of this.
const EXTENT_UNIT: u64 = 4096;

/// Where temporary files live and how much is kept for reuse.
#[derive(Debug, Clone)]
pub struct TempSpaceOptions {
    /// The directory under which this process makes its own.
    pub tmpdir: PathBuf,
    /// How many files are written side by side: the number of worker threads.
    pub lanes: usize,
    /// How many bytes of file space may wait for reuse.
    pub idle_limit: u64,
    /// How many bytes the files are made with, before the first is written.
    pub initial: u64,
    /// How many bytes the files may take.
    pub limit: u64,
    /// The setting of `initial` and `limit`.
    pub limit_setting: &'static str,
    /// What the files are called; those that have no name of their own have the last one's with a
    /// number.
    pub names: Vec<String>,
}

impl TempSpaceOptions {
    /// Files under `tmpdir` that take what they need.
    pub fn new(tmpdir: PathBuf, lanes: usize, idle_limit: u64) -> Self {
        Self {
            tmpdir,
            lanes,
            idle_limit,
            initial: 0,
            limit: UNLIMITED,
            limit_setting: "none",
            names: Vec::new(),
        }
    }

    fn name(&self, lane: usize) -> String {
        match (self.names.get(lane), self.names.last()) {
            (Some(name), _) => name.clone(),
            (None, Some(last)) => format!("{last}.{lane}"),
            (None, None) => format!("lane-{lane}.tmp"),
        }
    }
}

/// The bytes that all files take.
#[derive(Debug)]
struct DiskSpace {
    used: AtomicU64,
    limit: u64,
}

impl DiskSpace {
    /// Takes so many more if the limit allows it.
    fn grow(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        let grown = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        bytes == 0 || grown.is_ok()
    }

    fn shrink(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A file that took `before` bytes takes `now`.
    fn changed(&self, before: u64, now: u64) {
        match now.checked_sub(before) {
            Some(more) => self.used.fetch_add(more, Ordering::Relaxed),
            None => self.used.fetch_sub(before - now, Ordering::Relaxed),
        };
    }
}

#[derive(Debug)]
struct Inner {
    io: Arc<dyn IoBackend>,
    options: TempSpaceOptions,
    counters: TempCounters,
    home: Mutex<Option<Home>>,
    lanes: Vec<Lane>,
    disk: DiskSpace,
    next_lane: AtomicUsize,
}

/// The temporary space of one process. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct TempSpace(Arc<Inner>);

impl TempSpace {
    /// A temporary space; touches no file.
    pub fn new(io: Arc<dyn IoBackend>, options: TempSpaceOptions) -> Self {
        let lanes = (0..options.lanes.max(1)).map(|_| Lane::default()).collect();
        let disk = DiskSpace {
            used: AtomicU64::new(0),
            limit: options.limit,
        };
        Self(Arc::new(Inner {
            io,
            options,
            counters: TempCounters::default(),
            home: Mutex::new(None),
            lanes,
            disk,
            next_lane: AtomicUsize::new(0),
        }))
    }

    /// Removes what dead processes left under `tmpdir`; says how many there were. A living
    /// neighbour's directory is left alone.
    pub fn remove_orphans(&self) -> std::io::Result<usize> {
        home::remove_orphans(&*self.0.io, &self.0.options.tmpdir)
    }

    /// A temporary file whose bytes are charged to `budget`. Touches no file until it is written.
    pub fn file(&self, budget: &Budget) -> TempFile {
        let lane = self.0.next_lane.fetch_add(1, Ordering::Relaxed) % self.0.lanes.len();
        TempFile {
            space: Arc::clone(&self.0),
            lane,
            budget: budget.clone(),
            counted: AtomicBool::new(false),
        }
    }

    /// Makes a directory of its own under `tmpdir`, for files that something else writes.
    pub fn make_directory(&self) -> Result<TempDirectory> {
        Ok(TempDirectory {
            io: Arc::clone(&self.0.io),
            home: Some(Home::create(&*self.0.io, &self.0.options.tmpdir)?),
        })
    }

    /// What was done so far.
    pub fn counters(&self) -> &TempCounters {
        &self.0.counters
    }

    /// Bytes of extents in use.
    pub fn used_bytes(&self) -> u64 {
        self.0.lanes.iter().map(|lane| lane.usage().0).sum()
    }

    /// Bytes that the files take, and what they may take.
    pub fn disk_bytes(&self) -> (u64, u64) {
        (self.0.disk.used.load(Ordering::Relaxed), self.0.disk.limit)
    }

    /// What it was made with.
    pub fn options(&self) -> &TempSpaceOptions {
        &self.0.options
    }

    /// Bytes of file space that wait for reuse.
    pub fn idle_bytes(&self) -> u64 {
        self.0.lanes.iter().map(|lane| lane.usage().1).sum()
    }

    /// The directory of this process, once it exists.
    pub fn directory(&self) -> Option<PathBuf> {
        let home = lock(&self.0.home);
        home.as_ref().map(|home| home.directory().to_owned())
    }

    /// Returns idle space to the file system: removes the files that hold no extent, and the
    /// directory when none is left. The next overflow makes them again.
    pub fn trim(&self) {
        let mut home = lock(&self.0.home);
        let mut all_gone = true;
        for lane in &self.0.lanes {
            all_gone &= lane.remove_if_idle(&*self.0.io, &self.0.disk);
        }
        if all_gone && let Some(home) = home.take() {
            home.remove(&*self.0.io);
        }
    }
}

/// A directory under `tmpdir`, removed with its files when this is dropped, or, after a crash, by the
/// next start.
#[derive(Debug)]
pub struct TempDirectory {
    io: Arc<dyn IoBackend>,
    home: Option<Home>,
}

impl TempDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        let home = self.home.as_ref();
        home.map_or(Path::new(""), Home::directory)
    }
}

impl Drop for TempDirectory {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            home.remove(&*self.io);
        }
    }
}

impl Inner {
    /// Gives `size` bytes of a lane, making its file and the directory if need be.
    fn allocate(&self, lane_index: usize, size: u64) -> Result<lane::Allocation> {
        let lane = &self.lanes[lane_index];
        loop {
            let missing = match lane.take(size, &self.disk) {
                Taken::Allocation(allocation) => return Ok(allocation),
                Taken::NoSpace(missing) => missing,
                Taken::NoFile => {
                    // When others have grown meanwhile it begins with nothing.
                    let _ = self.open(lane_index, self.initial_of_lane())?
                        || self.open(lane_index, 0)?;
                    continue;
                }
            };
            // What nobody uses is given back for it.
            let missing = missing.max(self.disk.limit / 16);
            let lanes = self.lanes.iter();
            let given = lanes.fold(0, |given, lane| {
                if given < missing {
                    given + lane.give_idle(missing - given, &self.disk)
                } else {
                    given
                }
            });
            if given == 0 {
                return Err(self.full(size).into());
            }
        }
    }

    fn full(&self, requested: u64) -> LimitError {
        LimitError {
            setting: self.options.limit_setting,
            kind: BudgetKind::TempSpace,
            limit: self.disk.limit,
            used: self.lanes.iter().map(|lane| lane.usage().0).sum(),
            requested,
        }
    }

    /// Makes a lane's file; false when there is no space for it.
    fn open(&self, lane_index: usize, initial: u64) -> Result<bool> {
        // The directory's lock is taken before a lane's, as in `trim`.
        let mut home = lock(&self.home);
        if home.is_none() {
            *home = Some(Home::create(&*self.io, &self.options.tmpdir)?);
        }
        let directory = home.as_ref().expect("made just now").directory();
        let path = directory.join(self.options.name(lane_index));
        Ok(self.lanes[lane_index].open(&*self.io, path, initial, &self.disk)?)
    }

    fn initial_of_lane(&self) -> u64 {
        let share = self.options.initial / self.lanes.len() as u64;
        share / EXTENT_UNIT * EXTENT_UNIT
    }

    fn idle_limit_per_lane(&self) -> u64 {
        self.options.idle_limit / self.lanes.len() as u64
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for lane in &self.lanes {
            lane.remove_if_idle(&*self.io, &self.disk);
        }
        let home = self.home.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = home.take() {
            home.remove(&*self.io);
        }
    }
}

/// A table's temporary file: write extents, read them back in any order.
#[derive(Debug)]
pub struct TempFile {
    space: Arc<Inner>,
    lane: usize,
    budget: Budget,
    counted: AtomicBool,
}

impl TempFile {
    /// Writes `bytes` as one extent.
    pub fn write(&self, bytes: &[u8]) -> Result<Extent> {
        let size = (bytes.len() as u64).next_multiple_of(EXTENT_UNIT);
        let reservation = self.budget.reserve(size)?;
        let allocation = self.space.allocate(self.lane, size)?;
        // From here on the extent's drop returns the space.
        let extent = Extent {
            space: Arc::clone(&self.space),
            lane: self.lane,
            allocation: Some(allocation),
            length: bytes.len(),
            checksum: xxh3_64(bytes),
            _reservation: reservation,
        };
        if !self.counted.swap(true, Ordering::Relaxed) {
            self.space.counters.count_file();
        }
        let allocation = extent.allocation();
        let write = |done: usize, offset| allocation.file.write_at(&bytes[done..], offset);
        allocation.transfer("write", bytes.len(), ErrorKind::WriteZero, write)?;
        self.space.counters.count_write();
        Ok(extent)
    }

    /// The budget that is charged.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

/// Bytes in a temporary file. Dropping it gives the space back.
pub struct Extent {
    space: Arc<Inner>,
    lane: usize,
    allocation: Option<lane::Allocation>,
    length: usize,
    checksum: u64,
    _reservation: Reservation,
}

impl Extent {
    /// How many bytes were written.
    #[expect(clippy::len_without_is_empty, reason = "no extent is empty")]
    pub fn len(&self) -> usize {
        self.length
    }

    fn allocation(&self) -> &lane::Allocation {
        self.allocation
            .as_ref()
            .expect("an extent has its allocation until it is dropped")
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.allocation().path
    }

    /// Reads all bytes back into the first `len()` bytes of `bytes` and checks them.
    ///
    /// # Panics
    /// When `bytes` is shorter than the extent.
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        let bytes = &mut bytes[..self.length];
        let allocation = self.allocation();
        let read = |done: usize, offset| allocation.file.read_at(&mut bytes[done..], offset);
        allocation.transfer("read", self.length, ErrorKind::UnexpectedEof, read)?;
        if xxh3_64(bytes) != self.checksum {
            return Err(MemoryError::Corrupt {
                path: allocation.path.to_path_buf(),
                offset: allocation.offset,
                bytes: self.length as u64,
            });
        }
        Ok(())
    }
}

impl std::fmt::Debug for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Extent({} bytes in '{}')",
            self.length,
            self.path().display()
        )
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take() {
            let space = &self.space;
            let (idle, initial) = (space.idle_limit_per_lane(), space.initial_of_lane());
            space.lanes[self.lane].give_back(allocation, idle, initial, &space.disk);
        }
    }
}

impl lane::Allocation {
    /// Moves `length` bytes. `step` moves some of them, those from a number on, at an offset of the file,
    /// and says how many; none: `at_end`.
    fn transfer(
        &self,
        operation: &'static str,
        length: usize,
        at_end: ErrorKind,
        mut step: impl FnMut(usize, u64) -> std::io::Result<usize>,
    ) -> Result<()> {
        let mut done = 0;
        while done < length {
            let offset = self.offset + done as u64;
            let error = match step(done, offset) {
                Ok(0) => at_end.into(),
                Ok(moved) => {
                    done += moved;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let failure = IoFailure {
                operation,
                path: self.path.to_path_buf(),
                offset,
                bytes: (length - done) as u64,
                source: error,
            };
            return Err(failure.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
