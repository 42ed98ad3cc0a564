//! ALTER TABLE, CREATE INDEX and DROP INDEX.
//!
//! A change of the definition alone puts the same rows under another definition. Any other change copies the rows
//! into a new table of the new definition, as INSERT … SELECT would, and replaces the old table by it: a statement
//! that fails leaves the table as it was.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use mayfly_syntax::ast::{
    AlterAction, AlterTable, CreateIndex, DropIndex, Query, TableElement, TableName, TableOption,
};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::{Batch, CollationId, Error, Result, SqlType, Stage, TypeKind};

use super::alter_work::Work;
use super::rename_table::{note_renamed, rename_definition};
use super::row_sink::{Insertion, RowSink, Written};
use super::{secondary_load, select, shortened_columns};
use crate::builder;
use crate::catalog::BaseTable;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::catalog::provided::read_only;
use crate::ddl::alter::{self, Altered};
use crate::ddl::foreign_key_checks::{self, NewForeignKeys};
use crate::ddl::{primary_keys, secondary};
use crate::engines::Engine;
use crate::error::{parse_own_query, refuse};
use crate::locks::table::TableUse;
use crate::names::same_name;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, writable_table};
use crate::statements::writers::foreign_keys::check_rows;
use crate::variables::typed;
use crate::variables::{Setting, sql_mode};

/// CREATE INDEX: ALTER TABLE … ADD INDEX.
pub(super) fn create_index(
    context: &mut StatementContext<'_>,
    statement: &CreateIndex,
) -> Result<Outcome> {
    let add = AlterAction::Add(TableElement::Key(statement.key.clone()));
    alter_index(context, &statement.table, add, &statement.options)
}

/// DROP INDEX: ALTER TABLE … DROP INDEX.
pub(super) fn drop_index(
    context: &mut StatementContext<'_>,
    statement: &DropIndex,
) -> Result<Outcome> {
    let drop = AlterAction::DropKey(statement.name.clone());
    alter_index(context, &statement.table, drop, &statement.options)
}

fn alter_index(
    context: &mut StatementContext<'_>,
    table: &TableName,
    action: AlterAction,
    options: &[TableOption],
) -> Result<Outcome> {
    let options = options.iter().cloned().map(AlterAction::Option);
    let alter = AlterTable {
        table: table.clone(),
        actions: std::iter::once(action).chain(options).collect(),
    };
    run(context, &alter)
}

/// ALTER TABLE
pub(super) fn run(context: &mut StatementContext<'_>, statement: &AlterTable) -> Result<Outcome> {
    if let Some(AlterAction::Secondary(action)) = statement.actions.last() {
        return secondary_load::run(context, &statement.table, action);
    }
    let (database, name) = qualified(context, &statement.table)?;
    let mut _held = None;
    if context.temporary_table(&database, &name).is_none() {
        let is_view = context.catalog().view(&database, &name).is_some();
        refuse(is_view, || {
            codes::ER_WRONG_OBJECT.with(&[&database, &name, &"BASE TABLE"])
        })?;
        _held = context.hold_table(&database, &name, TableUse::Alone)?;
    }
    let table = writable_table(context, &database, &name)?;
    refuse(table.is_provided(), || read_only(&name))?;
    secondary::refuse_change(&table.definition)?;
    let mut altered = alter::definition(context, &table, statement)?;
    keep_histograms(&table.definition, &mut altered);
    primary_keys::require_of_altered(context, &table.definition, &altered.definition)?;
    let old = Some(&*table.definition);
    let new_keys = foreign_key_checks::check(context, &mut altered.definition, old)?;
    // Includes rows committed until the parents were locked.
    context.read_newest();
    rename(context, &mut altered.definition, &statement.actions)?;
    let renamed = altered.definition.full_name();
    let work = Work::of(context, &table.definition, &altered, &statement.actions);
    work.algorithm
        .allow(&table.definition, &statement.actions)?;
    context.stages().enter(if work.rows_move {
        Stage::CopyToTmpTable
    } else {
        Stage::AlteringTable
    });
    let copied = if work.rows_move {
        copy(
            context,
            &table,
            altered,
            &statement.actions,
            work.counts_rows,
            &new_keys,
        )?
    } else {
        let id = context.catalog().next_table_id();
        let start = altered.definition.auto_increment_start;
        let numbered = altered.definition.auto_increment_column();
        let new = Arc::new(table.redefined(id, altered.definition));
        if let Some(column) = numbered
            && alter::is_numbered_anew(&statement.actions)
        {
            let last = table.greatest_number(column, context)?;
            new.restart_numbers(context, start.max(last.saturating_add(1)));
        }
        check_rows(context, &new, &new_keys)?;
        replace(context, &table, new, &altered.renamed_columns)?;
        0
    };
    secondary_load::unload(context, &table)?;
    if !table.definition.is_temporary() {
        note_renamed(context, &(database, name), &renamed);
    }
    // A statement that changes no rows reports no number of rows.
    let is_apart = |action: &AlterAction| {
        matches!(
            action,
            AlterAction::RenameTo(_) | AlterAction::DisableKeys | AlterAction::EnableKeys
        )
    };
    if statement.actions.iter().all(is_apart) {
        return Ok(StatementResult::default().into());
    }
    let written = Written {
        inserted: if work.counts_rows { copied } else { 0 },
        ..Written::default()
    };
    Ok(written.result_with_info(context).into())
}

