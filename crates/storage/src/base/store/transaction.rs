//! A session's transactions in the store, one after the other.
//!
//! A transaction begins with its first statement and ends with commit or roll back; the next
//! statement begins another. What it has changed is an [`Overlay`] that its
//! own reads look through.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use mayfly_memory::Reservation;
use mayfly_memory::sync::{UsedMutex, lock};
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

use crate::base::change_map::Change;
use crate::base::change_map::{ChangeStorage, NAME, RESERVE_BYTES};
use crate::base::definition::TableDefinition;
use crate::base::locks::ranges::RangeMode;
use crate::base::locks::{Held, LockOwner, Request};
use crate::base::overlay::{Changes, Overlay, TreeChanges};
use crate::base::record_key::{META, TreeId, row_count_name};
use crate::base::snapshot::Snapshot;
use crate::base::store::{DurableStore, Store};
use crate::base::transaction_snapshots::TransactionSnapshot;
use crate::base::view::TreeView;
use crate::error::user_error;
use crate::key_encoding::ByteRange;
use crate::table::{LockMode, LockWait, ReadLock};
use crate::transaction::Participant;

/// Which rows a statement's reads see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadView {
    /// Rows of a snapshot taken by the transaction's first such statement: REPEATABLE READ.
    Transaction,
    /// Rows of a snapshot taken at the statement's start: READ COMMITTED, and every statement that locks or changes
    /// rows.
    Statement,
}

/// Options of a statement.
#[derive(Debug, Clone)]
pub struct StatementOptions {
    /// Which rows the statement sees.
    pub view: ReadView,
    /// Maximum wait of writers for a lock (`innodb_lock_wait_timeout`).
    pub lock_wait: Duration,
    /// Signal that ends the statement.
    pub interrupt: Interrupt,
    /// Number of rows in batches of scans.
    pub batch_rows: usize,
    /// Lock mode of reads, unless [`crate::Table::lock_reads`] sets another one.
    pub read_lock: ReadLock,
}

/// Handle to a session's transactions. Cloning gives another handle.
#[derive(Debug, Clone)]
pub struct DurableTransaction(pub(in crate::base) Arc<Transaction>);

#[derive(Debug)]
pub(in crate::base) struct Transaction {
    pub(in crate::base) store: Arc<Store>,
    pub(in crate::base) owner: LockOwner,
    state: UsedMutex<State>,
    /// The snapshot of [`ReadView::Transaction`].
    pub(in crate::base) snapshot: Arc<TransactionSnapshot>,
    /// Storage of the changes.
    pub(in crate::base) storage: ChangeStorage,
    pub(in crate::base) held: UsedMutex<Held>,
    /// Changes of running statements.
    writing: Mutex<Vec<WriterTrees>>,
    /// The transaction's number in the store's list.
    number: u64,
}

/// Changes of a statement, shared with requests for range locks.
pub(in crate::base) type WriterTrees = Arc<Mutex<BTreeMap<TreeId, TreeChanges>>>;

#[derive(Debug)]
struct State {
    changes: Changes,
    /// Changes during a commit: they are no longer in `changes`, and not yet visible to others.
    committing: Overlay,
    reservation: Reservation,
    /// Whether trees were created since the last commit.
    new_trees: bool,
}

impl State {
    /// Removes all changes. Returns those that are undone, and those that were being committed: dropping them can take
    /// long, and others need not wait for it.
    fn clear(&mut self) -> (Overlay, Overlay) {
        let undone = self.changes.take();
        self.reservation.free();
        self.new_trees = false;
        (undone, std::mem::take(&mut self.committing))
    }
}

/// State that the tables of a statement share.
#[derive(Debug)]
pub(in crate::base) struct StatementState {
    pub(in crate::base) transaction: Arc<Transaction>,
    pub(in crate::base) options: StatementOptions,
    snapshot: OnceLock<Arc<Snapshot>>,
}

impl DurableTransaction {
    pub(in crate::base) fn new(store: &Arc<Store>, storage: ChangeStorage) -> Self {
        Self::of_owner(store.locks.new_owner(), store, storage)
    }

