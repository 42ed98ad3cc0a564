//! A file system whose n-th call fails, for tests: for every n, a statement must end with a clear
//! error and leave nothing behind.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{IoBackend, IoFile};
use crate::sync::lock;

/// Kind of a failure. A fault strikes the n-th of the calls that it can affect; only those are
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A write, or the creation of a file, finds the device full.
    DiskFull,
    /// Any call fails with a device error.
    DeviceError,
    /// A file or directory cannot be created or opened.
    OpenError,
    /// A read fails.
    ReadError,
    /// A write moves half of its bytes; every later write finds the device full.
    ShortWrite,
    /// A read returns other bytes than were written.
    CorruptRead,
    /// A read or write moves one byte only, which is not a failure.
    ShortMove,
    /// A signal interrupts a read or write before it moved anything, which is not a failure.
    Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Open,
    Allocate,
    Write,
    Read,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::DiskFull,
        Self::DeviceError,
        Self::OpenError,
        Self::ReadError,
        Self::ShortWrite,
        Self::CorruptRead,
        Self::ShortMove,
        Self::Signal,
    ];

    /// Whether a correct program never notices it.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::ShortMove | Self::Signal)
    }

    fn strikes(self, call: Call) -> bool {
        match self {
            Self::DeviceError => true,
            Self::DiskFull => call != Call::Read,
            Self::OpenError => call == Call::Open,
            Self::ShortWrite => call == Call::Write,
            Self::ReadError | Self::CorruptRead => call == Call::Read,
            Self::ShortMove | Self::Signal => matches!(call, Call::Write | Call::Read),
        }
    }

    fn error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            Self::DiskFull | Self::ShortWrite => libc::ENOSPC,
            Self::OpenError => libc::EACCES,
            Self::Signal => libc::EINTR,
            Self::DeviceError | Self::ReadError | Self::CorruptRead | Self::ShortMove => libc::EIO,
        })
    }
}

struct Armed {
    fault: Fault,
    calls: u64,
    fail_at: u64,
}

/// Callback with the number of each call.
type Listener = Box<dyn Fn(u64) + Send + Sync>;

struct State {
    armed: Mutex<Armed>,
    listener: Option<Listener>,
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Armed> {
        lock(&self.armed)
    }

    /// Counts a call; returns the fault that strikes it, if one does.
    fn struck(&self, call: Call) -> Option<Fault> {
        let mut armed = self.lock();
        if !armed.fault.strikes(call) {
            return None;
        }
        armed.calls += 1;
        let (fault, number, fail_at) = (armed.fault, armed.calls, armed.fail_at);
        drop(armed);
        if let Some(listener) = &self.listener {
            listener(number);
        }
        match fault {
            // The device stays full.
            Fault::ShortWrite if fail_at > 0 && number > fail_at => Some(Fault::DiskFull),
            _ => (number == fail_at).then_some(fault),
        }
    }

    fn check_open(&self) -> io::Result<()> {
        let fault = self.struck(Call::Open);
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

/// Backend that wraps another one and fails the `fail_at`-th call (counted from 1) of those that
/// the fault can strike. Removal always works: cleaning up needs it.
#[derive(Debug)]
pub struct FaultIo {
    inner: Arc<dyn IoBackend>,
    state: Arc<State>,
}

impl FaultIo {
    /// A backend over `inner`; `fail_at` 0 never fails.
    pub fn new(inner: Arc<dyn IoBackend>, fault: Fault, fail_at: u64) -> Self {
        Self::with(inner, fault, fail_at, None)
    }

    /// A backend that never fails but calls `listener` with the number of each call before it: the
    /// listener may panic, or end the statement.
    pub fn listening(
        inner: Arc<dyn IoBackend>,
        listener: impl Fn(u64) + Send + Sync + 'static,
    ) -> Self {
        Self::with(inner, Fault::DeviceError, 0, Some(Box::new(listener)))
    }

    fn with(
        inner: Arc<dyn IoBackend>,
        fault: Fault,
        fail_at: u64,
        listener: Option<Listener>,
    ) -> Self {
        let armed = Armed {
            fault,
            calls: 0,
            fail_at,
        };
        let state = State {
            armed: Mutex::new(armed),
            listener,
        };
        Self {
            inner,
            state: Arc::new(state),
        }
    }

    /// Restarts counting, and fails the `fail_at`-th call from now.
    pub fn arm(&self, fault: Fault, fail_at: u64) {
        *self.state.lock() = Armed {
            fault,
            calls: 0,
            fail_at,
        };
    }

    /// Number of calls counted so far.
    pub fn calls(&self) -> u64 {
        self.state.lock().calls
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
        self.state.check_open()?;
        self.inner.create_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        self.state.check_open()?;
        Ok(self.wrap(self.inner.create_file(path)?))
    }

    fn open_file(&self, path: &Path) -> io::Result<Box<dyn IoFile>> {
        self.state.check_open()?;
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
}

#[derive(Debug)]
struct FaultFile {
    inner: Box<dyn IoFile>,
    state: Arc<State>,
}

impl IoFile for FaultFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        match self.state.struck(Call::Write) {
            None => self.inner.write_at(bytes, offset),
            Some(Fault::ShortWrite) => self.inner.write_at(&bytes[..bytes.len() / 2], offset),
            Some(Fault::ShortMove) => self.inner.write_at(&bytes[..bytes.len().min(1)], offset),
            Some(fault) => Err(fault.error()),
        }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.state.struck(Call::Read) {
            None => self.inner.read_at(bytes, offset),
            Some(Fault::CorruptRead) => {
                let read = self.inner.read_at(bytes, offset)?;
                if let Some(byte) = bytes[..read].last_mut() {
                    *byte ^= 0x40;
                }
                Ok(read)
            }
            Some(Fault::ShortMove) => {
                let length = bytes.len().min(1);
                self.inner.read_at(&mut bytes[..length], offset)
            }
            Some(fault) => Err(fault.error()),
        }
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        match self.state.struck(Call::Allocate) {
            None => self.inner.allocate(length),
            Some(fault) => Err(fault.error()),
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
