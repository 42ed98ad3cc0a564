//! Decides whether MySQL reads a result from a temporary table, whose columns it then describes to clients.
//!
//! These are the conditions of its first optimizer (`JOIN::optimize()` and `JOIN::make_tmp_tables_info()`), as far as
//! they follow from a statement: a plan that reads at most one row needs no table; windows always do; groups and an
//! order do where no index gives them and the rows of one table cannot be sorted instead of its join.

mod conditions;

use std::collections::HashMap;

use mayfly_types::{IndexMethod, SqlType, TypeKind, Value};

use self::conditions::{Constants, note_constants};
use super::planning::Planning;
use crate::catalog::IndexSource;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Buffering, ColumnId, ColumnSet, Join, Query, Relation, Scan, SharedRelation, produced,
    with_stack,
};
use crate::tree::physical::{JoinKind, Purpose};

/// Keeps the types of a temporary table's columns only where MySQL reads the result from one.
pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    if query.output.iter().all(|column| column.buffered.is_none()) {
        return;
    }
    let mut known = HashMap::new();
    note_constants(&query.relation, &mut known);
    let constants = Constants {
        evaluator: planning.constants,
        known: &known,
        shared: &query.shared,
    };
    let buffered = buffered(&query.buffering, &query.relation, constants);
    let aggregates = query
        .buffering
        .aggregates
        .iter()
        .chain(std::iter::repeat(&false));
    let rolled = query
        .buffering
        .rolled_values
        .iter()
        .chain(std::iter::repeat(&false));
    for ((column, is_aggregate), is_rolled) in query.output.iter_mut().zip(aggregates).zip(rolled) {
        let is_kept = match buffered {
            Kept::Nothing => false,
            Kept::Rows => !is_aggregate,
            Kept::Arguments | Kept::Groups => true,
        };
        if let Some(ty) = &mut column.buffered
            && buffered == Kept::Arguments
            && *is_aggregate
            && ty.kind == TypeKind::BigInt
            && ty.length < BIGINT_DIGITS
        {
            ty.kind = TypeKind::Int;
        }
        // The inputs of groups are kept, and not what rolls them up.
        if let Some(ty) = &mut column.buffered
            && matches!(buffered, Kept::Rows | Kept::Arguments)
            && *is_rolled
            && ty.is_integer()
            && ty.kind != TypeKind::Bit
        {
            let kept = SqlType::integer(ty.kind);
            let sign = u32::from(ty.unsigned && ty.kind == TypeKind::Int);
            ty.length = kept.length - sign;
            ty.kind = TypeKind::BigInt;
        }
        if !is_kept {
            column.buffered = None;
        }
    }
}

/// Number of digits from which an integer becomes a BIGINT in a temporary table.
const BIGINT_DIGITS: u32 = 10;

/// Content of the temporary table through which a result is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// No temporary table.
    Nothing,
    /// The inputs of aggregates.
    Rows,
    /// The inputs of aggregates, whose types the results have.
    Arguments,
    /// All columns of the groups.
    Groups,
}

/// A table of which a query block reads more than one row.
struct Read<'r> {
    columns: ColumnSet,
    scan: Option<&'r Scan>,
}

/// Tables of a query block, in the order of FROM.
struct Tables<'r> {
    constants: Constants<'r>,
    read: Vec<Read<'r>>,
    /// Pairs of columns that are equal in the rows of the joins.
    equal: Vec<(ColumnId, ColumnId)>,
    /// Columns that have a single value.
    given: Vec<ColumnId>,
    /// Columns that are compared with NULL.
    compared_with_null: Vec<ColumnId>,
    /// Whether a condition is never true.
    has_no_rows: bool,
    has_outer_join: bool,
}

