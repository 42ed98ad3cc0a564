//! Orders from indexes, and from tables whose scans have orders: ORDER BY without a sort, GROUP BY and DISTINCT without a
//! table (the manual, "ORDER BY Optimization", "GROUP BY Optimization").
//!
//! Rows keep the order of a table's index through filters, computed columns, and index lookup joins into right tables.
//! Whether reading the table by that index pays is decided by cost; a LIMIT above favours plans that stop reading
//! early.

pub(super) mod index_skips;

use super::access_paths::{add_possible, cost, needed_columns};
use super::noted::orders::{self, Clause};
use super::noted::words::block_of;
use super::planning::Planning;
use mayfly_types::{IndexMethod, OrderColumn};

use crate::access::path::{self, Path};
use crate::catalog::{IndexSource, TableSource};
use crate::estimate::Estimates;
use crate::options::PlanOptions;
use crate::trace::Trace;
use crate::tree::access::{Access, HintPurpose, IndexAccess};
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{Aggregate, ColumnId, ColumnSet, Query, Relation, Scan, with_stack};
use crate::tree::physical::{Purpose, SortKey};

pub(super) fn apply(query: &mut Query, planning: &Planning<'_>) {
    // Without indexes there is no choice, but the trace records that.
    let has_no_order = |table: &TableSource| table.indexes.is_empty() && table.scans.is_none();
    if planning.trace.is_none() && query.tables.iter().all(|table| has_no_order(table)) {
        return;
    }
    let is_ordered =
        |relation: &Relation| matches!(relation, Relation::Sort { .. } | Relation::Aggregate(_));
    if !query.holds(is_ordered) {
        return;
    }
    let rule = Orders::new(query, planning);
    query.for_each_relation_mut(&mut |relation| match relation {
        Relation::Sort { .. } => rule.sort(relation),
        Relation::Aggregate(aggregate) => rule.aggregate(aggregate),
        _ => {}
    });
}

/// Cost of sorting a row, for each doubling of the number of rows.
const SORT_COST: f64 = 0.02;
/// Costs of finding the group of a row, and of a group.
const HASH_COST: f64 = 0.05;
const GROUP_COST: f64 = 0.4;
/// Cost factor of rows that only one thread reads.
const SERIAL: f64 = 1.5;

/// A column of a table and a direction.
pub(super) type Key = (usize, bool);

/// Order wanted of an index.
pub(super) enum Wanted<'k> {
    /// Rows in the order of these columns.
    Sequence(&'k [Key]),
    /// Rows with equal values of these columns contiguous.
    Groups(&'k [Key]),
}

/// Search for orders of indexes.
pub(super) struct Orders<'a> {
    needed: ColumnSet,
    estimates: Estimates,
    options: &'a PlanOptions,
    trace: Option<&'a Trace>,
}

impl<'a> Orders<'a> {
    pub(super) fn new(query: &mut Query, planning: &Planning<'a>) -> Self {
        Self {
            needed: needed_columns(query),
            estimates: Estimates::of(query),
            options: planning.options,
            trace: planning.trace,
        }
    }

