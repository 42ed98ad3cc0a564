//! A file system whose n-th call fails, for tests: for every n, a statement must end with a clear
//! error and leave nothing behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{IoBackend, IoFile};

/// What the failing call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device is full.
    DiskFull,
    /// The device fails.
    DeviceError,
    /// A write moves half of its bytes; every later write finds the device full.
    ShortWrite,
    /// A read gives other bytes than were written.
    CorruptRead,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    calls: AtomicU64,
    fail_at: u64,
}

impl State {
    /// Counts a call that moves or makes something; true when it is the one to fail.
    fn is_due(&self) -> bool {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        call == self.fail_at
    }

    fn is_past(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.fail_at
    }

    fn check(&self) -> io::Result<()> {
        if self.is_due() {
            Err(self.error())
        } else {
            Ok(())
        }
    }

    fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(match self.fault {
            Fault::DiskFull | Fault::ShortWrite => libc::ENOSPC,
            Fault::DeviceError | Fault::CorruptRead => libc::EIO,
        })
    }
}

/// Wraps another backend and fails the `fail_at`-th call (counted from 1) of those that create,
/// open, write, read or resize. Removing always works: it is what cleans up.
#[derive(Debug)]
pub struct FaultIo {
    inner: Arc<dyn IoBackend>,
    state: Arc<State>,
}

impl FaultIo {
    /// A backend over `inner`; `fail_at` 0 never fails.
    pub fn new(inner: Arc<dyn IoBackend>, fault: Fault, fail_at: u64) -> Self {
        let state = State {
            fault,
            calls: AtomicU64::new(0),
            fail_at,
        };
        Self {
            inner,
            state: Arc::new(state),
        }
    }

    /// How many calls were counted so far.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::Relaxed)
    }

    fn wrap(&self, inner: Box<dyn IoFile>) -> Box<dyn IoFile> {
        Box::new(FaultFile {
            inner,
            state: Arc::clone(&self.state),
        })
    }
}

impl IoBackend for FaultIo {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state.check()?;
        self.inner.create_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        self.state.check()?;
        Ok(self.wrap(self.inner.create_file(path)?))
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        self.state.check()?;
        Ok(self.wrap(self.inner.open_file(path)?))
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list(path)
    }
}

#[derive(Debug)]
struct FaultFile {
    inner: Box<dyn IoFile>,
    state: Arc<State>,
}

impl IoFile for FaultFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let due = self.state.is_due();
        match self.state.fault {
            Fault::ShortWrite if due => self.inner.write_at(&bytes[..bytes.len() / 2], offset),
            Fault::ShortWrite if self.state.is_past() && self.state.fail_at > 0 => {
                Err(self.state.error())
            }
            Fault::DiskFull | Fault::DeviceError if due => Err(self.state.error()),
            _ => self.inner.write_at(bytes, offset),
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let due = self.state.is_due();
        match self.state.fault {
            Fault::DeviceError if due => Err(self.state.error()),
            Fault::CorruptRead if due => {
                let read = self.inner.read_at(bytes, offset)?;
                if let Some(byte) = bytes[..read].last_mut() {
                    *byte ^= 0x40;
                }
                Ok(read)
            }
            _ => self.inner.read_at(bytes, offset),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.inner.set_len(length)
    }

    fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        self.inner.punch(offset, length)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.inner.try_lock()
    }
}
