//! FOR UPDATE and FOR SHARE in derived tables, common table expressions and subqueries.
//!
//! Such a query is run first, by itself, as a locking SELECT of its own; the statement then reads its rows
//! as a table. A correlated one is left as it is, and locks nothing.

use std::borrow::Cow;
use std::sync::Arc;

use mayfly_plan::{ColumnSource, ColumnTraits, DefaultSource, IndexContent, TableSource};
use mayfly_storage::BatchTable;
use mayfly_syntax::ast::{
    Expr, Flow, Ident, InsertSource, Query, SelectItem, SetExpr, Statement, TableFactor, Visit,
    VisitMut, Visitor, VisitorMut,
};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Error, Result, SqlType, TypeKind};

use super::table_references;
use crate::error::parse_own_query;
use crate::prepared::Prepared;
use crate::result::{Outcome, ResultColumn};
use crate::session::StatementContext;
use crate::session::locked_rows::{LockedRows, name_of};
use crate::spool::physical_types;

/// Search for queries that lock rows, below the outermost one.
struct Search {
    depth: usize,
    /// Whether any query counts.
    any: bool,
}

impl Visitor for Search {
    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        self.depth += 1;
        if self.depth > 1 && (self.any || !query.locks.is_empty()) {
            return Flow::Break(());
        }
        Flow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> Flow {
        self.depth -= 1;
        Flow::Continue(())
    }
}

/// Runs locking queries, the inner ones first, and replaces them by their rows.
struct Replacement<'s, 'c> {
    context: &'s mut StatementContext<'c>,
    depth: usize,
    is_changed: bool,
    /// The error that ended the walk.
    error: Option<Error>,
}

impl VisitorMut for Replacement<'_, '_> {
    fn pre_visit_query(&mut self, _: &mut Query) -> Flow {
        self.depth += 1;
        Flow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> Flow {
        self.depth -= 1;
        if self.depth == 0 || query.locks.is_empty() {
            return Flow::Continue(());
        }
        match self.replace(query) {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                Flow::Break(())
            }
        }
    }
}

impl Replacement<'_, '_> {
    fn replace(&mut self, query: &mut Query) -> Result<()> {
        let rows = match rows_of(self.context, query) {
            // The subquery is correlated.
            Err(error) if is_of_name(&error) => return Ok(()),
            rows => rows?,
        };
        let name = name_of(self.context.locked_rows.len());
        self.context.locked_rows.push(rows);
        // The rest of the statement is read as if nothing had been locked.
        self.context.read_as_usual();
        let mut all = parse_own_query("SELECT * FROM t")?;
        if let SetExpr::Select(select) = &mut *all.body
            && let [SelectItem::Wildcard] = select.projection.as_slice()
            && let [from] = select.from.as_mut_slice()
            && let TableFactor::Table { name: table, .. } = &mut from.relation
        {
            *table = vec![Ident::new(name)].into();
        }
        *query = *all;
        self.is_changed = true;
        Ok(())
    }
}

/// Whether an error is about an unknown name.
fn is_of_name(error: &Error) -> bool {
    let codes = [
        &codes::ER_BAD_FIELD_ERROR,
        &codes::ER_NO_SUCH_TABLE,
        &codes::ER_NO_DB_ERROR,
        &codes::ER_UNKNOWN_TABLE,
    ];
    codes.iter().any(|code| error.is(code))
}

/// The rows of a locking query, locked.
fn rows_of(context: &mut StatementContext<'_>, query: &Query) -> Result<LockedRows> {
    let statement = Arc::new(Statement::Query(Box::new(query.clone())));
    let outcome = super::planning::run(context, &statement, None)?;
    let columns = outcome.columns();
    let mut batches = Vec::new();
    let mut memory = context.reservation();
    let resources = context.database().resources.clone();
    let mut keep = |batch: Batch| -> Result<()> {
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
            let read = std::iter::from_fn(|| context.lending(|| rows.next_batch()).transpose())
                .try_for_each(|batch| keep(batch?));
            drop(rows);
            context.account(&execution);
            read?;
        }
        Outcome::Done(_) | Outcome::Several { .. } | Outcome::Row { .. } => {}
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
        is_call: false,
        partitioned: false,
        index_content: IndexContent::Unavailable,
        secondary_engine: None,
        scans: None,
    };
    Ok(LockedRows {
        source: Arc::new(source),
        table: Arc::new(BatchTable::new(physical_types(&types), batches)),
        memory,
    })
}

/// Replaces the locking queries of a part of a statement by their rows; returns whether there were any. `depth` is 0
/// for a whole query, whose own locks are not meant, and 1 for a part of a statement.
fn replace_in(
    context: &mut StatementContext<'_>,
    part: &mut dyn VisitMut,
    depth: usize,
) -> Result<bool> {
    let mut replacement = Replacement {
        context,
        depth,
        is_changed: false,
        error: None,
    };
    let _ = part.visit_mut(&mut replacement);
    match replacement.error {
        Some(error) => Err(error),
        None => Ok(replacement.is_changed),
    }
}

/// An expression outside of a query, with its locking queries replaced. What its other queries read is locked for
/// changes: it is no SELECT, but computes what may be stored.
pub(super) fn of_expression<'e>(
    context: &mut StatementContext<'_>,
    expr: &'e Expr,
) -> Result<Cow<'e, Expr>> {
    let mut search = Search {
        depth: 1,
        any: true,
    };
    if Visit::visit(expr, &mut search).is_continue() {
        return Ok(Cow::Borrowed(expr));
    }
    let mut expr = expr.clone();
    replace_in(context, &mut expr, 1)?;
    context.read_for_change();
    Ok(Cow::Owned(expr))
}

/// Whether a statement may have locking queries below its outermost one.
pub(super) fn may_have_any(statement: &Statement) -> bool {
    let depth = usize::from(!matches!(
        statement,
        Statement::Query(_) | Statement::Insert(_)
    ));
    table_references::visit(statement, &mut Search { depth, any: false }).is_break()
}

/// A statement with its locking queries replaced by their rows; `None` when it has none.
pub(super) fn of_statement(
    context: &mut StatementContext<'_>,
    prepared: &Prepared,
) -> Result<Option<Statement>> {
    if !prepared.has_locking_subqueries() {
        return Ok(None);
    }
    let mut statement = Statement::clone(prepared.statement());
    let is_changed = match &mut statement {
        Statement::Query(query) => replace_in(context, query, 0)?,
        Statement::Insert(insert) => match &mut insert.source {
            InsertSource::Query(query) => replace_in(context, query, 0)?,
            InsertSource::Values(_) => false,
        },
        Statement::Update(update) => {
            replace_in(context, &mut update.tables, 1)?
                | replace_in(context, &mut update.selection, 1)?
        }
        Statement::Delete(delete) => {
            replace_in(context, &mut delete.from, 1)?
                | replace_in(context, &mut delete.selection, 1)?
        }
        _ => false,
    };
    Ok(is_changed.then_some(statement))
}
