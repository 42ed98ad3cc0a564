//! The store of durable tables: an open data directory.

pub(super) mod transaction;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use mayfly_memory::sync::lock;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

use super::change_map::ChangeStorage;
use super::commit::{Committer, Durability};
use super::environment::Environment;
use super::locks::Locks;
use super::locks::statistics::RowLockWaits;
use super::options::StoreOptions;
use super::record_key::{LAST_TREE, TreeId};
use transaction::{DurableTransaction, Transaction};

/// Number of the first tree of a store that is open beside another one.
const FIRST_BESIDE: TreeId = 1 << 31;

const SECOND: Duration = Duration::from_secs(1);

/// An open data directory. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct DurableStore(pub(super) Arc<Store>);

#[derive(Debug)]
pub(super) struct Store {
    pub(super) environment: Arc<Environment>,
    pub(super) committer: Committer,
    /// The lock table, which stores of the same sessions share.
    pub(super) locks: Arc<Locks>,
    last_tree: AtomicU32,
    /// Transactions of all sessions, by number.
    transactions: Mutex<HashMap<u64, Weak<Transaction>>>,
    last_transaction: AtomicU64,
    /// The next hidden row number of each tree that has used some.
    row_numbers: Mutex<HashMap<TreeId, Arc<AtomicU64>>>,
    pub(super) estimates: Mutex<HashMap<TreeId, Arc<Estimate>>>,
}

/// Result of sampling a tree.
#[derive(Debug)]
pub(super) struct Estimate {
    /// Rows of the tree at the time of the sample.
    pub(super) rows: u64,
    /// Blocks of the tree at the time of the sample.
    pub(super) blocks: u64,
    /// For 1, 2, … key parts, the number of sampled rows that differ in them from the row before.
    pub(super) steps: Vec<u64>,
    /// Number of rows that were compared with the row before.
    pub(super) sampled: u64,
}

impl DurableStore {
    /// Opens or creates a store. A second process gets an error.
    pub fn open(options: StoreOptions) -> Result<Self> {
        Self::with_locks(options, Arc::default())
    }

    /// Opens a temporary store that is used by the same sessions: a session waits for one lock at a time, whichever
    /// store it is in, so that deadlocks through both are found.
    pub fn open_beside(&self, options: StoreOptions) -> Result<Self> {
        let opened = Self::with_locks(options, Arc::clone(&self.0.locks))?;
        // Names of locks are made of trees: no tree is in both stores.
        opened
            .0
            .last_tree
            .fetch_max(FIRST_BESIDE, Ordering::Relaxed);
        Ok(opened)
    }

    fn with_locks(options: StoreOptions, locks: Arc<Locks>) -> Result<Self> {
        let environment = Environment::open(options)?;
        let snapshot = environment.newest()?;
        let number = |record: &[u8]| record.try_into().map_or(0, u32::from_le_bytes);
        let last_tree = snapshot.record(LAST_TREE)?.map_or(0, number);
        drop(snapshot);
        let store = Arc::new(Store {
            committer: Committer::default(),
            environment,
            locks,
            last_tree: AtomicU32::new(last_tree),
            transactions: Mutex::default(),
            last_transaction: AtomicU64::new(0),
            row_numbers: Mutex::default(),
            estimates: Mutex::default(),
        });
        let bulk_loads = &store.committer.bulk_loads;
        bulk_loads.remove_orphans(&store.environment)?;
        Ok(Self(store))
    }

    /// Creates a session's handle to its transactions, one after the other, whose uncommitted changes are kept in
    /// `storage`.
    pub fn session(&self, storage: ChangeStorage) -> DurableTransaction {
        DurableTransaction::new(&self.0, storage)
    }

    /// Number and duration of waits for row locks.
    pub fn row_lock_waits(&self) -> RowLockWaits {
        self.0.locks.waits.get()
    }

    /// Sets when commits come to disk. With [`Durability::EverySecond`], [`Self::sync`] has to be called once a
    /// second: see [`SyncThread`].
    pub fn set_durability(&self, durability: Durability) {
        self.0.committer.set_durability(durability);
    }

    /// Brings committed changes to disk, and makes a checkpoint when much was changed. Called
    /// about once a second, it also writes the memtable to the file when nobody commits.
    pub fn sync(&self) -> Result<()> {
        let environment = &self.0.environment;
        environment.fill_reserve();
        environment.sync()?;
        if environment.is_checkpoint_due() {
            environment.checkpoint()
        } else {
            environment.flush_if_idle()
        }
    }

    /// [`Self::sync`] after a failure, which is over only once the memtable is in the file: this writes it without
    /// waiting for a time when nobody commits.
    fn sync_again(&self) -> Result<()> {
        self.sync()?;
        self.0.environment.flush_now()
    }

