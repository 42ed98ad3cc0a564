//! Lowering of logical to physical plans: columns become indexes, outer columns become parameters, and each relation
//! becomes the operator that computes it.
//!
//! Lowering goes top down with the set of required columns, so that unread columns are dropped; it returns the operator
//! and its layout, which is the order of its output columns.

mod adaptive;
mod build_side;
mod expression;
mod join;
mod lowered;
mod pushed_terms;
mod shared;
mod sizes;

use std::sync::Arc;

use expression::volatile_columns;
use lowered::{Lowered, Numbering, block, exact, materialized, narrowed, no_rows};
use mayfly_types::{Error, IndexMethod, Result, SqlType, Value};

use crate::catalog::TableSource;
use crate::estimate::{self, Estimates, groups};
use crate::options::PlanOptions;
use crate::rules::Planning;
use crate::tree::access::{Access, IndexAccess, MergeAccess};
use crate::tree::expression::Expression;
use crate::tree::logical::{
    self, Aggregate, ColumnId, ColumnSet, Computed, Relation, Scan, Shared, Window, with_stack,
};
use crate::tree::physical::{
    Grouping, IndexMerge, IndexScan, MergeKind, Operator, POSITION, Plan, Purpose, QueryPlan,
    SetOperationKind, SharedId, SharedResult, TemporaryTable, position_type,
};
use crate::window::WindowCall;

/// Lowers a bound and rewritten statement.
pub(crate) fn lower(mut query: logical::Query, planning: &Planning<'_>) -> Result<QueryPlan> {
    let estimates = Estimates::of(&mut query);
    let mut lowering = Lowering::new(query.shared, query.parameter_count, estimates);
    lowering.sizes_tables = planning.sizes_tables;
    lowering.hashes_at_once = planning.options.all_rewrites;
    lowering.pushes_terms = planning.options.switches.engine_condition_pushdown;
    let required: ColumnSet = query.columns.iter().copied().collect();
    let root = lowering.relation(query.relation, &required)?;
    let root = exact(root, &query.columns)?;
    let mut date_operands = query.date_operands;
    for operand in &mut date_operands {
        operand.text = lowering.expression(operand.text.clone(), &[])?;
    }
    Ok(QueryPlan {
        root,
        columns: query.output,
        shared: lowering.results,
        parameter_count: lowering.parameter_count,
        operator_count: lowering.numbering.count(),
        date_operands,
        tables: query.tables,
        limit: query.limit,
    }
    .keep(query.kept))
}

/// Lowers an expression whose columns are `0 .. column_count`, by index.
pub(crate) fn lower_scalar(
    expression: Expression,
    shared: Vec<Shared>,
    column_count: usize,
    options: &PlanOptions,
) -> Result<Expression> {
    let layout: Vec<ColumnId> = (0..column_count).collect();
    lower_over(expression, shared, &layout, options)
}

/// Lowers an expression over rows of these columns.
pub(crate) fn lower_over(
    expression: Expression,
    shared: Vec<Shared>,
    layout: &[ColumnId],
    options: &PlanOptions,
) -> Result<Expression> {
    let mut lowering = Lowering::new(shared, options.parameters.len(), Estimates::default());
    let lowered = lowering.expression(expression, layout)?;
    if lowering.results.is_empty() {
        Ok(lowered)
    } else {
        Err(crate::not_supported::not_supported(
            "WITH in a subquery outside of a query",
        ))
    }
}

/// Cause of the temporary table of a window.
const WINDOW_CAUSE: &str = "a window function reads rows behind its row";

/// The outer columns read by a subquery, lateral table or shared result that is being lowered.
#[derive(Default)]
struct Frame {
    parameters: Vec<Outer>,
}

#[derive(Clone)]
struct Outer {
    parameter: usize,
    id: ColumnId,
    ty: SqlType,
    nullable: bool,
}

/// State of lowering one statement.
pub(super) struct Lowering {
    shared: Vec<Shared>,
    /// Ids of the lowered results among `shared`.
    shared_ids: Vec<Option<SharedId>>,
    /// Outer columns that each of them reads.
    shared_outer: Vec<Vec<Outer>>,
    results: Vec<SharedResult>,
    frames: Vec<Frame>,
    parameter_count: usize,
    numbering: Numbering,
    estimates: Estimates,
    /// Whether bytes of temporary tables are estimated.
    sizes_tables: bool,
    /// Whether adaptive joins change to hash joins after the first lookups.
    hashes_at_once: bool,
    /// Whether terms are pushed down to tables.
    pushes_terms: bool,
}

