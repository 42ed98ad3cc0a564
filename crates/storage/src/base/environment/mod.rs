//! The data file of durable tables: one LMDB environment with one database.
//!
//! Its keys are the number of a tree, most significant byte first, and a separator; its values are
//! blocks (see [`super::block`]). Tree 0 holds named records instead: the catalog of the layers above, and row counts.
//! A directory belongs to one process at a time.
//!
//! LMDB marks the environment as failed when it could not write the meta page, and refuses everything from then on. A
//! failed sync is treated alike here: nobody knows which pages are on disk, and Linux forgets that they are not.
//! Readers go on with the last snapshot, which is always there. The file is reopened when its last reader has ended,
//! as at process start: from the last checkpoint, with the changes of the log applied again.
//!
//! A file that is not ephemeral has a redo log ([`super::log`]). The last commits may still be in memory, laid over
//! the file ([`super::memtable`]).

pub(super) mod file_writer;
pub(super) mod pipeline;
mod reserve;
mod room;
pub(super) mod tree;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use heed::MdbError;
use mayfly_memory::io::{DataDirectory, DirectoryFile, Taken};
use mayfly_memory::sync::{lock, read_lock, write_lock};
use mayfly_memory::{Budget, StableRanges, TempDirectory};
use mayfly_types::Result;
use mayfly_types::error::codes;

use super::data_file::{
    DATA_FILE, DataFile, MOST_SNAPSHOTS, SnapshotNumber, allocate_readers, io_error, user_error,
};
use super::log::{Header, Log};
use super::memtable::Memtable;
use super::options::{StoreLocation, StoreOptions};
use super::record_key::{TreeId, count_of, row_count_name};
use super::snapshot::Snapshot;
use super::transaction_snapshots::TransactionSnapshots;
use super::tree_space::TreeSpaces;
use super::tree_versions::TreeVersions;
use file_writer::FileWriter;
use pipeline::Applying;
use reserve::Reserve;

/// How long a commit waits for readers to end, so that a failed file can be reopened.
const PATIENCE: Duration = Duration::from_millis(100);

/// The data file of a directory, with its log and memtable.
#[derive(Debug)]
pub(super) struct Environment {
    /// The open file; `None` while reopening has failed.
    file: RwLock<Option<Arc<DataFile>>>,
    /// Whether LMDB has marked the environment as failed, or a sync has failed.
    has_failed: AtomicBool,
    /// How often the file was reopened. Each time, what was not in the log is lost.
    replays: AtomicU64,
    /// Mutex of syncs: the system reports a failure to only one of several callers.
    syncing: Mutex<()>,
    directory: Arc<Path>,
    stable: StableRanges,
    /// Number of commits.
    version: AtomicU64,
    /// The version at the last check for new commits.
    pub(super) seen: AtomicU64,
    newest: Mutex<Option<Arc<Snapshot>>>,
    /// Committed records that are not in the file. Locked while a snapshot is taken.
    memtable: Mutex<Memtable>,
    /// Memory budget of all memtable versions in use.
    pub(super) memtable_memory: Budget,
    log: Option<Mutex<Log>>,
    /// State of the group being applied. Locked before the log is unlocked, so that groups are applied in the order of
    /// the log ([`pipeline`]).
    applying: Mutex<Applying>,
    /// Snapshot of the last checkpoint, held so that its pages are not reused.
    pub(super) checkpoint: Mutex<Option<Arc<Snapshot>>>,
    /// Bytes of the file at that checkpoint.
    pub(super) checkpoint_bytes: AtomicU64,
    pub(super) transaction_snapshots: TransactionSnapshots,
    pub(super) tree_spaces: TreeSpaces,
    pub(super) tree_versions: TreeVersions,
    /// Numbers in use by snapshots.
    numbers: Arc<Mutex<Vec<bool>>>,
    reserve: Reserve,
    // Declared last, to be released last.
    pub(super) directory_lock: DirectoryLock,
}

