//! Advice on avoiding a temporary table: an index, or another way to write the statement.
//!
//! An index is only proposed when the planner would avoid the table with it: the bound statement is planned again with
//! the index ([`with_index`]). Its columns are those that WHERE compares with constants, then those of GROUP BY,
//! DISTINCT, ORDER BY or the join, then, if needed, the others that are read, to make it covering.

use std::ops::Bound;
use std::sync::Arc;

use mayfly_types::{IndexMethod, Value};

use crate::access::key_ranges::Condition;
use crate::catalog::{
    IndexContent, IndexPartSource, IndexSource, TableSource, TableStatistics, ValueRange,
};
use crate::explain::facts::{PlannedTable, temporary_tables};
use crate::lower::lower;
use crate::options::PlanOptions;
use crate::rules;
use crate::statistics::ColumnStatistics;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{Query, Relation, ScanStatistics};
use crate::tree::physical::{
    Grouping, IndexScan, Operator, POSITION, Plan, Purpose, QueryPlan, SetOperationKind, SortKey,
};

/// Maximum number of tables of a statement for which indexes are tried: each try plans the statement again.
const TRIED_MAX: usize = 8;
/// Maximum number of columns of a proposed index.
const INDEX_COLUMNS_MAX: usize = 6;

/// Advice on avoiding each of a plan's [`temporary_tables`]; `bound` is the bound statement.
pub(crate) fn removals(
    bound: &Query,
    plan: &QueryPlan,
    options: &PlanOptions,
) -> Vec<Option<String>> {
    let tables = temporary_tables(plan);
    let mut tried = 0;
    let removal = |table: &PlannedTable<'_>| {
        let wish = match rewrite(table, plan) {
            Some(text) => return Some(text),
            None => index_wish(table)?,
        };
        tried += 1;
        if tried > TRIED_MAX {
            return None;
        }
        let purpose = table.temporary.purpose;
        let before = count(&tables, purpose);
        let removes = |columns: &Vec<(usize, bool)>| {
            with_index(bound, &wish.table, columns, options)
                .is_some_and(|plan| count(&temporary_tables(&plan), purpose) < before)
        };
        let columns = wish.candidates().into_iter().find(removes)?;
        Some(index_text(&wish.table, &columns))
    };
    tables.iter().map(removal).collect()
}

