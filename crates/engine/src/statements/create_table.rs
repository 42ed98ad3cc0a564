//! `CREATE [TEMPORARY] TABLE`, in its three forms.

use std::sync::Arc;

use mayfly_plan::physical::OutputColumn;
use mayfly_syntax::ast::{CacheClause, CreateTable, OnDuplicateRow, Query, SetExpr, TableName};
use mayfly_types::convert::implicit_default;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlMode, SqlType, Stage, TypeKind};

use super::drop_table;
use super::insert::copy_rows;
use super::row_sink::{Insertion, OnDuplicate};
use super::select;
use crate::catalog::definition::{ColumnDefault, ColumnDefinition, TableDefinition};
use crate::catalog::selected_type::selected_type;
use crate::catalog::{BaseTable, FullName};
use crate::ddl::foreign_key_checks;
use crate::ddl::primary_keys::{self, definition_with_key};
use crate::ddl::{create, secondary};
use crate::engines::Engine;
use crate::error::refuse;
use crate::information_schema;
use crate::result::{Outcome, StatementResult};
use crate::session::StatementContext;
use crate::statements::table_names::{qualified, refuse_system_schema};
use crate::transaction::NotUndone;

/// Runs the statement.
pub(super) fn run(context: &mut StatementContext<'_>, statement: &CreateTable) -> Result<Outcome> {
    if statement.or_replace && statement.if_not_exists {
        return Err(codes::ER_WRONG_USAGE.with(&[&"OR REPLACE", &"IF NOT EXISTS"]));
    }
    let (database, name) = qualified(context, &statement.name)?;
    context.stages().enter(Stage::CreatingTable);
    refuse_system_schema(context, &database)?;
    let catalog = context.catalog();
    let collation = catalog
        .database_collation(&database)
        .ok_or_else(|| codes::ER_BAD_DB_ERROR.with(&[&database]))?;
    if let Some(other) = &statement.like
        && qualified(context, other)? == (database.clone(), name.clone())
    {
        return Err(codes::ER_NONUNIQ_TABLE.with(&[&name]));
    }
    if !statement.is_temporary() {
        let transaction = &context.session.transaction;
        transaction.refuse_unlocked(&database, &name)?;
    }
    let exists = if statement.is_temporary() {
        context.temporary_table(&database, &name).is_some()
    } else {
        // A dump of a whole server has the log tables.
        let is_log = || information_schema::definitions::log(&database, &name).is_some();
        catalog.has(&database, &name) || (statement.if_not_exists && is_log())
    };
    if exists && !statement.or_replace {
        let error = codes::ER_TABLE_EXISTS_ERROR.with(&[&name]);
        context.note_if(statement.if_not_exists, error)?;
        return Ok(StatementResult::default().into());
    }
    if exists && !statement.is_temporary() {
        drop_table::refuse_parents(context, &[(database.clone(), name.clone())])?;
        if let Some(table) = catalog.table(&database, &name) {
            context.refuse_rows_of_others(&table)?;
        }
    }
    if let Some(other) = &statement.like {
        let definition = like(context, other, statement, (database, name))?;
        primary_keys::require(context, &definition)?;
        let table = new_table(context, definition)?;
        put(context, table, statement)?;
        return Ok(StatementResult::default().into());
    }
    let Some(source) = &statement.select else {
        let mut definition =
            definition_with_key(context, &database, collation, statement, Vec::new())?;
        let _parents = foreign_key_checks::check(context, &mut definition, None)?;
        let table = new_table(context, definition)?;
        put(context, table, statement)?;
        return Ok(StatementResult::default().into());
    };
    let cached = statement.cache.map(|cache| cached(&source.query, cache));
    let query = match cached {
        // As SELECT, whose rows may be those of a kept result.
        Some(query) => &query?,
        None => {
            // As INSERT … SELECT, which copies the newest rows.
            context.read_for_change();
            &*source.query
        }
    };
    let planned = select::plan(context, query)?;
    let selected = &planned.plan.columns;
    let is_union = matches!(&*source.query.body, SetExpr::SetOperation { .. });
    let columns = selected.iter();
    let columns = columns.map(|column| selected_column(context, column, is_union));
    let mut definition =
        definition_with_key(context, &database, collation, statement, columns.collect())?;
    let _parents = foreign_key_checks::check(context, &mut definition, None)?;
    let position = |column: &OutputColumn| definition.column_position(&column.name);
    let positions: Vec<usize> = selected.iter().filter_map(position).collect();
    let table = new_table(context, definition)?;
    let insertion = Insertion {
        ignore: source.on_duplicate == OnDuplicateRow::Ignore,
        on_duplicate: match source.on_duplicate {
            OnDuplicateRow::Replace => OnDuplicate::Replace,
            _ => OnDuplicate::Refuse,
        },
        ..Insertion::plain(&table, &positions)
    };
    let (written, _) = select::read(context, &planned, |context, reading| {
        copy_rows(context, insertion, &select::column_types(selected), reading)
    })?;
    put(context, table, statement)?;
    let result = StatementResult {
        last_insert_id: 0,
        ..written.result_with_info(context)
    };
    Ok(result.into())
}