    fn clause(&self, name: &'static str, instead: &'static str) -> Option<Clause<'a>> {
        let trace = self.trace?;
        Some(Clause {
            name,
            instead,
            trace,
        })
    }

    fn sort(&self, relation: &mut Relation) {
        let Relation::Sort {
            input, keys, limit, ..
        } = relation
        else {
            return;
        };
        let rows = self.estimates.relation(input);
        let wanted_rows = limit.map_or(rows, |(offset, count)| offset.saturating_add(count) as f64);
        let share = (wanted_rows / rows.max(1.0)).min(1.0);
        let chosen = cost(input, &self.needed, &self.estimates, self.options);
        let sorted = chosen + rows * SORT_COST * (rows.min(wanted_rows) + 2.0).log2();
        let clause = self.clause("ORDER BY", "filesort");
        let block = clause.map_or(1, |clause| block_of(input, clause.trace));
        let Some(found) = keys_of(input, keys) else {
            if let Some(clause) = clause {
                let cause = "it is not by columns of a table whose order is kept";
                orders::without_index(clause, block, cause);
            }
            return;
        };
        let Source::Scan(scan, keys) = found else {
            // The groups already come in the wanted order.
            if let Some(clause) = clause {
                orders::in_order(clause, block);
            }
            self.end(relation);
            return;
        };
        let rest = (chosen - self.chosen_cost(scan)).max(0.0);
        let is_limited = limit.is_some();
        let wanted = Wanted::Sequence(&keys);
        let mut ways = self.ways(scan, &wanted, HintPurpose::OrderBy, is_limited);
        let Some(best) = cheapest(&ways) else {
            if let Some(clause) = clause {
                let taken = Err("no index gives the order");
                orders::compared(clause, scan, (&ways, 0), (0.0, sorted), taken);
            }
            return;
        };
        // One thread reads, but rows are given at once.
        let ordered = (ways[best].cost + rest) * share;
        let forced = scan.hints.force(HintPurpose::OrderBy);
        let is_taken = ordered <= sorted || forced;
        if let Some(clause) = clause {
            let taken = is_taken.then_some(()).ok_or("cost");
            orders::compared(clause, scan, (&ways, best), (ordered, sorted), taken);
        }
        if !is_taken {
            return;
        }
        let best = ways.swap_remove(best);
        scan.rows = Some(best.rows);
        scan.access = best.access;
        if let Access::Index(access) = &mut scan.access
            && access.ranges.is_none()
        {
            access.rows = (access.rows * share).ceil().max(1.0);
        }
        self.end(relation);
    }

    /// Removes a sort whose input is in order.
    fn end(&self, relation: &mut Relation) {
        if let Relation::Sort { input, limit, .. } = relation {
            *relation = match limit {
                None => input.take(),
                Some((offset, count)) => input.take().limited(*offset, *count),
            };
        }
    }

    fn aggregate(&self, aggregate: &mut Aggregate) {
        let plain = aggregate.rollup.is_none()
            && !aggregate.keys.is_empty()
            && aggregate
                .aggregates
                .iter()
                .all(|(_, call)| !call.distinct && call.order_by.is_empty());
        let is_distinct = aggregate.purpose == Purpose::Distinct;
        let name = if is_distinct { "DISTINCT" } else { "GROUP BY" };
        let clause = self.clause(name, "temporary table");
        let block = clause.map_or(1, |clause| block_of(&aggregate.input, clause.trace));
        let refuse = |cause: &str| {
            if let Some(clause) = clause {
                orders::without_index(clause, block, cause);
            }
        };
        if !plain {
            if !aggregate.keys.is_empty() {
                refuse("WITH ROLLUP, or DISTINCT or ORDER BY of an aggregate function");
            }
            return;
        }
        let columns: Option<Vec<ColumnId>> = aggregate
            .keys
            .iter()
            .map(|key| key.expression.as_column())
            .collect();
        let Some(columns) = columns else {
            refuse("it is not by columns alone");
            return;
        };
        let is_bare = matches!(&*aggregate.input, Relation::Scan(_));
        let rows = self.estimates.relation(&aggregate.input);
        let chosen = cost(
            &aggregate.input,
            &self.needed,
            &self.estimates,
            self.options,
        );
        let limit = aggregate.first_groups;
        let keys: Vec<SortKey> = aggregate
            .keys
            .iter()
            .map(|key| SortKey {
                expression: key.expression.clone(),
                descending: false,
            })
            .collect();
        let Some(Source::Scan(scan, keys)) = keys_of(&mut aggregate.input, &keys) else {
            refuse("it is not by columns of a table whose order is kept");
            return;
        };
        if columns.len() != keys.len() {
            return;
        }
        let own = self.chosen_cost(scan);
        let wanted = Wanted::Groups(&keys);
        let calls = &aggregate.aggregates;
        let ways = self.ways(scan, &wanted, HintPurpose::GroupBy, limit.is_some());
        let ways = ways.into_iter().map(|way| {
            let groups = groups_of(scan, &way, &keys, rows);
            let skips = is_bare.then(|| index_skips::path(scan, &way, &keys, calls, groups));
            match skips.flatten() {
                Some(skips) if skips.cost < way.cost => (skips, groups),
                _ => (way, groups),
            }
        });
        let (mut ways, groups): (Vec<Path>, Vec<f64>) = ways.unzip();
        let Some(best) = cheapest(&ways) else {
            if let Some(clause) = clause {
                let taken = Err("no index gives rows of a group one after the other");
                orders::compared(clause, scan, (&ways, 0), (0.0, f64::NAN), taken);
            }
            return;
        };
        let groups = groups[best];
        let share = match limit {
            Some(limit) => (limit as f64 / groups.max(1.0)).min(1.0),
            None => 1.0,
        };
        let rest = (chosen - own).max(0.0);
        let hashed = chosen + rows * HASH_COST + groups * GROUP_COST * share;
        let ordered = (ways[best].cost + rest) * SERIAL * share;
        let is_taken = ordered <= hashed || scan.hints.force(HintPurpose::GroupBy);
        if let Some(clause) = clause {
            let taken = is_taken.then_some(()).ok_or("cost");
            orders::compared(clause, scan, (&ways, best), (ordered, hashed), taken);
        }
        if !is_taken {
            return;
        }
        let best = ways.swap_remove(best);
        scan.rows = Some(best.rows);
        scan.access = best.access;
        let grouped = |position: &usize| {
            let index = &scan.table.indexes[*position];
            let is_part = |(column, _): &Key| {
                let mut parts = index.parts.iter();
                parts.any(|part| part.column == *column && part.prefix.is_none())
            };
            path::is_usable(scan, *position, HintPurpose::GroupBy, self.options)
                && index.method.has_each_row()
                && keys.iter().all(is_part)
        };
        let possible = (0..scan.table.indexes.len()).filter(grouped).collect();
        add_possible(scan, possible);
        aggregate.ordered = true;
    }

    /// Cost of reading a table with the chosen access path.
    fn chosen_cost(&self, scan: &Scan) -> f64 {
        match &scan.access {
            Access::Table | Access::InOrder(_) => self.table_path(scan).cost,
            Access::Merge(merge) => merge.cost,
            Access::Index(access) => self.path(scan, access.index).map_or(0.0, |path| path.cost),
        }
    }

    /// Path through an index, with the ranges that the conditions leave.
    fn path(&self, scan: &Scan, position: usize) -> Option<Path> {
        path::range_path(scan, position, &self.needed, self.options)
            .or_else(|| path::whole_path(scan, position, &self.needed, self.options.locks_rows))
    }

    /// Path of a full table scan.
    pub(super) fn table_path(&self, scan: &Scan) -> Path {
        path::table_path(scan, &self.needed, self.options.locks_rows)
    }

    /// The cheapest access path of a table in an order.
    pub(super) fn best(
        &self,
        scan: &Scan,
        wanted: &Wanted<'_>,
        purpose: HintPurpose,
        is_limited: bool,
    ) -> Option<Path> {
        self.ways(scan, wanted, purpose, is_limited)
            .into_iter()
            .min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    /// All access paths of a table in an order.
    fn ways(
        &self,
        scan: &Scan,
        wanted: &Wanted<'_>,
        purpose: HintPurpose,
        is_limited: bool,
    ) -> Vec<Path> {
        let is_chosen = |position: usize| match &scan.access {
            Access::Table | Access::InOrder(_) | Access::Merge(_) => false,
            Access::Index(access) => access.index == position,
        };
        let mut ways = Vec::new();
        for (position, index) in scan.table.indexes.iter().enumerate() {
            let usable = path::is_usable(scan, position, purpose, self.options)
                && index.method.is_ordered()
                && (is_chosen(position)
                    || !is_limited
                    || self.options.switches.prefer_ordering_index);
            if !usable {
                continue;
            }
            let Some(mut path) = self.path(scan, position) else {
                continue;
            };
            let Access::Index(access) = &mut path.access else {
                continue;
            };
            let Some(reverse) = direction(&scan.table, index, access, wanted) else {
                continue;
            };
            access.reverse = reverse;
            access.ordered = true;
            ways.push(path);
        }
        ways.extend(scan_order(&scan.table, wanted).map(|order| Path {
            access: Access::InOrder(order),
            ..self.table_path(scan)
        }));
        ways
    }
}

