//! A lane: one file of the temporary space and the account of its parts.
//!
//! Free parts are ordered by offset and as long as possible: a part that is given back is joined with its neighbours,
//! and a request takes the part that fits it best, so that the file does not grow while free parts suffice. Parts whose
//! space was returned to the file system (*holes*) are listed apart, and used last. When the last part in use is given
//! back everything is free again and allocation restarts at offset 0, over pages that the page cache still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::disk_space::{DiskSpace, NoRoom};
use super::sizes::EXTENT_UNIT;
use crate::error::IoFailure;
use crate::io::{IoBackend, IoFile};
use crate::sync::lock;

/// An open file with its path.
#[derive(Debug)]
pub(super) struct LaneFile {
    pub(super) file: Box<dyn IoFile>,
    pub(super) path: PathBuf,
}

/// A part of a lane's file.
#[derive(Debug)]
pub(super) struct Allocation {
    pub(super) file: Arc<LaneFile>,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Result of a request for space.
#[derive(Debug)]
pub(super) enum Taken {
    Allocation(Allocation),
    /// There is no file yet.
    NoFile,
    /// The file would have to grow by `n` bytes, for which there is no space.
    NoSpace(u64, NoRoom),
}

/// Free parts of a file, either all holes or none.
#[derive(Debug, Default)]
struct Free {
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl Free {
    /// Whether one part has at least `size` bytes.
    fn has(&self, size: u64) -> bool {
        let largest = self.by_size.last();
        largest.is_some_and(|(length, _)| *length >= size)
    }

    fn add_part(&mut self, offset: u64, size: u64) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
        self.bytes += size;
    }

    fn remove_part(&mut self, offset: u64, size: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
        self.bytes -= size;
    }

    /// Adds a part, joined with its neighbours.
    fn add(&mut self, mut offset: u64, mut size: u64) {
        let before = self.by_offset.range(..offset).next_back();
        if let Some((&start, &length)) = before
            && start + length == offset
        {
            self.remove_part(start, length);
            (offset, size) = (start, size + length);
        }
        if let Some(&length) = self.by_offset.get(&(offset + size)) {
            self.remove_part(offset + size, length);
            size += length;
        }
        self.add_part(offset, size);
    }

    /// Takes `size` bytes of the smallest part that has them.
    fn take(&mut self, size: u64) -> Option<u64> {
        let &(length, offset) = self.by_size.range((size, 0)..).next()?;
        self.remove_part(offset, length);
        if length > size {
            self.add_part(offset + size, length - size);
        }
        Some(offset)
    }

    /// Takes the part that ends at `end`; returns its start.
    fn take_last(&mut self, end: u64) -> Option<u64> {
        let (&offset, &length) = self.by_offset.last_key_value()?;
        (offset + length == end).then(|| {
            self.remove_part(offset, length);
            offset
        })
    }
}

/// A file that is being made. If it is dropped unfinished, by an error or a panic, the file and its space are removed,
/// and it is made anew when it is needed again.
struct UnfinishedFile<'a> {
    io: &'a dyn IoBackend,
    path: &'a Path,
    disk: &'a DiskSpace,
    reserved: u64,
    is_created: bool,
}

impl UnfinishedFile<'_> {
    fn finish(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnfinishedFile<'_> {
    fn drop(&mut self) {
        if self.is_created {
            let _ = self.io.remove_file(self.path);
        }
        self.disk.shrink(self.reserved);
    }
}

#[derive(Debug, Default)]
struct LaneState {
    file: Option<Arc<LaneFile>>,
    free: Free,
    holes: Free,
    /// End of the last part in use.
    end: u64,
    /// The length of the file: it is free from `end` on.
    length: u64,
    used: u64,
}

/// A file of a directory; it exists once bytes were written.
#[derive(Debug, Default)]
pub(super) struct Lane(Mutex<LaneState>);

