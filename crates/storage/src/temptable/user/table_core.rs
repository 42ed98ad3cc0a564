//! Parts of a table that its handles, writers and undo records share, and the lock around its content.
//!
//! Whoever changes the content has locked the state for writing, has first given a snapshot to every pin that needs one
//! ([`Core::pin_others`]), and counts the change ([`Core::note_change`]). A table that was found broken refuses every
//! later access.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use mayfly_memory::sync::{lock, read_lock, write_lock};
use mayfly_memory::{Budget, Compression, MemoryError, SizeClass};
use mayfly_types::error::codes;
use mayfly_types::{Error, PhysicalType, Result};

use super::blobs::COMPRESSED_BLOCK;
use super::content::{ColumnSet, Content, Fixed, Scratch, Shape};
use super::memory_engine::Account;
use super::pages::Pager;
use super::pin::{ChangeBy, Pin};
use super::table_context::{UserTableContext, UserTableEngine};
use super::write_lock::WriteLock;
use crate::error::user_error;
use crate::key_encoding::KeyEncoder;
use crate::table::IndexSpec;
use crate::temptable::reclaim::Reclaim;
use crate::temptable::record::{Ending, Killable, TableFacts};
use crate::temptable::registry::Registration;
use crate::temptable::rows::{RowLayout, Sources};
use crate::temptable::table::ENGINE;

/// Memory limit in bytes below which rows are in small pages.
const LARGE_PAGES_MEMORY: u64 = 4 << 20;
/// Minimum memory in bytes of a table that is asked to release some.
const RECLAIM_MIN: u64 = 64 << 10;

/// Mutable state of a table.
#[derive(Debug)]
pub(super) struct State {
    pub(super) content: Content,
    /// Content that other sessions see of a shared table while one of them writes.
    pub(super) published: Option<Arc<Content>>,
    /// The MEMORY engine's account.
    pub(super) account: Option<Account>,
    /// Error that makes the table unusable.
    pub(super) broken: Option<Error>,
    /// Number of changes when the table was last emptied.
    pub(super) emptied_at: u64,
    /// Buffers kept from change to change.
    pub(super) scratch: WriterScratch,
    /// Pins of the statements that have the table open, with a lock of its own, so that they can be inspected during a
    /// change.
    pins: Mutex<Vec<Weak<Pin>>>,
}

impl State {
    fn check(&self) -> Result<()> {
        self.broken.clone().map_or(Ok(()), Err)
    }
}

/// Buffers kept from change to change.
#[derive(Debug)]
pub(super) struct WriterScratch {
    pub(super) scratch: Scratch,
    pub(super) rows: Vec<u64>,
    pub(super) sources: Sources,
}

impl Default for WriterScratch {
    fn default() -> Self {
        Self {
            scratch: Scratch::default(),
            rows: Vec::new(),
            sources: Sources::transient_only(),
        }
    }
}