/// The cheapest of some paths; the first of equal ones.
fn cheapest(ways: &[Path]) -> Option<usize> {
    let ways = ways.iter().enumerate();
    let best = ways.min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
    best.map(|(at, _)| at)
}

/// Number of groups of `keys` that a path through an index gives, at most `rows`.
fn groups_of(scan: &Scan, way: &Path, keys: &[Key], rows: f64) -> f64 {
    let Access::Index(access) = &way.access else {
        return rows;
    };
    let index = &scan.table.indexes[access.index];
    let fixed = fixed_parts(access);
    let is_fixed = |column: usize| {
        let mut parts = index.parts.iter().take(fixed);
        parts.any(|part| part.column == column)
    };
    let mut open: Vec<usize> = keys.iter().map(|(column, _)| *column).collect();
    open.retain(|column| !is_fixed(*column));
    open.sort_unstable();
    open.dedup();
    let parts = (fixed + open.len()).min(index.parts.len());
    let per_key = path::rows_per_key(scan, index, parts).max(1.0);
    (access.rows / per_key).max(1.0).min(rows)
}

/// Number of leading parts that have a single value in all rows read.
fn fixed_parts(access: &IndexAccess) -> usize {
    access
        .ranges
        .as_ref()
        .map_or(0, |ranges| ranges.fixed_parts())
}

