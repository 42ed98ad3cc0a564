//! Cardinality estimation of relations, for rules and physical plans.
//!
//! [`Estimates`] knows the origin of each column of a statement, and so its statistics wherever it stands in the tree.
//! The other functions compute from the cardinalities of a relation's inputs: [`selectivity`] of predicates, [`joins`],
//! [`groups`]. Without statistics conditions have the fixed selectivities that MySQL assumes.

mod columns;
mod example_rows;
pub(crate) mod groups;
mod having;
pub(crate) mod joins;
mod key_joins;
pub(crate) mod selectivity;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;

use mayfly_functions::aggregate::Kind;
use mayfly_types::{PhysicalType, SqlType};

use self::columns::AggregateFacts;
pub(crate) use self::columns::{ColumnFacts, Columns, NoColumns, TableFacts};
use self::key_joins::Filtered;

use crate::access::analysis::key_column;
use crate::tree::access::Lookup;
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{
    Aggregate, ColumnId, Computed, Join, Query, Relation, Scan, SharedRelation, produced,
    with_stack,
};
use crate::tree::physical::{JoinKind, SetOperationKind};

/// Cardinality assumed for a shared result while it is unknown.
const SHARED_ROWS: f64 = 1000.0;
/// Number of rounds assumed for a recursive common table expression.
const ROUNDS: f64 = 10.0;

/// Maximum factor between the average group size and that of the key's distribution for the latter to be used.
const SIZES_ERROR_MAX: f64 = 1.25;

/// Origin of a column.
#[derive(Debug, Clone, Copy)]
enum Source {
    Unknown,
    /// (table number, column index) of a table column.
    Table(u32, u32),
    /// The column has the values of another one.
    Same(ColumnId),
    /// The column has at most this number of distinct values.
    Distinct(f64),
    /// The least or the greatest value of a group: a value of one row or some.
    Extreme,
    /// Another aggregate, by its number.
    Aggregate(u32),
}

/// Facts about a statement's columns and shared results.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    tables: Vec<TableFacts>,
    /// For each table its conditions, and the estimated fraction of its rows that meet them.
    filters: Vec<(Vec<Expression>, f64)>,
    aggregates: Vec<AggregateFacts>,
    /// Conditions of scans on a single column.
    restrictions: Vec<(ColumnId, Expression)>,
    /// Sources by column number.
    sources: Vec<Source>,
    shared: Vec<f64>,
    /// Cached selectivities of equalities of two columns.
    equalities: RefCell<HashMap<[ColumnId; 2], f64>>,
}

impl Estimates {
    /// Estimates for a statement in its current form.
    pub(crate) fn of(query: &mut Query) -> Self {
        let mut estimates = Self {
            sources: vec![Source::Unknown; query.next_column],
            ..Self::default()
        };
        let shared: Vec<Vec<ColumnId>> = query
            .shared
            .iter()
            .map(|shared| shared.columns.clone())
            .collect();
        query.for_each_relation_mut(&mut |relation| estimates.learn(relation, &shared));
        for shared in &query.shared {
            let rows = match &shared.source {
                None => SHARED_ROWS,
                Some(SharedRelation::Plain(relation)) => estimates.relation(relation),
                Some(SharedRelation::Recursive { seed, enough, .. }) => {
                    let rows = estimates.relation(seed) * ROUNDS;
                    let rows = rows.max(SHARED_ROWS);
                    enough.map_or(rows, |enough| rows.min(enough as f64))
                }
            };
            estimates.shared.push(rows);
        }
        estimates
    }