/// Parts of a table, shared by its handles and writers.
#[derive(Debug)]
pub(super) struct Core {
    me: Weak<Core>,
    // Declared before the fields to which it returns memory.
    pub(super) state: RwLock<State>,
    pub(super) shape: Shape,
    pub(super) pager: Pager,
    pub(super) name: Arc<str>,
    engine: UserTableEngine,
    /// Number of truncations: older undo records are void.
    pub(super) epoch: AtomicU64,
    /// Number of changes, which tells whether rows are still as they were read.
    pub(super) version: AtomicU64,
    /// Write lock of a MEMORY table.
    pub(super) write_lock: Option<WriteLock>,
    is_holder: AtomicBool,
    /// Why pages could not be evicted after the last read.
    pub(super) unrelieved: Mutex<Option<MemoryError>>,
    pub(super) registration: Arc<Registration>,
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
    /// The parts of an empty table.
    pub(super) fn new(
        context: UserTableContext,
        columns: Vec<PhysicalType>,
        indexes: Vec<IndexSpec>,
    ) -> Arc<Self> {
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
        Arc::new_cyclic(|me: &Weak<Core>| {
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
                ending: if context.is_private {
                    Ending::Alone(me.clone())
                } else {
                    Ending::Never
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
                    emptied_at: 0,
                    scratch: WriterScratch::default(),
                    pins: Mutex::default(),
                }),
                pager: Pager::new(context.resources, memory, temp_space, may_overflow)
                    .interrupted_by(context.interrupt),
                shape,
                name: context.name,
                engine: context.engine,
                epoch: AtomicU64::new(0),
                version: AtomicU64::new(0),
                write_lock: (!may_overflow).then(WriteLock::default),
                is_holder: AtomicBool::new(false),
                unrelieved: Mutex::default(),
                registration,
            }
        })
    }

    /// Locks the state for reading; the error of a broken table.
    pub(super) fn read(&self) -> Result<RwLockReadGuard<'_, State>> {
        let state = read_lock(&self.state);
        state.check().map(|()| state)
    }

    /// Locks the state for writing; the error of a broken table.
    pub(super) fn write(&self) -> Result<RwLockWriteGuard<'_, State>> {
        let state = write_lock(&self.state);
        state.check().map(|()| state)
    }

    /// Gives a table that is being loaded the entries of its indexes, for a reader inside of the statement.
    pub(super) fn sort_entries(&self) {
        let is_unsorted = read_lock(&self.state).content.is_unsorted;
        if is_unsorted && let Ok(mut state) = self.write() {
            let State {
                content, scratch, ..
            } = &mut *state;
            if let Err(error) = content.sort_entries(self.fixed(), &mut scratch.scratch) {
                state.broken = Some(self.broken_error(&error));
            }
        }
    }

    /// Parts of the table that changes of its content need.
    pub(super) fn fixed(&self) -> Fixed<'_> {
        Fixed {
            shape: &self.shape,
            pager: &self.pager,
        }
    }

    /// Reads while the table is locked.
    pub(super) fn see<T>(
        &self,
        read: impl FnOnce(&State) -> mayfly_memory::Result<T>,
    ) -> Result<T> {
        let state = self.read()?;
        let found = read(&state).map_err(|error| self.error(&error));
        drop(state);
        self.relieve();
        found
    }

    /// A pin of the current state, for a new handle.
    pub(super) fn pin(&self) -> Arc<Pin> {
        let pin = Arc::new(Pin::new(self.version.load(Ordering::Relaxed)));
        let state = read_lock(&self.state);
        if let Some(published) = &state.published {
            pin.set_snapshot(published);
        }
        let mut pins = lock(&state.pins);
        if pins.len() == pins.capacity() {
            pins.retain(|pin| pin.strong_count() > 0);
        }
        pins.push(Arc::downgrade(&pin));
        drop(pins);
        drop(state);
        pin
    }

    /// Calls a function with the content that a pin's handle sees.
    pub(super) fn see_pinned<T>(
        &self,
        pin: &Pin,
        work: impl FnOnce(&Content) -> mayfly_memory::Result<T>,
    ) -> Result<T> {
        self.see(|state| work(pin.content(&state.content)))
    }

    pub(super) fn is_transactional(&self) -> bool {
        self.engine == UserTableEngine::Transactional
    }

    /// The error for the user.
    pub(super) fn error(&self, error: &MemoryError) -> Error {
        user_error(error, &self.name)
    }

    /// Takes a snapshot for every statement that has the table open. The writing one gets none unless it goes on
    /// reading.
    pub(super) fn pin_others(&self, state: &mut State, change: ChangeBy<'_>) {
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
    pub(super) fn truncate(&self, state: &mut State, change: ChangeBy<'_>) -> Content {
        self.pin_others(state, change);
        self.empty(state)
    }

    /// [`Self::truncate`] of a table to which rows will be added soon: a small one keeps its pages.
    pub(super) fn clear(&self, state: &mut State) -> Option<Content> {
        self.pin_others(state, ChangeBy::Nobody);
        if !state.content.clear() {
            return Some(self.empty(state));
        }
        self.note_emptied(state);
        None
    }

    /// Empties the table for all of its handles; returns what it held, to be freed without the lock.
    pub(super) fn empty(&self, state: &mut State) -> Content {
        let page_length = state.content.heap.page_length();
        let block_length = state.content.blobs.block_length();
        let content = Content::new(&self.shape, page_length, block_length);
        let old = std::mem::replace(&mut state.content, content);
        self.note_emptied(state);
        old
    }

    /// Notes that all rows were removed: undo records of earlier changes are void.
    fn note_emptied(&self, state: &mut State) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.note_change();
        state.emptied_at = self.version.load(Ordering::Relaxed);
        if let Some(account) = &mut state.account {
            account.clear();
        }
        self.registration.set_rows(0);
    }

    /// Counts a change; the caller has locked the table for writing.
    pub(super) fn note_change(&self) {
        let changes = self.version.load(Ordering::Relaxed);
        self.version.store(changes + 1, Ordering::Relaxed);
    }

    /// Releases a lock of a MEMORY table. After its holder's last lock others see what it has written.
    pub(super) fn unlock(&self) {
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
            if let Err(error) = state.content.relieve(&self.pager) {
                *lock(&self.unrelieved) = Some(error);
            }
        }
    }

    /// Registers the table, once, among those that are asked to release memory, if it holds enough.
    pub(super) fn become_holder(&self) {
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