    /// Makes a checkpoint: the data file is on disk as a whole, so that nothing of the redo log is needed.
    pub fn checkpoint(&self) -> Result<()> {
        self.0.environment.checkpoint()
    }

    /// The committed value of a named record.
    pub fn record(&self, name: &[u8]) -> Result<Option<Vec<u8>>> {
        let snapshot = self.0.environment.newest()?;
        Ok(snapshot.record(name)?.map(<[u8]>::to_vec))
    }

    /// The committed records whose names begin with a prefix that is not empty, in order.
    pub fn records(&self, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        self.0.environment.newest()?.records(prefix)
    }

    /// Path of the data directory.
    pub fn directory(&self) -> &Path {
        self.0.environment.directory()
    }

    /// Whether the directory was accessible to other users until it was opened.
    pub fn was_open_to_others(&self) -> bool {
        self.0.environment.directory_lock.was_open_to_others()
    }

    /// Writes a compact copy of the store's current state into a new or empty directory, while others read and write.
    pub fn backup(&self, directory: &Path) -> Result<()> {
        super::backup::backup(&self.0.environment, directory)
    }
}

impl Store {
    fn all_transactions(&self) -> MutexGuard<'_, HashMap<u64, Weak<Transaction>>> {
        lock(&self.transactions)
    }

    pub(super) fn next_transaction(&self) -> u64 {
        self.last_transaction.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a session's transaction to the list.
    pub(super) fn enlist(&self, number: u64, transaction: &Arc<Transaction>) {
        let transaction = Arc::downgrade(transaction);
        self.all_transactions().insert(number, transaction);
    }

    /// Removes a session's transaction from the list.
    pub(super) fn delist(&self, number: u64) {
        self.all_transactions().remove(&number);
    }

    /// The transactions of all sessions.
    pub(super) fn transactions(&self) -> Vec<Arc<Transaction>> {
        let all = self.all_transactions();
        all.values().filter_map(Weak::upgrade).collect()
    }

    /// A number that no tree ever had, provided that [`Self::last_tree_record`] is committed.
    pub(super) fn new_tree(&self) -> TreeId {
        self.last_tree.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn last_tree_record(&self) -> (&'static [u8], [u8; 4]) {
        (
            LAST_TREE,
            self.last_tree.load(Ordering::Relaxed).to_le_bytes(),
        )
    }

    /// Reserves hidden numbers for `rows` new rows and returns the first. No row that a snapshot sees has one of them:
    /// whoever removes rows calls this first, so that numbering goes on behind all rows that were there.
    pub(super) fn row_numbers(&self, tree: TreeId, rows: u64) -> Result<u64> {
        let mut numbers = lock(&self.row_numbers);
        let next = match numbers.get(&tree) {
            Some(next) => Arc::clone(next),
            None => {
                let snapshot = self.environment.newest()?;
                let next = match snapshot.block_of(tree, &[u8::MAX; 9])? {
                    None => 1,
                    Some(found) => {
                        let block = snapshot.block(found)?;
                        let key = block.key(block.rows() - 1)?;
                        let last = key.as_slice().try_into().map(u64::from_be_bytes);
                        last.map_err(|_| super::block::Damaged)?.saturating_add(1)
                    }
                };
                let next = Arc::new(AtomicU64::new(next));
                numbers.insert(tree, Arc::clone(&next));
                next
            }
        };
        drop(numbers);
        Ok(next.fetch_add(rows, Ordering::Relaxed))
    }

    /// The committed row count of a tree.
    pub(super) fn row_count(&self, tree: TreeId) -> Result<u64> {
        self.environment.row_count(tree)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // An error here has no receiver and loses nothing: the log is read when the file is opened again.
        let _ = self.environment.sync();
        let _ = self.environment.checkpoint();
    }
}

/// Thread that syncs a store once a second, until this is dropped.
#[derive(Debug)]
pub struct SyncThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SyncThread {
    /// Starts the thread, which keeps the store open. `report` is called with the first of consecutive failures, and
    /// with the first success after them; the last sync is made when this is dropped.
    pub fn start(
        store: &DurableStore,
        report: impl Fn(Option<&Error>) + Send + 'static,
    ) -> Result<Self> {
        let store = store.clone();
        let (stop, stopped) = channel();
        let mut has_failed = false;
        let mut sync = move || {
            let synced = match has_failed {
                true => store.sync_again(),
                false => store.sync(),
            };
            if synced.is_err() != has_failed {
                report(synced.as_ref().err());
            }
            has_failed = synced.is_err();
        };
        let thread = std::thread::Builder::new()
            .name("sync".to_owned())
            .spawn(move || {
                // A failed sync is tried again in a second.
                while stopped.recv_timeout(SECOND) == Err(RecvTimeoutError::Timeout) {
                    sync();
                }
                sync();
            })
            .map_err(|error| codes::ER_OUT_OF_MEMORY.with(&[&error]))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for SyncThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
