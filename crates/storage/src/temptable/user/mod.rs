//! Tables of CREATE TEMPORARY TABLE, of ENGINE=MEMORY, and of the engines without transactions.
//!
//! A [`UserTable`] is created once and opened by each statement: [`UserTable::open`] gives the statement's
//! [`Table`](crate::Table), which sees a snapshot. A row keeps its position, eight bytes, for its lifetime. Changes by
//! a transactional table's writer are recorded in the session's [`UndoLog`]; the records end with the table.
//!
//! Rows are in the layout of all temporary tables ([`heap`]), with their long values beside them ([`blobs`]); the
//! indexes are trees ([`tree`]); all of that is in [`pages`] that go to a temporary file when the budget is exceeded,
//! the coldest first. Changes are made in place. A page of a snapshot that is still in use is copied before it is
//! changed. A snapshot is taken for the open handles when another statement begins to write, so that a statement that
//! finds its row and changes it copies nothing.

mod blobs;
mod content;
mod handle;
mod heap;
mod key_set;
mod memory_engine;
mod ordered_map;
mod pages;
mod point;
mod scan;
mod tree;
mod undo;
mod write_lock;
mod writer;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use mayfly_memory::sync::{read_lock, write_lock};
use mayfly_memory::{Budget, Compression, MemoryError, SizeClass};
use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType, Result};

use super::context::{Resources, TempTableContext};
use super::reclaim::Reclaim;
use super::record::{Ending, Killable, RegistryEntry, StatementOwner, TableFacts};
use super::registry::Registration;
use super::rows::RowLayout;
use super::spec::Purpose;
use super::table::ENGINE;
use crate::error::user_error;
use crate::key_encoding::KeyEncoder;
use crate::table::{IndexSpec, Table};
use blobs::COMPRESSED_BLOCK;
use content::{ColumnSet, Content, Fixed, Shape};
use handle::{ChangeBy, Handle, Pin};
use memory_engine::Account;
use pages::Pager;
use write_lock::WriteLock;
use writer::WriterScratch;

pub(super) use key_set::KeySet;
pub use memory_engine::{MemoryIndex, MemoryKeyPart, MemoryLimits, VaryingBytes};
pub(crate) use ordered_map::{MapSnapshot, OrderedMap};
pub use undo::UndoLog;

/// Memory limit in bytes below which rows are in small pages.
const LARGE_PAGES_MEMORY: u64 = 4 << 20;
/// Minimum memory in bytes of a table that is asked to release some.
const RECLAIM_MIN: u64 = 64 << 10;

/// Transactional behaviour of a table, and where its rows may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTableEngine {
    /// CREATE TEMPORARY TABLE: changes can be undone, rows overflow to temporary files.
    Transactional,
    /// MyISAM, Aria, CSV: rows overflow as well, but changes cannot be undone.
    NonTransactional,
    /// MEMORY: visible to all sessions, never in a file, and full at a size limit.
    Memory(MemoryLimits),
}

/// Context of a new table.
#[derive(Debug, Clone)]
pub struct UserTableContext {
    /// The resources that the database shares.
    pub resources: Resources,
    /// Memory budget: the session's, or that of base tables when others see the table too.
    pub memory: Budget,
    /// Budget of temporary space, of the same owner.
    pub temp_space: Budget,
    /// Memory in bytes that this table may hold before it overflows.
    pub memory_limit: u64,
    /// Owner of the table.
    pub owner: StatementOwner,
    /// Purpose of the table.
    pub purpose: Purpose,
    /// Name of the table.
    pub name: Arc<str>,
    /// Behaviour of the table.
    pub engine: UserTableEngine,
    /// Whether it belongs to one session alone, and KILL TEMPORARY TABLE may end it.
    pub is_private: bool,
}

/// Mutable state of a table.
#[derive(Debug)]
struct State {
    content: Content,
    /// Content that other sessions see of a shared table while one of them writes.
    published: Option<Arc<Content>>,
    /// The MEMORY engine's account.
    account: Option<Account>,
    /// Error that makes the table unusable.
    broken: Option<Error>,
    /// Buffers kept from change to change.
    scratch: WriterScratch,
    /// Pins of the statements that have the table open, with a lock of its own, so that they can be inspected during a
    /// change.
    pins: Mutex<Vec<Weak<Pin>>>,
}

impl State {
    fn check(&self) -> Result<()> {
        self.broken.clone().map_or(Ok(()), Err)
    }
}

