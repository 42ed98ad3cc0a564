//! Rows of tables ([`TableRows`]), their stores ([`TableStore`]), and what is attached to a table as decorators around them.
//!
//! Rows are an object of all sessions; a statement reaches its own state through [`RowAccess`]. It reads and changes rows
//! in two ways: many through a handle ([`TableRows::open`]), or a single one by a unique key
//! ([`TableRows::single_rows`]), without a handle and without batches. Both ways start at the same object, and there
//! are no single rows unless it says so: a decorator that knows nothing of them leaves all rows to the handle.

use std::fmt::Debug;
use std::sync::Arc;

use mayfly_storage::{
    IndexId, RowChange, RowKeyEncoder, Statement as DurableStatement, Table,
    TableDefinition as DurableDefinition, UserTable,
};
use mayfly_syntax::ast::TableKind;
use mayfly_types::{Result, Value};

use super::definition::TableDefinition;
use super::indexes::{IndexStorage, index_specs};
use super::private_rows::PrivateStore;
use super::provided::ProvidedTable;
use super::provided_changes::ChangeableTable;
use super::shared_rows::SharedSpace;
use super::table_access::{RowAccess, TableAccess};
use super::trees::{Lifespan, Trees};
use crate::engines::Engine;

/// A table's rows, for statements of all sessions.
pub(crate) trait TableRows: Debug + Send + Sync {
    /// A handle for a session's statement: it sees the current rows, and its changes are part of the session's
    /// transaction, or persist in any case if `directly`.
    fn open(&self, access: &dyn RowAccess, directly: bool) -> Result<Arc<dyn Table>>;

    /// The single rows, if there is such an access.
    fn single_rows(&self) -> Option<&dyn SingleRows> {
        None
    }
}

/// A store of a table's rows, with UTC in TIMESTAMP columns.
pub(crate) trait TableStore: TableRows {
    /// The storage form of its indexes.
    fn index_storage(&self) -> IndexStorage {
        IndexStorage::Keys
    }

    /// Its definition and trees, if it is in the store of base tables.
    fn durable(&self) -> Option<(&Arc<DurableDefinition>, &Trees)> {
        None
    }

    /// What the rows of a shared temporary table are charged to.
    fn shared_space(&self) -> Option<&SharedSpace> {
        None
    }

    /// The rows, if they are visible to one session only or of the MEMORY engine.
    fn session_rows(&self) -> Option<&UserTable> {
        None
    }

    /// The store of sessions' own rows, if it is one.
    fn private(&self) -> Option<&PrivateStore> {
        None
    }

    /// The table of a provider, if the rows are outside of the engine.
    fn provided(&self) -> Option<&Arc<ProvidedTable>> {
        None
    }
}

/// Access to one row at a time by a unique key. Changes that the store cannot make in this way are left to the handle:
/// nothing is changed then.
pub(crate) trait SingleRows {
    /// The encoder of the keys of a unique index.
    fn keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>>;

    /// Reads columns of a row into `values`, reusing its memory; returns whether the row exists.
    fn read(&self, row: RowRef<'_>, columns: &[usize], values: &mut Vec<Value>) -> Result<bool>;

    /// Adds a row, given the values of all columns, which may be overwritten.
    fn insert(&self, statement: RowStatement<'_>, values: &mut [Value]) -> Result<RowChange>;

    /// Locks and updates a row; `None`: left to the handle.
    fn update(&self, row: RowRef<'_>, update: RowUpdate<'_>) -> Result<Option<RowChange>>;

    /// Locks and deletes a row; `None`: left to the handle.
    fn delete(&self, row: RowRef<'_>) -> Result<Option<RowChange>>;
}

/// A row that a statement uses.
#[derive(Clone, Copy)]
pub(crate) struct RowRef<'s> {
    pub(crate) statement: RowStatement<'s>,
    /// A unique index, and a key as [`SingleRows::keys`] encodes it.
    pub(crate) key: (IndexId, &'s [u8]),
}

/// An update of one row.
pub(crate) struct RowUpdate<'u> {
    /// The columns of numbers that new values are computed from.
    pub(crate) read: &'u [usize],
    /// Memory for their values.
    pub(crate) old: &'u mut Vec<Value>,
    /// The columns that get new values.
    pub(crate) columns: &'u [usize],
    /// Memory for the new values.
    pub(crate) new: &'u mut Vec<Value>,
    /// Computes the new values from the old ones; false: left to the handle.
    pub(crate) compute: &'u dyn Fn(&[Value], &mut Vec<Value>) -> bool,
}

/// A statement that uses single rows of a table.
#[derive(Clone, Copy)]
pub(crate) struct RowStatement<'s> {
    pub(crate) access: &'s dyn TableAccess,
    /// Whether changes persist in any case.
    pub(crate) directly: bool,
}

impl<'s> RowStatement<'s> {
    fn durable(self, lifespan: Lifespan) -> Result<&'s DurableStatement> {
        durable_statement(self.access, lifespan, self.directly)
    }
}