    /// A second transaction of the session: it commits on its own, and waiters for one of the two wait for the
    /// session. The two change and lock different tables.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self::of_owner(self.0.owner, &self.0.store, self.0.storage.clone())
    }

    /// The session's transaction in a store that is open beside this one's, with the same locks.
    #[must_use]
    pub fn in_store(&self, store: &DurableStore) -> Self {
        Self::of_owner(self.0.owner, &store.0, self.0.storage.clone())
    }

    fn of_owner(owner: LockOwner, store: &Arc<Store>, storage: ChangeStorage) -> Self {
        let transaction = Arc::new(Transaction {
            store: Arc::clone(store),
            owner,
            state: UsedMutex::new(State {
                changes: Changes::default(),
                committing: Overlay::default(),
                reservation: storage.memory.reservation(),
                new_trees: false,
            }),
            snapshot: store.environment.transaction_snapshots.add(),
            storage,
            held: UsedMutex::default(),
            writing: Mutex::default(),
            number: store.next_transaction(),
        });
        store.enlist(transaction.number, &transaction);
        Self(transaction)
    }

    /// START TRANSACTION WITH CONSISTENT SNAPSHOT: [`ReadView::Transaction`] sees the current rows.
    pub fn take_snapshot(&self) -> Result<()> {
        let newest = self.0.store.environment.newest()?;
        self.0.snapshot.set(newest);
        Ok(())
    }

    /// The number of a new, empty tree. It is never given again, whether or not this transaction commits.
    pub fn new_tree(&self) -> Result<TreeId> {
        let tree = self.0.store.new_tree();
        self.0.state().new_trees = true;
        // A snapshot without the record shows that the tree was created later.
        let (name, none) = (row_count_name(tree), 0_u64.to_le_bytes());
        self.0.set(name, Some(Arc::from(none.as_slice())))?;
        Ok(tree)
    }

    /// Removes a tree with all rows.
    pub fn drop_tree(&self, tree: TreeId) {
        self.0.state().changes.clear(tree, &Arc::from([]), true);
    }

    /// Sets or removes a named record, which the layers above keep beside the rows, and which is committed together
    /// with them. A name has 1 to 500 bytes and does not begin with 0.
    pub fn set_record(&self, name: &[u8], value: Option<&[u8]>) -> Result<()> {
        self.0.set(name.to_vec(), value.map(Arc::from))
    }

    /// The value of a named record as this transaction sees it: its own, or else the committed one.
    pub fn record(&self, name: &[u8]) -> Result<Option<Vec<u8>>> {
        if let Some(records) = self.0.tree_changes(META)
            && let Some(change) = records.get(name)?
        {
            return Ok(change.as_ref().map(|value| value.to_vec()));
        }
        let snapshot = self.0.store.environment.newest()?;
        Ok(snapshot.record(name)?.map(<[u8]>::to_vec))
    }

    /// Whether there are uncommitted changes.
    pub fn has_changes(&self) -> bool {
        self.0.change_count() > 0
    }

    /// Commits: makes the changes durable and visible to others, and ends the transaction. After an error nothing is
    /// committed.
    pub fn commit(&self) -> Result<()> {
        self.0.commit()
    }

    /// Rolls back: ends the transaction without its changes.
    pub fn roll_back(&self) {
        self.0.end();
    }

    /// The participant in the session's commit.
    pub fn participant(&self) -> Box<dyn Participant> {
        Box::new(self.clone())
    }
}

impl Transaction {
    /// The state, to change it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Number of changes since the transaction began.
    fn change_count(&self) -> u64 {
        self.state.used().map_or(0, |state| state.changes.len())
    }

