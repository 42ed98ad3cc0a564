//! A statement's writers: one for each table that it changes, and one for each that a foreign key leads to.
//!
//! All rows go through here, so that foreign keys hold wherever the rows come from ([`foreign_keys`]). A table
//! without foreign keys is written directly.
//!
//! With IGNORE a row that a foreign key refuses leaves no trace, nor do its earlier cascades in other tables. So a
//! statement with IGNORE writes such rows one by one: after each the writers flush what they have, or discard it.

pub(super) mod foreign_keys;
pub(super) mod row_writer;

use std::sync::Arc;

use arrow_array::ArrayRef;
use mayfly_plan::TableId;
use mayfly_storage::Table;
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result};

use self::row_writer::{Conflict, RowWriter};
use crate::catalog::BaseTable;
use crate::session::StatementContext;
use crate::statements::writers::foreign_keys::Cascade;

/// Index of a table's writer in [`Writers`].
pub(super) type WriterId = usize;

/// Why a row was not written.
pub(super) enum Refusal {
    /// The row has a duplicate key.
    Duplicate(Conflict),
    /// Under IGNORE: a foreign key refuses the row.
    ForeignKey(Error),
}

/// The writers of a statement.
pub(super) struct Writers {
    ignore: bool,
    /// The tables that the statement changes, and behind them those that foreign keys lead to.
    pub(super) tables: Vec<RowWriter>,
    /// Number of tables that the statement changes.
    targets: usize,
}

impl Writers {
    /// No writers.
    pub(super) fn new(ignore: bool) -> Self {
        Self {
            ignore,
            tables: Vec::new(),
            targets: 0,
        }
    }

    /// The tables that the statement changes, without those that foreign keys lead to.
    pub(super) fn targets(&self) -> impl Iterator<Item = TableId> {
        let targets = self.tables.iter().take(self.targets);
        targets.map(|writer| writer.table.id)
    }

    /// Adds a table that the statement changes, over its handle to it. A table that is named twice has one writer.
    pub(super) fn add(
        &mut self,
        context: &StatementContext<'_>,
        table: &Arc<BaseTable>,
        handle: &Arc<dyn Table>,
    ) -> WriterId {
        self.known(table).unwrap_or_else(|| {
            let checks = context.options().foreign_key_checks;
            let is_apart = !checks || table.definition.has_private_rows();
            self.targets += 1;
            self.push(context, table, Arc::clone(handle), is_apart)
        })
    }

    /// The writer of a table, if the statement has one.
    fn known(&self, table: &BaseTable) -> Option<WriterId> {
        let mut tables = self.tables.iter();
        tables.position(|writer| writer.table.id == table.id)
    }

    fn push(
        &mut self,
        context: &StatementContext<'_>,
        table: &Arc<BaseTable>,
        handle: Arc<dyn Table>,
        is_apart: bool,
    ) -> WriterId {
        let writer = RowWriter::new(context, Arc::clone(table), handle, is_apart);
        self.tables.push(writer);
        self.tables.len() - 1
    }

    /// Turns off the foreign key checks of the tables added so far.
    pub(super) fn without_foreign_keys(&mut self) {
        for writer in &mut self.tables {
            writer.is_apart = true;
        }
    }

    /// The writer by its index.
    pub(super) fn of(&mut self, table: WriterId) -> &mut RowWriter {
        &mut self.tables[table]
    }

    /// Whether rows of any table may refer to this table's rows.
    pub(super) fn is_referenced(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
    ) -> Result<bool> {
        Ok(!self.tables[table].is_apart && !self.links(context, table)?.children.is_empty())
    }

    /// Adds rows up to the first refused one; returns how many.
    pub(super) fn insert(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        rows: &Batch,
    ) -> Result<(usize, Option<Refusal>)> {
        let writer = &self.tables[table];
        if writer.is_apart || writer.table.definition.foreign_keys.is_empty() {
            let (done, conflict) = self.of(table).insert(rows)?;
            return Ok((done, conflict.map(Refusal::Duplicate)));
        }
        self.each_apart(rows.row_count(), |writers, first, count| {
            writers.insert_referring(context, table, &rows.slice(first, count))
        })
    }

