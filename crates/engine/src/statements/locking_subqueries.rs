//! FOR UPDATE and FOR SHARE in derived tables, common table expressions and subqueries.
//!
//! Such a query is run first, by itself, as a locking SELECT of its own; the statement then reads its rows
//! as a table. One that needs what is around it is left as it is, and locks nothing.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_memory::Reservation;
use mayfly_plan::{ColumnSource, ColumnTraits, DefaultSource, TableSource};
use mayfly_storage::{BatchTable, Table};
use mayfly_syntax::ast::{
    Delete, Expr, Query, SelectItem, SetExpr, Statement, TableFactor, UpdateStatement, Visit,
    VisitMut, Visitor, VisitorMut,
};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind, Value};

use super::found_rows::physical_types;
use super::locking_read;
use super::select::{self, Reading};
use crate::result::{Outcome, ResultColumn};
use crate::session::Session;

/// No name of a table begins so.
const NAME: &str = "\0locked ";

/// Rows of a query that has locked them, for the statement that it is a part of.
#[derive(Debug)]
pub(crate) struct LockedRows {
    pub(crate) source: Arc<TableSource>,
    pub(crate) table: Arc<dyn Table>,
    _memory: Reservation,
}

/// The place among the rows of a statement that a name of a table stands for.
pub(crate) fn place_of(name: &str) -> Option<usize> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// Looks for queries that lock rows, below the outermost one.
#[derive(Default)]
struct Search {
    depth: usize,
}

impl Visitor for Search {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.depth += 1;
        match self.depth > 1 && !query.locks.is_empty() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Runs them, the inner ones first, and puts their rows in their places.
struct Replacement<'s> {
    session: &'s mut Session,
    types: &'s [SqlType],
    values: &'s [Value],
    depth: usize,
    is_changed: bool,
}

impl VisitorMut for Replacement<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.depth -= 1;
        if self.depth == 0 || query.locks.is_empty() {
            return ControlFlow::Continue(());
        }
        match self.replace(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Replacement<'_> {
    fn replace(&mut self, query: &mut Query) -> Result<()> {
        let rows = match rows_of(self.session, query, self.types, self.values) {
            // It names what is around it.
            Err(error) if is_of_name(&error) => return Ok(()),
            rows => rows?,
        };
        let name = format!("{NAME}{}", self.session.locked_rows.len());
        self.session.locked_rows.push(rows);
        // What else the statement reads is read as if nothing had been locked.
        self.session.read_as_usual();
        let text = "SELECT * FROM t";
        let parsed = mayfly_syntax::parse_one(text, &mayfly_syntax::ParseOptions::MYSQL_DEFAULT);
        let parsed = parsed.map_err(|error| crate::error::from_syntax(&error))?;
        let Statement::Query(mut all) = parsed.statement else {
            return Err(codes::ER_UNKNOWN_ERROR.with(&[&text]));
        };
        if let SetExpr::Select(select) = &mut *all.body
            && let [SelectItem::Wildcard(_)] = select.projection.as_slice()
            && let [from] = select.from.as_mut_slice()
            && let TableFactor::Table { name: table, .. } = &mut from.relation
        {
            *table = vec![mayfly_syntax::ast::Ident::new(name)].into();
        }
        *query = *all;
        self.is_changed = true;
        Ok(())
    }
}

/// Whether an error says that a name means nothing.
fn is_of_name(error: &Error) -> bool {
    let codes = [
        &codes::ER_BAD_FIELD_ERROR,
        &codes::ER_NO_SUCH_TABLE,
        &codes::ER_NO_DB_ERROR,
        &codes::ER_UNKNOWN_TABLE,
    ];
    codes.iter().any(|code| error.is(code))
}