/// Error for an impossible plan: a bug of the binder or a rule.
pub(super) fn internal(what: &str) -> Error {
    Error::internal(format_args!("planner: {what}"))
}

impl Lowering {
    fn new(shared: Vec<Shared>, parameter_count: usize, estimates: Estimates) -> Self {
        Self {
            shared_ids: vec![None; shared.len()],
            shared_outer: vec![Vec::new(); shared.len()],
            shared,
            results: Vec::new(),
            frames: Vec::new(),
            parameter_count,
            numbering: Numbering::default(),
            estimates,
            sizes_tables: false,
            hashes_at_once: false,
            pushes_terms: false,
        }
    }

    fn relation(&mut self, relation: Relation, required: &ColumnSet) -> Result<Lowered> {
        with_stack(|| self.relation_here(relation, required))
    }

    fn relation_here(&mut self, relation: Relation, required: &ColumnSet) -> Result<Lowered> {
        match relation {
            Relation::Values {
                columns,
                types,
                rows,
            } => self.values(columns, types, rows),
            Relation::Scan(scan) => self.scan(scan, required),
            Relation::SharedScan {
                shared,
                alias,
                columns,
                outer,
                working,
            } => self.shared_scan(shared, alias, columns, outer, working),
            Relation::Filter { input, predicates } => self.filter(*input, predicates, required),
            Relation::Project { input, columns } => self.project(*input, columns, required, false),
            Relation::Extend { input, columns } => self.project(*input, columns, required, true),
            Relation::Aggregate(aggregate) => self.aggregate(aggregate, required),
            Relation::Sort {
                input,
                keys,
                limit,
                for_windows,
                cause,
            } => {
                let mut needed = required.clone();
                needed.add_read_by(keys.iter().map(|key| &key.expression));
                let input = self.relation(*input, &needed)?;
                let input = narrowed(input, &needed);
                let keys = self.sort_keys(keys, &input.layout)?;
                let rows = estimate::limited(input.plan.estimated_rows, limit);
                let temporary = TemporaryTable::new(Purpose::OrderBy, cause);
                let temporary = self.sized(temporary, &input.layout, &input.plan.output);
                Ok(input.over(rows, |input| Operator::Sort {
                    input,
                    keys,
                    limit,
                    for_windows,
                    temporary,
                }))
            }
            Relation::Limit {
                input,
                offset,
                count,
            } => {
                let input = self.relation(*input, required)?;
                let rows = estimate::limited(input.plan.estimated_rows, Some((offset, count)));
                Ok(input.over(rows, |input| Operator::Limit {
                    input,
                    offset,
                    count,
                }))
            }
            Relation::SetOperation {
                kind,
                all,
                inputs,
                columns,
                types,
            } => self.set_operation(kind, all, inputs, &columns, &types, required),
            Relation::Window(window) => self.window(window, required),
            Relation::Join(join) => self.join(join, required),
            Relation::Block {
                input,
                select_id,
                derived,
            } => {
                let mut needed = required.clone();
                if derived.is_some() {
                    needed.extend_from(&volatile_columns(&input));
                }
                let input = self.relation(*input, &needed)?;
                Ok(block(input, select_id, derived, &needed))
            }
            Relation::Materialize { input, temporary } => {
                let input = self.relation(*input, required)?;
                Ok(materialized(narrowed(input, required), temporary))
            }
        }
    }

    /// Lowers a window with those of its functions that are read.
    fn window(&mut self, window: Window, required: &ColumnSet) -> Result<Lowered> {
        let Window {
            input,
            partition,
            order,
            calls,
        } = window;
        let is_read = |(id, _): &(ColumnId, WindowCall)| required.contains(*id);
        let calls: Vec<(ColumnId, WindowCall)> = calls.into_iter().filter(is_read).collect();
        let mut needed = required.clone();
        calls.iter().for_each(|(id, _)| needed.remove(*id));
        if calls.is_empty() {
            return self.relation(*input, &needed);
        }
        needed.add_read_by(
            partition
                .iter()
                .chain(order.iter().map(|key| &key.expression)),
        );
        for (_, call) in &calls {
            call.for_each_expression(&mut |expression| expression.collect_columns(&mut needed));
        }
        let input = self.relation(*input, &needed)?;
        let input = narrowed(input, &needed);
        let partition = partition
            .into_iter()
            .map(|key| self.expression(key, &input.layout))
            .collect::<Result<Vec<_>>>()?;
        let order = self.sort_keys(order, &input.layout)?;
        let mut layout = input.layout.clone();
        let mut output = input.plan.output.clone();
        let mut lowered = Vec::with_capacity(calls.len());
        for (id, mut call) in calls {
            layout.push(id);
            output.push(call.result.clone());
            let mut outcome = Ok(());
            call.for_each_expression_mut(&mut |expression| {
                if outcome.is_ok() {
                    outcome = self.lower_in_place(expression, &input.layout);
                }
            });
            outcome?;
            lowered.push(call);
        }
        let rows = input.plan.estimated_rows;
        let temporary = TemporaryTable::new(Purpose::Window, WINDOW_CAUSE);
        let temporary = self.sized(temporary, &input.layout, &input.plan.output);
        let operator = Operator::Window {
            input: Box::new(input.plan),
            partition,
            order,
            calls: lowered,
            temporary,
        };
        Ok(self.numbering.lowered(operator, output, rows, layout))
    }