fn count(tables: &[PlannedTable<'_>], purpose: Purpose) -> usize {
    let same = |table: &&PlannedTable<'_>| table.temporary.purpose == purpose;
    tables.iter().filter(same).count()
}

/// Another way to write the statement.
fn rewrite(table: &PlannedTable<'_>, plan: &QueryPlan) -> Option<String> {
    let by_switch = table.temporary.cause.ends_with("derived_merge=off");
    match table.temporary.purpose {
        Purpose::SetOperation => match &table.plan?.operator {
            Operator::SetOperation {
                kind: SetOperationKind::Union,
                all: false,
                ..
            } => Some("UNION ALL".to_owned()),
            _ => None,
        },
        Purpose::DerivedTable | Purpose::CommonTableExpression if by_switch => {
            Some("derived_merge=on in optimizer_switch".to_owned())
        }
        Purpose::CommonTableExpression => {
            let is_it = |shared: &&crate::tree::physical::SharedResult| {
                std::ptr::eq(&shared.temporary, table.temporary)
            };
            let shared = plan.shared.iter().find(is_it)?;
            let is_recursive = matches!(
                shared.source,
                crate::tree::physical::SharedSource::Recursive { .. }
            );
            let is_written = table.temporary.cause.ends_with("AS MATERIALIZED");
            let remedy = || match is_written {
                true => "AS NOT MATERIALIZED".to_owned(),
                false => format!("reading {} once", shared.name),
            };
            (!is_recursive).then(remedy)
        }
        Purpose::Buffer if &*table.temporary.cause == "SQL_BUFFER_RESULT" => {
            Some("leaving out SQL_BUFFER_RESULT".to_owned())
        }
        _ => None,
    }
}

/// An index that might help.
struct Wish {
    table: Arc<TableSource>,
    /// Columns that are compared with constants.
    fixed: Vec<usize>,
    /// (column, descending) of the wanted order.
    keys: Vec<(usize, bool)>,
    /// All columns that are read.
    read: Vec<usize>,
}

impl Wish {
    /// Columns of candidate indexes, the shortest first.
    fn candidates(&self) -> Vec<Vec<(usize, bool)>> {
        let mut columns: Vec<(usize, bool)> = Vec::new();
        let add = |columns: &mut Vec<(usize, bool)>, column: usize, descends: bool| {
            if columns.iter().all(|(known, _)| *known != column) {
                columns.push((column, descends));
            }
        };
        for column in &self.fixed {
            add(&mut columns, *column, false);
        }
        for (column, descends) in &self.keys {
            add(&mut columns, *column, *descends);
        }
        let mut covering = columns.clone();
        for column in &self.read {
            add(&mut covering, *column, false);
        }
        let mut candidates = vec![columns];
        if covering != candidates[0] {
            candidates.push(covering);
        }
        candidates.retain(|columns| {
            let is_key = |(column, _): &(usize, bool)| {
                let column = self.table.columns.get(*column);
                column.is_some_and(|column| is_key_type(column) && !column.hidden)
            };
            columns.len() <= INDEX_COLUMNS_MAX && columns.iter().all(is_key)
        });
        candidates
    }
}

/// Whether whole values of a column can be a key part.
fn is_key_type(column: &crate::catalog::ColumnSource) -> bool {
    use mayfly_types::TypeKind;
    let is_large = matches!(
        column.ty.kind,
        TypeKind::TinyText
            | TypeKind::Text
            | TypeKind::MediumText
            | TypeKind::LongText
            | TypeKind::Json
            | TypeKind::Geometry(_)
            | TypeKind::Vector
    );
    const KEY_BYTES_MAX: u64 = 3072;
    !is_large && column.ty.declared_bytes(None) <= KEY_BYTES_MAX
}

fn index_wish(table: &PlannedTable<'_>) -> Option<Wish> {
    match &table.plan?.operator {
        Operator::Aggregate { input, grouping } => group_wish(input, grouping),
        Operator::Sort { input, keys, .. } => order_wish(input, keys),
        Operator::HashJoin {
            left,
            right,
            keys,
            build_left,
            ..
        } => {
            let (built, keys): (&Plan, Vec<&Expression>) = if *build_left {
                (left, keys.iter().map(|key| &key.left).collect())
            } else {
                (right, keys.iter().map(|key| &key.right).collect())
            };
            let keys = keys.into_iter().map(|key| (key, false));
            wish(built, &keys.collect::<Vec<_>>())
        }
        _ => None,
    }
}

fn group_wish(input: &Plan, grouping: &Grouping) -> Option<Wish> {
    let keys: Vec<_> = grouping.keys.iter().map(|key| (key, false)).collect();
    wish(input, &keys)
}

fn order_wish(input: &Plan, keys: &[SortKey]) -> Option<Wish> {
    let mut wanted: Vec<_> = keys
        .iter()
        .map(|key| (&key.expression, key.descending))
        .collect();
    // An index can be read from either end.
    if wanted.iter().all(|(_, descends)| *descends) {
        wanted
            .iter_mut()
            .for_each(|(_, descends)| *descends = false);
    }
    wish(input, &wanted)
}

fn wish(input: &Plan, keys: &[(&Expression, bool)]) -> Option<Wish> {
    let mut columns = Vec::with_capacity(keys.len());
    let mut source: Option<Source<'_>> = None;
    for (key, descends) in keys {
        let ExpressionKind::Column(column) = key.kind else {
            return None;
        };
        let (found, column) = source_of(input, column)?;
        if source.as_ref().is_some_and(|known| !known.is(&found)) {
            return None;
        }
        columns.push((column, *descends));
        source = Some(found);
    }
    let source = source?;
    Some(Wish {
        fixed: source.fixed_columns(),
        keys: columns,
        read: source
            .columns
            .iter()
            .copied()
            .filter(|column| *column != POSITION)
            .collect(),
        table: Arc::clone(source.table),
    })
}

/// A table that a plan reads.
struct Source<'p> {
    table: &'p Arc<TableSource>,
    alias: &'p str,
    columns: &'p [usize],
    predicate: Option<&'p Expression>,
    /// Columns compared with constants by an index scan.
    looked_up: Vec<usize>,
}