fn buffered(buffering: &Buffering, relation: &Relation, constants: Constants<'_>) -> Kept {
    let mut tables = Tables::new(constants);
    tables.collect(relation);
    tables.leave_out_rows();
    tables.note_empty_ranges();
    if tables.has_no_rows || tables.read.is_empty() {
        return Kept::Nothing;
    }
    let requested = if buffering.requested {
        Kept::Groups
    } else {
        Kept::Nothing
    };
    if buffering.one_group {
        return requested;
    }
    let read = |keys: &[Vec<ColumnId>]| -> Vec<ColumnSet> {
        let keys = keys.iter().map(|key| key.iter().copied().collect());
        let of_tables = |key: &ColumnSet| {
            let mut tables = tables.read.iter();
            tables.any(|table| table.columns.intersects(key))
        };
        keys.filter(of_tables).collect()
    };
    let group = read(&buffering.group);
    let is_grouped = !buffering.group.is_empty();
    // All rows are in one group.
    if is_grouped && group.is_empty() && !buffering.rollup {
        return requested;
    }
    let order = read(&buffering.order);
    let has_order = !order.is_empty() || buffering.orders_results;
    if buffering.windowed || buffering.requested {
        return Kept::Groups;
    }
    if !is_grouped {
        let is_sorted = !buffering.orders_results && tables.sorts_first(&order);
        let is_kept = buffering.distinct && !tables.tells_apart(&buffering.selected)
            || has_order && !is_sorted;
        return if is_kept { Kept::Groups } else { Kept::Nothing };
    }
    let sorts_groups = buffering.sorts_groups || buffering.rollup;
    if has_order || buffering.distinct {
        Kept::Groups
    } else if buffering.rollup && tables.has_outer_join {
        Kept::Arguments
    } else if sorts_groups {
        if tables.sorts_first(&group) {
            Kept::Nothing
        } else {
            Kept::Rows
        }
    } else if tables.has_order_of(&buffering.group_columns) {
        Kept::Nothing
    } else {
        Kept::Groups
    }
}

impl<'r> Tables<'r> {
    fn new(constants: Constants<'r>) -> Self {
        Self {
            constants,
            read: Vec::new(),
            equal: Vec::new(),
            given: Vec::new(),
            compared_with_null: Vec::new(),
            has_no_rows: false,
            has_outer_join: false,
        }
    }

    fn any_is_never_true(&self, predicates: &[Expression]) -> bool {
        predicates
            .iter()
            .any(|predicate| self.constants.is_never_true(predicate))
    }

    fn collect(&mut self, relation: &'r Relation) {
        with_stack(|| match relation {
            Relation::Scan(scan) => {
                self.note(&scan.predicates);
                self.read.push(Read {
                    columns: produced(relation),
                    scan: Some(scan),
                });
            }
            Relation::Filter { input, predicates } => {
                self.note(predicates);
                self.collect(input);
            }
            Relation::Project { input, columns } | Relation::Extend { input, columns } => {
                self.collect(input);
                // A column computed from a table counts as the table's own.
                for column in columns {
                    let read = column.expression.columns();
                    let of_column = |table: &&mut Read<'_>| table.columns.intersects(&read);
                    for table in self.read.iter_mut().filter(of_column) {
                        table.columns.insert(column.id);
                    }
                }
            }
            Relation::Sort { input, .. }
            | Relation::Materialize { input, .. }
            | Relation::Block {
                input,
                derived: None,
                ..
            } => self.collect(input),
            Relation::Limit { input, count, .. } => {
                self.has_no_rows |= *count == 0;
                self.collect(input);
            }
            Relation::Window(window) => self.collect(&window.input),
            Relation::Aggregate(aggregate) => self.collect(&aggregate.input),
            Relation::Join(join) => self.collect_join(join),
            Relation::SharedScan { shared, .. } => {
                if let Some(SharedRelation::Plain(source)) = &self.constants.shared[*shared].source
                {
                    self.has_no_rows |= self.constants.has_no_rows(source);
                }
                self.read.push(Read {
                    columns: produced(relation),
                    scan: None,
                });
            }
            Relation::SetOperation { .. } => self.read.push(Read {
                columns: produced(relation),
                scan: None,
            }),
            // MySQL reads a derived table of at most one row during planning.
            Relation::Block { input, .. } => {
                if !gives_one_row(input) {
                    let mut inner = Tables::new(self.constants);
                    inner.collect(input);
                    self.has_no_rows |= inner.has_no_rows;
                    self.read.push(Read {
                        columns: produced(relation),
                        scan: None,
                    });
                }
            }
            Relation::Values { .. } => {}
        });
    }