fn durable_statement(
    access: &dyn RowAccess,
    lifespan: Lifespan,
    directly: bool,
) -> Result<&DurableStatement> {
    if directly {
        access.direct_statement()
    } else {
        access.durable_statement(lifespan)
    }
}

/// An empty store for a table, as its definition requires.
pub(super) fn new_store(
    definition: &TableDefinition,
    access: &dyn TableAccess,
) -> Result<Arc<dyn TableStore>> {
    let indexes = index_specs(definition);
    if definition.kind == TableKind::GlobalTemporary {
        return Ok(Arc::new(PrivateStore::new(definition)));
    }
    if definition.is_temporary() || definition.engine == Engine::Memory {
        let columns = definition.columns.iter().map(|column| column.ty.physical());
        let context = access.user_table_context(definition);
        let rows = UserTable::new(context, columns.collect(), indexes);
        return Ok(Arc::new(rows));
    }
    // Visible to other sessions once the transaction commits.
    let lifespan = if definition.kind == TableKind::SharedTemporary {
        Lifespan::Volatile
    } else {
        Lifespan::Lasting
    };
    let transaction = access.durable(lifespan)?;
    let rows = transaction.new_tree()?;
    let indexes = indexes.iter().map(|_| transaction.new_tree());
    let trees = Trees {
        lifespan,
        rows,
        indexes: indexes.collect::<Result<_>>()?,
    };
    let space = match lifespan {
        Lifespan::Lasting => None,
        Lifespan::Volatile => Some(access.charge(&trees, &definition.name)?),
    };
    Ok(durable_store(definition, trees, space))
}

/// The store of a table whose rows are in these trees, charged to a user if they are those of a shared temporary table.
pub(super) fn durable_store(
    definition: &TableDefinition,
    trees: Trees,
    space: Option<SharedSpace>,
) -> Arc<dyn TableStore> {
    let columns = definition.columns.iter().map(|column| column.ty.physical());
    let indexes = index_specs(definition);
    let (rows, index_trees) = (trees.rows, trees.indexes.clone());
    let definition = DurableDefinition::new(columns.collect(), indexes, rows, index_trees);
    Arc::new(DurableTableStore {
        definition: Arc::new(definition),
        trees,
        space,
    })
}

/// A session's temporary table, or a table of the MEMORY engine.
impl TableRows for UserTable {
    fn open(&self, access: &dyn RowAccess, _directly: bool) -> Result<Arc<dyn Table>> {
        Ok(Self::open(
            self,
            access.temp_table_context(),
            access.undo_log(),
        ))
    }

    fn single_rows(&self) -> Option<&dyn SingleRows> {
        self.has_single_rows().then_some(self)
    }
}

impl TableStore for UserTable {
    fn session_rows(&self) -> Option<&UserTable> {
        Some(self)
    }
}

