//! The open file of durable tables.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, WithoutTls};
use mayfly_memory::io::{DataDirectory, MappedFile, is_full, mapped_range};
use mayfly_memory::sync::lock;
use mayfly_memory::{StableRange, StableRanges};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::verified::Verified;

/// Address space reserved for the file's map, which limits its growth.
const MAP_BYTES: usize = 1 << 40;
const SMALLEST_MAP_BYTES: usize = 1 << 30;
/// LMDB's maximum number of concurrent readers.
const READERS: u32 = 8192;
/// LMDB's reader table, a mapped file: 64 bytes for each reader, and a page for its header.
const READERS_FILE: &str = "lock.mdb";
const READERS_BYTES: u64 = 64 * (READERS as u64 + 64);
/// Maximum number of transactions that hold a snapshot. The other readers are for statements and commits.
pub(super) const MOST_SNAPSHOTS: usize = 8000;

pub(super) type Records = Database<'static, Bytes, Bytes>;

/// LMDB's name for the data file.
pub(super) const DATA_FILE: &str = "data.mdb";

/// The open file.
#[derive(Debug)]
pub(super) struct DataFile {
    pub(super) env: Env<WithoutTls>,
    pub(super) records: Records,
    /// Bytes at the beginning of the file that identify the last state: the meta pages.
    pub(super) state_bytes: usize,
    map: Range<usize>,
    /// Which blocks are known to be intact.
    pub(super) verified: Verified,
    _stable: StableRange,
    _mapped: MappedFile,
}

impl DataFile {
    pub(super) fn new(directory: &Path, stable: &StableRanges) -> Result<Self> {
        let env = open_environment(directory)?;
        let txn = env
            .write_txn()
            .map_err(|error| user_error(&error, directory))?;
        let records = env
            .create_databases_and_commit(txn, |opener, txn| {
                let records = opener.create_database::<Bytes, Bytes>(txn, None)?;
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(records))
            })
            .map_err(|error| user_error(&error, directory))?;
        let Some(records) = records.commit() else {
            return Err(codes::ER_UNKNOWN_ERROR.with(&[&"the data file has no database"]));
        };
        let records = records_for_ever(records);
        let txn = env
            .read_txn()
            .map_err(|error| user_error(&error, directory))?;
        let stat = records.stat(&txn);
        let stat = stat.map_err(|error| user_error(&error, directory))?;
        drop(txn);
        // Without a known map, temporary tables copy the strings of base tables.
        let path = directory.join(DATA_FILE);
        let map = mapped_range(&path).unwrap_or_default();
        let page_bytes = stat.page_size as usize;
        Ok(Self {
            state_bytes: 2 * page_bytes,
            verified: Verified::new(&map, page_bytes),
            _mapped: MappedFile::new(&map, &path),
            _stable: stable.register(map.start, map.len()),
            map,
            env,
            records,
        })
    }

    /// Address range of the map; empty when unknown.
    pub(super) fn map(&self) -> Range<usize> {
        self.map.clone()
    }

    /// Bytes of the file up to the last page that was ever used.
    pub(super) fn bytes(&self) -> u64 {
        let pages = self.env.info().last_page_number as u64 + 1;
        pages * (self.state_bytes as u64 / 2)
    }

    /// Begins a read transaction, which may outlive every borrow of the file.
    pub(super) fn read(&self) -> heed::Result<RoTxn<'static, WithoutTls>> {
        self.env.clone().static_read_txn()
    }
}

/// Allocates the table of readers on disk: writing an entry to an unallocated page would end the process on a full
/// disk. Called before the file is open: closing it gives up all locks that the process has on it.
pub(super) fn allocate_readers(directory: &DataDirectory) {
    // Failure is no error: the allocated part may be enough.
    if let Ok(file) = directory.file(READERS_FILE) {
        let length = file.length().unwrap_or(0);
        let _ = file.allocate(length.max(READERS_BYTES));
    }
}

#[expect(unsafe_code, reason = "the handle is kept beside its environment")]
fn records_for_ever(records: Database<'_, Bytes, Bytes>) -> Records {
    // SAFETY: the lifetime is a marker only: the type holds the number of a database and no reference.
    // The number is valid as long as the environment is open, and is kept in the struct that keeps
    // the environment.
    unsafe { std::mem::transmute(records) }
}

fn open_environment(directory: &Path) -> Result<Env<WithoutTls>> {
    let mut bytes = MAP_BYTES;
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(bytes).max_readers(READERS);
        // Scans read everything once, so read-ahead by the kernel helps.
        let flags = EnvFlags::NO_MEM_INIT | EnvFlags::NO_SYNC;
        #[expect(unsafe_code, reason = "a file that is mapped into memory")]
        // SAFETY: the directory's lock file keeps other processes of ours from the file. It need not
        // be synced with each commit: an ephemeral one is never opened a second time, and what is
        // missing of another is in the log.
        let opened = unsafe {
            options.flags(flags);
            options.open(directory)
        };
        match opened {
            Ok(env) => return Ok(env),
            // Less address space: Linux says that there is no memory, emulators of it that the size is invalid.
            Err(heed::Error::Io(error))
                if matches!(
                    error.kind(),
                    ErrorKind::OutOfMemory | ErrorKind::InvalidInput
                ) && bytes > SMALLEST_MAP_BYTES =>
            {
                bytes /= 2;
            }
            Err(error) => return Err(user_error(&error, directory)),
        }
    }
}

/// Snapshot number below [`READERS`], unique among living snapshots.
#[derive(Debug)]
pub(super) struct SnapshotNumber(pub(super) usize, pub(super) Arc<Mutex<Vec<bool>>>);

impl Drop for SnapshotNumber {
    fn drop(&mut self) {
        lock(&self.1)[self.0] = false;
    }
}

const NO_SPACE: [i32; 2] = [28, 122];
const EIO: i32 = 5;

pub(super) fn io_error(error: &std::io::Error, path: &Path, what: &str) -> mayfly_types::Error {
    let number = error.raw_os_error().unwrap_or(0);
    if NO_SPACE.contains(&number) {
        return codes::ER_DISK_FULL.with(&[&path.display(), &error]);
    }
    let detail = format!("{number} - {error}");
    if what == "read" {
        codes::ER_ERROR_ON_READ.with(&[&path.display(), &detail])
    } else {
        codes::ER_ERROR_ON_WRITE.with(&[&path.display(), &detail])
    }
}

pub(super) fn user_error(error: &heed::Error, directory: &Path) -> mayfly_types::Error {
    match error {
        // LMDB reports a short write as a device error.
        heed::Error::Io(error) if error.raw_os_error() == Some(EIO) && is_full(directory) => {
            let full = std::io::Error::from_raw_os_error(NO_SPACE[0]);
            io_error(&full, directory, "write")
        }
        heed::Error::Io(error) => io_error(error, directory, "write"),
        heed::Error::Mdb(MdbError::MapFull) => codes::ER_DISK_FULL
            .with(&[&directory.display(), &"the file's address space is used up"]),
        heed::Error::Mdb(MdbError::Panic) => codes::ER_ERROR_ON_WRITE.with(&[
            &directory.display(),
            &"an earlier write or sync has failed, and the file is still read by transactions of before; \
              it is opened anew when they have ended",
        ]),
        // Only this program's parsing of blocks gives decoding errors.
        heed::Error::Decoding(_) => super::block::Damaged.into(),
        other => codes::ER_ERROR_ON_READ.with(&[&directory.display(), &other]),
    }
}