    fn values(
        &mut self,
        columns: Vec<ColumnId>,
        types: Vec<SqlType>,
        rows: Vec<Vec<Expression>>,
    ) -> Result<Lowered> {
        let mut lowered = Vec::with_capacity(rows.len());
        for row in rows {
            let row = row
                .into_iter()
                .map(|value| self.expression(value, &[]))
                .collect::<Result<Vec<_>>>()?;
            lowered.push(row);
        }
        let count = lowered.len() as f64;
        let operator = Operator::Values { rows: lowered };
        Ok(self.numbering.lowered(operator, types, count, columns))
    }

    fn scan(&mut self, mut scan: Scan, required: &ColumnSet) -> Result<Lowered> {
        let rows = estimate::of_scan(&scan);
        scan.rows = Some(rows);
        let mut covered = scan.access.covered().iter();
        scan.predicates
            .retain(|_| !covered.next().copied().unwrap_or(false));
        let pushed = self.pushed_terms(&mut scan)?;
        let mut needed = ColumnSet::new();
        needed.add_read_by(&scan.predicates);
        let mut columns = Vec::new();
        let mut layout = Vec::new();
        let mut output = Vec::new();
        for (index, column) in scan.table.columns.iter().enumerate() {
            let id = scan.first + index;
            if required.contains(id) || needed.contains(id) {
                columns.push(index);
                layout.push(id);
                output.push(column.ty.clone());
            }
        }
        if required.contains(scan.position()) {
            columns.push(POSITION);
            layout.push(scan.position());
            output.push(position_type());
        }
        let never = scan.predicates.iter().any(is_never_true);
        let operator = match scan.access {
            Access::Table | Access::InOrder(_) => Operator::TableScan {
                predicate: self.conjunction(scan.predicates, &layout)?,
                table: scan.table,
                alias: scan.alias,
                columns,
                pushed,
                order: match scan.access {
                    Access::InOrder(order) => order,
                    _ => Vec::new(),
                },
                possible: scan.possible,
            },
            Access::Index(access) => {
                let predicate = self.conjunction(scan.predicates, &layout)?;
                let possible = scan.possible;
                let scan = self.index_scan(&scan.table, &scan.alias, *access, columns)?;
                Operator::IndexScan(Box::new(IndexScan {
                    predicate,
                    possible,
                    ..scan
                }))
            }
            Access::Merge(merge) => {
                let (read_rows, kind) = (merge.rows, merge.kind);
                Operator::IndexMerge(Box::new(IndexMerge {
                    positions: self.merged_positions(&scan.table, &scan.alias, *merge)?,
                    predicate: self.conjunction(scan.predicates, &layout)?,
                    table: scan.table,
                    alias: scan.alias,
                    kind,
                    columns,
                    read_rows,
                    possible: scan.possible,
                }))
            }
        };
        let lowered = self.numbering.lowered(operator, output, rows, layout);
        Ok(if never { no_rows(lowered) } else { lowered })
    }

    /// An index scan of these columns.
    fn index_scan(
        &mut self,
        table: &Arc<TableSource>,
        alias: &str,
        mut access: IndexAccess,
        columns: Vec<usize>,
    ) -> Result<IndexScan> {
        if let Some(ranges) = &mut access.ranges {
            let mut outcome = Ok(());
            ranges.for_each_expression_mut(&mut |value| {
                if outcome.is_ok() {
                    outcome = self.lower_in_place(value, &[]);
                }
            });
            outcome?;
        }
        Ok(IndexScan {
            covering: covers(table, access.index, &columns),
            table: Arc::clone(table),
            alias: alias.to_owned(),
            index: access.index,
            columns,
            ranges: access.ranges,
            reverse: access.reverse,
            ordered: access.ordered,
            groups: access.groups,
            predicate: None,
            read_rows: access.rows,
            possible: Vec::new(),
        })
    }

