//! Enforcement of foreign keys: every new row of a child refers to a row of its parent, and removing a parent's row
//! or changing its key has the referential action on the child's rows.
//!
//! As in InnoDB, checks are made row by row and immediately: a statement that would be consistent only at its end is
//! refused. Parents and children are looked up among the newest rows, including the statement's own, and locked: a
//! parent's row shared, so that it stays until the child's is committed; a child's row as its own change needs it.
//!
//! An updating cascade never enters a table that it has updated rows of above, nor goes deeper than [`DEPTH_MAX`]; so
//! it ends.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use mayfly_plan::TableId;
use mayfly_storage::{ColumnId, IndexId, LockMode, ScanRequest};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Result, Value};

use crate::catalog::BaseTable;
use crate::catalog::definition::{ForeignKeyDefinition, TableDefinition};
use crate::catalog::foreign_keys::{ReferentialAction, no_referenced_row, row_is_referenced};
use crate::ddl::foreign_key_checks::NewForeignKeys;
use crate::error::ensure;
use crate::locks::table::TableUse;
use crate::session::StatementContext;
use crate::statements::row_rules::RowRules;
use crate::statements::same_values::same_value;
use crate::statements::writers::row_writer::{Conflict, key_text, one_position};
use crate::statements::writers::{WriterId, Writers};
use crate::{builder, convert};

/// Largest depth of a cascade in statements, the first one included.
const DEPTH_MAX: usize = 15;

/// Rows of a child that are removed at once.
const CHILDREN_AT_ONCE: usize = 1024;

/// A table's foreign keys, and the foreign keys that refer to it.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) parents: Vec<ParentLink>,
    pub(crate) children: Vec<ChildLink>,
}

/// A foreign key, seen from the child.
pub(crate) struct ParentLink {
    foreign: ForeignKeyDefinition,
    /// The columns of the child.
    columns: Vec<usize>,
    /// The parent, and its index; `None` when it is missing or unsuitable.
    parent: Option<(Arc<BaseTable>, IndexId)>,
    is_own: bool,
}

/// A foreign key, seen from the parent.
pub(crate) struct ChildLink {
    child: Arc<BaseTable>,
    foreign: ForeignKeyDefinition,
    /// The columns of the parent.
    referenced: Vec<usize>,
    /// The columns of the child.
    columns: Vec<usize>,
    index: IndexId,
    is_own: bool,
}

impl Links {
    fn of(context: &StatementContext<'_>, table: &Arc<BaseTable>) -> Result<Self> {
        let definition = &*table.definition;
        let mut links = Self::default();
        for foreign in &definition.foreign_keys {
            let link = ParentLink::new(context, table, foreign)?;
            links.parents.push(link);
        }
        let catalog = context.catalog().databases();
        for (child, position) in catalog.children_of(definition) {
            let known = &child.definition;
            let name = &known.foreign_keys[*position].name;
            let (child_database, child_name) = (&known.database, &known.name);
            let child = context.use_related_table(child_database, child_name, TableUse::Write)?;
            // The child may have changed before its lock was held.
            let link = child.and_then(|child| ChildLink::new(child, name, table));
            links.children.extend(link);
        }
        Ok(links)
    }

    /// Whether setting these columns may change which rows the table's rows refer to, or which refer to them.
    pub(crate) fn may_change(
        &self,
        definition: &TableDefinition,
        assigned: Option<&[bool]>,
    ) -> bool {
        let changes = |columns: &[usize]| {
            assigned.is_none_or(|assigned| {
                columns.iter().any(|position| {
                    let column = &definition.columns[*position];
                    assigned[*position] || column.on_update_now || column.generated.is_some()
                })
            })
        };
        self.parents.iter().any(|link| changes(&link.columns))
            || self.children.iter().any(|link| changes(&link.referenced))
    }
}

impl ParentLink {
    fn new(
        context: &StatementContext<'_>,
        table: &Arc<BaseTable>,
        foreign: &ForeignKeyDefinition,
    ) -> Result<Self> {
        let definition = &*table.definition;
        let (database, name) = foreign.parent(&definition.database);
        let is_own = foreign.refers_to(&definition.database, definition);
        let parent = if is_own {
            Some(Arc::clone(table))
        } else {
            context.use_related_table(database, name, TableUse::Read)?
        };
        let columns = definition.column_positions(&foreign.columns);
        Ok(Self {
            columns: columns.unwrap_or_default(),
            parent: parent.and_then(|parent| {
                let columns = &foreign.references.columns;
                let columns = parent.definition.column_positions(columns)?;
                let index = parent.definition.index_beginning_with(&columns)?;
                Some((parent, index))
            }),
            is_own,
            foreign: foreign.clone(),
        })
    }
}