/// Histograms stay with columns that keep their names and types.
fn keep_histograms(old: &TableDefinition, altered: &mut alter::Altered) {
    let Altered {
        definition,
        renamed_columns,
        ..
    } = altered;
    let columns = &definition.columns;
    definition.histograms.retain(|histogram| {
        let is_of = |column: &&ColumnDefinition| column.name == histogram.column;
        let (before, now) = (old.columns.iter().find(is_of), columns.iter().find(is_of));
        let is_renamed = renamed_columns
            .iter()
            .any(|(_, new)| *new == histogram.column);
        let same = before
            .zip(now)
            .is_some_and(|(before, now)| before.ty == now.ty);
        same && !is_renamed
    });
}

/// Replaces a table by its altered version.
pub(super) fn replace(
    context: &mut StatementContext<'_>,
    old: &BaseTable,
    new: Arc<BaseTable>,
    renamed_columns: &[(String, String)],
) -> Result<()> {
    let definition = &old.definition;
    if definition.is_temporary() {
        context
            .session
            .drop_temporary_table(&definition.database, &definition.name);
        context.session.add_temporary_table(new);
        return Ok(());
    }
    let keeps_rows = new.has_rows_of(old);
    let catalog = context.catalog();
    catalog.replace_table(context, definition, new, renamed_columns)?;
    if !keeps_rows {
        context.session.temporary_tables.forget(old);
    }
    Ok(())
}

/// RENAME TO: the last one counts. 1050 when a table of the same kind has the name.
fn rename(
    context: &StatementContext<'_>,
    definition: &mut TableDefinition,
    actions: &[AlterAction],
) -> Result<()> {
    let mut target = None;
    for action in actions {
        if let AlterAction::RenameTo(name) = action {
            target = Some(qualified(context, name)?);
        }
    }
    let Some((database, name)) = target else {
        return Ok(());
    };
    if (&database, &name) == (&definition.database, &definition.name) {
        return Ok(());
    }
    let catalog = context.catalog();
    if !catalog.has_database(&database) {
        return Err(codes::ER_BAD_DB_ERROR.with(&[&database]));
    }
    let taken = if definition.is_temporary() {
        context.temporary_table(&database, &name).is_some()
    } else {
        catalog.has(&database, &name)
    };
    if taken {
        return Err(codes::ER_TABLE_EXISTS_ERROR.with(&[&name]));
    }
    rename_definition(definition, database, name);
    Ok(())
}

/// Copies the rows into a table of the new definition and replaces the old table by it; returns the number of rows.
fn copy(
    context: &mut StatementContext<'_>,
    table: &Arc<BaseTable>,
    altered: Altered,
    actions: &[AlterAction],
    by_copy: bool,
    new_keys: &NewForeignKeys,
) -> Result<u64> {
    let Altered {
        definition,
        sources,
        renamed_columns,
    } = altered;
    let old = Arc::clone(&table.definition);
    let id = context.catalog().next_table_id();
    let new = BaseTable::new(id, definition, context)?.in_place_of(table);
    let new = Arc::new(new);
    let settings = copying_settings(context, &old, &new.definition, &sources);
    let rows = context.with_settings(settings, |context| {
        copy_rows(context, table, &new, &sources, actions, by_copy)
    })?;
    check_rows(context, &new, new_keys)?;
    replace(context, table, new, &renamed_columns)?;
    Ok(rows)
}

