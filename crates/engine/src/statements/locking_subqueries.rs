//! FOR UPDATE and FOR SHARE in derived tables, common table expressions and subqueries.
//!
//! Such a query is run first, by itself, as a locking SELECT of its own; the statement then reads its rows
//! as a table. One that needs what is around it is left as it is, and locks nothing.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use mayfly_plan::{ColumnSource, ColumnTraits, DefaultSource, TableSource};
use mayfly_storage::BatchTable;
use mayfly_syntax::ast::{
    Expr, InsertSource, InsertStatement, Query, SelectItem, SetExpr, Statement, TableFactor, Visit,
    VisitMut, Visitor, VisitorMut,
};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind};

use crate::error::parse_own_query;
use crate::prepared::Prepared;
use crate::result::{Outcome, ResultColumn};
use crate::session::StatementContext;
use crate::session::locked_rows::{LockedRows, name_of};
use crate::spool::physical_types;

/// Looks for queries that lock rows, below the outermost one.
#[derive(Default)]
struct Search {
    depth: usize,
}

impl Visitor for Search {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.depth += 1;
        if self.depth > 1 && !query.locks.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Runs them, the inner ones first, and puts their rows in their places.
struct Replacement<'s, 'c> {
    context: &'s mut StatementContext<'c>,
    depth: usize,
    is_changed: bool,
}

impl VisitorMut for Replacement<'_, '_> {
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

impl Replacement<'_, '_> {
    fn replace(&mut self, query: &mut Query) -> Result<()> {
        let rows = match rows_of(self.context, query) {
            // It names what is around it.
            Err(error) if is_of_name(&error) => return Ok(()),
            rows => rows?,
        };
        let name = name_of(self.context.locked_rows.len());
        self.context.locked_rows.push(rows);
        // What else the statement reads is read as if nothing had been locked.
        self.context.read_as_usual();
        let mut all = parse_own_query("SELECT * FROM t")?;
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
fn rows_of(context: &mut StatementContext<'_>, query: &Query) -> Result<LockedRows> {
    let statement = Arc::new(Statement::Query(Box::new(query.clone())));
    let outcome = super::planned::run(context, &statement, None)?;
    let columns = outcome.columns();
    let mut batches = Vec::new();
    let mut memory = context.reservation();
    let resources = context.database().resources.clone();
    let mut keep = |batch: mayfly_types::Batch| -> Result<()> {
        let bytes = batch.string_bytes() + batch.row_count() * batch.columns().len() * 16;
        let needed = memory.bytes() + bytes as u64;
        resources.resize_working_set(&mut memory, needed, "(locking subquery)")?;
        batches.push(batch.with_own_strings());
        Ok(())
    };
    match outcome {
        Outcome::Found { mut rows, .. } => {
            while let Some(batch) = rows.next_batch()? {
                keep(batch)?;
            }
        }
        Outcome::Rows {
            mut rows,
            execution,
            ..
        } => {
            let read = (|| -> Result<()> {
                while let Some(batch) = rows.next_batch()? {
                    keep(batch)?;
                }
                Ok(())
            })();
            drop(rows);
            context.account(&execution);
            read?;
        }
        Outcome::Done(_) | Outcome::Row { .. } => {}
    }
    let ty = |column: &ResultColumn| match column.ty.kind {
        TypeKind::Boolean => SqlType::bigint(),
        _ => column.ty.clone(),
    };
    let types: Vec<SqlType> = columns.iter().map(ty).collect();
    let id = context.catalog().next_table_id();
    let name = name_of(context.locked_rows.len());
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
        memory,
    })
}

/// A part of a statement with the rows of its locking queries in their places; `None` when it has none.
/// `depth` is 0 for a whole query, whose own locks are not meant, and 1 for what is in a statement.
fn replaced<T: Visit + VisitMut + Clone>(
    context: &mut StatementContext<'_>,
    part: &T,
    depth: usize,
) -> Result<Option<T>> {
    if Visit::visit(part, &mut Search { depth }).is_continue() {
        return Ok(None);
    }
    let mut part = part.clone();
    let mut replacement = Replacement {
        context,
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
pub(super) fn of_expression<'e>(
    context: &mut StatementContext<'_>,
    expr: &'e Expr,
) -> Result<Cow<'e, Expr>> {
    if Visit::visit(expr, &mut AnyQuery).is_continue() {
        return Ok(Cow::Borrowed(expr));
    }
    let without = replaced(context, expr, 1)?;
    context.read_for_change();
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

/// Whether a statement has locking queries in it.
pub(super) fn has_any(statement: &Statement) -> bool {
    let at = |part: &dyn Fn(&mut Search) -> ControlFlow<()>, depth| {
        part(&mut Search { depth }).is_break()
    };
    match statement {
        Statement::Query(query) => at(&|search| Visit::visit(query, search), 0),
        Statement::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => at(&|search| Visit::visit(query, search), 0),
            InsertSource::Values(_) => false,
        },
        Statement::Update(update) => {
            at(&|search| Visit::visit(&update.tables, search), 1)
                || at(&|search| Visit::visit(&update.selection, search), 1)
        }
        Statement::Delete(delete) => {
            at(&|search| Visit::visit(&delete.from, search), 1)
                || at(&|search| Visit::visit(&delete.selection, search), 1)
        }
        _ => false,
    }
}

/// A statement with the rows of its locking queries in their places; `None` when it has none.
pub(super) fn of_statement(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
) -> Result<Option<Statement>> {
    if !prepared.has_locking_subqueries() {
        return Ok(None);
    }
    Ok(match &**prepared.statement() {
        Statement::Query(query) => replaced(context, query, 0)?.map(Statement::Query),
        Statement::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => replaced(context, query, 0)?.map(|query| {
                Statement::Insert(Box::new(InsertStatement {
                    source: InsertSource::Query(query),
                    ..(**insert).clone()
                }))
            }),
            InsertSource::Values(_) => None,
        },
        Statement::Update(update) => {
            let tables = replaced(context, &update.tables, 1)?;
            let selection = replaced(context, &update.selection, 1)?;
            (tables.is_some() || selection.is_some()).then(|| {
                let mut update = update.clone();
                update.tables = tables.unwrap_or(update.tables);
                update.selection = selection.unwrap_or(update.selection);
                Statement::Update(update)
            })
        }
        Statement::Delete(delete) => {
            let from = replaced(context, &delete.from, 1)?;
            let selection = replaced(context, &delete.selection, 1)?;
            (from.is_some() || selection.is_some()).then(|| {
                let mut delete = delete.clone();
                delete.from = from.unwrap_or(delete.from);
                delete.selection = selection.unwrap_or(delete.selection);
                Statement::Delete(delete)
            })
        }
        _ => None,
    })
}