    fn writing(&self) -> MutexGuard<'_, Vec<WriterTrees>> {
        lock(&self.writing)
    }

    /// Registers the changes of a statement that begins to write.
    pub(in crate::base) fn begin_writing(&self) -> WriterTrees {
        let trees = WriterTrees::default();
        self.writing().push(Arc::clone(&trees));
        trees
    }

    /// Removes a statement's changes from the list: they are part of the transaction, or discarded.
    pub(in crate::base) fn end_writing(&self, trees: &WriterTrees) {
        self.writing().retain(|other| !Arc::ptr_eq(other, trees));
        self.store.locks.undone(self.owner);
    }

    /// Whether there are uncommitted changes in ranges of a tree that conflict with range locks of this mode.
    fn has_changed(
        &self,
        tree: TreeId,
        mode: RangeMode,
        newest: &Arc<Snapshot>,
        ranges: &[ByteRange],
    ) -> Result<bool> {
        // A statement's changes are in its own list until they are in the transaction's.
        let writing = self.writing().clone();
        for trees in writing {
            let trees = lock(&trees);
            if let Some(changes) = trees.get(&tree)
                && is_in_the_way(changes, tree, mode, newest, ranges)?
            {
                return Ok(true);
            }
        }
        let (own, committing) = self.state.used().map_or((None, None), |state| {
            let own = state.changes.overlay.tree(tree).cloned();
            (own, state.committing.tree(tree).cloned())
        });
        for changes in own.into_iter().chain(committing) {
            if is_in_the_way(&changes, tree, mode, newest, ranges)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The transaction's changes of a tree.
    pub(in crate::base) fn tree_changes(&self, tree: TreeId) -> Option<Arc<TreeChanges>> {
        self.state.used()?.changes.overlay.tree(tree).cloned()
    }

    /// Error 1412 when a table, or an index of it, was created after the transaction's snapshot.
    pub(in crate::base) fn check_definition(&self, definition: &TableDefinition) -> Result<()> {
        let Some(snapshot) = self.snapshot.get()? else {
            return Ok(());
        };
        if snapshot.version() == self.store.environment.version() {
            return Ok(());
        }
        let own = self.tree_changes(META);
        for tree in definition.all_trees() {
            let name = row_count_name(tree);
            let is_own = match &own {
                Some(own) => own.get(&name)?.is_some(),
                None => false,
            };
            if !is_own && snapshot.record(&name)?.is_none() {
                return Err(codes::ER_TABLE_DEF_CHANGED.error());
            }
        }
        Ok(())
    }

    /// Empties a tree.
    pub(in crate::base) fn clear_tree(
        &self,
        tree: TreeId,
        types: &Arc<[mayfly_types::PhysicalType]>,
    ) {
        self.state().changes.clear(tree, types, false);
    }

    /// Sets or removes a record.
    fn set(&self, name: Vec<u8>, value: Change) -> Result<()> {
        let mut state = self.state();
        let entry = std::iter::once((name, value));
        state.changes.set(META, &Arc::from([]), entry)?;
        self.fit(&mut state)
    }

    /// Moves changes to temporary space when they exceed the memory limit, and reserves memory for the rest.
    fn fit(&self, state: &mut State) -> Result<()> {
        let needed = state.changes.bytes();
        if needed <= self.storage.most_memory() && state.reservation.try_resize(needed).is_ok() {
            return Ok(());
        }
        state.changes.overflow(&self.storage)?;
        let needed = state.changes.bytes();
        self.storage.resize(&mut state.reservation, needed)
    }

    /// Reserves memory for the transaction's locks.
    pub(in crate::base) fn reserve_locks(&self) -> Result<()> {
        let Some(mut held) = self.held.used() else {
            return Ok(());
        };
        let needed = held.bytes();
        let empty = || self.storage.memory.reservation();
        let reservation = held.reservation.get_or_insert_with(empty);
        let reserved = reservation.bytes();
        if needed > reserved {
            let grown = reservation.try_grow((needed - reserved).max(RESERVE_BYTES));
            return grown.map_err(|error| user_error(&error.into(), NAME));
        }
        if reserved - needed > RESERVE_BYTES {
            reservation.shrink(reserved - needed);
        }
        Ok(())
    }

    /// Adds the changes of a statement.
    pub(in crate::base) fn join(&self, trees: Vec<(TreeId, TreeChanges)>) -> Result<()> {
        let mut state = self.state();
        for (tree, mut changes) in trees {
            if changes.bulk_loaded.is_some() || state.changes.overlay.tree(tree).is_none() {
                if changes.changes.has_table() {
                    changes.changes.overflow(&self.storage)?;
                }
                state.changes.put(tree, changes);
            } else {
                state.changes.join(tree, changes, &self.storage)?;
            }
        }
        self.fit(&mut state)
    }

    /// Ends the transaction without its changes.
    fn end(&self) {
        if let Some(mut state) = self.state.used() {
            let (undone, committed) = state.clear();
            self.state.end_use(state);
            let changed = if committed.is_empty() {
                undone
            } else {
                committed
            };
            self.settle(changed);
        }
        self.end_reading();
    }

    /// Drops changes that are in the file, or in no one's view any more, and charges their trees anew.
    fn settle(&self, changed: Overlay) {
        let environment = &self.store.environment;
        let trees = environment.charged_trees(&changed);
        // Blocks of a load that was not committed go with the changes.
        drop(changed);
        trees.into_iter().for_each(|tree| environment.settle(tree));
    }

    /// Releases the snapshot and the locks.
    #[inline]
    fn end_reading(&self) {
        self.snapshot.end();
        self.store.locks.release(self.owner, &self.held);
    }

    /// The snapshot that a statement sees.
    #[inline]
    pub(in crate::base) fn snapshot_of(&self, view: ReadView) -> Result<Arc<Snapshot>> {
        let newest = || self.store.environment.newest();
        match view {
            ReadView::Statement => newest(),
            ReadView::Transaction => match self.snapshot.get()? {
                Some(snapshot) => Ok(snapshot),
                None => self.snapshot.get_or_set(newest()?),
            },
        }
    }

    fn commit(&self) -> Result<()> {
        let used = self.state.used();
        let changed =
            |state: &MutexGuard<'_, State>| state.new_trees || !state.changes.overlay.is_empty();
        let Some(mut state) = used.filter(changed) else {
            self.end();
            return Ok(());
        };
        if state.new_trees {
            let (name, number) = self.store.last_tree_record();
            let number = Some(Arc::from(number.as_slice()));
            let entry = std::iter::once((name.to_vec(), number));
            if let Err(error) = state.changes.set(META, &Arc::from([]), entry) {
                drop(state);
                self.end();
                return Err(error);
            }
        }
        let overlay = state.changes.take();
        state.committing = overlay.clone();
        // Releases the snapshot before waiting: a failed file is reopened when it has no readers.
        drop(state);
        self.snapshot.end();
        let committer = &self.store.committer;
        let committed = committer.commit(&self.store.environment, overlay);
        self.end();
        committed
    }
}

/// Implements [`Transaction::has_changed`] for the changes of one tree.
fn is_in_the_way(
    changes: &TreeChanges,
    tree: TreeId,
    mode: RangeMode,
    newest: &Arc<Snapshot>,
    ranges: &[ByteRange],
) -> Result<bool> {
    if changes.cleared || changes.bulk_loaded.is_some() || changes.changes.has_table() {
        // The changes have overflowed; an exact answer would have to read all of them.
        return Ok(true);
    }
    let mut found = false;
    for range in ranges {
        changes.each(range, |key, change| {
            found = match mode {
                RangeMode::Shared | RangeMode::Exclusive => true,
                RangeMode::Gap if change.is_none() => false,
                RangeMode::Gap => {
                    let types = &changes.types;
                    let view = TreeView::new(newest, tree, types, None);
                    view.find(key, None)?.is_none()
                }
            };
            Ok(!found)
        })?;
        if found {
            break;
        }
    }
    Ok(found)
}

impl Store {
    /// The owners of uncommitted changes in ranges of a tree that conflict with range locks of this mode.
    pub(in crate::base) fn changers(
        &self,
        owner: LockOwner,
        tree: TreeId,
        mode: RangeMode,
        ranges: &[ByteRange],
    ) -> Result<Vec<LockOwner>> {
        let newest = self.environment.newest()?;
        let mut found = Vec::new();
        for transaction in self.transactions() {
            if transaction.owner != owner && transaction.has_changed(tree, mode, &newest, ranges)? {
                found.push(transaction.owner);
            }
        }
        Ok(found)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.end();
        self.store.delist(self.number);
    }
}

impl Participant for DurableTransaction {
    fn savepoint(&mut self) -> u64 {
        self.0.change_count()
    }

    fn roll_back_to(&mut self, savepoint: u64) -> bool {
        if let Some(mut state) = self.0.state.used() {
            state.changes.undo(savepoint);
            let reserved = state.reservation.bytes();
            let less = reserved.saturating_sub(state.changes.bytes());
            state.reservation.shrink(less);
        }
        self.0.store.locks.undone(self.0.owner);
        false
    }

    fn prepare(&mut self) -> Result<()> {
        let environment = &self.0.store.environment;
        let used = self.0.state.used();
        used.map_or(Ok(()), |state| environment.charge(&state.changes.overlay))
    }

    fn commit(&mut self) -> Result<()> {
        self.0.commit()
    }

    fn roll_back(&mut self) -> bool {
        self.0.end();
        false
    }
}

impl StatementState {
    pub(in crate::base) fn new(
        transaction: &Arc<Transaction>,
        options: StatementOptions,
    ) -> Arc<Self> {
        Arc::new(Self {
            transaction: Arc::clone(transaction),
            options,
            snapshot: OnceLock::new(),
        })
    }

    /// A lock request.
    pub(in crate::base) fn request(&self, mode: LockMode, wait: LockWait) -> Request<'_> {
        Request {
            owner: self.transaction.owner,
            held: &self.transaction.held,
            mode,
            wait,
            interrupt: &self.options.interrupt,
        }
    }

    /// The snapshot of the statement's tables.
    pub(in crate::base) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        if let Some(snapshot) = self.snapshot.get() {
            return Ok(Arc::clone(snapshot));
        }
        let snapshot = self.transaction.snapshot_of(self.options.view)?;
        Ok(Arc::clone(self.snapshot.get_or_init(|| snapshot)))
    }
}