/// Settings for copying rows. An AUTO_INCREMENT value stays, even if it is 0; TIMESTAMPs are copied in UTC, without
/// conversion, when nothing else depends on the time zone.
fn copying_settings(
    context: &StatementContext<'_>,
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
) -> Vec<(usize, Setting)> {
    let pairs = || {
        let columns = new.columns.iter().zip(sources);
        columns.map(|(new, source)| (source.map(|source| &old.columns[source]), new))
    };
    let mut changes = Vec::new();
    let keeps_numbers = |(old, new): (Option<&ColumnDefinition>, &ColumnDefinition)| {
        new.auto_increment && old.is_some_and(|old| old.auto_increment)
    };
    if pairs().any(keeps_numbers) {
        let mode = context.settings().get(typed::SQL_MODE) | sql_mode::bit("NO_AUTO_VALUE_ON_ZERO");
        changes.push(typed::SQL_MODE.setting(mode));
    }
    let is_timestamp = |column: &ColumnDefinition| column.ty.kind == TypeKind::Timestamp;
    let plain = |(old, new): (Option<&ColumnDefinition>, &ColumnDefinition)| {
        new.generated.is_none()
            && match old {
                Some(old) => is_timestamp(old) == is_timestamp(new),
                None => {
                    !matches!(
                        new.default,
                        ColumnDefault::Now | ColumnDefault::Expression { .. }
                    ) && !is_timestamp(new)
                }
            }
    };
    if old.columns.iter().any(is_timestamp) && new.checks.is_empty() && pairs().all(plain) {
        changes.push(typed::TIME_ZONE.setting(Some(Arc::from("+00:00"))));
    }
    changes
}

fn copy_rows(
    context: &mut StatementContext<'_>,
    table: &BaseTable,
    new: &Arc<BaseTable>,
    sources: &[Option<usize>],
    actions: &[AlterAction],
    by_copy: bool,
) -> Result<u64> {
    let old = &table.definition;
    let definition = Arc::clone(&new.definition);
    let mut positions = Vec::new();
    let mut types = Vec::new();
    let mut selected = Vec::new();
    let mut constants: Vec<&ColumnDefinition> = Vec::new();
    for (position, column) in definition.columns.iter().enumerate() {
        let Some(source) = sources[position] else {
            continue;
        };
        let source = &old.columns[source];
        let text = |column: &ColumnDefinition| {
            let generated = column.generated.as_ref();
            generated.map(|generated| (generated.text.clone(), generated.stored))
        };
        // A column that a change in place keeps is not computed again.
        let is_kept = !by_copy && text(source) == text(column) && !source.is_hidden();
        if column.generated.is_none() || is_kept {
            positions.push(position);
            let (value, ty) = copied(source, column);
            types.push(ty);
            selected.push(value);
        }
    }
    let keeps_null = |(column, position): (&ArrayRef, &usize)| {
        column.null_count() == 0 || definition.columns[*position].nullable
    };
    for (position, column) in definition.columns.iter().enumerate() {
        let has_none = matches!(column.default, ColumnDefault::None | ColumnDefault::Dropped);
        let needs_one = !column.nullable && !column.auto_increment && column.generated.is_none();
        if sources[position].is_none() && has_none && needs_one {
            positions.push(position);
            types.push(column.ty.clone());
            constants.push(column);
        }
    }
    // The implicit default of a new date column is checked in any case.
    let adds_dates = constants.iter().any(|column| {
        matches!(
            column.ty.kind,
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp
        )
    });
    // A table that loses all its columns still has its rows.
    if selected.is_empty() {
        selected.push("1".to_owned());
    }
    let mut query = rows_query(old, &selected)?;
    sort(context, old, &definition, actions, &mut query);
    let planned = select::plan_trusted(context, &query)?;
    let kept = types.len() - constants.len();
    let mut rows = 0;
    select::read(context, &planned, |context, reading| {
        let sink = RowSink::new(context, Insertion::plain(new, &positions))?;
        let mut sink = sink.replacing_table(by_copy);
        while let Some(batch) = reading.next_batch(sink.context)? {
            let count = batch.row_count();
            if count > 0 && constants.iter().any(|column| column.ty.is_geometry()) {
                return Err(codes::ER_INVALID_USE_OF_NULL.error());
            }
            let mut columns: Vec<ArrayRef> = batch.columns()[..kept].to_vec();
            for (column, position) in columns.iter_mut().zip(&positions) {
                let old = sources[*position].and_then(|source| old.columns.get(source));
                if let Some(old) = old
                    && let columns = (old, &definition.columns[*position])
                    && let Some(cut) = shortened_columns::cut(column, columns, rows, sink.context)?
                {
                    *column = cut;
                }
            }
            columns.extend(
                constants.iter().map(|column| {
                    builder::constant(&implicit_default(&column.ty), &column.ty, count)
                }),
            );
            let nulls = |name: &str| {
                let mut given = positions.iter().zip(&columns);
                let is_it = |position: usize| same_name(&definition.columns[position].name, name);
                let (_, column) = given.find(|(position, _)| is_it(**position))?;
                (0..count).find(|row| column.is_null(*row))
            };
            let is_cut = |name: &str| is_cut(old, &definition, sources, name);
            let says = |error: Error| as_alter_says(error, by_copy, rows, nulls, is_cut);
            // Only a copy checks the values against the present `sql_mode`.
            let is_as_it_was =
                !by_copy && !adds_dates && columns.iter().zip(&positions).all(keeps_null);
            let appended = if is_as_it_was {
                sink.append_stored(columns.clone(), count)
            } else {
                sink.append(&Batch::new(columns.clone(), count), &types)
            };
            appended.map_err(says)?;
            rows += count as u64;
        }
        sink.finish()
    })?;
    Ok(rows)
}