    /// Records the origin of the columns of a relation.
    fn learn(&mut self, relation: &Relation, shared: &[Vec<ColumnId>]) {
        match relation {
            Relation::Scan(scan) => {
                let number = self.tables.len() as u32;
                for column in 0..scan.table.columns.len() {
                    self.set(scan.first + column, Source::Table(number, column as u32));
                }
                self.tables.push(TableFacts::of(scan));
                let fraction = match scan.predicates.is_empty() {
                    true => 1.0,
                    false => of_scan(scan) / (scan.table.row_count as f64).max(1.0),
                };
                self.filters
                    .push((scan.predicates.clone(), fraction.min(1.0)));
                for predicate in &scan.predicates {
                    let read = predicate.columns();
                    let mut read = read.iter();
                    if let (Some(id), None) = (read.next(), read.next()) {
                        self.restrictions.push((id, predicate.clone()));
                    }
                }
            }
            Relation::SharedScan {
                shared: number,
                columns,
                ..
            } => {
                let behind = shared.get(*number).into_iter().flatten();
                for (id, behind) in columns.iter().zip(behind) {
                    self.set(*id, Source::Same(*behind));
                }
            }
            Relation::Project { columns, .. } | Relation::Extend { columns, .. } => {
                self.learn_computed(columns);
            }
            Relation::Aggregate(aggregate) => {
                self.learn_computed(&aggregate.keys);
                let (input_rows, most) = self.rows_and_most_groups(aggregate);
                let groups = self.groups(input_rows, most, aggregate);
                let group_rows = input_rows / groups.max(1.0);
                let sizes = self.sizes_of_groups(aggregate, group_rows);
                for (id, call) in &aggregate.aggregates {
                    let kind = call.function.kind();
                    match kind {
                        Kind::Count | Kind::Sum | Kind::Avg if !call.distinct => {}
                        Kind::Min | Kind::Max if !aggregate.keys.is_empty() => {
                            self.set(*id, Source::Extreme);
                            continue;
                        }
                        _ => continue,
                    }
                    let argument = call.arguments.first();
                    let argument = argument.filter(|_| kind != Kind::Count);
                    let column = argument.and_then(|argument| {
                        Some((having::column_of(argument)?, argument.ty.clone()))
                    });
                    self.set(*id, Source::Aggregate(self.aggregates.len() as u32));
                    self.aggregates.push(AggregateFacts {
                        kind,
                        column,
                        groups,
                        group_rows,
                        sizes: sizes.clone(),
                    });
                }
            }
            Relation::SetOperation {
                inputs, columns, ..
            } => {
                // Columns of the first input: those of the others are often alike.
                if let Some((_, first)) = inputs.first() {
                    for (id, behind) in columns.iter().zip(first) {
                        self.set(*id, Source::Same(*behind));
                    }
                }
            }
            _ => {}
        }
    }

    /// Distribution of the sizes of groups of `group_rows` rows on the average, if they are by one column whose equal
    /// values are adjacent in its table.
    fn sizes_of_groups(&self, aggregate: &Aggregate, group_rows: f64) -> Vec<(f64, f64)> {
        let [key] = aggregate.keys.as_slice() else {
            return Vec::new();
        };
        let ExpressionKind::Column(id) = key.expression.kind else {
            return Vec::new();
        };
        let statistics = self.facts(id).and_then(|facts| facts.statistics);
        let sizes = statistics.map_or_else(Vec::new, |known| known.sizes().to_vec());
        let mean: f64 = sizes.iter().map(|(rows, part)| rows * part).sum();
        if (mean / group_rows).ln().abs() < SIZES_ERROR_MAX.ln() {
            sizes
        } else {
            Vec::new()
        }
    }

    fn learn_computed(&mut self, columns: &[Computed]) {
        for column in columns {
            let source = match column.expression.kind {
                // A grouped column keeps its number.
                ExpressionKind::Column(id) if id == column.id => continue,
                ExpressionKind::Column(id) => Source::Same(id),
                _ => match groups::distinct_of(self, &column.expression) {
                    Some(distinct) => Source::Distinct(distinct),
                    None => Source::Unknown,
                },
            };
            self.set(column.id, source);
        }
    }

    fn set(&mut self, id: ColumnId, source: Source) {
        if id >= self.sources.len() {
            self.sources.resize(id + 1, Source::Unknown);
        }
        // A column that is its own source would be an endless loop.
        if !matches!(source, Source::Same(other) if other >= self.sources.len() || self.origin(other) == Some(id))
        {
            self.sources[id] = source;
        }
    }

    /// Column whose values a column has.
    fn origin(&self, mut id: ColumnId) -> Option<ColumnId> {
        for _ in 0..=self.sources.len() {
            match self.sources.get(id)? {
                Source::Same(other) => id = *other,
                _ => return Some(id),
            }
        }
        None
    }

    /// (table, column index) that a column comes from.
    fn table_of(&self, id: ColumnId) -> Option<(&TableFacts, usize)> {
        match self.sources.get(self.origin(id)?)? {
            Source::Table(table, column) => {
                Some((self.tables.get(*table as usize)?, *column as usize))
            }
            _ => None,
        }
    }

    /// Average bytes of the texts of a column.
    pub(crate) fn average_bytes(&self, id: ColumnId, ty: &SqlType) -> Option<f64> {
        if ty.physical() != PhysicalType::Bytes {
            return None;
        }
        let (table, column) = self.table_of(id)?;
        let statistics = table.column_with_values(column)?.statistics?;
        Some(statistics.average_bytes)
    }