/// The rows of a locking query, which are locked then.
fn rows_of(
    session: &mut Session,
    query: &Query,
    types: &[SqlType],
    values: &[Value],
) -> Result<LockedRows> {
    let (columns, mut rows) = match locking_read::run(session, query, types, values)? {
        Some(Outcome::Found { columns, rows }) => (columns, Some(rows)),
        _ => (Arc::default(), None),
    };
    let mut batches = Vec::new();
    let mut memory = session.reservation();
    let resources = session.database.resources.clone();
    let mut keep = |batch: mayfly_types::Batch| -> Result<()> {
        let bytes = batch.string_bytes() + batch.row_count() * batch.columns().len() * 16;
        let needed = memory.bytes() + bytes as u64;
        resources.resize_working_set(&mut memory, needed, "(locking subquery)")?;
        batches.push(batch.with_own_strings());
        Ok(())
    };
    let columns: Arc<[ResultColumn]> = match &mut rows {
        Some(rows) => {
            while let Some(batch) = rows.next_batch()? {
                keep(batch)?;
            }
            columns
        }
        None => {
            let planned = select::plan_with(session, query, types, values, None)?;
            let mut reading = Reading::start(session, &planned, values)?;
            let read = (|| -> Result<()> {
                while let Some(batch) = reading.next_batch()? {
                    keep(batch)?;
                }
                Ok(())
            })();
            reading.finish(session);
            read?;
            planned
                .plan
                .columns
                .iter()
                .map(ResultColumn::from_plan)
                .collect()
        }
    };
    let ty = |column: &ResultColumn| match column.ty.kind {
        TypeKind::Boolean => SqlType::bigint(),
        _ => column.ty.clone(),
    };
    let types: Vec<SqlType> = columns.iter().map(ty).collect();
    let id = session.database.catalog.next_table_id();
    let name = format!("{NAME}{}", session.locked_rows.len());
    let source = TableSource {
        id,
        database: "information_schema".to_owned(),
        name,
        columns: columns
            .iter()
            .zip(&types)
            .map(|(column, ty)| ColumnSource {
                name: column.name.clone(),
                ty: ty.clone(),
                nullable: column.nullable,
                invisible: false,
                hidden: false,
                generated: None,
                default: DefaultSource::None,
                traits: ColumnTraits::default(),
            })
            .collect(),
        unique_keys: Vec::new(),
        indexes: Vec::new(),
        row_count: batches.iter().map(|batch| batch.row_count() as u64).sum(),
        temporary: false,
        partitioned: false,
    };
    Ok(LockedRows {
        source: Arc::new(source),
        table: Arc::new(BatchTable::new(physical_types(&types), batches)),
        _memory: memory,
    })
}

/// A part of a statement with the rows of its locking queries in their places; `None` when it has none.
/// `depth` is 0 for a whole query, whose own locks are not meant, and 1 for what is in a statement.
fn replaced<T: Visit + VisitMut + Clone>(
    session: &mut Session,
    part: &T,
    depth: usize,
    types: &[SqlType],
    values: &[Value],
) -> Result<Option<T>> {
    if Visit::visit(part, &mut Search { depth }).is_continue() {
        return Ok(None);
    }
    let mut part = part.clone();
    let mut replacement = Replacement {
        session,
        types,
        values,
        depth,
        is_changed: false,
    };
    match VisitMut::visit(&mut part, &mut replacement) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(replacement.is_changed.then_some(part)),
    }
}

/// An expression outside of a query, without locking queries in it. What its other queries read is locked
/// for this transaction alone to be changed: it is no SELECT, but computes what may be stored.
pub(super) fn of_expression<'e>(session: &mut Session, expr: &'e Expr) -> Result<Cow<'e, Expr>> {
    if Visit::visit(expr, &mut AnyQuery).is_continue() {
        return Ok(Cow::Borrowed(expr));
    }
    let (types, values) = session.parameter_values();
    let without = replaced(session, expr, 1, &types, &values)?;
    session.read_for_change();
    Ok(without.map_or(Cow::Borrowed(expr), Cow::Owned))
}

/// Looks for any query.
struct AnyQuery;

impl Visitor for AnyQuery {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// A query without locking queries in it.
pub(super) fn of_query(
    session: &mut Session,
    query: &Query,
    types: &[SqlType],
    values: &[Value],
) -> Result<Option<Query>> {
    replaced(session, query, 0, types, values)
}

/// An UPDATE without locking queries in it.
pub(super) fn of_update(
    session: &mut Session,
    update: &UpdateStatement,
    types: &[SqlType],
    values: &[Value],
) -> Result<Option<UpdateStatement>> {
    let tables = replaced(session, &update.tables, 1, types, values)?;
    let selection = replaced(session, &update.selection, 1, types, values)?;
    if tables.is_none() && selection.is_none() {
        return Ok(None);
    }
    let mut update = update.clone();
    update.tables = tables.unwrap_or(update.tables);
    update.selection = selection.unwrap_or(update.selection);
    Ok(Some(update))
}

/// A DELETE without locking queries in it.
pub(super) fn of_delete(
    session: &mut Session,
    delete: &Delete,
    types: &[SqlType],
    values: &[Value],
) -> Result<Option<Delete>> {
    let from = replaced(session, &delete.from, 1, types, values)?;
    let selection = replaced(session, &delete.selection, 1, types, values)?;
    if from.is_none() && selection.is_none() {
        return Ok(None);
    }
    let mut delete = delete.clone();
    delete.from = from.unwrap_or(delete.from);
    delete.selection = selection.unwrap_or(delete.selection);
    Ok(Some(delete))
}
