//! Temporary space: where tables go that outgrow their memory.
//!
//! A process has one directory under `tmpdir`, made when the first byte overflows and not before,
//! and in it a few files, the *lanes*. A table's [`TempFile`] is a set of [`Extent`]s in one lane;
//! there are several lanes because the kernel lets one thread at a time write a file.
//!
//! Space is recycled: an extent that is dropped can be taken by the next statement, which then
//! overwrites pages that are still in the page cache. That is several times cheaper than growing a
//! file. What waits for reuse is bounded by [`TempSpaceOptions::idle_limit`], charged to nobody,
//! and returned by [`TempSpace::trim`].
//!
//! Every extent has a checksum, kept in memory with its place: a file that was changed or a device
//! that lies gives a clear error, never a wrong result.
//!
//! Whose directory is whose: before a process makes its directory `mayfly-<name>` it makes and
//! locks `mayfly-<name>.lock`. The lock ends with the process, however it ends, so
//! [`TempSpace::remove_orphans`] may remove exactly those whose lock it can take.

mod home;
mod lane;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::budget::{Budget, Reservation};
use crate::counters::TempCounters;
use crate::error::{IoFailure, MemoryError, Result};
use crate::io::IoBackend;
use home::Home;
use lane::Lane;

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
}

#[derive(Debug)]
struct Inner {
    io: Arc<dyn IoBackend>,
    options: TempSpaceOptions,
    counters: TempCounters,
    home: Mutex<Option<Home>>,
    lanes: Vec<Lane>,
    next_lane: AtomicUsize,
}

/// The temporary space of one process. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct TempSpace(Arc<Inner>);

impl TempSpace {
    /// A temporary space; touches no file.
    pub fn new(io: Arc<dyn IoBackend>, options: TempSpaceOptions) -> Self {
        let lanes = (0..options.lanes.max(1)).map(|_| Lane::default()).collect();
        Self(Arc::new(Inner {
            io,
            options,
            counters: TempCounters::default(),
            home: Mutex::new(None),
            lanes,
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

    /// Bytes of file space that wait for reuse.
    pub fn idle_bytes(&self) -> u64 {
        self.0.lanes.iter().map(|lane| lane.usage().1).sum()
    }

    /// The directory of this process, once it exists.
    pub fn directory(&self) -> Option<PathBuf> {
        let home = self.0.home.lock().unwrap_or_else(PoisonError::into_inner);
        home.as_ref().map(|home| home.directory().to_owned())
    }

    /// Returns idle space to the file system: removes the files that hold no extent, and the
    /// directory when none is left. The next overflow makes them again.
    pub fn trim(&self) {
        let mut home = self.0.home.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all_gone = true;
        for lane in &self.0.lanes {
            all_gone &= lane.remove_if_idle(&*self.0.io);
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
    fn place(&self, lane_index: usize, size: u64) -> Result<lane::Place> {
        let lane = &self.lanes[lane_index];
        if let Some(place) = lane.take(size) {
            return Ok(place);
        }
        // The directory's lock is taken before a lane's, as in `trim`.
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        if home.is_none() {
            *home = Some(Home::create(&*self.io, &self.options.tmpdir)?);
        }
        let directory = home.as_ref().expect("made just now").directory();
        let path = directory.join(format!("lane-{lane_index}.tmp"));
        Ok(lane.open_and_take(&*self.io, path, size)?)
    }

    fn idle_limit_per_lane(&self) -> u64 {
        self.options.idle_limit / self.lanes.len() as u64
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for lane in &self.lanes {
            lane.remove_if_idle(&*self.io);
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
        let place = self.space.place(self.lane, size)?;
        // From here on the extent's drop returns the place.
        let extent = Extent {
            space: Arc::clone(&self.space),
            lane: self.lane,
            place: Some(place),
            length: bytes.len(),
            checksum: xxh3_64(bytes),
            _reservation: reservation,
        };
        if !self.counted.swap(true, Ordering::Relaxed) {
            self.space.counters.count_file();
        }
        let place = extent.place();
        let mut done = 0;
        while done < bytes.len() {
            let offset = place.offset + done as u64;
            let result = place.file.write_at(&bytes[done..], offset);
            let error = match result {
                Ok(0) => std::io::ErrorKind::WriteZero.into(),
                Ok(written) => {
                    done += written;
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(place
                .failure("write", offset, bytes.len() - done, error)
                .into());
        }
        self.space.counters.count_write(bytes.len() as u64);
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
    place: Option<lane::Place>,
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

    fn place(&self) -> &lane::Place {
        self.place
            .as_ref()
            .expect("an extent has its place until it is dropped")
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.place().path
    }

    /// Reads all bytes back into the first `len()` bytes of `bytes` and checks them.
    ///
    /// # Panics
    /// When `bytes` is shorter than the extent.
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        let bytes = &mut bytes[..self.length];
        let place = self.place();
        let mut done = 0;
        while done < bytes.len() {
            let offset = place.offset + done as u64;
            let left = bytes.len() - done;
            let error = match place.file.read_at(&mut bytes[done..], offset) {
                Ok(0) => std::io::ErrorKind::UnexpectedEof.into(),
                Ok(read) => {
                    done += read;
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(place.failure("read", offset, left, error).into());
        }
        if xxh3_64(bytes) != self.checksum {
            return Err(MemoryError::Corrupt {
                path: place.path.to_path_buf(),
                offset: place.offset,
                bytes: self.length as u64,
            });
        }
        self.space.counters.count_read(bytes.len() as u64);
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
        if let Some(place) = self.place.take() {
            let limit = self.space.idle_limit_per_lane();
            self.space.lanes[self.lane].give_back(place, limit);
        }
    }
}

impl lane::Place {
    fn failure(
        &self,
        operation: &'static str,
        offset: u64,
        bytes: usize,
        source: std::io::Error,
    ) -> IoFailure {
        let path = self.path.to_path_buf();
        IoFailure {
            operation,
            path,
            offset,
            bytes: bytes as u64,
            source,
        }
    }
}

#[cfg(test)]
mod tests;
