//! Files of legacy tables: named, so that `lsof` shows them, and removed when they are dropped.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mayfly_memory::io::{IoBackend, IoFile};
use mayfly_memory::{Budget, IoFailure, MemoryError, Reservation, Result};

/// Unit in bytes in which files are charged.
const CHARGE_UNIT: u64 = 4096;
/// Number of file names to try before giving up.
const NAME_TRIES: u32 = 1000;

/// Directory of the MyISAM-style files: `#sql_<process in hexadecimal>_<n>.MYD` and `.MYI`.
#[derive(Debug)]
pub struct LegacyDirectory {
    io: Arc<dyn IoBackend>,
    path: PathBuf,
    prefix: String,
    next: AtomicU64,
}

impl LegacyDirectory {
    /// An existing directory. `process` is the number in the files' names.
    pub fn new(io: Arc<dyn IoBackend>, path: PathBuf, process: u32) -> Self {
        Self {
            io,
            path,
            prefix: format!("#sql_{process:x}_"),
            next: AtomicU64::new(0),
        }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the files of one table, which differ only in their extensions.
    pub(crate) fn create<const N: usize>(&self, extensions: [&str; N]) -> Result<[TableFile; N]> {
        let mut tries = 0;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let name = |extension| format!("{}{number}.{extension}", self.prefix);
            let mut files = Vec::with_capacity(N);
            let made = extensions.iter().try_for_each(|extension| {
                files.push(TableFile::make(&self.io, self.path.join(name(extension)))?);
                Ok(())
            });
            tries += 1;
            match made {
                Err(IoFailure { source, .. })
                    if source.kind() == ErrorKind::AlreadyExists && tries < NAME_TRIES => {}
                Err(failure) => return Err(failure.into()),
                Ok(()) => match files.try_into() {
                    Ok(files) => return Ok(files),
                    Err(_) => tries = NAME_TRIES,
                },
            }
        }
    }
}

/// Open file, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct TableFile {
    io: Arc<dyn IoBackend>,
    file: Box<dyn IoFile>,
    path: PathBuf,
}

impl TableFile {
    pub(crate) fn make(
        io: &Arc<dyn IoBackend>,
        path: PathBuf,
    ) -> std::result::Result<Self, IoFailure> {
        match io.create_file(&path) {
            Ok(file) => Ok(Self {
                io: Arc::clone(io),
                file,
                path,
            }),
            Err(source) => Err(IoFailure {
                operation: "create",
                path,
                offset: 0,
                bytes: 0,
                source,
            }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn failure(
        &self,
        operation: &'static str,
        offset: u64,
        bytes: usize,
        source: std::io::Error,
    ) -> MemoryError {
        let failure = IoFailure {
            operation,
            path: self.path.clone(),
            offset,
            bytes: bytes as u64,
            source,
        };
        failure.into()
    }

    /// The error for a checksum mismatch.
    pub(crate) fn corrupt(&self, offset: u64, bytes: usize) -> MemoryError {
        MemoryError::Corrupt {
            path: self.path.clone(),
            offset,
            bytes: bytes as u64,
        }
    }

    /// Reads until `bytes` are full or the file ends; returns the number of bytes read.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            match self.file.read_at(&mut bytes[done..], at) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure("read", at, bytes.len() - done, error)),
            }
        }
        Ok(done)
    }

    /// Reads all of `bytes`; the file's end is an error.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let read = self.read_at(bytes, offset)?;
        if read == bytes.len() {
            return Ok(());
        }
        let left = bytes.len() - read;
        let end = ErrorKind::UnexpectedEof.into();
        Err(self.failure("read", offset + read as u64, left, end))
    }

    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let error = match self.file.write_at(&bytes[done..], at) {
                Ok(0) => ErrorKind::WriteZero.into(),
                Ok(written) => {
                    done += written;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            return Err(self.failure("write", at, bytes.len() - done, error));
        }
        Ok(())
    }

    pub(crate) fn set_len(&self, length: u64) -> Result<()> {
        let cut = self.file.set_len(length);
        cut.map_err(|error| self.failure("truncate", length, 0, error))
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        // A file that cannot be removed now goes with the directory.
        let _ = self.io.remove_file(&self.path);
    }
}

/// Length of a file, with the charge for its bytes.
#[derive(Debug)]
pub(crate) struct FileSpace {
    reservation: Reservation,
    length: u64,
}

impl FileSpace {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            reservation: budget.reservation(),
            length: 0,
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Makes the file longer; returns the offset of the new bytes.
    #[inline]
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<u64> {
        let (start, end) = (self.length, self.length + bytes);
        if end > self.reservation.bytes() {
            let more = end.next_multiple_of(CHARGE_UNIT) - self.reservation.bytes();
            self.reservation.try_grow(more)?;
        }
        self.length = end;
        Ok(start)
    }
}