    /// Distance between the least and the greatest integer of a column.
    pub(crate) fn span(&self, id: ColumnId) -> Option<f64> {
        let (table, column) = self.table_of(id)?;
        let ty = &table.source.columns.get(column)?.ty;
        if !matches!(ty.physical(), PhysicalType::Int64 | PhysicalType::UInt64) {
            return None;
        }
        table.column_with_values(column)?.statistics?.span()
    }

    /// Factor by which the conditions of a table to whose unique column the other one leads keep more of the rows of the
    /// other's table than of its own.
    fn correlation(&self, columns: [ColumnId; 2]) -> f64 {
        let place = |id| match self.sources.get(self.origin(id)?)? {
            Source::Table(table, column) => Some((*table as usize, *column as usize)),
            _ => None,
        };
        let [Some(one), Some(other)] = columns.map(place) else {
            return 1.0;
        };
        let pairs = [(one, other), (other, one)];
        let factors = pairs.map(|((from, key), (to, unique))| {
            let (predicates, fraction) = &self.filters[to];
            let table = &self.tables[to];
            let filtered = Filtered {
                table,
                predicates,
                fraction: *fraction,
            };
            match table.is_unique(&[unique]) {
                true => key_joins::correlation((&self.tables[from], key), (filtered, unique)),
                false => 1.0,
            }
        });
        factors.iter().product()
    }

    /// Cardinality of a shared result.
    pub(crate) fn shared(&self, shared: usize) -> f64 {
        self.shared.get(shared).copied().unwrap_or(SHARED_ROWS)
    }

    /// Cardinality of a relation.
    pub(crate) fn relation(&self, relation: &Relation) -> f64 {
        self.rows_and_fewest(relation, None).0
    }

    /// Cardinality of a relation that does not group, given the cardinalities `inputs`.
    fn over(&self, relation: &Relation, inputs: &[f64]) -> f64 {
        let input_rows = inputs.first().copied().unwrap_or(0.0);
        match relation {
            Relation::Values { rows, .. } => rows.len() as f64,
            Relation::Scan(scan) => of_scan(scan),
            Relation::SharedScan { shared, .. } => self.shared(*shared),
            Relation::Filter { predicates, .. } => self.filtered(input_rows, predicates),
            Relation::Project { .. }
            | Relation::Extend { .. }
            | Relation::Block { .. }
            | Relation::Materialize { .. }
            | Relation::Aggregate(_)
            | Relation::Window(_) => input_rows,
            Relation::Sort { limit, .. } => limited(input_rows, *limit),
            Relation::Limit { offset, count, .. } => limited(input_rows, Some((*offset, *count))),
            Relation::SetOperation { kind, .. } => set_operation(*kind, inputs),
            Relation::Join(join) => {
                let right = inputs.get(1).copied().unwrap_or(0.0);
                self.join(join, input_rows, right)
            }
        }
    }

    /// Number of groups of `rows` rows, at most `most`.
    pub(crate) fn groups(&self, rows: f64, most: f64, aggregate: &Aggregate) -> f64 {
        groups::grouped(self, rows, &aggregate.keys, aggregate.first_groups).min(most)
    }

    /// (rows, maximum number of groups) of an aggregation: at most as many groups as any part of the input that has all
    /// of their keys has rows. A join repeats the row of an order for each of its lines, and these have the order's
    /// number.
    pub(crate) fn rows_and_most_groups(&self, aggregate: &Aggregate) -> (f64, f64) {
        let keys = aggregate.keys.iter().map(|key| match key.expression.kind {
            ExpressionKind::Column(id) => Some(id),
            _ => None,
        });
        let keys = keys.collect::<Option<Vec<_>>>();
        let keys = keys.filter(|keys| !keys.is_empty() && holds_join(&aggregate.input));
        self.rows_and_fewest(&aggregate.input, keys.as_deref())
    }