#[derive(Debug)]
pub(crate) struct Core {
    me: Weak<Core>,
    // Declared before the fields to which it returns memory.
    state: RwLock<State>,
    shape: Shape,
    pager: Pager,
    name: Arc<str>,
    engine: UserTableEngine,
    /// Number of truncations: older undo records are void.
    epoch: AtomicU64,
    /// Number of changes, which tells whether rows are still as they were read.
    version: AtomicU64,
    /// Write lock of a MEMORY table.
    write_lock: Option<WriteLock>,
    is_holder: AtomicBool,
    registration: Arc<Registration>,
}

impl Killable for Core {
    fn kill(&self) {
        let mut state = write_lock(&self.state);
        state.broken = Some(codes::ER_QUERY_INTERRUPTED.error());
        let old = self.empty(&mut state);
        drop(state);
        drop(old);
    }
}

impl Core {
    fn read(&self) -> Result<RwLockReadGuard<'_, State>> {
        let state = read_lock(&self.state);
        state.check().map(|()| state)
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, State>> {
        let state = write_lock(&self.state);
        state.check().map(|()| state)
    }

    /// Parts of the table that changes of its content need.
    fn fixed(&self) -> Fixed<'_> {
        Fixed {
            shape: &self.shape,
            pager: &self.pager,
        }
    }

    /// Reads while the table is locked.
    fn see<T>(&self, read: impl FnOnce(&State) -> mayfly_memory::Result<T>) -> Result<T> {
        let state = self.read()?;
        let found = read(&state).map_err(|error| self.error(&error));
        drop(state);
        self.relieve();
        found
    }

    fn is_transactional(&self) -> bool {
        self.engine == UserTableEngine::Transactional
    }

    /// The error for the user.
    fn error(&self, error: &MemoryError) -> Error {
        user_error(error, &self.name)
    }

    /// Takes a snapshot for every statement that has the table open. The writing one gets none unless it goes on
    /// reading.
    fn pin_others(&self, state: &mut State, change: ChangeBy<'_>) {
        let pins = state.pins.get_mut();
        let pins = pins.unwrap_or_else(PoisonError::into_inner);
        if pins.is_empty() {
            return;
        }
        let content = &state.content;
        let mut shared: Option<Arc<Content>> = None;
        pins.retain(|pin| {
            let Some(pin) = pin.upgrade() else {
                return false;
            };
            if pin.needs_snapshot(change) {
                let shared = shared.get_or_insert_with(|| Arc::new(content.clone()));
                pin.set_snapshot(shared);
            }
            true
        });
    }

    /// Removes all rows; returns their content, to be dropped once the table is no longer locked.
    fn empty(&self, state: &mut State) -> Content {
        let page_length = state.content.heap.page_length();
        let block_length = state.content.blobs.block_length();
        let content = Content::new(&self.shape, page_length, block_length);
        let old = std::mem::replace(&mut state.content, content);
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.note_change();
        self.registration.set_rows(0);
        old
    }

    /// Counts a change; the caller has locked the table for writing.
    fn note_change(&self) {
        let changes = self.version.load(Ordering::Relaxed);
        self.version.store(changes + 1, Ordering::Relaxed);
    }

    /// Releases a lock of a MEMORY table. After its holder's last lock others see what it has written.
    fn unlock(&self) {
        if let Some(lock) = &self.write_lock
            && lock.unlock()
        {
            write_lock(&self.state).published = None;
        }
    }

    /// Evicts pages after a read, which may have brought some back past the limit.
    fn relieve(&self) {
        if self.pager.is_pressed()
            && let Ok(mut state) = self.state.try_write()
        {
            // Pages that cannot be written now stay, and the next writer tries again.
            let _ = state.content.relieve(&self.pager);
        }
    }

    fn become_holder(&self) {
        if !self.pager.may_overflow
            || self.is_holder.load(Ordering::Relaxed)
            || self.pager.memory.used() < RECLAIM_MIN
            || self.is_holder.swap(true, Ordering::Relaxed)
        {
            return;
        }
        let me: Weak<dyn Reclaim> = self.me.clone();
        self.pager.resources.registry.holders.add(me);
    }
}

impl Reclaim for Core {
    fn memory(&self) -> &Budget {
        &self.pager.memory
    }

