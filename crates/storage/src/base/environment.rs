//! The file that durable tables live in: one LMDB environment with one database.
//!
//! Its keys are the number of a tree, most significant byte first, and a separator; its values are
//! blocks (see [`super::block`]). Tree 0 holds records with a name instead: what the layers above
//! know about their tables, and the numbers of rows. A directory belongs to one process at a time.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};
use mayfly_memory::io::{DataDirectory, mapped_range};
use mayfly_memory::{StableRange, StableRanges, TempDirectory};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::snapshot::Snapshot;
use super::store::StorePlace;

/// Address space for the file, which may grow so far.
const MAP_BYTES: usize = 1 << 40;
const SMALLEST_MAP_BYTES: usize = 1 << 30;
/// Statements and results that read at one time.
const READERS: u32 = 8192;

pub(super) type Records = Database<'static, Bytes, Bytes>;

/// The number of a tree.
pub type TreeId = u32;

/// The tree of records with a name.
pub(super) const META: TreeId = 0;

/// The open file.
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) env: Env<WithoutTls>,
    pub(super) records: Records,
    directory: Arc<Path>,
    /// Counts commits.
    version: AtomicU64,
    newest: Mutex<Option<Arc<Snapshot>>>,
    map: Range<usize>,
    /// The numbers that snapshots have.
    numbers: Arc<Mutex<Vec<bool>>>,
    _stable: StableRange,
    // Given up last of all.
    claim: Claim,
}

/// The right to a directory.
#[derive(Debug)]
enum Claim {
    Data(
        PathBuf,
        #[expect(dead_code, reason = "held, not read")] DataDirectory,
    ),
    Temporary(TempDirectory),
}

impl Claim {
    fn of(place: StorePlace) -> Result<Self> {
        let directory = match place {
            StorePlace::DataDirectory(directory) => directory,
            StorePlace::Temporary(directory) => return Ok(Self::Temporary(directory)),
        };
        let claimed = DataDirectory::claim(&directory);
        match claimed.map_err(|error| io_error(&error, &directory, "open"))? {
            Some(claim) => Ok(Self::Data(directory, claim)),
            None => Err(codes::ER_UNKNOWN_ERROR.with(&[&format!(
                "the data directory {} is in use by another process",
                directory.display()
            )])),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Data(directory, _) => directory,
            Self::Temporary(directory) => directory.path(),
        }
    }

    fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}

impl Environment {
    /// Opens or creates the file in a directory.
    pub(super) fn open(place: StorePlace, stable: &StableRanges) -> Result<Arc<Self>> {
        let claim = Claim::of(place)?;
        let directory = claim.path();
        let env = open_environment(directory, claim.is_temporary())?;
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
        // Where it is not known, temporary tables copy the strings of base tables.
        let map = mapped_range(&directory.join("data.mdb")).unwrap_or_default();
        let range = stable.register(map.start, map.len());
        Ok(Arc::new(Self {
            env,
            records,
            directory: Arc::from(directory),
            version: AtomicU64::new(0),
            newest: Mutex::new(None),
            map,
            numbers: Arc::default(),
            _stable: range,
            claim,
        }))
    }

    /// Whether it is there for longer than the process.
    pub(super) fn is_durable(&self) -> bool {
        !self.claim.is_temporary()
    }

    /// Where it is.
    pub(super) fn directory(&self) -> &Arc<Path> {
        &self.directory
    }

    /// Where the file is mapped; nothing when that is not known.
    pub(super) fn map(&self) -> Range<usize> {
        self.map.clone()
    }

    /// The smallest number that no snapshot has.
    pub(super) fn snapshot_number(&self) -> SnapshotNumber {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let free = numbers.iter().position(|taken| !taken);
        let number = free.unwrap_or_else(|| {
            numbers.push(false);
            numbers.len() - 1
        });
        numbers[number] = true;
        SnapshotNumber(number, Arc::clone(&self.numbers))
    }

    /// Turns an error of the library into one for the user.
    pub(super) fn error(&self, error: &heed::Error) -> mayfly_types::Error {
        user_error(error, &self.directory)
    }

    /// How many commits there were since it was opened.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The rows as the last commit left them.
    pub(super) fn newest(&self) -> Result<Arc<Snapshot>> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.version();
        if let Some(snapshot) = &*newest
            && snapshot.version() == version
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(Snapshot::new(self, version)?);
        *newest = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Says that something was committed: older snapshots are not the newest any more.
    pub(super) fn committed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let old = newest.take();
        drop(newest);
        drop(old);
    }

    /// Begins to write; there is one writer at a time.
    pub(super) fn write(&self) -> Result<RwTxn<'_>> {
        self.env.write_txn().map_err(|error| self.error(&error))
    }

    /// A transaction that reads, which may outlive every borrow of the environment.
    pub(super) fn read(&self) -> Result<RoTxn<'static, WithoutTls>> {
        let env = self.env.clone();
        env.static_read_txn().map_err(|error| self.error(&error))
    }
}

#[expect(unsafe_code, reason = "the handle is kept beside its environment")]
fn records_for_ever(records: Database<'_, Bytes, Bytes>) -> Records {
    // SAFETY: the lifetime is a mark only: the type holds the number of a database and no reference.
    // The number is valid as long as the environment is open, and is kept in the struct that keeps
    // the environment.
    unsafe { std::mem::transmute(records) }
}

fn open_environment(directory: &Path, ephemeral: bool) -> Result<Env<WithoutTls>> {
    let mut bytes = MAP_BYTES;
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(bytes).max_readers(READERS);
        // Scans read everything once: what the kernel reads ahead is wanted.
        let mut flags = EnvFlags::NO_MEM_INIT;
        if ephemeral {
            flags |= EnvFlags::NO_SYNC;
        }
        #[expect(unsafe_code, reason = "a file that is mapped into memory")]
        // SAFETY: the directory's lock file keeps other processes of ours from the file. An ephemeral
        // file is never opened a second time, so that it need not be synced.
        let opened = unsafe {
            options.flags(flags);
            options.open(directory)
        };
        match opened {
            Ok(env) => return Ok(env),
            Err(heed::Error::Io(error))
                if error.kind() == std::io::ErrorKind::OutOfMemory
                    && bytes > SMALLEST_MAP_BYTES =>
            {
                bytes /= 2;
            }
            Err(error) => return Err(user_error(&error, directory)),
        }
    }
}

/// A number that no other snapshot has, until it is dropped. It is below [`READERS`].
#[derive(Debug)]
pub(super) struct SnapshotNumber(pub(super) usize, Arc<Mutex<Vec<bool>>>);

impl Drop for SnapshotNumber {
    fn drop(&mut self) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
    }
}

/// The key of a tree's block or record.
pub(super) fn record_key(tree: TreeId, separator: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(4 + separator.len());
    key.extend_from_slice(&tree.to_be_bytes());
    key.extend_from_slice(separator);
    key
}

/// The separator of a record of this tree.
pub(super) fn separator_of(tree: TreeId, key: &[u8]) -> Option<&[u8]> {
    let (number, separator) = key.split_first_chunk::<4>()?;
    (u32::from_be_bytes(*number) == tree).then_some(separator)
}

const NO_SPACE: [i32; 2] = [28, 122];

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
        heed::Error::Io(error) => io_error(error, directory, "write"),
        heed::Error::Mdb(heed::MdbError::MapFull) => codes::ER_DISK_FULL
            .with(&[&directory.display(), &"the file's address space is used up"]),
        other => codes::ER_ERROR_ON_READ.with(&[&directory.display(), &other]),
    }
}
