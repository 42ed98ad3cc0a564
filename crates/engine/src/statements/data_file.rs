//! COPY … TO and SELECT … INTO OUTFILE … FORMAT: rows into a file of a data format, or into one file for each value of some
//! columns.
//!
//! The rows of such columns are sorted by them, so that one file after another is written. Columns of the query's own
//! ORDER BY follow; a query with LIMIT is sorted as a derived table.

use std::sync::mpsc::sync_channel;

use mayfly_plan::physical::OutputColumn;
use mayfly_syntax::ast::{
    DataFile, Expr, Ident, OrderByExpr, Query, Select, SelectItem, SelectModifiers, SetExpr,
    TableAlias, TableFactor, TableWithJoins, Value as Literal,
};
use mayfly_types::error::codes;
use mayfly_types::{Batch, Interrupt, Result};
use parking_lot::Mutex;

use super::select::{self, Reading};
use crate::binding::{expressions, table_functions};
use crate::catalog::file_output::{RowsToWrite, RowsWriter};
use crate::catalog::table_functions::TableArguments;
use crate::names::same_name;
use crate::result::{Outcome, ResultColumn, StatementResult};
use crate::session::StatementContext;

/// Writes the rows of a query.
pub(super) fn write(
    context: &mut StatementContext<'_>,
    query: &Query,
    file: &DataFile,
) -> Result<Outcome> {
    let output = context.catalog().file_output.read().clone();
    let output = output.ok_or_else(|| codes::ER_NOT_SUPPORTED_YET.with(&[&"COPY"]))?;
    let mut planned = select::plan(context, query)?;
    let partition_by = positions(&planned.plan.columns, &file.partition_by)?;
    if !partition_by.is_empty() {
        planned = select::plan(context, &sorted(query, &partition_by))?;
    }
    let options = file.options.iter().map(|option| {
        let (value, ty) = expressions::evaluate_in_definition(context, &option.value)?;
        Ok((Some(option.name.value.clone()), value, ty))
    });
    let options: Vec<_> = options.collect::<Result<_>>()?;
    let rows = RowsToWrite {
        path: file.path.clone(),
        columns: ResultColumn::computed_by_plan(&planned.plan.columns).to_vec(),
        partition_by,
    };
    let facts = table_functions::facts(context, &context.rights());
    let mut writer = output.begin(rows, TableArguments::new("COPY", options), &facts)?;
    let (mut written, mut found) = (0, 0);
    select::read(context, &planned, |context, reading| {
        written = write_rows(context, reading, &mut *writer)?;
        found = reading.found_rows();
        Ok(())
    })?;
    ended(context.interrupt(), writer.finish())?;
    context.session.diagnostics.found_rows = found;
    Ok(StatementResult::affected(written).into())
}

/// Batches that are written before a worker writes the others.
const FIRST_BATCHES: usize = 4;

/// Batches that may wait for the worker.
const WAITING_BATCHES: usize = 4;

/// Writes the rows of a query; returns their number. Of many rows a worker, if there is a free one, writes some while this thread
/// computes the next ones.
fn write_rows(
    context: &mut StatementContext<'_>,
    reading: &mut Reading,
    writer: &mut dyn RowsWriter,
) -> Result<u64> {
    let mut written = 0;
    let mut next = |context: &mut StatementContext<'_>| {
        let batch = reading.next_batch(context)?;
        context.interrupt().check()?;
        written += batch.as_ref().map_or(0, |batch| batch.row_count() as u64);
        Ok(batch)
    };
    for _ in 0..FIRST_BATCHES {
        let Some(batch) = next(context)? else {
            return Ok(written);
        };
        ended(context.interrupt(), writer.write(&batch))?;
    }
    let workers = context.database().resources.workers.clone();
    let (sender, receiver) = sync_channel::<Batch>(WAITING_BATCHES);
    let writer = &Mutex::new(writer);
    std::thread::scope(|scope| {
        let all = move |_: &_| {
            let mut writer = writer.lock();
            receiver.iter().try_for_each(|batch| writer.write(&batch))
        };
        let Some(worker) = workers.spawn_scoped(scope, all) else {
            while let Some(batch) = next(context)? {
                ended(context.interrupt(), writer.lock().write(&batch))?;
            }
            return Ok(());
        };
        let read = loop {
            match next(context) {
                Ok(Some(batch)) => {
                    // A worker that has failed receives nothing more.
                    if sender.send(batch).is_err() {
                        break Ok(());
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(sender);
        match worker.join() {
            Ok(done) => read.and(ended(context.interrupt(), done)),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    })?;
    Ok(written)
}

/// A result of writing, in which the end of the statement comes before the error that it became on its way through a library.
fn ended<T>(interrupt: &Interrupt, written: Result<T>) -> Result<T> {
    written.map_err(|error| interrupt.check().err().unwrap_or(error))
}

/// The positions of columns in the rows: 1054 for one that is not there, 1052 for one that is there twice.
fn positions(columns: &[OutputColumn], names: &[Ident]) -> Result<Vec<usize>> {
    const CLAUSE: &str = "PARTITION_BY";
    let position = |name: &Ident| {
        let mut found = columns.iter().enumerate();
        let mut found = found
            .by_ref()
            .filter(|it| same_name(&it.1.name, &name.value));
        match (found.next(), found.next()) {
            (Some((position, _)), None) => Ok(position),
            (None, _) => Err(codes::ER_BAD_FIELD_ERROR.with(&[&name.value, &CLAUSE])),
            (Some(_), Some(_)) => Err(codes::ER_NON_UNIQ_ERROR.with(&[&name.value, &CLAUSE])),
        }
    };
    names.iter().map(position).collect()
}

/// A query whose rows are sorted by columns before all else.
fn sorted(query: &Query, positions: &[usize]) -> Query {
    let keys = positions.iter().map(|position| OrderByExpr {
        expr: Expr::Value(Literal::Number((position + 1).to_string())),
        sort: None,
    });
    let mut query = query.clone();
    if query.limit_clause.is_none() {
        query.order_by.splice(0..0, keys);
        return query;
    }
    let alias = TableAlias {
        name: Ident::new("rows"),
        columns: Vec::new(),
    };
    Query {
        with: None,
        order_by: keys.collect(),
        limit_clause: None,
        locks: Vec::new(),
        body: Box::new(SetExpr::Select(Box::new(Select {
            optimizer_hints: Vec::new(),
            distinct: false,
            select_modifiers: SelectModifiers::default(),
            projection: vec![SelectItem::Wildcard],
            from: vec![TableWithJoins {
                relation: TableFactor::Derived {
                    lateral: false,
                    subquery: Box::new(query),
                    alias: Some(alias),
                },
                joins: Vec::new(),
            }],
            selection: None,
            group_by: Default::default(),
            having: None,
            named_window: Vec::new(),
        }))),
    }
}
