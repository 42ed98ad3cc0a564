//! RETURNING, MariaDB's extension: a select list over the rows that a statement wrote or removed.

use std::sync::Arc;

use mayfly_exec::ExecutionContext;
use mayfly_plan::{PlanOptions, ScalarNames};
use mayfly_syntax::ast::SelectItem;
use mayfly_types::{Batch, Result, Value};

use crate::binding::expressions::{Bound, columns_of, in_clause};
use crate::binding::session_catalog::SessionCatalog;
use crate::cached_plan::ReturnedColumn;
use crate::catalog::definition::TableDefinition;
use crate::result::ResultColumn;
use crate::session::StatementContext;

/// Binds a clause to the columns of a table; no clause has no columns.
pub(super) fn plan(
    context: &StatementContext<'_>,
    (catalog, options): (&SessionCatalog<'_>, &PlanOptions),
    definition: &TableDefinition,
    items: &[SelectItem],
) -> Result<Vec<ReturnedColumn>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let columns = columns_of(context, definition);
    let names = ScalarNames {
        columns: &columns,
        ..ScalarNames::default()
    };
    let bound = mayfly_plan::bind_returning(items, names, catalog, options)
        .map_err(|error| in_clause(error, "RETURNING"))?;
    let columns = bound
        .into_iter()
        .map(|(column, expression)| ReturnedColumn {
            column: ResultColumn::from_plan(&column),
            expression: Arc::new(expression),
        });
    Ok(columns.collect())
}

/// The result columns of a clause.
pub(super) fn columns(returning: &[ReturnedColumn]) -> Arc<[ResultColumn]> {
    let columns = returning.iter();
    columns.map(|returned| returned.column.clone()).collect()
}

/// The result rows for rows of the table.
pub(super) fn evaluate(
    returning: &[ReturnedColumn],
    execution: &Arc<ExecutionContext>,
    parameters: &[Value],
    rows: &[Batch],
) -> Result<Vec<Batch>> {
    let columns = returning.iter();
    let bound: Vec<Bound> = columns
        .map(|column| Bound::of_plan(Arc::clone(&column.expression), execution))
        .collect();
    let result = rows.iter().map(|batch| {
        let values = bound.iter();
        let values = values.map(|bound| bound.evaluate_with(batch, parameters));
        let values = values.collect::<Result<Vec<_>>>()?;
        Ok(Batch::new(values, batch.row_count()))
    });
    result.collect()
}