/// A query with the hint that a CACHE clause stands for; 1525 for a time that is none. Without a SELECT there is nothing to
/// keep: the rows are those of the text.
fn cached(query: &Query, cache: CacheClause) -> Result<Query> {
    let hint = match cache {
        CacheClause::UntilChanged => "RESULT_CACHE(UNTIL CHANGED)".to_owned(),
        CacheClause::For(period) => {
            let seconds = period.count.saturating_mul(period.unit.seconds());
            refuse(!(1..=create::LONGEST_LIFE).contains(&seconds), || {
                let text = format!("{} {}", period.count, period.unit.name());
                codes::ER_WRONG_VALUE.with(&[&"CACHE FOR", &text])
            })?;
            format!("RESULT_CACHE({seconds}s)")
        }
    };
    let mut query = query.clone();
    let mut body = &mut *query.body;
    loop {
        body = match body {
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Query(query) => &mut query.body,
            SetExpr::Select(select) => {
                select.optimizer_hints.insert(0, hint);
                break;
            }
            SetExpr::Values(_) | SetExpr::Table(_) => break,
        };
    }
    Ok(query)
}

/// The definition of a column made from a query's column. A column of a table keeps its default.
fn selected_column(
    context: &StatementContext<'_>,
    column: &OutputColumn,
    is_union: bool,
) -> ColumnDefinition {
    let nullable = column.nullable;
    let ty = selected_type(column, is_union);
    let source = column.origin.as_ref().and_then(|origin| {
        let table = context.find_table(&origin.database, &origin.table)?;
        let position = table.definition.column_position(&origin.column)?;
        Some(table.definition.columns[position].clone())
    });
    let explicit_collation = source.as_ref().is_some_and(|it| it.explicit_collation);
    let not_secondary = source.as_ref().is_some_and(|it| it.not_secondary);
    let comment = source
        .as_ref()
        .map_or_else(String::new, |it| it.comment.clone());
    let default = match source {
        // A column of a table keeps its default, or its lack of one.
        Some(source) if !source.auto_increment => source.default,
        _ if nullable => ColumnDefault::None,
        _ => default_of_computed(context, &ty),
    };
    ColumnDefinition {
        explicit_collation,
        nullable,
        default,
        comment,
        not_secondary,
        ..ColumnDefinition::new(&*column.name, ty)
    }
}

/// The default of a computed NOT NULL column: as in MySQL the zero of its type, if there is one and `sql_mode` allows
/// it.
fn default_of_computed(context: &StatementContext<'_>, ty: &SqlType) -> ColumnDefault {
    let mode = context.options().session.sql_mode;
    let has_zero = match ty.kind {
        _ if ty.is_blob() => false,
        TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => {
            !mode.has(SqlMode::NO_ZERO_DATE)
        }
        TypeKind::Time => true,
        _ => ty.is_numeric() || ty.is_string(),
    };
    if has_zero {
        ColumnDefault::Value(implicit_default(ty))
    } else {
        ColumnDefault::None
    }
}

/// CREATE TABLE … LIKE
fn like(
    context: &StatementContext<'_>,
    other: &TableName,
    statement: &CreateTable,
    (database, name): FullName,
) -> Result<TableDefinition> {
    let (other_database, other_name) = qualified(context, other)?;
    let catalog = context.catalog();
    let missing = || match catalog.view(&other_database, &other_name) {
        Some(_) => codes::ER_WRONG_OBJECT.with(&[&other_database, &other_name, &"BASE TABLE"]),
        None => catalog.missing_table(&other_database, &other_name),
    };
    let table = context.use_table(&other_database, &other_name)?;
    let mut definition = TableDefinition {
        database,
        name,
        kind: statement.kind,
        on_commit: create::on_commit(statement),
        ttl: create::time_to_live(statement)?,
        created: context.now(),
        auto_increment_start: 1,
        foreign_keys: Vec::new(),
        histograms: Vec::new(),
        ..TableDefinition::clone(&table.ok_or_else(missing)?.definition)
    };
    // Constraint names are unique in a database: the new table's constraints get names of their own.
    for (number, check) in (1_usize..).zip(&mut definition.checks) {
        check.name = format!("{}_chk_{number}", definition.name);
    }
    for key in &mut definition.keys {
        key.generated = false;
    }
    if definition.engine == Engine::External {
        definition.engine = TableDefinition::new("", "").engine;
    }
    if definition.is_shared() {
        definition.engine = Engine::InnoDb;
    }
    create::check_engine(context, &definition)?;
    secondary::check_copied(&definition)?;
    Ok(definition)
}

/// An empty table of a definition.
fn new_table(
    context: &StatementContext<'_>,
    definition: TableDefinition,
) -> Result<Arc<BaseTable>> {
    let id = context.catalog().next_table_id();
    BaseTable::new(id, definition, context).map(Arc::new)
}

fn put(
    context: &mut StatementContext<'_>,
    table: Arc<BaseTable>,
    statement: &CreateTable,
) -> Result<()> {
    if table.definition.partitioning.is_some() {
        context.warn(codes::WARN_OPTION_IGNORED.with(&[&"PARTITION BY"]));
    }
    if statement.is_temporary() {
        context.session.add_temporary_table(table);
        if !context.session.undoes_definitions() {
            context.transaction_mut().note(NotUndone::TablesMade);
        }
        return Ok(());
    }
    let expiry = table.expiry();
    let catalog = context.catalog();
    let definition = &table.definition;
    let replaced = catalog.table(&definition.database, &definition.name);
    catalog.add_table(context, table, statement.or_replace)?;
    if let Some(expiry) = expiry {
        context.database().note_expiry(expiry)?;
    }
    if let Some(replaced) = replaced {
        context.session.temporary_tables.forget(&replaced);
    }
    Ok(())
}
