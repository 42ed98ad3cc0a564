//! COPY … TO and SELECT … INTO OUTFILE … FORMAT: rows into a file of a data format, or into one file for each value of some
//! columns.
//!
//! The rows of such columns are sorted by them, so that one file after another is written. Columns of the query's own
//! ORDER BY follow; a query with LIMIT is sorted as a derived table.

use mayfly_plan::physical::OutputColumn;
use mayfly_syntax::ast::{
    DataFile, Expr, Ident, OrderByExpr, Query, Select, SelectItem, SelectModifiers, SetExpr,
    TableAlias, TableFactor, TableWithJoins, Value as Literal,
};
use mayfly_types::error::codes;
use mayfly_types::{Interrupt, Result};

use super::select;
use crate::binding::{expressions, table_functions};
use crate::catalog::file_output::RowsToWrite;
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
        while let Some(batch) = reading.next_batch(context)? {
            context.interrupt().check()?;
            ended(context.interrupt(), writer.write(&batch))?;
            written += batch.row_count() as u64;
        }
        found = reading.found_rows();
        Ok(())
    })?;
    ended(context.interrupt(), writer.finish())?;
    context.session.diagnostics.found_rows = found;
    Ok(StatementResult::affected(written).into())
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