impl SingleRows for UserTable {
    fn keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        self.row_keys(index)
    }

    fn read(&self, row: RowRef<'_>, columns: &[usize], values: &mut Vec<Value>) -> Result<bool> {
        self.read_row(row.key, columns, values)
    }

    fn insert(&self, statement: RowStatement<'_>, values: &mut [Value]) -> Result<RowChange> {
        self.insert_row(values, statement.access.undo_of_row())
    }

    fn update(&self, row: RowRef<'_>, update: RowUpdate<'_>) -> Result<Option<RowChange>> {
        // Nothing is computed from a row that does not exist.
        let is_there = update.read.is_empty() || self.read_row(row.key, update.read, update.old)?;
        if !is_there || !(update.compute)(update.old, update.new) {
            return Ok(None);
        }
        let undo = row.statement.access.undo_of_row();
        let changed = self.update_row(row.key, update.columns, update.new, undo)?;
        Ok(Some(changed))
    }

    fn delete(&self, row: RowRef<'_>) -> Result<Option<RowChange>> {
        let undo = row.statement.access.undo_of_row();
        self.delete_row(row.key, undo).map(Some)
    }
}

/// A table in the store of base tables: the data directory, if there is one; or in that of shared temporary tables.
#[derive(Debug)]
struct DurableTableStore {
    definition: Arc<DurableDefinition>,
    trees: Trees,
    /// What the rows of a shared temporary table are charged to, as long as somebody has the table.
    space: Option<SharedSpace>,
}

impl TableRows for DurableTableStore {
    fn open(&self, access: &dyn RowAccess, directly: bool) -> Result<Arc<dyn Table>> {
        let statement = durable_statement(access, self.trees.lifespan, directly)?;
        Ok(Arc::new(statement.table(&self.definition)?))
    }

    fn single_rows(&self) -> Option<&dyn SingleRows> {
        Some(self)
    }
}

impl TableStore for DurableTableStore {
    fn index_storage(&self) -> IndexStorage {
        IndexStorage::Rows
    }

    fn durable(&self) -> Option<(&Arc<DurableDefinition>, &Trees)> {
        Some((&self.definition, &self.trees))
    }

    fn shared_space(&self) -> Option<&SharedSpace> {
        self.space.as_ref()
    }
}

impl SingleRows for DurableTableStore {
    fn keys(&self, index: IndexId) -> Result<RowKeyEncoder<'_>> {
        self.definition.row_keys(index)
    }

    fn read(&self, row: RowRef<'_>, columns: &[usize], values: &mut Vec<Value>) -> Result<bool> {
        let statement = row.statement;
        let (transaction, view) = statement
            .access
            .view_of_row(self.trees.lifespan, statement.directly)?;
        transaction.read_row(view, &self.definition, row.key, columns, values)
    }

    fn insert(&self, statement: RowStatement<'_>, values: &mut [Value]) -> Result<RowChange> {
        let statement = statement.durable(self.trees.lifespan)?;
        statement.insert_row(&self.definition, values)
    }

    fn update(&self, row: RowRef<'_>, update: RowUpdate<'_>) -> Result<Option<RowChange>> {
        let statement = row.statement.durable(self.trees.lifespan)?;
        let Some(row) = statement.lock_row(&self.definition, row.key)? else {
            return Ok(None);
        };
        let old = update
            .read
            .iter()
            .map(|column| row.values()[*column].clone());
        update.old.clear();
        update.old.extend(old);
        if !(update.compute)(update.old, update.new) {
            return Ok(None);
        }
        row.update(update.columns, update.new).map(Some)
    }

    fn delete(&self, row: RowRef<'_>) -> Result<Option<RowChange>> {
        let statement = row.statement.durable(self.trees.lifespan)?;
        let Some(row) = statement.lock_row(&self.definition, row.key)? else {
            return Ok(None);
        };
        row.delete()?;
        Ok(Some(RowChange::Done))
    }
}

/// A table whose rows are outside of the engine.
#[derive(Debug)]
pub(super) struct ProvidedStore(pub(super) Arc<ProvidedTable>);

impl TableRows for ProvidedStore {
    fn open(&self, access: &dyn RowAccess, _directly: bool) -> Result<Arc<dyn Table>> {
        let provider = self.0.provider();
        if provider.is_read_only() {
            return Ok(Arc::clone(&self.0) as _);
        }
        let changes = access.provided_changes(provider);
        Ok(Arc::new(ChangeableTable::new(&self.0, changes)))
    }
}

impl TableStore for ProvidedStore {
    fn provided(&self) -> Option<&Arc<ProvidedTable>> {
        Some(&self.0)
    }
}
