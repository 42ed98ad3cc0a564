//! ROLLUP by repeating the rows for each level, for calls without mergeable state.
//!
//! Every input row is repeated for each level, its last keys replaced by NULL, with the level as one more key; so every
//! aggregate function works as it does without ROLLUP. The result is sorted, each super-aggregate row after the rows
//! that it summarizes; over no rows the grand total stands alone.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array};
use mayfly_plan::physical::{AggregateCall, Grouping, Purpose, SortKey};
use mayfly_plan::{Comparison, Expression, ExpressionKind};
use mayfly_types::{Batch, PhysicalType, Result, SqlType, Value};

use super::Build;
use crate::context::{Cursor, Node, RunContext};
use crate::expression::Program;
use crate::operators::{project, sliced, sort, values};
use crate::representation::column_types;
use crate::rows::null_columns;
use crate::state::lock;

pub(super) fn build(
    input: Arc<dyn Node>,
    grouping: &Grouping,
    run: &RunContext,
    build_groups: Build,
) -> Result<Arc<dyn Node>> {
    let keys = &grouping.keys;
    let key_count = keys.len();
    // Repeated rows are: keys, level, then every expression that the calls read.
    let mut programs: Vec<Program> = Program::compile_all(keys);
    let mut next = key_count + 1;
    let mut moved = |expression: &Expression| {
        programs.push(Program::compile(expression));
        next += 1;
        Expression::column(next - 1, expression.ty.clone(), expression.nullable)
    };
    let calls: Vec<AggregateCall> = grouping
        .aggregates
        .iter()
        .map(|call| AggregateCall {
            arguments: call.arguments.iter().map(&mut moved).collect(),
            order_by: call
                .order_by
                .iter()
                .map(|key| SortKey {
                    expression: moved(&key.expression),
                    descending: key.descending,
                })
                .collect(),
            ..call.clone()
        })
        .collect();
    let key_types: Vec<SqlType> = keys.iter().map(|key| key.ty.clone()).collect();
    let repeat: Arc<dyn Node> = Arc::new(Repeat {
        input: sliced::build(input, &programs),
        key_types: column_types(&key_types),
        programs,
    });
    let level = Expression::column(key_count, SqlType::bigint(), false);
    let mut group_keys = Expression::columns_of(&key_types);
    group_keys.push(level);
    let levels = Grouping {
        keys: group_keys,
        aggregates: calls.clone(),
        temporary: grouping.temporary.clone(),
        ..Grouping::default()
    };
    let grouped = build_groups(repeat, &levels, run)?;
    // The columns are keys, level, results; the output is keys, results, level.
    let results = calls.iter().map(|call| call.signature.result.clone());
    let results: Vec<SqlType> = results.collect();
    let order = (0..key_count)
        .chain(key_count + 1..key_count + 1 + results.len())
        .chain([key_count]);
    let grouped_types: Vec<SqlType> = key_types
        .iter()
        .cloned()
        .chain([SqlType::bigint()])
        .chain(results)
        .collect();
    let columns: Vec<Expression> = order
        .map(|column| Expression::column(column, grouped_types[column].clone(), true))
        .collect();
    let row: Vec<SqlType> = columns.iter().map(|column| column.ty.clone()).collect();
    let rows = project::build(grouped, &columns, run);
    let level = row.len() - 1;
    let mut sort_keys = Vec::with_capacity(key_count * 2);
    for (column, ty) in key_types.iter().enumerate() {
        let keys_before = (key_count - 1 - column) as i64;
        let kind = ExpressionKind::Compare {
            comparison: Comparison::Greater,
            left: Box::new(Expression::column(level, SqlType::bigint(), false)),
            right: Box::new(Expression::literal(
                Value::Int(keys_before),
                SqlType::bigint(),
            )),
        };
        let is_rolled_up = Expression::predicate(kind, false);
        for expression in [is_rolled_up, Expression::column(column, ty.clone(), true)] {
            sort_keys.push(SortKey {
                expression,
                descending: false,
            });
        }
    }
    let cause = "WITH ROLLUP gives each sum after the rows that it sums up";
    let temporary = grouping.temporary_beside(Purpose::GroupBy, cause);
    let sorted = sort::build(rows, &row, &sort_keys, None, None, &temporary);
    let total = Grouping {
        aggregates: calls,
        ..Grouping::default()
    };
    let total = build_groups(values::build(&[], &[]), &total, run)?;
    Ok(Arc::new(GrandTotal {
        input: sorted,
        total,
        key_types: column_types(&key_types),
        alone: Mutex::new(None),
    }))
}