impl Source<'_> {
    fn is(&self, other: &Self) -> bool {
        self.table.id == other.table.id && self.alias == other.alias
    }

    /// Columns that the conditions on the table compare with constants.
    fn fixed_columns(&self) -> Vec<usize> {
        let conditions = match self.predicate.map(|predicate| &predicate.kind) {
            Some(ExpressionKind::And(conditions)) => conditions.as_slice(),
            _ => self.predicate.map_or(&[][..], std::slice::from_ref),
        };
        let mut fixed = self.looked_up.clone();
        for condition in conditions {
            if let ExpressionKind::Compare {
                comparison: Comparison::Equal,
                left,
                right,
            } = &condition.kind
            {
                let is_constant = |value: &Expression| {
                    matches!(
                        value.kind,
                        ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)
                    )
                };
                let column = match (&left.kind, &right.kind) {
                    (ExpressionKind::Column(column), _) if is_constant(right) => Some(*column),
                    (_, ExpressionKind::Column(column)) if is_constant(left) => Some(*column),
                    _ => None,
                };
                fixed.extend(column.and_then(|column| self.columns.get(column).copied()));
            }
        }
        fixed
    }
}

/// The table that a column of a plan comes from unchanged, and its index there.
fn source_of(plan: &Plan, column: usize) -> Option<(Source<'_>, usize)> {
    crate::tree::logical::with_stack(|| {
        let (source, position) = match &plan.operator {
            Operator::TableScan {
                table,
                alias,
                columns,
                predicate,
                ..
            } => (
                Source {
                    table,
                    alias,
                    columns,
                    predicate: predicate.as_ref(),
                    looked_up: Vec::new(),
                },
                column,
            ),
            Operator::IndexScan(scan) => (
                Source {
                    table: &scan.table,
                    alias: &scan.alias,
                    columns: &scan.columns,
                    predicate: scan.predicate.as_ref(),
                    looked_up: looked_up(scan),
                },
                column,
            ),
            Operator::Filter { input, .. }
            | Operator::Limit { input, .. }
            | Operator::Block { input, .. } => return source_of(input, column),
            Operator::Project { input, expressions } => match expressions.get(column)?.kind {
                ExpressionKind::Column(column) => return source_of(input, column),
                _ => return None,
            },
            Operator::IndexLookupJoin(join) if column < join.left.output.len() => {
                return source_of(&join.left, column);
            }
            Operator::HashJoin { left, right, .. } => {
                return match column.checked_sub(left.output.len()) {
                    None => source_of(left, column),
                    Some(column) => source_of(right, column),
                };
            }
            _ => return None,
        };
        let column = *source.columns.get(position)?;
        (column != POSITION).then_some((source, column))
    })
}

/// Columns for which an index is read at a single value.
fn looked_up(scan: &IndexScan) -> Vec<usize> {
    let (Some(index), Some(ranges)) = (scan.table.indexes.get(scan.index), &scan.ranges) else {
        return Vec::new();
    };
    let [ranges] = ranges.boxes.as_slice() else {
        return Vec::new();
    };
    let is_one_value =
        |condition: &Condition| matches!(condition, Condition::Compare(Comparison::Equal, _));
    let parts = ranges.parts.iter().zip(&index.parts);
    parts
        .take_while(|(conditions, _)| conditions.iter().any(is_one_value))
        .map(|(_, part)| part.column)
        .collect()
}

/// `index (a, b DESC) on t`
fn index_text(table: &TableSource, columns: &[(usize, bool)]) -> String {
    let name = |(column, descends): &(usize, bool)| {
        let name = table.columns.get(*column).map_or("", |column| &column.name);
        let direction = if *descends { " DESC" } else { "" };
        format!("{name}{direction}")
    };
    let names: Vec<String> = columns.iter().map(name).collect();
    format!("index ({}) on {}", names.join(", "), table.name)
}