/// A wanted order that a scan of a table gives: the start of one that it declares.
fn scan_order(table: &TableSource, wanted: &Wanted<'_>) -> Option<Vec<OrderColumn>> {
    let orders = table.scans.as_ref()?.orders();
    let is_usable = |it: &&OrderColumn| {
        let column = table.columns.get(it.column);
        column.is_some_and(|column| it.is_of(&column.ty))
    };
    orders.into_iter().find_map(|mut order| {
        order.truncate(order.iter().take_while(is_usable).count());
        let length = match wanted {
            Wanted::Sequence(keys) => begins_with(&order, keys).then_some(keys.len()),
            Wanted::Groups(keys) => {
                let is_key = |it: &&OrderColumn| keys.iter().any(|(key, _)| *key == it.column);
                let length = order.iter().take_while(is_key).count();
                let has = |(key, _): &Key| order[..length].iter().any(|it| it.column == *key);
                keys.iter().all(has).then_some(length)
            }
        };
        order.truncate(length?);
        Some(order)
    })
}

/// Whether rows in an order are in that of the keys.
fn begins_with(order: &[OrderColumn], keys: &[Key]) -> bool {
    let order = order.iter().map(|it| (it.column, it.descending));
    keys.len() <= order.len() && order.zip(keys).all(|(it, key)| it == *key)
}

/// Direction in which an index gives an order, if it does. Rows with equal keys are in the order of the clustered
/// index.
fn direction(
    table: &TableSource,
    index: &IndexSource,
    access: &IndexAccess,
    wanted: &Wanted<'_>,
) -> Option<bool> {
    let is_clustered = |index: &IndexSource| index.method == IndexMethod::Clustered;
    let mut clustered = table.indexes.iter().filter(|index| is_clustered(index));
    let behind = if is_clustered(index) {
        &[]
    } else {
        clustered.next().map_or(&[][..], |index| &index.parts)
    };
    let is_end = |position: usize| {
        position >= index.parts.len() + behind.len()
            && (!behind.is_empty() || (index.unique && is_clustered(index)))
    };
    let fixed = fixed_parts(access);
    let is_fixed = |column: usize| {
        let mut parts = index.parts.iter().take(fixed);
        parts.any(|part| part.column == column && part.prefix.is_none())
    };
    let exact = |position: usize| {
        let mut parts = index.parts.iter().chain(behind);
        parts
            .nth(position)
            .filter(|part| part.prefix.is_none() && !part.approximate)
    };
    match wanted {
        Wanted::Sequence(keys) => {
            let mut reverse = None;
            let mut position = 0;
            for (column, descending) in keys.iter() {
                let mut part = exact(position);
                while let Some(known) = part
                    && known.column != *column
                    && position < fixed
                {
                    position += 1;
                    part = exact(position);
                }
                match part {
                    Some(part) if part.column == *column => {
                        let backwards = part.descending != *descending;
                        if position >= fixed && *reverse.get_or_insert(backwards) != backwards {
                            return None;
                        }
                        position += 1;
                    }
                    _ if is_fixed(*column) => {}
                    // Keys behind a whole unique key do not affect the order.
                    None if is_end(position) => {}
                    _ => return None,
                }
            }
            Some(reverse.unwrap_or(false))
        }
        Wanted::Groups(keys) => {
            let mut open: Vec<usize> = keys
                .iter()
                .map(|(column, _)| *column)
                .filter(|column| !is_fixed(*column))
                .collect();
            let mut position = 0;
            while !open.is_empty() {
                let part = exact(position)?;
                match open.iter().position(|column| *column == part.column) {
                    Some(at) => {
                        open.swap_remove(at);
                    }
                    None if position < fixed => {}
                    None => return None,
                }
                position += 1;
            }
            Some(false)
        }
    }
}