/// Exclusive right to a directory.
#[derive(Debug)]
pub(super) enum DirectoryLock {
    Data(DataDirectory),
    Temporary(TempDirectory),
}

impl DirectoryLock {
    fn of(location: StoreLocation) -> Result<Self> {
        let directory = match location {
            StoreLocation::DataDirectory(directory) => directory,
            StoreLocation::Temporary(directory) => return Ok(Self::Temporary(directory)),
        };
        let locked = DataDirectory::lock(&directory);
        match locked.map_err(|error| io_error(&error, &directory, "open"))? {
            Taken::Free(locked) => Ok(Self::Data(locked)),
            Taken::Held(holder) => {
                let by = if holder.is_empty() { "" } else { ": " };
                Err(codes::ER_UNKNOWN_ERROR.with(&[&format!(
                    "the data directory {} is in use by another process{by}{holder}",
                    directory.display()
                )]))
            }
        }
    }

    pub(super) fn was_open_to_others(&self) -> bool {
        match self {
            Self::Data(directory) => directory.was_open_to_others(),
            Self::Temporary(_) => false,
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Data(directory) => directory.path(),
            Self::Temporary(directory) => directory.path(),
        }
    }
}

impl Environment {
    /// Opens or creates the file in a directory; on a full disk with the help of the reserve.
    pub(super) fn open(options: StoreOptions) -> Result<Arc<Self>> {
        let StoreOptions {
            location,
            stable,
            write_buffer,
        } = options;
        let directory = match location {
            StoreLocation::DataDirectory(directory) => directory,
            temporary @ StoreLocation::Temporary(_) => {
                return Self::open_in(temporary, stable, write_buffer, false);
            }
        };
        let open = |is_full| {
            let location = StoreLocation::DataDirectory(directory.clone());
            Self::open_in(location, stable.clone(), write_buffer.clone(), is_full)
        };
        match open(false) {
            Err(error) if error.is(&codes::ER_DISK_FULL) => open(true),
            opened => opened,
        }
    }

    fn open_in(
        location: StoreLocation,
        stable: StableRanges,
        write_buffer: Budget,
        is_full: bool,
    ) -> Result<Arc<Self>> {
        let directory_lock = DirectoryLock::of(location)?;
        let directory: Arc<Path> = Arc::from(directory_lock.path());
        let mut log = None;
        let mut reserve = Reserve::none();
        if let DirectoryLock::Data(locked) = &directory_lock {
            let failed = |error: std::io::Error| io_error(&error, &directory, "open");
            has_its_files(locked).map_err(failed)?;
            reserve = Reserve::of(locked, is_full);
            let (mut opened, header) = Log::open(locked).map_err(failed)?;
            match header {
                Some(header) => put_back(locked, &header).map_err(failed)?,
                None => begin(locked, &mut opened).map_err(failed)?,
            }
            log = Some(Mutex::new(opened));
            allocate_readers(locked);
        }
        let file = DataFile::new(&directory, &stable)?;
        let environment = Self {
            file: RwLock::new(Some(Arc::new(file))),
            has_failed: AtomicBool::new(false),
            replays: AtomicU64::new(0),
            syncing: Mutex::default(),
            directory,
            stable,
            version: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            newest: Mutex::new(None),
            memtable: Mutex::default(),
            memtable_memory: write_buffer,
            log,
            applying: Mutex::default(),
            checkpoint: Mutex::new(None),
            checkpoint_bytes: AtomicU64::new(0),
            transaction_snapshots: TransactionSnapshots::default(),
            tree_spaces: TreeSpaces::default(),
            tree_versions: TreeVersions::default(),
            numbers: Arc::default(),
            reserve,
            directory_lock,
        };
        environment.recover()?;
        if let DirectoryLock::Data(locked) = &environment.directory_lock
            && !locked.is_marked().unwrap_or(true)
        {
            // Without the mark, a directory that loses its files is taken for a new one.
            let _ = locked.mark();
        }
        environment.reserve.fill();
        Ok(Arc::new(environment))
    }