    /// Replaces rows up to the first refused one; returns how many. `assigned`: the columns that the statement sets,
    /// if known.
    pub(super) fn update(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        positions: &ArrayRef,
        rows: &Batch,
        assigned: Option<&[bool]>,
    ) -> Result<(usize, Option<Refusal>)> {
        if !self.may_change_links(context, table, assigned)? {
            let (done, conflict) = self.of(table).update(positions, rows)?;
            return Ok((done, conflict.map(Refusal::Duplicate)));
        }
        self.each_apart(rows.row_count(), |writers, first, count| {
            let positions = positions.slice(first, count);
            let rows = rows.slice(first, count);
            writers.update_linked(context, table, &positions, &rows, &Cascade::none())
        })
    }

    /// Removes rows up to the first refused one; returns the number of positions handled and of rows removed.
    pub(super) fn delete(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        positions: &ArrayRef,
    ) -> Result<(usize, u64, Option<Refusal>)> {
        if !self.is_referenced(context, table)? {
            let deleted = self.of(table).writer()?.delete(positions)?;
            return Ok((positions.len(), deleted, None));
        }
        let mut deleted = 0;
        let (done, refusal) = self.each_apart(positions.len(), |writers, first, count| {
            let positions = positions.slice(first, count);
            deleted += writers.delete_referenced(context, table, &positions, &Cascade::none())?;
            Ok((count, None))
        })?;
        Ok((done, deleted, refusal))
    }

    /// Under IGNORE: why a row of a child may not be added. Without IGNORE that is an error.
    pub(super) fn refers_to_nothing(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        row: &Batch,
    ) -> Result<Option<Error>> {
        let writer = &self.tables[table];
        if writer.is_apart || writer.table.definition.foreign_keys.is_empty() {
            return Ok(None);
        }
        match self.check_all_parents(context, table, row) {
            Ok(()) => Ok(None),
            Err(error) if self.ignore && is_of_foreign_key(&error) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Whether setting these columns may concern rows of other tables.
    fn may_change_links(
        &mut self,
        context: &StatementContext<'_>,
        table: WriterId,
        assigned: Option<&[bool]>,
    ) -> Result<bool> {
        if self.tables[table].is_apart {
            return Ok(false);
        }
        let links = self.links(context, table)?;
        let definition = &self.tables[table].table.definition;
        Ok(links.may_change(definition, assigned))
    }

    /// Runs `work` on `rows` rows in total: on all at once, or one by one where IGNORE may have to discard one.
    fn each_apart(
        &mut self,
        rows: usize,
        mut work: impl FnMut(&mut Self, usize, usize) -> Result<(usize, Option<Conflict>)>,
    ) -> Result<(usize, Option<Refusal>)> {
        if !self.ignore {
            let (done, conflict) = work(self, 0, rows)?;
            return Ok((done, conflict.map(Refusal::Duplicate)));
        }
        for row in 0..rows {
            match work(self, row, 1) {
                Ok((_, None)) => self.flush()?,
                Ok((_, Some(conflict))) => return Ok((row, Some(Refusal::Duplicate(conflict)))),
                Err(error) if is_of_foreign_key(&error) => {
                    self.forget();
                    return Ok((row, Some(Refusal::ForeignKey(error))));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((rows, None))
    }

    /// Makes the rows written so far visible to later statements, all at once.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.tables.iter_mut().try_for_each(RowWriter::flush)
    }

    fn forget(&mut self) {
        let undone = self.tables.iter_mut().filter(|writer| !writer.stays);
        undone.for_each(RowWriter::forget);
    }

    /// Discards everything written: the statement is retried.
    pub(super) fn discard(mut self) {
        self.tables.iter_mut().for_each(RowWriter::forget);
    }
}

/// Whether an error is a foreign key violation.
fn is_of_foreign_key(error: &Error) -> bool {
    [
        &codes::ER_NO_REFERENCED_ROW_2,
        &codes::ER_ROW_IS_REFERENCED_2,
        &codes::ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO,
        &codes::ER_FK_DEPTH_EXCEEDED,
    ]
    .iter()
    .any(|code| error.is(code))
}