/// Plan of a bound statement if a table had another index.
fn with_index(
    bound: &Query,
    table: &Arc<TableSource>,
    columns: &[(usize, bool)],
    options: &PlanOptions,
) -> Option<QueryPlan> {
    let mut source = TableSource::clone(table);
    let id = source.indexes.iter().filter_map(|index| index.id).max();
    let id = id.map_or(0, |id| id + 1);
    let clustered = source
        .indexes
        .iter()
        .find(|index| index.method == IndexMethod::Clustered);
    let rows = clustered.map_or(&[][..], |index| index.parts.as_slice());
    let covered = columns.iter().map(|(column, _)| *column);
    let covers = match source.index_content {
        IndexContent::Unavailable => return None,
        IndexContent::Keys => Vec::new(),
        IndexContent::Rows => covered.chain(rows.iter().map(|part| part.column)).collect(),
    };
    source.indexes.push(IndexSource {
        id: Some(id),
        name: "wished for".to_owned(),
        parts: columns
            .iter()
            .map(|(column, descending)| IndexPartSource {
                column: *column,
                prefix: None,
                descending: *descending,
                approximate: false,
                elements: None,
            })
            .collect(),
        unique: false,
        method: IndexMethod::BTree,
        visible: true,
        covers,
    });
    let source = Arc::new(source);
    let mut query = bound.clone();
    for known in &mut query.tables {
        if known.id == source.id {
            *known = Arc::clone(&source);
        }
    }
    query.for_each_relation_mut(&mut |relation| {
        if let Relation::Scan(scan) = relation
            && scan.table.id == source.id
        {
            scan.table = Arc::clone(&source);
            scan.statistics = scan.statistics.take().map(|known| {
                let known = WithIndex {
                    known: Arc::clone(known.statistics()),
                    index: id,
                    source: Arc::clone(&source),
                };
                Arc::new(ScanStatistics::new(Arc::new(known)))
            });
        }
    });
    let planning = rules::Planning::quiet(options);
    rules::rewrite(&mut query, &planning);
    lower(query, &planning).ok()
}

/// Statistics of a table with one more index, of which only the answers of an index with an equal prefix are known.
#[derive(Debug)]
struct WithIndex {
    known: Arc<dyn TableStatistics>,
    index: usize,
    source: Arc<TableSource>,
}

impl WithIndex {
    /// An existing index whose first `parts` parts are those of the new one.
    fn alike(&self, parts: usize) -> Option<usize> {
        let columns = |index: &IndexSource| {
            let columns = index.parts.iter().map(|part| part.column);
            columns.take(parts).collect::<Vec<usize>>()
        };
        let indexes = &self.source.indexes;
        let new = indexes.iter().find(|index| index.id == Some(self.index))?;
        let new = columns(new);
        let is_alike = |index: &&IndexSource| {
            index.id != Some(self.index) && index.method.is_ordered() && columns(index) == new
        };
        indexes.iter().find(is_alike)?.id
    }
}

impl TableStatistics for WithIndex {
    fn distinct_keys(&self, index: usize, parts: usize) -> u64 {
        let index = if index == self.index {
            match self.alike(parts) {
                Some(alike) => alike,
                None => return self.source.row_count / 10,
            }
        } else {
            index
        };
        self.known.distinct_keys(index, parts)
    }

    fn rows_in_range(&self, index: usize, range: &ValueRange) -> u64 {
        let length = |bound: &Bound<Vec<Value>>| match bound {
            Bound::Included(values) | Bound::Excluded(values) => values.len(),
            Bound::Unbounded => 0,
        };
        let index = if index == self.index {
            match self.alike(length(&range.start).max(length(&range.end))) {
                Some(alike) => alike,
                None => return self.source.row_count / 10,
            }
        } else {
            index
        };
        self.known.rows_in_range(index, range)
    }

    fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        self.known.column(column)
    }
}