    /// Runs `attempt`, and again with the reserve released if the disk was full.
    pub(super) fn with_reserve<T>(&self, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let done = attempt();
        let is_full = |error: &mayfly_types::Error| error.is(&codes::ER_DISK_FULL);
        if done.as_ref().is_err_and(is_full)
            && let Some(_released) = self.reserve.release()
        {
            return attempt();
        }
        done
    }

    /// Refills the reserve, if there is room.
    pub(super) fn fill_reserve(&self) {
        self.reserve.fill();
    }

    pub(super) fn snapshot_of(&self, file: &Arc<DataFile>) -> Result<Snapshot> {
        let (version, mut number) = (self.version(), self.snapshot_number());
        if number.0 >= MOST_SNAPSHOTS && self.transaction_snapshots.expire_oldest() {
            number = self.snapshot_number();
        }
        // What leaves the memtable is already in the file: a snapshot reads both while the memtable is locked.
        let memtable = lock(&self.memtable);
        let snapshot = Snapshot::new(file, memtable.clone(), &self.directory, version, number);
        drop(memtable);
        snapshot
    }

    /// The committed row count of a tree.
    pub(super) fn row_count(&self, tree: TreeId) -> Result<u64> {
        let snapshot = self.newest()?;
        Ok(snapshot.record(&row_count_name(tree))?.map_or(0, count_of))
    }

