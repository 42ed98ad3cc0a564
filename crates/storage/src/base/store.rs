//! The store of durable tables: a data directory that is open.

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
use super::locks::statistics::RowLockWaits;
use super::locks::{LockOwner, Locks};
use super::options::StoreOptions;
use super::record_key::{LAST_TREE, TreeId, count_of, row_count_name};
use transaction::{DurableTransaction, Transaction};

const SECOND: Duration = Duration::from_secs(1);

/// An open data directory. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct DurableStore(pub(super) Arc<Store>);

#[derive(Debug)]
pub(super) struct Store {
    pub(super) environment: Arc<Environment>,
    pub(super) committer: Committer,
    pub(super) locks: Locks,
    last_tree: AtomicU32,
    last_lock_owner: AtomicU64,
    /// Those of all sessions, by number.
    transactions: Mutex<HashMap<u64, Weak<Transaction>>>,
    last_transaction: AtomicU64,
    /// The next hidden row number of trees that have them.
    row_numbers: Mutex<HashMap<TreeId, Arc<AtomicU64>>>,
    pub(super) estimates: Mutex<HashMap<TreeId, Arc<Estimate>>>,
}

/// What a sample of a tree gave.
#[derive(Debug)]
pub(super) struct Estimate {
    /// Rows of the tree at the time.
    pub(super) rows: u64,
    /// Its blocks at the time.
    pub(super) blocks: u64,
    /// How often a row differs from the one before in its first 1, 2, … parts, of how many rows.
    pub(super) steps: Vec<u64>,
    /// So many rows were compared with the one before.
    pub(super) sampled: u64,
}

impl DurableStore {
    /// Opens or creates a store. A second process gets an error.
    pub fn open(options: StoreOptions) -> Result<Self> {
        let environment = Environment::open(options)?;
        let snapshot = environment.newest()?;
        let number = |record: &[u8]| record.try_into().map_or(0, u32::from_le_bytes);
        let last_tree = snapshot.record(LAST_TREE)?.map_or(0, number);
        drop(snapshot);
        let store = Arc::new(Store {
            committer: Committer::default(),
            environment,
            locks: Locks::default(),
            last_tree: AtomicU32::new(last_tree),
            last_lock_owner: AtomicU64::new(0),
            transactions: Mutex::default(),
            last_transaction: AtomicU64::new(0),
            row_numbers: Mutex::default(),
            estimates: Mutex::default(),
        });
        let bulk_loads = &store.committer.bulk_loads;
        bulk_loads.remove_orphans(&store.environment)?;
        Ok(Self(store))
    }

    /// A session's part in the store: its transaction, one after the other. What it has changed and
    /// not committed is in `storage`.
    pub fn session(&self, storage: ChangeStorage) -> DurableTransaction {
        DurableTransaction::new(&self.0, storage)
    }

    /// How often and how long locks of rows were waited for.
    pub fn row_lock_waits(&self) -> RowLockWaits {
        self.0.locks.waits.get()
    }

    /// Says when commits are on disk. With [`Durability::EverySecond`]
    /// [`Self::sync`] has to be called once a second: see [`SyncThread`].
    pub fn set_durability(&self, durability: Durability) {
        self.0.committer.set_durability(durability);
    }

    /// Brings to disk what was committed and is not there yet, and the data file as a whole when much
    /// was changed in it. Called once a second or so, it also brings to the file what is only in memory
    /// when nobody commits.
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

    /// The same after a failure, which is over when all that is only in memory is in the file: not before a time in
    /// which nobody commits.
    fn sync_again(&self) -> Result<()> {
        self.sync()?;
        self.0.environment.flush_now()
    }

    /// Brings the data file to disk as a whole, so that nothing of its redo log is needed.
    pub fn checkpoint(&self) -> Result<()> {
        self.0.environment.checkpoint()
    }

    /// The committed record of a name.
    pub fn record(&self, name: &[u8]) -> Result<Option<Vec<u8>>> {
        let snapshot = self.0.environment.newest()?;
        Ok(snapshot.record(name)?.map(<[u8]>::to_vec))
    }

    /// The committed records whose names begin with a prefix that is not empty, in order.
    pub fn records(&self, prefix: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        self.0.environment.newest()?.records(prefix)
    }

    /// Where its files are.
    pub fn directory(&self) -> &Path {
        self.0.environment.directory()
    }

    /// True where others could read or write in its directory until it was opened.
    pub fn was_open_to_others(&self) -> bool {
        self.0.environment.directory_lock.was_open_to_others()
    }

    /// Writes a copy of the store, as of now, into a new or empty directory, while
    /// others read and write. The copy has no free space in it.
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

    /// A session has a transaction.
    pub(super) fn enlist(&self, number: u64, transaction: &Arc<Transaction>) {
        let transaction = Arc::downgrade(transaction);
        self.all_transactions().insert(number, transaction);
    }

    /// It has it no more.
    pub(super) fn delist(&self, number: u64) {
        self.all_transactions().remove(&number);
    }

    /// The transactions of all sessions.
    pub(super) fn transactions(&self) -> Vec<Arc<Transaction>> {
        let all = self.all_transactions();
        all.values().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn next_lock_owner(&self) -> LockOwner {
        self.last_lock_owner.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A number that no tree ever had, once [`Self::last_tree_record`] is committed.
    pub(super) fn new_tree(&self) -> TreeId {
        self.last_tree.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn last_tree_record(&self) -> (&'static [u8], [u8; 4]) {
        (
            LAST_TREE,
            self.last_tree.load(Ordering::Relaxed).to_le_bytes(),
        )
    }

    /// Hidden numbers for so many new rows; the first of them. None of them is that of a row that a snapshot sees:
    /// whoever removes rows calls this first, so that the numbers go on behind all rows that were there.
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

    /// The committed rows of a tree.
    pub(super) fn row_count(&self, tree: TreeId) -> Result<u64> {
        let snapshot = self.environment.newest()?;
        Ok(snapshot.record(&row_count_name(tree))?.map_or(0, count_of))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // An error has no receiver, and loses nothing: the log is read when the file is opened again.
        let _ = self.environment.sync();
        let _ = self.environment.checkpoint();
    }
}

/// A thread that syncs a store once a second, until this is dropped.
#[derive(Debug)]
pub struct SyncThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SyncThread {
    /// Starts it. The store stays open. `report` is called with the first sync of several that fail, and of the
    /// first one that succeeds again; the last one of all is when this is dropped.
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
                // What fails is tried again in a second.
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