    fn collect_join(&mut self, join: &'r Join) {
        self.collect(&join.left);
        let never = self.any_is_never_true(&join.on);
        match join.kind {
            JoinKind::Inner => {
                self.note(&join.on);
                self.collect(&join.right);
            }
            // A single row of NULLs is read, or no partner is ever found.
            JoinKind::Left | JoinKind::Anti if never => {}
            JoinKind::Left => {
                self.has_outer_join = true;
                self.add_inner(join);
            }
            JoinKind::Semi | JoinKind::Anti => {
                self.has_no_rows |= never;
                if becomes_join(&join.right) {
                    self.add_inner(join);
                }
            }
            JoinKind::NullAwareAnti => {}
        }
    }

    /// Adds the tables of a side whose rows are optional.
    fn add_inner(&mut self, join: &'r Join) {
        let mut inner = Tables::new(self.constants);
        inner.collect(&join.right);
        inner.note(&join.on);
        if join.kind == JoinKind::Left && inner.has_no_rows {
            return;
        }
        self.has_no_rows |= inner.has_no_rows && join.kind == JoinKind::Semi;
        self.read.append(&mut inner.read);
        self.equal.append(&mut inner.equal);
    }

    /// Records equalities and constants in conditions.
    fn note(&mut self, predicates: &[Expression]) {
        self.has_no_rows |= self.any_is_never_true(predicates);
        for predicate in predicates {
            if let ExpressionKind::Compare {
                comparison,
                left,
                right,
            } = &predicate.kind
                && *comparison != Comparison::NullSafeEqual
            {
                let is_null = |side: &Expression| matches!(side.as_literal(), Some(Value::Null));
                let column = match (is_null(left), is_null(right)) {
                    (true, _) => right.as_column(),
                    (_, true) => left.as_column(),
                    _ => None,
                };
                self.compared_with_null.extend(column);
            }
            let Some((left, right)) = predicate.as_equality() else {
                continue;
            };
            match (left.as_column(), right.as_column()) {
                (Some(left), Some(right)) => self.equal.push((left, right)),
                (Some(column), None) if right.columns().is_empty() => self.given.push(column),
                (None, Some(column)) if left.columns().is_empty() => self.given.push(column),
                _ => {}
            }
        }
    }

    /// Removes the tables of which conditions fix a whole unique key: MySQL reads their rows during planning.
    fn leave_out_rows(&mut self) {
        let mut given: ColumnSet = self.given.iter().copied().collect();
        let mut grows = true;
        while grows {
            grows = false;
            for (a, b) in &self.equal {
                if given.contains(*a) != given.contains(*b) {
                    given.extend([*a, *b]);
                    grows = true;
                }
            }
        }
        self.read.retain(|table| {
            let is_given = |scan: &&Scan| {
                let mut keys = scan.table.unique_keys.iter();
                keys.any(|key| key.iter().all(|column| given.contains(scan.first + column)))
            };
            !table.scan.as_ref().is_some_and(is_given)
        });
    }

    /// Looks for columns that are compared with NULL and begin an index: MySQL finds that the range is empty.
    fn note_empty_ranges(&mut self) {
        let begins_index = |scan: &Scan| {
            scan.table.indexes.iter().any(|index| {
                let part = index.parts.first().filter(|_| index.id.is_some());
                part.is_some_and(|part| {
                    self.compared_with_null
                        .contains(&(scan.first + part.column))
                })
            })
        };
        let is_empty = self
            .read
            .iter()
            .any(|table| table.scan.is_some_and(begins_index));
        self.has_no_rows |= is_empty;
    }