    fn reclaim(&self, wanted: u64) -> u64 {
        let Ok(mut state) = self.state.try_write() else {
            return 0;
        };
        state.content.evict(&self.pager, wanted).unwrap_or(0)
    }
}

/// User-visible table. Cloning gives another handle; the rows are freed with the last one.
#[derive(Debug, Clone)]
pub struct UserTable(Arc<Core>);

impl UserTable {
    /// An empty table. Its indexes are in the order that [`Table::indexes`] asks for.
    pub fn new(
        context: UserTableContext,
        columns: Vec<PhysicalType>,
        indexes: Vec<IndexSpec>,
    ) -> Self {
        let encoder = |index: &IndexSpec| KeyEncoder::new(&columns, &index.parts);
        let key_columns = |index: &IndexSpec| {
            let columns = index.parts.iter().map(|part| part.column);
            columns.collect::<ColumnSet>()
        };
        let shape = Shape {
            encoders: indexes.iter().map(encoder).collect(),
            key_columns: indexes.iter().map(key_columns).collect(),
            layout: RowLayout::new(&columns),
            columns,
            indexes,
        };
        let limit = context.memory_limit;
        let memory = match &context.engine {
            // Reaching its own limit is an error for this table: it has nothing to send to a file.
            UserTableEngine::Memory(_) => context.memory.child("tmp_table_size", limit),
            _ => context.memory.sharing_child("tmp_table_size", limit),
        };
        let temp_space = context
            .temp_space
            .child("none", mayfly_memory::budget::UNLIMITED);
        let access = if shape.indexes.is_empty() {
            "NONE"
        } else {
            "ORDERED"
        };
        let page_length = if memory.share() < LARGE_PAGES_MEMORY {
            SizeClass::Small.bytes()
        } else {
            SizeClass::Medium.bytes()
        };
        let block_length = match context.resources.temp_space.compression() {
            Compression::None => page_length,
            Compression::Lz4 => COMPRESSED_BLOCK,
        };
        let account = match &context.engine {
            UserTableEngine::Memory(limits) => Some(Account::new(limits)),
            UserTableEngine::Transactional | UserTableEngine::NonTransactional => None,
        };
        let may_overflow = account.is_none();
        Self(Arc::new_cyclic(|me: &Weak<Core>| {
            let facts = TableFacts {
                owner: context.owner,
                purpose: context.purpose,
                cause: Arc::from(""),
                operator: None,
                access,
                engine: match &context.engine {
                    UserTableEngine::Memory(_) => "MEMORY",
                    UserTableEngine::Transactional | UserTableEngine::NonTransactional => ENGINE,
                },
                ending: match context.is_private {
                    true => Ending::Alone(me.clone()),
                    false => Ending::Never,
                },
            };
            let registry = &context.resources.registry;
            let registration = registry.register(facts, None, memory.clone(), temp_space.clone());
            Core {
                me: me.clone(),
                state: RwLock::new(State {
                    content: Content::new(&shape, page_length, block_length),
                    published: None,
                    account,
                    broken: None,
                    scratch: WriterScratch::default(),
                    pins: Mutex::default(),
                }),
                pager: Pager::new(context.resources, memory, temp_space, may_overflow),
                shape,
                name: context.name,
                engine: context.engine,
                epoch: AtomicU64::new(0),
                version: AtomicU64::new(0),
                write_lock: (!may_overflow).then(WriteLock::default),
                is_holder: AtomicBool::new(false),
                registration,
            }
        }))
    }

    /// Opens a handle of one statement. Changes of its writers are recorded in `undo`, the session's.
    ///
    /// The handle sees a snapshot of the rows. When a statement writes through a handle and goes on reading through
    /// it, it may see its own changes: open another one to read from.
    pub fn open(&self, statement: &TempTableContext, undo: &UndoLog) -> Arc<dyn Table> {
        Arc::new(Handle::new(&self.0, statement, undo))
    }

    /// The registry entry with the current number of rows, which any session may read, even while a statement changes
    /// the table.
    pub fn entry(&self) -> RegistryEntry {
        let mut entry = self.0.registration.snapshot();
        if let Ok(state) = self.0.state.try_read() {
            entry.rows = state.content.heap.len();
        }
        entry
    }

    /// Restarts the account of an empty table of the MEMORY engine with these limits.
    pub fn empty_under(&self, limits: &MemoryLimits) {
        let mut state = write_lock(&self.0.state);
        if let Some(account) = &mut state.account {
            *account = Account::new(limits);
        }
    }
}