/// Source of the order of a relation's rows.
enum Source<'r> {
    /// A table that is read, and the order in terms of its columns.
    Scan(&'r mut Scan, Vec<Key>),
    /// Groups that are already in order.
    InOrder,
}

/// Traces an order to the table of its columns, through relations that keep the order of rows.
fn keys_of<'r>(relation: &'r mut Relation, keys: &[SortKey]) -> Option<Source<'r>> {
    let columns: Option<Vec<(ColumnId, bool, &Expression)>> = keys
        .iter()
        .map(|key| match key.expression.kind {
            ExpressionKind::Column(id) => Some((id, key.descending, &key.expression)),
            _ => None,
        })
        .collect();
    let keys = columns?;
    let collations: Vec<_> = keys.iter().map(|(.., key)| key.ty.collation).collect();
    let keys: Vec<(ColumnId, bool)> = keys.iter().map(|(id, down, _)| (*id, *down)).collect();
    follow(relation, keys, &collations)
}

fn follow<'r>(
    relation: &'r mut Relation,
    keys: Vec<(ColumnId, bool)>,
    collations: &[mayfly_types::CollationId],
) -> Option<Source<'r>> {
    with_stack(|| match relation {
        Relation::Scan(scan) => {
            let keys = keys
                .iter()
                .zip(collations)
                .map(|((id, descending), collation)| {
                    let column = id.checked_sub(scan.first)?;
                    let ty = &scan.table.columns.get(column)?.ty;
                    let same = !ty.is_string() || ty.collation == *collation;
                    same.then_some((column, *descending))
                })
                .collect::<Option<Vec<Key>>>()?;
            Some(Source::Scan(scan, keys))
        }
        Relation::Filter { input, .. } => follow(input, keys, collations),
        Relation::Block { input, derived, .. } => {
            let streams = derived
                .as_ref()
                .is_some_and(|derived| derived.materialize.is_none());
            streams.then(|| follow(input, keys, collations))?
        }
        Relation::Extend { input, columns } | Relation::Project { input, columns } => {
            let mut keys = keys;
            for (key, _) in &mut keys {
                if let Some(computed) = columns.iter().find(|column| column.id == *key) {
                    match computed.expression.kind {
                        ExpressionKind::Column(id) => *key = id,
                        _ => return None,
                    }
                }
            }
            follow(input, keys, collations)
        }
        Relation::Join(join) if join.lookup.is_some() => follow(&mut join.left, keys, collations),
        Relation::Aggregate(aggregate) if aggregate.ordered => {
            // The groups come in the order of the index or scan that gives their rows.
            let keys = keys
                .into_iter()
                .map(|(id, descending)| {
                    let key = aggregate.keys.iter().find(|key| key.id == id)?;
                    match key.expression.kind {
                        ExpressionKind::Column(id) => Some((id, descending)),
                        _ => None,
                    }
                })
                .collect::<Option<Vec<_>>>()?;
            let scan = match follow(&mut aggregate.input, keys, collations)? {
                Source::Scan(scan, keys) => (scan, keys),
                Source::InOrder => return Some(Source::InOrder),
            };
            let (scan, keys) = scan;
            match &mut scan.access {
                Access::Index(access) => {
                    let index = scan.table.indexes.get(access.index)?;
                    let wanted = Wanted::Sequence(&keys);
                    access.reverse = direction(&scan.table, index, access, &wanted)?;
                    Some(Source::InOrder)
                }
                Access::InOrder(order) => begins_with(order, &keys).then_some(Source::InOrder),
                Access::Table | Access::Merge(_) => None,
            }
        }
        _ => None,
    })
}