    /// Whether rows can be sorted by reading the first table in that order: each other table is found by keys.
    fn sorts_first(&self, keys: &[ColumnSet]) -> bool {
        let mut others = self.read.iter();
        let Some(first) = others.next() else {
            return true;
        };
        let is_own = |key: &ColumnSet| {
            let mut others = self.read.iter().skip(1);
            !others.any(|table| table.columns.intersects(key)) && key.intersects(&first.columns)
        };
        others.all(|table| self.is_looked_up(table)) && keys.iter().all(is_own)
    }

    /// Whether a condition fixes the first part of an index of a table.
    fn is_looked_up(&self, table: &Read<'_>) -> bool {
        let Some(scan) = table.scan else {
            return false;
        };
        scan.table.indexes.iter().any(|index| {
            let part = index.parts.first().filter(|_| index.id.is_some());
            part.is_some_and(|part| {
                let id = scan.first + part.column;
                let meets = |(a, b): &(ColumnId, ColumnId)| {
                    *a == id && !table.columns.contains(*b)
                        || *b == id && !table.columns.contains(*a)
                };
                self.equal.iter().any(meets)
            })
        })
    }

    /// Scan of the single table; `None` with several tables, or a derived one.
    fn single_scan(&self) -> Option<&Scan> {
        match self.read.as_slice() {
            [Read { scan, .. }] => *scan,
            _ => None,
        }
    }

    /// Whether the rows of the single table are already in the order of some columns.
    fn has_order_of(&self, columns: &[ColumnId]) -> bool {
        let Some(scan) = self.single_scan() else {
            return false;
        };
        let is_clustered = |index: &&IndexSource| index.method == IndexMethod::Clustered;
        scan.table.indexes.iter().filter(is_clustered).any(|index| {
            let parts = index.parts.iter().map(|part| scan.first + part.column);
            !columns.is_empty() && parts.take(columns.len()).eq(columns.iter().copied())
        })
    }

    /// Whether some columns contain a unique key of the single table.
    fn tells_apart(&self, columns: &[ColumnId]) -> bool {
        let Some(scan) = self.single_scan() else {
            return false;
        };
        let mut keys = scan.table.unique_keys.iter();
        keys.any(|key| {
            key.iter()
                .all(|column| columns.contains(&(scan.first + column)))
        })
    }
}

/// Whether MySQL converts a subquery of IN or EXISTS to a semijoin: one without groups, LIMIT and set operations.
fn becomes_join(relation: &Relation) -> bool {
    match relation {
        Relation::Filter { input, .. }
        | Relation::Project { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort { input, .. } => becomes_join(input),
        Relation::Block {
            input,
            derived: None,
            ..
        } => becomes_join(input),
        Relation::Aggregate(aggregate) => {
            aggregate.purpose == Purpose::Distinct && becomes_join(&aggregate.input)
        }
        Relation::Scan(_)
        | Relation::SharedScan { .. }
        | Relation::Join(_)
        | Relation::Block { .. } => true,
        _ => false,
    }
}

/// Whether a derived table has at most one row by its form.
fn gives_one_row(relation: &Relation) -> bool {
    match relation {
        Relation::Filter { input, .. }
        | Relation::Project { input, .. }
        | Relation::Extend { input, .. }
        | Relation::Sort { input, .. }
        | Relation::Materialize { input, .. }
        | Relation::Block { input, .. } => gives_one_row(input),
        Relation::Window(window) => gives_one_row(&window.input),
        Relation::Limit { input, count, .. } => *count < 2 || gives_one_row(input),
        Relation::Aggregate(aggregate) => {
            aggregate.keys.is_empty() || gives_one_row(&aggregate.input)
        }
        Relation::Values { rows, .. } => rows.len() < 2,
        _ => false,
    }
}