impl ChildLink {
    fn new(child: Arc<BaseTable>, name: &str, parent: &BaseTable) -> Option<Self> {
        let definition = &child.definition;
        let mut foreign = definition.foreign_keys.iter();
        let foreign = foreign.find(|foreign| foreign.name == name)?.clone();
        let columns = definition.column_positions(&foreign.columns)?;
        let referenced = &foreign.references.columns;
        Some(Self {
            index: definition.index_beginning_with(&columns)?,
            referenced: parent.definition.column_positions(referenced)?,
            is_own: child.id == parent.id,
            columns,
            foreign,
            child,
        })
    }

    fn action(&self, deletes: bool) -> ReferentialAction {
        if deletes {
            self.foreign.on_delete()
        } else {
            self.foreign.on_update()
        }
    }
}

/// The path of foreign keys that has led to a change.
pub(crate) struct Cascade<'c> {
    /// The change that caused this one: its table, and whether rows were removed.
    from: Option<(&'c Cascade<'c>, TableId, bool)>,
    /// The name of the foreign key that caused it.
    by: Option<&'c str>,
    depth: usize,
}

impl<'c> Cascade<'c> {
    /// A change that the statement itself asks for.
    pub(crate) const fn none() -> Self {
        Self {
            from: None,
            by: None,
            depth: 1,
        }
    }

    fn next(&'c self, table: TableId, deletes: bool, by: &'c str) -> Result<Self> {
        if self.depth >= DEPTH_MAX {
            return Err(codes::ER_FK_DEPTH_EXCEEDED.with(&[&DEPTH_MAX]));
        }
        Ok(Self {
            from: Some((self, table, deletes)),
            by: Some(by),
            depth: self.depth + 1,
        })
    }

    /// Whether a change above updates rows of a table.
    fn changes(&self, table: TableId) -> bool {
        self.from.is_some_and(|(above, changed, deletes)| {
            (changed == table && !deletes) || above.changes(table)
        })
    }
}

impl Writers {
    /// A table's foreign keys.
    pub(crate) fn links(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
    ) -> Result<Arc<Links>> {
        let writer = &mut self.tables[table];
        if let Some(links) = &writer.links {
            return Ok(Arc::clone(links));
        }
        let links = Arc::new(Links::of(context, &writer.table)?);
        Ok(Arc::clone(writer.links.insert(links)))
    }

    /// The writer of a table that a foreign key leads to.
    fn related(
        &mut self,
        context: &StatementContext<'_>,
        table: &Arc<BaseTable>,
    ) -> Result<WriterId> {
        match self.known(table) {
            Some(known) => Ok(known),
            None => Ok(self.push(context, table, table.rows_in(context)?, false)),
        }
    }

    /// Adds rows of a child up to the first with a duplicate key.
    pub(crate) fn insert_referring(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        rows: &Batch,
    ) -> Result<(usize, Option<Conflict>)> {
        let links = self.links(context, table)?;
        // A row may refer to itself and to rows before it, but to none after it.
        let refers_to_itself = links.parents.iter().any(|link| link.is_own);
        let at_once = if refers_to_itself {
            1
        } else {
            rows.row_count()
        };
        let mut first = 0;
        while first < rows.row_count() {
            let part = rows.slice(first, at_once);
            let (added, conflict) = self.of(table).insert(&part)?;
            let added_rows = part.slice(0, added);
            for link in &links.parents {
                self.check_parents(context, table, link, &added_rows)?;
            }
            first += added;
            if conflict.is_some() {
                return Ok((first, conflict));
            }
        }
        Ok((first, None))
    }

    /// 1452 when a row has no parent by some foreign key; it may refer to itself.
    pub(crate) fn check_all_parents(
        &mut self,
        context: &StatementContext<'_>,
        child: WriterId,
        row: &Batch,
    ) -> Result<()> {
        let links = self.links(context, child)?;
        for link in &links.parents {
            let refers_to_itself = || {
                let (Some((parent, _)), true) = (&link.parent, link.is_own) else {
                    return false;
                };
                let names = &link.foreign.references.columns;
                let referenced = parent.definition.column_positions(names);
                referenced.is_some_and(|referenced| {
                    let mut pairs = link.columns.iter().zip(&referenced);
                    pairs.all(|(own, other)| same_value(row.column(*own), row.column(*other), 0))
                })
            };
            if !refers_to_itself() {
                self.check_parents(context, child, link, row)?;
            }
        }
        Ok(())
    }