impl Lane {
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        lock(&self.0)
    }

    /// Bytes in use, and bytes of the file that wait for reuse.
    pub(super) fn usage(&self) -> (u64, u64) {
        let state = self.lock();
        (state.used, state.idle())
    }

    /// Space of `size` bytes.
    pub(super) fn take(&self, size: u64, disk: &DiskSpace) -> Taken {
        self.lock().take(size, disk)
    }

    /// Makes the file at `path`, with `initial` bytes, if it does not exist. False: there is no space for those.
    pub(super) fn open(
        &self,
        io: &dyn IoBackend,
        path: PathBuf,
        initial: u64,
        disk: &DiskSpace,
    ) -> Result<bool, IoFailure> {
        let mut state = self.lock();
        if state.file.is_some() {
            return Ok(true);
        }
        if disk.grow(initial).is_err() {
            return Ok(false);
        }
        let failure = |operation, source| IoFailure {
            operation,
            path: path.clone(),
            offset: 0,
            bytes: initial,
            source,
        };
        let mut unfinished = UnfinishedFile {
            io,
            path: &path,
            disk,
            reserved: initial,
            is_created: false,
        };
        let file = io
            .create_file(&path)
            .map_err(|error| failure("create", error))?;
        unfinished.is_created = true;
        if initial > 0 {
            let allocated = file.allocate(initial);
            allocated.map_err(|error| failure("allocate", error))?;
        }
        unfinished.finish();
        state.file = Some(Arc::new(LaneFile { file, path }));
        state.length = initial;
        Ok(true)
    }

    /// Takes space back. Beyond `idle_limit` it is returned to the file system, except the first `initial` bytes when
    /// nothing is in use.
    pub(super) fn give_back(
        &self,
        allocation: Allocation,
        idle_limit: u64,
        initial: u64,
        disk: &DiskSpace,
    ) {
        let mut state = self.lock();
        let before = state.on_disk();
        state.used -= allocation.size;
        let is_surplus = state.used > 0 && state.idle() > idle_limit;
        state.release(&allocation, is_surplus);
        if state.used == 0 {
            state.cut(&*allocation.file.file, idle_limit.max(initial));
        }
        disk.changed(before, state.on_disk());
    }

    /// Takes space back whose bytes could not be written because the device is full: the part of it that the device has
    /// allocated is returned there, and so is the free space behind it, so that the length is again what the device
    /// holds.
    pub(super) fn give_back_unwritten(&self, allocation: &Allocation, disk: &DiskSpace) {
        let mut state = self.lock();
        let before = state.on_disk();
        state.used -= allocation.size;
        state.release(allocation, true);
        let end = state.end;
        state.cut(&*allocation.file.file, end);
        disk.changed(before, state.on_disk());
    }

    /// Returns about `wanted` unused bytes to the file system; returns how many.
    pub(super) fn give_idle(&self, wanted: u64, disk: &DiskSpace) -> u64 {
        let mut state = self.lock();
        let Some(open) = state.file.clone() else {
            return 0;
        };
        let file = &*open.file;
        // Whole units, the smallest size that file systems release.
        let wanted = wanted.div_ceil(EXTENT_UNIT).saturating_mul(EXTENT_UNIT);
        let before = state.on_disk();
        let target = before.saturating_sub(wanted);
        let tail = state.length - state.end;
        let length = state.length - tail.min(wanted);
        state.cut(file, length);
        while state.on_disk() > target
            && let Some((&offset, &size)) = state.free.by_offset.last_key_value()
            && file.punch(offset, size).is_ok()
        {
            state.free.remove_part(offset, size);
            state.holes.add(offset, size);
        }
        disk.changed(before, state.on_disk());
        before.saturating_sub(state.on_disk())
    }

    /// Removes the file when nothing of it is in use; returns whether there is no file now.
    pub(super) fn remove_if_idle(&self, io: &dyn IoBackend, disk: &DiskSpace) -> bool {
        let mut state = self.lock();
        if state.used > 0 {
            return false;
        }
        if let Some(open) = state.file.take() {
            let _ = io.remove_file(&open.path);
        }
        disk.changed(state.on_disk(), 0);
        *state = LaneState::default();
        true
    }
}

impl LaneState {
    fn on_disk(&self) -> u64 {
        self.length - self.holes.bytes
    }

    fn idle(&self) -> u64 {
        self.on_disk().saturating_sub(self.used)
    }

    fn take(&mut self, size: u64, disk: &DiskSpace) -> Taken {
        let Some(file) = self.file.clone() else {
            return Taken::NoFile;
        };
        let tail = self.length - self.end;
        let offset = if let Some(offset) = self.free.take(size) {
            offset
        } else if tail < size && self.holes.has(size) {
            if let Err(no_room) = disk.grow(size) {
                return Taken::NoSpace(size, no_room);
            }
            self.holes.take(size).expect("there is one")
        } else {
            let growth = size.saturating_sub(tail);
            if let Err(no_room) = disk.grow(growth) {
                return Taken::NoSpace(growth, no_room);
            }
            let offset = self.end;
            self.end += size;
            self.length = self.length.max(self.end);
            offset
        };
        self.used += size;
        Taken::Allocation(Allocation { file, offset, size })
    }

    /// Makes a part free or, with `punch`, a hole.
    fn release(&mut self, allocation: &Allocation, punch: bool) {
        let (file, offset, size) = (&*allocation.file.file, allocation.offset, allocation.size);
        if punch && file.punch(offset, size).is_ok() {
            self.holes.add(offset, size);
        } else {
            self.free.add(offset, size);
        }
        self.shorten(file);
    }

    /// Cuts the file to `length`, or to the part in use.
    fn cut(&mut self, file: &dyn IoFile, length: u64) {
        let length = length.max(self.end);
        // A file that cannot be cut only keeps space that will be used again.
        if self.length > length && file.set_len(length).is_ok() {
            self.length = length;
        }
    }

    /// Removes free parts at the end of the file.
    fn shorten(&mut self, file: &dyn IoFile) {
        loop {
            if let Some(start) = self.free.take_last(self.end) {
                self.end = start;
            } else if let Some(start) = self.holes.take_last(self.end) {
                // A part behind a hole is cut with it: the file is whole up to its length.
                let end = self.end;
                self.end = start;
                if file.set_len(start).is_ok() {
                    self.length = start;
                } else {
                    self.end = end;
                    self.holes.add_part(start, end - start);
                    return;
                }
            } else {
                return;
            }
        }
    }
}
