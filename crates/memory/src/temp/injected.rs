//! Faults of temporary files that a user asks for, to see what an application does when temporary space fails.
//!
//! A [`FaultInjection`] belongs to the files that one handle of the temporary space makes
//! ([`TempSpace::with_faults`](super::TempSpace::with_faults)). It strikes before anything that several sessions share
//! is touched, so that only its own files fail: a device that is reported full here has room for all others. Errors are
//! those of the system for the same failure. Counts begin anew with each statement.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::sync::lock;

/// Faults of the temporary files of a session. None by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TempFaults {
    /// Whether every write finds the device full.
    pub full_disk: bool,
    /// Number of bytes after which a statement finds the device full.
    pub fail_after_bytes: Option<u64>,
    /// Number of a statement's write that fails with a device error, from 1 on.
    pub fail_on_write: Option<u64>,
    /// Number of a statement's block that is stored with a wrong bit, from 1 on.
    pub corrupt_block: Option<u64>,
    /// Time that each read and write takes longer.
    pub slow_io: Duration,
}

/// Fault of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Struck {
    /// The device is full.
    Full,
    /// The device fails.
    Device,
    /// The bytes are stored with a wrong bit.
    Corrupt,
}

impl Struck {
    /// The system's error; `None` for bytes that are stored wrong without one.
    pub(super) fn error(self) -> Option<io::Error> {
        match self {
            Self::Full => Some(io::Error::from_raw_os_error(libc::ENOSPC)),
            Self::Device => Some(io::Error::from_raw_os_error(libc::EIO)),
            Self::Corrupt => None,
        }
    }
}

/// The faults of a session with what its statement has written so far.
#[derive(Debug, Default)]
pub struct FaultInjection {
    faults: Mutex<TempFaults>,
    writes: AtomicU64,
    bytes: AtomicU64,
}

impl FaultInjection {
    /// Sets the faults, and begins to count.
    pub fn set(&self, faults: TempFaults) {
        *lock(&self.faults) = faults;
        self.begin_statement();
    }

    /// Begins to count the writes of a statement.
    pub fn begin_statement(&self) {
        self.writes.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Counts a write of `bytes` bytes; returns the fault that strikes it.
    pub(super) fn strike_write(&self, bytes: usize) -> Option<Struck> {
        let faults = *lock(&self.faults);
        std::thread::sleep(faults.slow_io);
        let number = self.writes.fetch_add(1, Ordering::Relaxed) + 1;
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let all = before.saturating_add(bytes as u64);
        if faults.full_disk || faults.fail_after_bytes.is_some_and(|limit| all > limit) {
            return Some(Struck::Full);
        }
        if faults.fail_on_write == Some(number) {
            return Some(Struck::Device);
        }
        (faults.corrupt_block == Some(number)).then_some(Struck::Corrupt)
    }

    /// Delays a read.
    pub(super) fn delay_read(&self) {
        let slow = lock(&self.faults).slow_io;
        std::thread::sleep(slow);
    }
}

/// The bytes with a wrong bit in their middle.
pub(super) fn with_wrong_bit(bytes: &[u8]) -> Vec<u8> {
    let mut wrong = bytes.to_vec();
    let middle = wrong.len() / 2;
    if let Some(byte) = wrong.get_mut(middle) {
        *byte ^= 0x10;
    }
    wrong
}

/// The failure of a write that the fault struck before it had a place.
pub(super) fn failure(path: PathBuf, bytes: u64, source: io::Error) -> crate::error::IoFailure {
    crate::error::IoFailure {
        operation: "write",
        path,
        offset: 0,
        bytes,
        source,
    }
}