    /// Positions of the rows that several indexes find.
    fn merged_positions(
        &mut self,
        table: &Arc<TableSource>,
        alias: &str,
        merge: MergeAccess,
    ) -> Result<Plan> {
        let mut inputs = Vec::with_capacity(merge.parts.len());
        for part in merge.parts {
            let estimated_rows = part.rows;
            let mut scan = self.index_scan(table, alias, part, vec![POSITION])?;
            scan.covering &= merge.kind != MergeKind::Elements;
            let scan = Operator::IndexScan(Box::new(scan));
            let output = vec![position_type()];
            inputs.push(self.numbering.plan(scan, output, estimated_rows));
        }
        let cause = "an index merge finds each row once";
        let operator = Operator::SetOperation {
            kind: match merge.kind {
                MergeKind::Union | MergeKind::SortUnion | MergeKind::Elements => {
                    SetOperationKind::Union
                }
                MergeKind::Intersection => SetOperationKind::Intersect,
            },
            all: false,
            inputs,
            temporary: Some(TemporaryTable::new(Purpose::Distinct, cause)),
        };
        let output = vec![position_type()];
        Ok(self.numbering.plan(operator, output, merge.rows))
    }

    fn filter(
        &mut self,
        input: Relation,
        predicates: Vec<Expression>,
        required: &ColumnSet,
    ) -> Result<Lowered> {
        let mut needed = required.clone();
        needed.add_read_by(&predicates);
        let input = self.relation(input, &needed)?;
        if predicates.iter().any(is_never_true) {
            return Ok(no_rows(input));
        }
        let rows = input.plan.estimated_rows;
        let estimated_rows = self.estimates.filtered(rows, &predicates);
        let Some(predicate) = self.conjunction(predicates, &input.layout)? else {
            return Ok(input);
        };
        Ok(input.over(estimated_rows, |input| Operator::Filter {
            input,
            predicate,
        }))
    }

    /// Lowers Project and Extend: `keep` is whether columns of the input stay visible.
    fn project(
        &mut self,
        input: Relation,
        columns: Vec<Computed>,
        required: &ColumnSet,
        keep: bool,
    ) -> Result<Lowered> {
        let columns: Vec<Computed> = columns
            .into_iter()
            .filter(|column| required.contains(column.id))
            .collect();
        let mut needed = if keep {
            required.clone()
        } else {
            ColumnSet::new()
        };
        for column in &columns {
            needed.remove(column.id);
        }
        needed.add_read_by(columns.iter().map(|column| &column.expression));
        let input = self.relation(input, &needed)?;
        if columns.is_empty() && keep {
            return Ok(input);
        }
        let mut layout = Vec::new();
        let mut output = Vec::new();
        let mut expressions = Vec::new();
        if keep {
            for (position, id) in input.layout.iter().enumerate() {
                if required.contains(*id) && !columns.iter().any(|column| column.id == *id) {
                    layout.push(*id);
                    let ty = &input.plan.output[position];
                    output.push(ty.clone());
                    expressions.push(Expression::column(position, ty.clone(), true));
                }
            }
        }
        for column in columns {
            layout.push(column.id);
            output.push(column.expression.ty.clone());
            expressions.push(self.expression(column.expression, &input.layout)?);
        }
        let rows = input.plan.estimated_rows;
        let input = Box::new(input.plan);
        let operator = Operator::Project { input, expressions };
        Ok(self.numbering.lowered(operator, output, rows, layout))
    }

