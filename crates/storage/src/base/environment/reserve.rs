//! Reserve for a full disk: a file of the data directory whose bytes are released for changes that free space, for
//! changes committed already, and for opening the directory.
//!
//! The log and a data file that writes no page in place need space before they free any. What is left of the reserve
//! after that is taken back at once, so that nobody else gets it, and the rest when the disk has room.

use std::sync::{Mutex, MutexGuard};

use mayfly_memory::io::{DataDirectory, DirectoryFile};
use mayfly_memory::sync::lock;

/// Name of the reserve file.
const RESERVE_FILE: &str = "reserve";
/// Size of the reserve in bytes: the log of a large DELETE, and the list of the free pages of a large table.
const RESERVE_BYTES: u64 = 16 << 20;
/// Smallest useful reserve, in bytes.
const LEAST_BYTES: u64 = 256 << 10;

/// Reserve file of a data directory.
#[derive(Debug)]
pub(super) struct Reserve {
    /// The open file; `None` for an ephemeral store, and where the file cannot be made.
    file: Option<DirectoryFile>,
    /// Bytes allocated to the file. Locked while they are released.
    bytes: Mutex<u64>,
}

/// Guard of a released reserve; dropping it takes back what is left of the bytes.
pub(super) struct Released<'r> {
    file: &'r DirectoryFile,
    bytes: MutexGuard<'r, u64>,
}

impl Reserve {
    /// No reserve.
    pub(super) fn none() -> Self {
        Self {
            file: None,
            bytes: Mutex::new(0),
        }
    }

    /// The reserve of a directory as found; emptied where the disk is full.
    pub(super) fn of(directory: &DataDirectory, is_full: bool) -> Self {
        let file = directory.file(RESERVE_FILE).ok();
        let length = |file: &DirectoryFile| match is_full {
            true => {
                // If the file cannot be shortened, it does not help.
                let _ = file.set_length(0);
                0
            }
            false => file.length().unwrap_or(0),
        };
        Self {
            bytes: Mutex::new(file.as_ref().map_or(0, length)),
            file,
        }
    }

    /// Releases the bytes to the disk; `None` if the reserve is empty.
    pub(super) fn release(&self) -> Option<Released<'_>> {
        let file = self.file.as_ref()?;
        let mut bytes = lock(&self.bytes);
        if *bytes == 0 || file.set_length(0).is_err() {
            return None;
        }
        *bytes = 0;
        Some(Released { file, bytes })
    }

    /// Allocates the missing bytes, as far as the disk has room, unless they are released.
    pub(super) fn fill(&self) {
        if let (Some(file), Ok(mut bytes)) = (&self.file, self.bytes.try_lock()) {
            fill(file, &mut bytes);
        }
    }
}

impl Drop for Released<'_> {
    fn drop(&mut self) {
        fill(self.file, &mut self.bytes);
    }
}

fn fill(file: &DirectoryFile, has: &mut u64) {
    let mut bytes = RESERVE_BYTES;
    while bytes >= LEAST_BYTES && bytes > *has {
        if file.allocate(bytes).is_ok() && file.set_length(bytes).is_ok() {
            *has = bytes;
            return;
        }
        // Frees what a failed attempt has allocated in part.
        let _ = file.set_length(*has);
        bytes /= 2;
    }
}