    /// A snapshot of the committed state.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        self.snapshot_of(&self.file()?)
    }

    /// The memtable's current version.
    pub(super) fn memtable(&self) -> Memtable {
        lock(&self.memtable).clone()
    }

    /// Replaces the memtable's current version.
    pub(super) fn set_memtable(&self, memtable: Memtable) {
        *lock(&self.memtable) = memtable;
    }

    /// Writes the memtable to the file, while other writers are kept out.
    pub(super) fn flush(&self, file: &DataFile) -> Result<()> {
        let memtable = self.memtable();
        if memtable.is_empty() {
            return Ok(());
        }
        if self.has_failed() {
            return Err(self.error(&heed::Error::Mdb(MdbError::Panic)));
        }
        let mut writer = FileWriter::begin(self, file)?;
        for (key, value) in memtable.iter() {
            writer.set(key, value)?;
        }
        writer.finish()?;
        self.set_memtable(Memtable::default());
        Ok(())
    }

    /// Whether the file has to be reopened.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// How often the file was reopened from the log.
    pub(super) fn replays(&self) -> u64 {
        self.replays.load(Ordering::Acquire)
    }

    /// Syncs the file. After a failed sync, no later one is trusted.
    pub(super) fn sync_file(&self, file: &DataFile) -> Result<()> {
        let _alone = lock(&self.syncing);
        if self.has_failed() {
            return Err(self.error(&heed::Error::Mdb(MdbError::Panic)));
        }
        file.env.force_sync().map_err(|error| {
            self.has_failed.store(true, Ordering::Release);
            self.error(&error)
        })
    }

    /// The smallest number that no living snapshot has.
    fn snapshot_number(&self) -> SnapshotNumber {
        let mut numbers = lock(&self.numbers);
        let free = numbers.iter().position(|taken| !taken);
        let number = free.unwrap_or_else(|| {
            numbers.push(false);
            numbers.len() - 1
        });
        numbers[number] = true;
        SnapshotNumber(number, Arc::clone(&self.numbers))
    }

    /// The locked log; `None` for an ephemeral file.
    pub(super) fn log(&self) -> Option<MutexGuard<'_, Log>> {
        self.log.as_ref().map(lock)
    }

    /// The lock for applying changes to the file.
    pub(super) fn applying(&self) -> MutexGuard<'_, Applying> {
        lock(&self.applying)
    }

    /// The open file.
    pub(super) fn file(&self) -> Result<Arc<DataFile>> {
        let file = read_lock(&self.file);
        let file = file.as_ref().map(Arc::clone);
        file.ok_or_else(|| self.error(&heed::Error::Mdb(MdbError::Panic)))
    }

    /// Path of the directory.
    pub(super) fn directory(&self) -> &Arc<Path> {
        &self.directory
    }

    /// The user error for an error of LMDB.
    pub(super) fn error(&self, error: &heed::Error) -> mayfly_types::Error {
        user_error(error, &self.directory)
    }

    /// Number of commits since the file was opened.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Snapshot of the last commit.
    pub(super) fn newest(&self) -> Result<Arc<Snapshot>> {
        // No wait here: the caller may hold what others wait for. If it cannot be opened, commits say why.
        let _ = self.open_anew(Duration::ZERO);
        self.newest_of_file()
    }

    /// [`Self::newest`], but without reopening a failed file.
    pub(super) fn newest_of_file(&self) -> Result<Arc<Snapshot>> {
        let mut newest = lock(&self.newest);
        if let Some(snapshot) = &*newest
            && snapshot.version() == self.version()
        {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = Arc::new(self.snapshot()?);
        *newest = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Notes a commit: cached snapshots are out of date.
    pub(super) fn committed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
        self.forget_newest();
    }

    /// Drops the cached snapshot: the next reader takes a new one.
    pub(super) fn forget_newest(&self) {
        let mut newest = lock(&self.newest);
        let old = newest.take();
        drop(newest);
        drop(old);
    }

    /// Handles a failed write: finds out whether LMDB has marked the environment as failed.
    pub(super) fn failed(&self, file: &DataFile) {
        if matches!(file.env.read_txn(), Err(heed::Error::Mdb(MdbError::Panic))) {
            self.has_failed.store(true, Ordering::Release);
        }
    }

    /// Reopens the file if it has failed and its readers have ended. Called by a commit, which reads no more itself:
    /// waits a little for other readers.
    pub(super) fn open_for_commit(&self) -> Result<()> {
        self.open_anew(PATIENCE)
    }

    fn open_anew(&self, patience: Duration) -> Result<()> {
        if !self.has_failed() {
            return Ok(());
        }
        let begun = Instant::now();
        loop {
            let mut guard = self.log_truncation_guard();
            let mut newest = lock(&self.newest);
            let mut file = write_lock(&self.file);
            if !self.has_failed() {
                return Ok(());
            }
            let mut checkpoint = lock(&self.checkpoint);
            let holders = 1 + usize::from(newest.is_some()) + usize::from(checkpoint.is_some());
            let is_read = newest
                .as_ref()
                .is_some_and(|snapshot| Arc::strong_count(snapshot) > 1)
                || file
                    .as_ref()
                    .is_some_and(|file| Arc::strong_count(file) > holders);
            if !is_read {
                *newest = None;
                *checkpoint = None;
                *file = None;
                drop(checkpoint);
                *file = Some(self.open_file(guard.log.as_deref_mut())?);
                self.has_failed.store(false, Ordering::Release);
                return Ok(());
            }
            drop(checkpoint);
            drop((newest, file, guard));
            if begun.elapsed() >= patience {
                return Err(self.error(&heed::Error::Mdb(MdbError::Panic)));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Opens the file in the state that the log gives.
    fn open_file(&self, log: Option<&mut Log>) -> Result<Arc<DataFile>> {
        let (Some(log), DirectoryLock::Data(locked)) = (log, &self.directory_lock) else {
            return DataFile::new(&self.directory, &self.stable).map(Arc::new);
        };
        let failed = |error: std::io::Error| io_error(&error, &self.directory, "write");
        let header = log.last_checkpoint().map_err(failed)?;
        put_back(locked, &header).map_err(failed)?;
        self.replays.fetch_add(1, Ordering::AcqRel);
        // The memtable's records are in the log.
        self.set_memtable(Memtable::default());
        let file = Arc::new(DataFile::new(&self.directory, &self.stable)?);
        self.hold_checkpoint(&file)?;
        self.replay(&file, log)?;
        Ok(file)
    }
}

/// Refuses a directory whose database files are missing: it would otherwise be created anew, and empty.
fn has_its_files(directory: &DataDirectory) -> std::io::Result<()> {
    let bytes = directory.length_of(DATA_FILE)?;
    if bytes.is_some_and(|bytes| bytes > 0) || !directory.is_marked()? {
        return Ok(());
    }
    let found = match bytes {
        Some(bytes) => format!("{DATA_FILE} has {bytes} bytes"),
        None => format!("there is no {DATA_FILE}"),
    };
    let text = format!(
        "the data file is gone or was cut off: {found}, and the directory held a database before; restore it from a backup, \
         or remove all that is in the directory to begin a new database"
    );
    Err(std::io::Error::new(std::io::ErrorKind::NotFound, text))
}

/// Restores the meta pages of a checkpoint.
fn put_back(directory: &DataDirectory, header: &Header) -> std::io::Result<()> {
    let file = directory.file(DATA_FILE)?;
    let least = header.pages.len() as u64;
    is_as_long(&file, header.data_bytes.unwrap_or(least).max(least))?;
    file.write_at(&header.pages, 0)
}

/// Begins a log beside a new file or a copy. The log counts only once both are durably in the directory.
fn begin(directory: &DataDirectory, log: &mut Log) -> std::io::Result<()> {
    let file = directory.file(DATA_FILE)?;
    if file.length()? == 0 || log.has_begun()? {
        // The process may have ended while it made the file. Its note may be in the page cache alone, where its
        // sync has failed: without it, a partial file on disk would be taken for a copy.
        log.note_beginning()?;
        file.set_length(0)?;
    } else {
        check_length(&file)?;
    }
    directory.sync()
}

/// Checks that a file without a log, which is a copy, has all pages that its meta page counts.
fn check_length(file: &DirectoryFile) -> std::io::Result<()> {
    let Some([page_bytes, ..]) = meta_words(file, 0)? else {
        // LMDB itself reports a file without valid meta pages.
        return Ok(());
    };
    let page_bytes = page_bytes & u64::from(u32::MAX);
    let metas = [meta_words(file, 0)?, meta_words(file, page_bytes)?];
    let last = metas.into_iter().flatten().max_by_key(|[_, _, txn]| *txn);
    let pages = last.map_or(0, |[_, pages, _]| pages);
    let pages = pages.saturating_sub(UNWRITTEN_PAGES);
    is_as_long(file, pages.saturating_mul(page_bytes))
}

/// Words of a meta page (`MDB_meta` of LMDB's source): page size, number of the last page, and number of the
/// transaction that wrote it. The first two pages are meta pages, of which the newer one counts.
fn meta_words(file: &DirectoryFile, page: u64) -> std::io::Result<Option<[u64; 3]>> {
    const OFFSETS: [usize; 3] = [40, 136, 144];
    let mut meta = [0; 152];
    if file.length()? < page.saturating_add(meta.len() as u64) {
        return Ok(None);
    }
    file.read_at(&mut meta, page)?;
    Ok(Some(OFFSETS.map(|offset| {
        let word = meta.get(offset..).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| u64::from_le_bytes(*word))
    })))
}

/// Tolerance for trailing pages that LMDB counts but never wrote, since they were taken and given back.
const UNWRITTEN_PAGES: u64 = 64;

fn is_as_long(file: &DirectoryFile, bytes: u64) -> std::io::Result<()> {
    let there = file.length()?;
    if there >= bytes {
        return Ok(());
    }
    let text = format!(
        "the data file is gone or was cut off: {DATA_FILE} has {there} bytes, and should have {bytes}; restore it \
         from a backup"
    );
    Err(std::io::Error::new(std::io::ErrorKind::InvalidData, text))
}