/// The expression that fills a column when the table is copied, and its type. A BIT is converted from a number, and
/// ENUM and SET members are found by name, whatever their present numbers.
fn copied(old: &ColumnDefinition, new: &ColumnDefinition) -> (String, SqlType) {
    let name = quoted_identifier(&old.name);
    let is_inexact = matches!(
        old.ty.kind,
        TypeKind::Float | TypeKind::Double | TypeKind::Decimal
    );
    let as_text = |name: String| {
        let ty = SqlType::varchar(100, CollationId::default());
        (format!("CAST({name} AS CHAR)"), ty)
    };
    let is_text = (old.ty.is_string() || old.ty.is_blob()) && old.ty.kind != TypeKind::Json;
    match new.ty.kind {
        TypeKind::Bit if is_text || is_inexact => {
            (format!("CAST({name} AS SIGNED)"), SqlType::bigint())
        }
        TypeKind::Enum | TypeKind::Set if is_inexact || old.ty.is_integer() => as_text(name),
        // INSERT omits trailing zeros of the fraction.
        TypeKind::Char | TypeKind::VarChar if is_inexact => as_text(name),
        _ => (name, old.ty.clone()),
    }
}

/// Whether a column differs only in length from the column that it is copied from. A generated column is computed
/// anew.
fn is_cut(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
    name: &str,
) -> bool {
    let of_length = |kind: TypeKind| matches!(kind, TypeKind::Char | TypeKind::VarChar);
    let Some(column) = new.column_position(name) else {
        return false;
    };
    let Some(source) = sources.get(column).copied().flatten() else {
        return false;
    };
    let (was, is) = (&old.columns[source].ty, &new.columns[column].ty);
    new.columns[column].generated.is_none()
        && of_length(is.kind)
        && was.kind == is.kind
        && was.collation == is.collation
}

/// ALTER TABLE's error in place of INSERT's, for a NULL in a column that becomes NOT NULL and for a text too long for
/// a shortened column. `null_of` is the first row after `rows` in which a column is NULL.
fn as_alter_says(
    error: Error,
    by_copy: bool,
    rows: u64,
    null_of: impl Fn(&str) -> Option<usize>,
    is_cut: impl Fn(&str) -> bool,
) -> Error {
    if error.is(&codes::ER_BAD_NULL_ERROR) || error.is(&codes::ER_BAD_NULL_ERROR_NOT_IGNORED) {
        let column = error.message().split('\'').nth(1).unwrap_or("");
        return match null_of(column) {
            Some(row) if by_copy => {
                codes::WARN_DATA_TRUNCATED.with(&[&column, &(rows + row as u64 + 1)])
            }
            None if by_copy => error,
            _ => codes::ER_INVALID_USE_OF_NULL.error(),
        };
    }
    if error.is(&codes::ER_DATA_TOO_LONG)
        && let Some(column) = error.message().split('\'').nth(1)
        && is_cut(column)
        && let Some(row) = error.message().rsplit(' ').next()
    {
        return codes::WARN_DATA_TRUNCATED.with(&[&column, &row]);
    }
    error
}

/// SELECT of these expressions from the table.
fn rows_query(table: &TableDefinition, selected: &[String]) -> Result<Box<Query>> {
    let text = format!(
        "SELECT {} FROM {}.{}",
        selected.join(", "),
        quoted_identifier(&table.database),
        quoted_identifier(&table.name)
    );
    parse_own_query(&text)
}

/// ORDER BY, unless the primary key keeps the table in order.
fn sort(
    context: &StatementContext<'_>,
    old: &TableDefinition,
    new: &TableDefinition,
    actions: &[AlterAction],
    query: &mut Query,
) {
    let mut orders = actions.iter().filter_map(|action| match action {
        AlterAction::OrderBy(order) => Some(order),
        _ => None,
    });
    let Some(order) = orders.next_back() else {
        return;
    };
    if new.engine == Engine::InnoDb && !new.identifying_columns().is_empty() {
        let text = format!(
            "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
            old.name
        );
        context.warn(codes::ER_UNKNOWN_ERROR.with(&[&text]));
        return;
    }
    query.order_by.clone_from(order);
}