    fn aggregate(&mut self, mut aggregate: Aggregate, required: &ColumnSet) -> Result<Lowered> {
        let (_, most) = self.estimates.rows_and_most_groups(&aggregate);
        let mut needed = ColumnSet::new();
        needed.add_read_by(aggregate.keys.iter().map(|key| &key.expression));
        let calls: Vec<_> = aggregate
            .aggregates
            .into_iter()
            .filter(|(id, _)| required.contains(*id))
            .collect();
        for (_, call) in &calls {
            needed.add_read_by(&call.arguments);
            needed.add_read_by(call.order_by.iter().map(|key| &key.expression));
        }
        let keys = std::mem::take(&mut aggregate.keys);
        let input = self.relation(*aggregate.input, &needed)?;
        let rows = input.plan.estimated_rows;
        let groups = groups::grouped(&self.estimates, rows, &keys, aggregate.first_groups);
        let estimated_rows = groups.min(most);
        let mut layout = Vec::with_capacity(keys.len() + calls.len());
        let mut output = Vec::with_capacity(layout.capacity());
        let mut lowered = Vec::with_capacity(keys.len());
        for key in keys {
            layout.push(key.id);
            output.push(key.expression.ty.clone());
            lowered.push(self.expression(key.expression, &input.layout)?);
        }
        let keys = lowered;
        let mut aggregates = Vec::with_capacity(calls.len());
        for (id, mut call) in calls {
            layout.push(id);
            output.push(call.signature.result.clone());
            call.arguments = call
                .arguments
                .into_iter()
                .map(|argument| self.expression(argument, &input.layout))
                .collect::<Result<Vec<_>>>()?;
            call.order_by = self.sort_keys(call.order_by, &input.layout)?;
            aggregates.push(call);
        }
        if let Some(id) = aggregate.rollup {
            layout.push(id);
            output.push(SqlType::bigint());
        }
        let temporary = (!keys.is_empty() && !aggregate.ordered).then(|| {
            let temporary = TemporaryTable::new(aggregate.purpose, aggregate.cause);
            let temporary = self.sized(temporary, &layout, &output);
            self.with_work(temporary, &layout[..keys.len()], &input.plan)
        });
        let operator = Operator::Aggregate {
            input: Box::new(input.plan),
            grouping: Grouping {
                keys,
                aggregates,
                rollup: aggregate.rollup.is_some(),
                first_groups: aggregate.first_groups,
                ordered: aggregate.ordered,
                gives_states: false,
                temporary,
            },
        };
        Ok(self
            .numbering
            .lowered(operator, output, estimated_rows, layout))
    }

    fn set_operation(
        &mut self,
        kind: SetOperationKind,
        all: bool,
        inputs: Vec<(Relation, Vec<ColumnId>)>,
        columns: &[ColumnId],
        types: &[SqlType],
        required: &ColumnSet,
    ) -> Result<Lowered> {
        // Only UNION ALL may drop columns without changing the set of rows.
        let streams = kind == SetOperationKind::Union && all;
        let kept: Vec<usize> = (0..columns.len())
            .filter(|index| !streams || required.contains(columns[*index]))
            .collect();
        let mut plans = Vec::with_capacity(inputs.len());
        for (input, ids) in inputs {
            let wanted: Vec<ColumnId> = kept
                .iter()
                .map(|index| ids.get(*index).copied())
                .collect::<Option<_>>()
                .ok_or_else(|| internal("a set operation's arm lacks a column"))?;
            let lowered = self.relation(input, &wanted.iter().copied().collect())?;
            plans.push(exact(lowered, &wanted)?);
        }
        let estimates = plans.iter().map(|plan| plan.estimated_rows);
        let estimated_rows = estimate::set_operation(kind, &estimates.collect::<Vec<f64>>());
        let word = match kind {
            SetOperationKind::Union => "UNION drops duplicates",
            SetOperationKind::Intersect => "INTERSECT matches rows",
            SetOperationKind::Except => "EXCEPT matches rows",
        };
        let output: Vec<SqlType> = kept.iter().map(|index| types[*index].clone()).collect();
        let layout: Vec<ColumnId> = kept.iter().map(|index| columns[*index]).collect();
        let temporary = (!streams).then(|| {
            let temporary = TemporaryTable::new(Purpose::SetOperation, word);
            self.sized(temporary, &layout, &output)
        });
        let operator = Operator::SetOperation {
            kind,
            all,
            inputs: plans,
            temporary,
        };
        Ok(self
            .numbering
            .lowered(operator, output, estimated_rows, layout))
    }
}

/// Whether an index covers these columns of a table.
pub(super) fn covers(table: &TableSource, index: usize, columns: &[usize]) -> bool {
    table.indexes.get(index).is_some_and(|index| {
        let is_part = |column: usize| {
            let mut parts = index.parts.iter();
            parts.any(|part| part.column == column && part.prefix.is_none())
        };
        // The clustered index counts as covering only for its keys.
        columns.iter().all(|column| {
            *column == POSITION
                || if index.method == IndexMethod::Clustered {
                    is_part(*column)
                } else {
                    index.covers.contains(column)
                }
        })
    })
}

/// Whether a predicate is a constant that is not true.
pub(crate) fn is_never_true(predicate: &Expression) -> bool {
    predicate
        .as_literal()
        .is_some_and(|value| matches!(value, Value::Int(0) | Value::Null))
}