    /// (rows of a relation, cardinality of its smallest part that has all of `keys`).
    fn rows_and_fewest(&self, relation: &Relation, keys: Option<&[ColumnId]>) -> (f64, f64) {
        with_stack(|| {
            let mut fewest = f64::INFINITY;
            let rows = if let Relation::Aggregate(aggregate) = relation {
                // No part below an aggregation has the keys of what is above it.
                let (rows, most) = self.rows_and_most_groups(aggregate);
                self.groups(rows, most, aggregate)
            } else {
                let mut inputs = Vec::new();
                for (number, input) in relation.inputs().into_iter().enumerate() {
                    let keys = keys.and_then(|keys| keys_of_input(relation, number, keys));
                    let (rows, fewest_below) = self.rows_and_fewest(input, keys.as_deref());
                    fewest = fewest.min(fewest_below);
                    inputs.push(rows);
                }
                self.over(relation, &inputs)
            };
            let own = if keys.is_some() { rows } else { f64::INFINITY };
            (rows, fewest.min(own))
        })
    }

    fn join(&self, join: &Join, left: f64, right: f64) -> f64 {
        if let (Some(lookup), Relation::Scan(scan)) = (&join.lookup, &*join.right) {
            let kept = self.kept(scan, lookup, &join.on);
            return joins::looked_up(join.kind, left, lookup.rows_per_key * kept);
        }
        if join.lateral {
            return joins::lateral(join.kind, left, right);
        }
        let right_columns = produced(&join.right);
        let conditions = (&*join.on, &*join.null_aware);
        joins::joined(self, join.kind, (left, right), &right_columns, conditions)
    }

    /// Selectivity, for rows found by an index lookup, of the remaining conditions: those of the join and the table's
    /// own.
    pub(crate) fn kept(&self, scan: &Scan, lookup: &Lookup, on: &[Expression]) -> f64 {
        let own = selectivity::of_conjunction(scan, &scan.predicates);
        let index = &scan.table.indexes[lookup.index];
        let keys = || {
            let keys = index.parts.iter().zip(&lookup.keys);
            keys.filter_map(|(part, key)| Some((scan.first + part.column, key_column(&key.value)?)))
        };
        let factors = keys().map(|(column, value)| self.correlation([value, column]));
        let correlation: f64 = factors.product();
        // A row that refers to another by its key mostly has that row's other values, too, where it has them at all.
        let is_key = index.unique && lookup.keys.len() == index.parts.len();
        let table = |id| self.table_of(id).map(|(table, _)| table.first);
        let refers = |id: ColumnId| keys().any(|(_, value)| table(value) == table(id));
        let is_open = |predicate: &&Expression| {
            let sides = joins::columns_of_equality(predicate);
            let other = sides.and_then(|(a, b)| match (table(a), table(b)) {
                (Some(first), _) if first == scan.first => Some(b),
                (_, Some(first)) if first == scan.first => Some(a),
                _ => None,
            });
            !(is_key && other.is_some_and(refers))
        };
        let open: Vec<Expression> = on.iter().filter(is_open).cloned().collect();
        (own * correlation).min(1.0) * joins::of_conditions(self, &open)
    }

    /// Cardinality of `rows` rows after all conditions.
    pub(crate) fn filtered(&self, rows: f64, predicates: &[Expression]) -> f64 {
        rows * selectivity::of_conjunction(self, predicates)
    }
}

impl Columns for Estimates {
    fn facts(&self, id: ColumnId) -> Option<ColumnFacts> {
        let (table, column) = self.table_of(id)?;
        table.column(column)
    }

    fn table(&self, id: ColumnId) -> Option<(TableFacts, usize)> {
        let (table, column) = self.table_of(id)?;
        Some((table.clone(), column))
    }

    fn equality(&self, columns: [ColumnId; 2], find: &dyn Fn() -> f64) -> f64 {
        let known = self.equalities.borrow().get(&columns).copied();
        known.unwrap_or_else(|| {
            let fraction = find() * self.correlation(columns);
            self.equalities.borrow_mut().insert(columns, fraction);
            fraction
        })
    }

    fn distinct(&self, id: ColumnId) -> Option<f64> {
        match self.sources.get(self.origin(id)?) {
            Some(Source::Distinct(distinct)) => return Some(*distinct),
            Some(Source::Aggregate(number)) => {
                let facts = self.aggregates.get(*number as usize)?;
                return Some(match facts.kind {
                    // Groups of similar size have few distinct counts.
                    Kind::Count => facts.groups.sqrt(),
                    // Sums are rarely equal.
                    _ => facts.groups,
                });
            }
            _ => {}
        }
        self.facts(id).map(|facts| facts.distinct)
    }

