//! One file of the temporary space and the account of its parts.
//!
//! Places are given from a list of free ones of the same size, else from the end. When the last
//! place of a lane is given back all of its space is free again and taking restarts at offset 0,
//! over pages that the page cache still holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::IoFailure;
use crate::io::{IoBackend, IoFile};

/// A part of a lane's file.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) file: Arc<dyn IoFile>,
    pub(super) path: Arc<Path>,
    pub(super) offset: u64,
    size: u64,
}

#[derive(Debug, Default)]
struct LaneState {
    file: Option<(Arc<dyn IoFile>, Arc<Path>)>,
    /// Free places by size.
    free: BTreeMap<u64, Vec<u64>>,
    /// Free places whose space was given back to the file system; taken last.
    punched: BTreeMap<u64, Vec<u64>>,
    punched_bytes: u64,
    /// Where the next new place starts.
    end: u64,
    /// The most that `end` has been since the file was last cut.
    length: u64,
    used: u64,
}

/// A file of the temporary space; it exists once something was written.
#[derive(Debug, Default)]
pub(super) struct Lane(Mutex<LaneState>);

impl Lane {
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes in use, and bytes of the file that wait for reuse.
    pub(super) fn usage(&self) -> (u64, u64) {
        let state = self.lock();
        (state.used, state.idle())
    }

    /// A place of `size` bytes; none when the file does not exist yet.
    pub(super) fn take(&self, size: u64) -> Option<Place> {
        self.lock().take(size)
    }

    /// As [`Self::take`], after making the file at `path` if there is none.
    pub(super) fn open_and_take(
        &self,
        io: &dyn IoBackend,
        path: PathBuf,
        size: u64,
    ) -> Result<Place, IoFailure> {
        let mut state = self.lock();
        if state.file.is_none() {
            let file = io.create_file(&path).map_err(|source| IoFailure {
                operation: "create",
                path: path.clone(),
                offset: 0,
                bytes: size,
                source,
            })?;
            state.file = Some((Arc::from(file), Arc::from(path)));
        }
        Ok(state.take(size).expect("the lane has its file"))
    }

    /// Takes a place back. Beyond `idle_limit` its space goes to the file system.
    pub(super) fn give_back(&self, place: Place, idle_limit: u64) {
        let mut state = self.lock();
        state.used -= place.size;
        if state.used == 0 {
            state.free.clear();
            state.punched.clear();
            state.punched_bytes = 0;
            state.end = 0;
            if state.length > idle_limit {
                // A file that cannot be cut only keeps space that will be used again.
                let _ = place.file.set_len(idle_limit);
                state.length = idle_limit;
            }
        } else if state.idle() > idle_limit && place.file.punch(place.offset, place.size).is_ok() {
            state.punched_bytes += place.size;
            state
                .punched
                .entry(place.size)
                .or_default()
                .push(place.offset);
        } else {
            state.free.entry(place.size).or_default().push(place.offset);
        }
    }

    /// Removes the file when no place of it is in use; whether there is no file now.
    pub(super) fn remove_if_idle(&self, io: &dyn IoBackend) -> bool {
        let mut state = self.lock();
        if state.used > 0 {
            return false;
        }
        if let Some((_, path)) = state.file.take() {
            let _ = io.remove_file(&path);
        }
        *state = LaneState::default();
        true
    }
}

impl LaneState {
    fn idle(&self) -> u64 {
        self.length
            .saturating_sub(self.used)
            .saturating_sub(self.punched_bytes)
    }

    fn take(&mut self, size: u64) -> Option<Place> {
        let (file, path) = self.file.clone()?;
        let reused = self.free.get_mut(&size).and_then(Vec::pop);
        let offset = match reused {
            Some(offset) => offset,
            None => match self.punched.get_mut(&size).and_then(Vec::pop) {
                Some(offset) => {
                    self.punched_bytes -= size;
                    offset
                }
                None => {
                    let offset = self.end;
                    self.end += size;
                    self.length = self.length.max(self.end);
                    offset
                }
            },
        };
        self.used += size;
        Some(Place {
            file,
            path,
            offset,
            size,
        })
    }
}