    /// 1452 for the first row without a parent.
    fn check_parents(
        &mut self,
        context: &StatementContext<'_>,
        child: WriterId,
        link: &ParentLink,
        rows: &Batch,
    ) -> Result<()> {
        let columns: Vec<&ArrayRef> = link.columns.iter().map(|at| rows.column(*at)).collect();
        let has_null = |row: usize| columns.iter().any(|column| column.is_null(row));
        let repeats = |row: usize| {
            let same = |column: &&ArrayRef| {
                let (this, before) = (column.slice(row, 1), column.slice(row - 1, 1));
                same_value(&this, &before, 0)
            };
            row > 0 && columns.iter().all(same)
        };
        for row in 0..rows.row_count() {
            if has_null(row) || repeats(row) {
                continue;
            }
            let key: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
            let found = match &link.parent {
                Some((parent, index)) => {
                    let parent = self.related(context, parent)?;
                    self.of(parent)
                        .writer()?
                        .find(*index, &key, LockMode::Shared, 1)?
                }
                None => Vec::new(),
            };
            if found.is_empty() {
                let child = &self.tables[child].table.definition;
                return Err(no_referenced_row(child, &link.foreign));
            }
        }
        Ok(())
    }

    /// Removes rows of a parent; returns how many existed.
    pub(crate) fn delete_referenced(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        positions: &ArrayRef,
        way: &Cascade<'_>,
    ) -> Result<u64> {
        let links = self.links(context, table)?;
        if links.children.is_empty() {
            return self.of(table).writer()?.delete(positions);
        }
        let mut deleted = 0;
        for position in positions.as_binary_view().iter().flatten() {
            let Some(old) = self.of(table).writer()?.current(position)? else {
                continue;
            };
            let keeps_itself =
                |link: &&ChildLink| link.is_own && link.action(true) == ReferentialAction::Restrict;
            // A row that refers to itself blocks its own removal.
            for link in links.children.iter().filter(keeps_itself) {
                self.key_goes(context, table, link, &old, None, way)?;
            }
            deleted += self.of(table).writer()?.delete(&one_position(position))?;
            for link in links.children.iter().filter(|link| !keeps_itself(link)) {
                self.key_goes(context, table, link, &old, None, way)?;
            }
        }
        Ok(deleted)
    }

    /// Replaces rows, up to the first with a duplicate key; returns how many.
    pub(crate) fn update_linked(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        positions: &ArrayRef,
        rows: &Batch,
        way: &Cascade<'_>,
    ) -> Result<(usize, Option<Conflict>)> {
        let links = self.links(context, table)?;
        for (row, position) in positions.as_binary_view().iter().flatten().enumerate() {
            let Some(old) = self.of(table).writer()?.current(position)? else {
                continue;
            };
            let new = rows.slice(row, 1);
            // No action changes rows of the table itself: a row that refers to the old key blocks the change, this
            // row included, whatever it refers to afterwards.
            for link in links.children.iter().filter(|link| link.is_own) {
                self.key_goes(context, table, link, &old, Some(&new), way)?;
            }
            let (_, conflict) = self.of(table).update(&one_position(position), &new)?;
            if conflict.is_some() {
                return Ok((row, conflict));
            }
            for link in &links.parents {
                // A change made by the parent's new key needs no look-up of the parent.
                let follows = way.by == Some(&link.foreign.name);
                if !follows && differs(&link.columns, &old, &new) {
                    self.check_parents(context, table, link, &new)?;
                }
            }
            for link in links.children.iter().filter(|link| !link.is_own) {
                self.key_goes(context, table, link, &old, Some(&new), way)?;
            }
        }
        Ok((rows.row_count(), None))
    }