    fn left_values(&self, id: ColumnId) -> f64 {
        let origin = Columns::origin(self, id);
        let own = self.restrictions.iter().filter(|(of, _)| *of == origin);
        let own: Vec<Expression> = own.map(|(_, predicate)| predicate.clone()).collect();
        // Distinct values of the unfiltered table: using the conditions would recurse.
        match self.table_of(id) {
            Some((table, _)) if !own.is_empty() => selectivity::of_conjunction(table, &own),
            _ => 1.0,
        }
    }

    fn origin(&self, id: ColumnId) -> ColumnId {
        Self::origin(self, id).unwrap_or(id)
    }

    fn aggregate(&self, id: ColumnId) -> Option<AggregateFacts> {
        match self.sources.get(Self::origin(self, id)?)? {
            Source::Aggregate(number) => self.aggregates.get(*number as usize).cloned(),
            _ => None,
        }
    }

    fn is_extreme(&self, id: ColumnId) -> bool {
        let origin = Self::origin(self, id).and_then(|id| self.sources.get(id));
        matches!(origin, Some(Source::Extreme))
    }
}

fn holds_join(relation: &Relation) -> bool {
    with_stack(|| {
        matches!(relation, Relation::Join(_)) || relation.inputs().into_iter().any(holds_join)
    })
}

/// Columns of an input whose values some columns of a relation have, if the input has all of them: each row of the
/// relation repeats the values of one of the input's.
fn keys_of_input(relation: &Relation, input: usize, keys: &[ColumnId]) -> Option<Vec<ColumnId>> {
    match relation {
        Relation::Filter { .. }
        | Relation::Extend { .. }
        | Relation::Project { .. }
        | Relation::Block { .. }
        | Relation::Window(_)
        | Relation::Sort { .. } => {
            let has = produced(relation.inputs().into_iter().nth(input)?);
            keys.iter()
                .all(|key| has.contains(*key))
                .then(|| keys.to_vec())
        }
        Relation::Join(join) if !join.lateral => {
            let side = match input {
                0 => &join.left,
                _ if join.kind == JoinKind::Inner => &join.right,
                _ => return None,
            };
            let has = produced(side);
            let of_lookup = |key: ColumnId| {
                let (Some(lookup), Relation::Scan(scan)) = (&join.lookup, &*join.right) else {
                    return None;
                };
                let parts = scan.table.indexes[lookup.index].parts.iter();
                let mut pairs = parts.zip(&lookup.keys).filter_map(|(part, value)| {
                    Some((scan.first + part.column, key_column(&value.value)?))
                });
                pairs.find_map(|(a, b)| other_of(key, a, b))
            };
            let of_conditions = |key: ColumnId| {
                // In outer joins the columns are equal only in rows that have a partner.
                let mut on = join.on.iter().filter(|_| join.kind == JoinKind::Inner);
                on.find_map(|predicate| match &predicate.kind {
                    ExpressionKind::Compare {
                        comparison: Comparison::Equal,
                        left,
                        right,
                    } => other_of(key, key_column(left)?, key_column(right)?),
                    _ => None,
                })
            };
            let within = |key: &ColumnId| {
                if has.contains(*key) {
                    return Some(*key);
                }
                let other = of_lookup(*key).filter(|_| join.kind == JoinKind::Inner);
                let other = other.or_else(|| of_conditions(*key));
                other.filter(|other| has.contains(*other))
            };
            keys.iter().map(within).collect()
        }
        _ => None,
    }
}

/// The other one of two equal columns.
fn other_of(id: ColumnId, a: ColumnId, b: ColumnId) -> Option<ColumnId> {
    match (a == id, b == id) {
        (true, _) => Some(b),
        (_, true) => Some(a),
        _ => None,
    }
}

/// Cardinality of a scan after its conditions.
pub(crate) fn of_scan(scan: &Scan) -> f64 {
    scan.rows.unwrap_or_else(|| {
        scan.table.row_count as f64 * selectivity::of_conjunction(scan, &scan.predicates)
    })
}

pub(crate) fn limited(rows: f64, limit: Option<(u64, u64)>) -> f64 {
    match limit {
        Some((offset, count)) => (rows - offset as f64).max(0.0).min(count as f64),
        None => rows,
    }
}

/// Cardinality of a set operation. UNION is assumed to find no duplicates: its temporary table must have room for that.
pub(crate) fn set_operation(kind: SetOperationKind, inputs: &[f64]) -> f64 {
    let first = inputs.first().copied().unwrap_or(0.0);
    match kind {
        SetOperationKind::Union => inputs.iter().sum(),
        SetOperationKind::Intersect => inputs.iter().copied().fold(first, f64::min),
        SetOperationKind::Except => first,
    }
}
