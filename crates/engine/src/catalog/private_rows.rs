//! Rows that each session has of its own in a global temporary table (SQL:2023 F531; CREATE GLOBAL TEMPORARY TABLE).
//!
//! The table is a base table of the catalog in all but its rows: its store has none, and leads each statement to the
//! rows of its session, which are a [`UserTable`] in the session's budget and temporary space, as those of CREATE TEMPORARY
//! TABLE are. So plans, privileges and table locks are those of base tables, and there is nothing to undo in
//! the data directory. The rows are made when a session first opens the table, and belong to the session alone: the store
//! knows them weakly, to say which sessions have rows while the definition must not change.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mayfly_storage::{IndexSpec, KeyEncoder, UserTable, UserTableContext};
use mayfly_syntax::ast::OnCommit;
use mayfly_types::PhysicalType;
use parking_lot::Mutex;

use super::FullName;
use super::auto_increment::AutoIncrement;
use super::definition::TableDefinition;
use super::indexes::index_specs;

/// Rows of one session in a global temporary table.
#[derive(Debug)]
pub(crate) struct PrivateRows {
    rows: UserTable,
    numbers: AutoIncrement,
    store: Weak<Shape>,
    on_commit: OnCommit,
}

impl PrivateRows {
    /// The rows.
    pub(crate) fn table(&self) -> &UserTable {
        &self.rows
    }

    /// The counter of their AUTO_INCREMENT numbers.
    pub(crate) fn numbers(&self) -> &AutoIncrement {
        &self.numbers
    }

    /// Whether they are those of a store's table.
    pub(crate) fn is_of(&self, store: &PrivateStore) -> bool {
        std::ptr::eq(self.store.as_ptr(), Arc::as_ptr(&store.shape))
    }

    /// Whether they are rows of the same table as others.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.store, &other.store)
    }

    /// The definition that the rows are stored by, and the table's name, while the table exists.
    pub(crate) fn definition(&self) -> Option<(TableDefinition, Arc<Mutex<FullName>>)> {
        let shape = self.store.upgrade()?;
        Some((shape.definition.clone(), Arc::clone(&shape.name)))
    }

    /// Whether the table exists.
    pub(crate) fn has_table(&self) -> bool {
        self.store.strong_count() > 0
    }

    /// What a commit does to them.
    pub(crate) fn on_commit(&self) -> OnCommit {
        self.on_commit
    }

    /// Removes all rows at the end of a transaction: the next one begins as the first did.
    pub(crate) fn clear(&self) {
        if self.rows.clear() {
            let shape = self.store.upgrade();
            let first = shape.map_or(1, |shape| shape.first_number.load(Ordering::Relaxed));
            self.numbers.set(first);
        }
    }
}

/// What the rows of all sessions have in common.
#[derive(Debug)]
struct Shape {
    definition: TableDefinition,
    /// The table's name, which RENAME changes.
    name: Arc<Mutex<FullName>>,
    columns: Vec<PhysicalType>,
    indexes: Vec<IndexSpec>,
    /// The AUTO_INCREMENT number of a session's first row.
    first_number: AtomicU64,
    encoders: Vec<KeyEncoder>,
    /// The rows of sessions, by the sessions' ids.
    users: Mutex<Vec<(u64, Weak<PrivateRows>)>>,
}

/// The rows of a table that no longer exists are freed at once, whatever still refers to them: those of a copy by an ALTER
/// TABLE that has failed, for example.
impl Drop for Shape {
    fn drop(&mut self) {
        for (_, rows) in self.users.get_mut().drain(..) {
            if let Some(rows) = rows.upgrade() {
                rows.clear();
            }
        }
    }
}

/// Store of a global temporary table.
#[derive(Debug)]
pub(crate) struct PrivateStore {
    shape: Arc<Shape>,
}

impl PrivateStore {
    /// A store without rows.
    pub(super) fn new(definition: &TableDefinition) -> Self {
        let columns = definition.columns.iter();
        let columns: Vec<_> = columns.map(|column| column.ty.physical()).collect();
        let indexes = index_specs(definition);
        let encoder = |index: &IndexSpec| KeyEncoder::new(&columns, &index.parts);
        let encoders = indexes.iter().map(encoder).collect();
        Self {
            shape: Arc::new(Shape {
                definition: definition.clone(),
                name: Arc::new(Mutex::new(definition.full_name())),
                columns,
                indexes,
                first_number: AtomicU64::new(definition.auto_increment_start.max(1)),
                encoders,
                users: Mutex::default(),
            }),
        }
    }

    /// The definition that the rows are stored by.
    pub(crate) fn definition(&self) -> &TableDefinition {
        &self.shape.definition
    }

    /// Notes that the table was renamed.
    pub(crate) fn rename(&self, name: FullName) {
        *self.shape.name.lock() = name;
    }

    /// Sets the AUTO_INCREMENT number of a session's first row.
    pub(super) fn set_first_number(&self, first: u64) {
        self.shape
            .first_number
            .store(first.max(1), Ordering::Relaxed);
    }

    /// New rows of a session, which owns them.
    pub(crate) fn new_rows(&self, session: u64, context: UserTableContext) -> Arc<PrivateRows> {
        let shape = &self.shape;
        let new = Arc::new(PrivateRows {
            rows: UserTable::new(context, shape.columns.clone(), shape.indexes.clone()),
            numbers: AutoIncrement::new(shape.first_number.load(Ordering::Relaxed)),
            store: Arc::downgrade(shape),
            on_commit: shape.definition.on_commit,
        });
        let mut users = shape.users.lock();
        users.retain(|(_, rows)| rows.strong_count() > 0);
        users.push((session, Arc::downgrade(&new)));
        new
    }

    /// The ids of the sessions other than `session` that have rows, in ascending order.
    pub(crate) fn others_with_rows(&self, session: u64) -> Vec<u64> {
        let users = self.shape.users.lock();
        let has_rows = |(id, rows): &(u64, Weak<PrivateRows>)| {
            let rows = rows.upgrade().filter(|rows| rows.rows.entry().rows > 0)?;
            (rows.has_table() && *id != session).then_some(*id)
        };
        let mut ids: Vec<u64> = users.iter().filter_map(has_rows).collect();
        ids.sort_unstable();
        ids
    }

    /// The physical types of the columns.
    pub(super) fn columns(&self) -> &[PhysicalType] {
        &self.shape.columns
    }

    /// The encoders of the keys of the indexes.
    pub(super) fn encoders(&self) -> &[KeyEncoder] {
        &self.shape.encoders
    }
}

/// The counter that a session's rows of a table are numbered by: the table's, or that of the session's own rows.
pub(crate) enum Numbers<'t> {
    /// The table's.
    Table(&'t AutoIncrement),
    /// The session's.
    Session(Arc<PrivateRows>),
}

impl Deref for Numbers<'_> {
    type Target = AutoIncrement;

    #[inline]
    fn deref(&self) -> &AutoIncrement {
        match self {
            Self::Table(numbers) => numbers,
            Self::Session(rows) => rows.numbers(),
        }
    }
}