    /// Applies the referential action after a row of a parent was removed or its key changed.
    fn key_goes(
        &mut self,
        context: &StatementContext<'_>,
        parent: WriterId,
        link: &ChildLink,
        old: &Batch,
        new: Option<&Batch>,
        way: &Cascade<'_>,
    ) -> Result<()> {
        let stays = new.is_some_and(|new| !differs(&link.referenced, old, new));
        let referenced = link.referenced.iter();
        let key: Vec<ArrayRef> = referenced.map(|at| Arc::clone(old.column(*at))).collect();
        if stays || key.iter().any(|value| value.is_null(0)) {
            return Ok(());
        }
        let child = self.related(context, &link.child)?;
        let action = link.action(new.is_none());
        let own = self.tables[parent].table.id;
        let find = |writers: &mut Self, mode: LockMode, limit: usize| {
            writers
                .of(child)
                .writer()?
                .find(link.index, &key, mode, limit)
        };
        if action == ReferentialAction::Restrict {
            return ensure(find(self, LockMode::Shared, 1)?.is_empty(), || {
                row_is_referenced(&link.child.definition, &link.foreign)
            });
        }
        if action == ReferentialAction::Cascade && new.is_none() {
            loop {
                let found = find(self, LockMode::Exclusive, CHILDREN_AT_ONCE)?;
                if found.is_empty() {
                    return Ok(());
                }
                let way = way.next(own, true, &link.foreign.name)?;
                let found: ArrayRef = Arc::new(BinaryViewArray::from_iter_values(found));
                self.delete_referenced(context, child, &found, &way)?;
            }
        }
        // Finds all of them first: a key that differs only in its bytes leaves them where they are.
        let found = find(self, LockMode::Exclusive, usize::MAX)?;
        if found.is_empty() {
            return Ok(());
        }
        let way = way.next(own, new.is_none(), &link.foreign.name)?;
        if way.changes(link.child.id) {
            return Err(row_is_referenced(&link.child.definition, &link.foreign));
        }
        let new_key = new.filter(|_| action == ReferentialAction::Cascade);
        let new_key: Option<Vec<Value>> = new_key.map(|new| {
            let referenced = link.referenced.iter();
            let values = referenced.map(|at| convert::value_at(new.column(*at), 0));
            values.collect()
        });
        for position in found {
            let conflict =
                self.follow(context, child, link, &position, new_key.as_deref(), &way)?;
            if let Some(conflict) = conflict {
                return Err(self.duplicate_below(parent, link, new.unwrap_or(old), &conflict));
            }
        }
        Ok(())
    }

    /// Gives a child's row the parent's new key, or NULL.
    fn follow(
        &mut self,
        context: &StatementContext<'_>,
        child: WriterId,
        link: &ChildLink,
        position: &[u8],
        key: Option<&[Value]>,
        way: &Cascade<'_>,
    ) -> Result<Option<Conflict>> {
        let Some(row) = self.of(child).writer()?.current(position)? else {
            return Ok(None);
        };
        let definition = &link.child.definition;
        let mut columns = row.into_columns();
        for (part, column) in link.columns.iter().enumerate() {
            let value = key.map_or(&Value::Null, |key| &key[part]);
            columns[*column] = builder::constant(value, &definition.columns[*column].ty, 1);
        }
        let mut generated = definition.columns.iter();
        if generated.any(|column| column.generated.is_some()) {
            let rules = RowRules::new(context, definition, false, false)?;
            rules.generate(&mut columns, 1, 0)?;
        }
        let row = Batch::new(columns, 1);
        let (_, conflict) =
            self.update_linked(context, child, &one_position(position), &row, way)?;
        Ok(conflict)
    }

    /// Error 1761: the parent's new key would make two rows of a child equal.
    fn duplicate_below(
        &self,
        parent: WriterId,
        link: &ChildLink,
        row: &Batch,
        conflict: &Conflict,
    ) -> mayfly_types::Error {
        let definition = &self.tables[parent].table.definition;
        let record = definition.unique_keys().next();
        let record = record.map_or_else(String::new, |key| key_text(definition, key, row, 0));
        let key = conflict.key(&link.child.definition);
        let key = key.map_or("", |key| &key.name);
        let duplicate = codes::ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO;
        duplicate.with(&[&definition.name, &record, &link.child.definition.name, &key])
    }
}

/// 1452 when a row of a table has no parent by one of its new foreign keys.
pub(crate) fn check_rows(
    context: &StatementContext<'_>,
    table: &Arc<BaseTable>,
    new: &NewForeignKeys,
) -> Result<()> {
    if !context.options().foreign_key_checks {
        return Ok(());
    }
    for foreign in &new.keys {
        let link = ParentLink::new(context, table, foreign)?;
        let refers_to_nothing = || no_referenced_row(&table.definition, foreign);
        let (parent, index) = link.parent.as_ref().ok_or_else(refers_to_nothing)?;
        let parent = parent.storage(context)?;
        let columns: Vec<ColumnId> = link.columns.iter().map(|at| ColumnId(*at)).collect();
        let mut rows = table.storage(context)?.scan(&ScanRequest::of(&columns))?;
        while let Some(batch) = rows.next_batch()? {
            let (_, found) = parent.index_lookup(*index, batch.columns(), &[], &[])?;
            let mut refers = vec![false; batch.row_count()];
            for row in found.values() {
                refers[*row as usize] = true;
            }
            let has_null = |row: usize| batch.columns().iter().any(|column| column.is_null(row));
            if (0..batch.row_count()).any(|row| !refers[row] && !has_null(row)) {
                return Err(refers_to_nothing());
            }
        }
    }
    Ok(())
}

/// Whether two rows differ in one of these columns, to the byte.
fn differs(columns: &[usize], old: &Batch, new: &Batch) -> bool {
    let same = |column: &usize| same_value(old.column(*column), new.column(*column), 0);
    !columns.iter().all(same)
}
