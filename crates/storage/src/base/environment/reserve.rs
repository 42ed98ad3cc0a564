//! Space that is kept for a full disk: a file of the data directory whose bytes are given back for what frees space, for
//! what was committed already, and for opening the directory.
//!
//! The log and a data file that writes no page in place need space before they give any back. What is left of the
//! reserve after that is taken again at once, so that nobody else has it, and the rest when the disk has room.

use std::sync::{Mutex, MutexGuard};

use mayfly_memory::io::{DataDirectory, DirectoryFile};
use mayfly_memory::sync::lock;

/// The name of the file.
const RESERVE_FILE: &str = "reserve";
/// Its bytes: the log of a large DELETE, and the list of the free pages of a large table.
const RESERVE_BYTES: u64 = 16 << 20;
/// Less is not worth a file.
const LEAST_BYTES: u64 = 256 << 10;

/// See the module.
#[derive(Debug)]
pub(super) struct Reserve {
    /// None of an ephemeral store, and where the file cannot be made.
    file: Option<DirectoryFile>,
    /// How many bytes it has. Locked while they are released.
    bytes: Mutex<u64>,
}

/// The right to the bytes of a reserve that was released: what is left of them is taken again when this is dropped.
pub(super) struct Released<'r> {
    file: &'r DirectoryFile,
    bytes: MutexGuard<'r, u64>,
}

impl Reserve {
    /// None.
    pub(super) fn none() -> Self {
        Self {
            file: None,
            bytes: Mutex::new(0),
        }
    }

    /// That of a directory, as it is; without its bytes where the disk is full.
    pub(super) fn of(directory: &DataDirectory, is_full: bool) -> Self {
        let file = directory.file(RESERVE_FILE).ok();
        let length = |file: &DirectoryFile| match is_full {
            true => {
                // Where it cannot be shortened, it is no help.
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

    /// Gives its bytes back to the disk; none where it has none.
    pub(super) fn release(&self) -> Option<Released<'_>> {
        let file = self.file.as_ref()?;
        let mut bytes = lock(&self.bytes);
        if *bytes == 0 || file.set_length(0).is_err() {
            return None;
        }
        *bytes = 0;
        Some(Released { file, bytes })
    }

    /// Takes as many bytes as it should have, or as there are, unless they are released.
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
        // What an attempt has taken and cannot use.
        let _ = file.set_length(*has);
        bytes /= 2;
    }
}