/// Adds the row of the grand total over no rows.
struct GrandTotal {
    input: Arc<dyn Node>,
    /// Operator of the calls over no rows.
    total: Arc<dyn Node>,
    key_types: Vec<PhysicalType>,
    alone: Mutex<Option<Batch>>,
}

impl Node for GrandTotal {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)?;
        // The hint of a sort is its exact number of rows.
        if self.input.rows_hint() > 0 {
            return Ok(());
        }
        self.total.prepare(run)?;
        let Some(results) = Arc::clone(&self.total).open(run)?.next(run)? else {
            return Ok(());
        };
        let mut columns: Vec<ArrayRef> = null_columns(&self.key_types, 1).collect();
        columns.extend(results.into_columns());
        columns.push(Arc::new(Int64Array::from(
            vec![self.key_types.len() as i64],
        )));
        *lock(&self.alone) = Some(Batch::new(columns, 1));
        Ok(())
    }

    fn rows_hint(&self) -> u64 {
        self.input.rows_hint().max(1)
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        let input = Arc::clone(&self.input).open(run)?;
        Ok(Box::new(TotalCursor { node: self, input }))
    }
}

struct TotalCursor {
    node: Arc<GrandTotal>,
    input: Box<dyn Cursor>,
}

impl Cursor for TotalCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        match self.input.next(run)? {
            Some(batch) => Ok(Some(batch)),
            None => Ok(lock(&self.node.alone).take()),
        }
    }
}

/// Repeats every row for each level: keys (the last ones NULL), level, other expressions.
struct Repeat {
    input: Arc<dyn Node>,
    key_types: Vec<PhysicalType>,
    programs: Vec<Program>,
}

impl Node for Repeat {
    fn prepare_node(&self, run: &RunContext) -> Result<()> {
        self.input.prepare(run)
    }

    fn rows_hint(&self) -> u64 {
        self.input
            .rows_hint()
            .saturating_mul(self.key_types.len() as u64 + 1)
    }

    fn open_node(self: Arc<Self>, run: &RunContext) -> Result<Box<dyn Cursor>> {
        Ok(Box::new(RepeatCursor {
            input: Arc::clone(&self.input).open(run)?,
            node: self,
            current: None,
        }))
    }
}

struct RepeatCursor {
    node: Arc<Repeat>,
    input: Box<dyn Cursor>,
    /// (batch, level): the batch, and the level that it is given for next.
    current: Option<(Batch, usize)>,
}

impl Cursor for RepeatCursor {
    fn next_batch(&mut self, run: &RunContext) -> Result<Option<Batch>> {
        let keys = &self.node.key_types;
        let (batch, level) = match self.current.take() {
            Some(current) => current,
            None => match self.input.next(run)? {
                None => return Ok(None),
                Some(batch) => (project::project(&self.node.programs, &batch, run)?, 0),
            },
        };
        let rows = batch.row_count();
        let kept = keys.len() - level;
        let mut columns: Vec<ArrayRef> = batch.columns()[..kept].to_vec();
        columns.extend(null_columns(&keys[kept..], rows));
        columns.push(Arc::new(Int64Array::from(vec![level as i64; rows])));
        columns.extend_from_slice(&batch.columns()[keys.len()..]);
        if level < keys.len() {
            self.current = Some((batch, level + 1));
        }
        Ok(Some(Batch::new(columns, rows)))
    }
}
