//! Index lookup joins: each left row's values are the key of the right rows.

use mayfly_types::{IndexMethod, PhysicalType};

use super::analysis::key_column;
use super::path::{ROW_COST, doublings, is_usable, left_over, row_cost, rows_per_key, table_path};
use crate::access::key_ranges::is_rounded;
use crate::estimate::selectivity;
use crate::options::PlanOptions;
use crate::tree::access::{HintPurpose, Lookup, LookupKey};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::logical::{ColumnSet, Scan};

/// Costs of finding one key of a small table, and of each doubling of the table. Measured like those of [`row_cost`]:
/// 100,000 keys in random order take 100 ms, a hash join with all of the table 80 ms.
const KEY_COST: f64 = 0.1;
const KEY_COST_OF_DOUBLING: f64 = 0.18;
/// Costs of a row in a hash join: on the build side, on the probe side, and of one on the probe side that finds a partner.
/// Others are left out by the filter of the built keys where they are read: 2.9 million rows of which an eighth finds one
/// take 30 ms with the scan.
const BUILD_COST: f64 = 0.1;
const FILTER_COST: f64 = 0.01;
const PROBE_COST: f64 = 0.04;
/// Part of the cost of a scanned row that the filter leaves out.
const LEFT_OUT_COST: f64 = 0.4;

/// An index lookup join into a table.
#[derive(Debug, Clone)]
pub(crate) struct LookupPath {
    pub(crate) lookup: Lookup,
    /// For each of the join's conditions, whether the lookup covers it.
    pub(crate) joined: Vec<bool>,
    /// For each of the right table's own conditions, whether the lookup covers it.
    pub(crate) covered: Vec<bool>,
    /// Cost of one left row.
    pub(crate) cost_per_row: f64,
    /// Right rows per left row that meet all conditions.
    pub(crate) rows_per_row: f64,
}

/// Cost of finding one key.
pub(crate) fn key_cost(scan: &Scan) -> f64 {
    KEY_COST + KEY_COST_OF_DOUBLING * doublings(scan)
}

/// Cost of a hash join without its inputs, which gives `joined` rows.
pub(crate) fn hash_cost(built: f64, probed: f64, joined: f64) -> f64 {
    built * BUILD_COST + probed * FILTER_COST + probed.min(joined) * PROBE_COST
}

/// Side of an inner hash join.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub(crate) rows: f64,
    /// Cost of its scan, if it is one table; else 0.
    pub(crate) scan: f64,
}

/// Cost of an inner hash join, of which the smaller side is built, without its inputs: less than zero where the scan of the
/// other side reads only the keys of the rows that the filter leaves out.
pub(crate) fn inner_hash_cost(left: Side, right: Side, joined: f64) -> f64 {
    let (built, probed) = match left.rows < right.rows {
        true => (left, right),
        false => (right, left),
    };
    let left_out = (1.0 - joined / probed.rows.max(1.0)).max(0.0);
    hash_cost(built.rows, probed.rows, joined) - probed.scan * (1.0 - LEFT_OUT_COST) * left_out
}

/// Number of lookups that cost as much as a hash join with a scan of the whole table, of which `rows` rows are built.
pub(crate) fn count_at_cost_of_hash(
    scan: &Scan,
    lookup: &Lookup,
    rows: f64,
    needed: &ColumnSet,
) -> u64 {
    // A join that locks rows does not change.
    let hash = table_path(scan, needed, false).cost + hash_cost(rows, 0.0, 0.0);
    let index = &scan.table.indexes[lookup.index];
    let each = key_cost(scan) + lookup.rows_per_key * row_cost(scan, index, needed);
    (hash / each) as u64
}

/// The best index lookup join into a table under `on`, whose columns and those of the left rows it reads.
pub(crate) fn best(
    scan: &Scan,
    on: &[Expression],
    needed: &ColumnSet,
    options: &PlanOptions,
) -> Option<LookupPath> {
    (0..scan.table.indexes.len())
        .filter(|position| is_usable(scan, *position, HintPurpose::Join, options))
        .filter_map(|position| path(scan, position, on, needed))
        .min_by(|a, b| a.cost_per_row.total_cmp(&b.cost_per_row))
}

/// Indexes by which a lookup join under `on` into a table is possible.
pub(crate) fn possible(scan: &Scan, on: &[Expression], options: &PlanOptions) -> Vec<usize> {
    let leads = |position: &usize| {
        let first = scan.table.indexes[*position].parts.first();
        is_usable(scan, *position, HintPurpose::Join, options)
            && scan.table.indexes[*position].method.has_each_row()
            && first.is_some_and(|part| {
                let mut keys = on
                    .iter()
                    .map(|predicate| key_of(scan, part.column, predicate));
                part.prefix.is_none() && keys.any(|key| key.is_some())
            })
    };
    (0..scan.table.indexes.len()).filter(leads).collect()
}

fn path(scan: &Scan, position: usize, on: &[Expression], needed: &ColumnSet) -> Option<LookupPath> {
    let index = &scan.table.indexes[position];
    let mut joined = vec![false; on.len()];
    let mut covered = vec![false; scan.predicates.len()];
    let mut keys = Vec::new();
    let mut follows = false;
    for part in &index.parts {
        if part.prefix.is_some() || part.approximate {
            break;
        }
        let equal = |predicate: &Expression| key_of(scan, part.column, predicate);
        let by_join = on.iter().position(|predicate| equal(predicate).is_some());
        let own = || {
            let mut own = scan.predicates.iter();
            own.position(|predicate| equal(predicate).is_some())
        };
        if let Some(at) = by_join {
            joined[at] = true;
            follows = true;
            keys.extend(equal(&on[at]));
        } else if let Some(at) = own() {
            covered[at] = true;
            keys.extend(equal(&scan.predicates[at]));
        } else {
            break;
        }
    }
    let is_too_short = match index.method {
        IndexMethod::Clustered | IndexMethod::BTree => false,
        IndexMethod::Hash => keys.len() < index.parts.len(),
        // It does not have all rows of a key.
        IndexMethod::MultiValued => true,
    };
    if !follows || is_too_short {
        return None;
    }
    let null_safe = keys.iter().any(|key| key.null_safe);
    let mut rows_per_key = rows_per_key(scan, index, keys.len());
    if null_safe && keys.len() == index.parts.len() {
        rows_per_key = rows_per_key.max(1.0);
    }
    let left_over = left_over(scan, &covered);
    let rest: f64 = on
        .iter()
        .zip(&joined)
        .filter(|(_, joined)| !**joined)
        .map(|(predicate, _)| selectivity::of(scan, predicate))
        .product();
    Some(LookupPath {
        cost_per_row: key_cost(scan) + rows_per_key * row_cost(scan, index, needed),
        rows_per_row: rows_per_key * left_over * rest,
        lookup: Lookup {
            index: position,
            keys,
            rows_per_key,
        },
        joined,
        covered,
    })
}

/// The value that a condition equates with a column of the table.
fn key_of(scan: &Scan, column: usize, predicate: &Expression) -> Option<LookupKey> {
    let ExpressionKind::Compare {
        comparison: comparison @ (Comparison::Equal | Comparison::NullSafeEqual),
        left: a,
        right: b,
    } = &predicate.kind
    else {
        return None;
    };
    let null_safe = *comparison == Comparison::NullSafeEqual;
    value_for(scan, column, a, b, null_safe).or_else(|| value_for(scan, column, b, a, null_safe))
}

fn value_for(
    scan: &Scan,
    column: usize,
    of_table: &Expression,
    value: &Expression,
    null_safe: bool,
) -> Option<LookupKey> {
    let ty = &scan.table.columns.get(column)?.ty;
    if key_column(of_table)? != scan.first + column {
        return None;
    }
    let own = scan.first..scan.first + scan.table.columns.len();
    let read = value.columns();
    // Columns of neither this table nor the left rows belong to an outer query.
    let known = !read.iter().any(|id| own.contains(&id));
    let same_physical = value.ty.physical() == ty.physical();
    let comparable = match ty.physical() {
        // The comparison has the collation of the side written first, and both sides have it.
        PhysicalType::Bytes => {
            same_physical
                && ty.is_string()
                && of_table.ty.is_string()
                && of_table.ty.collation == ty.collation
                && value.ty.collation == ty.collation
        }
        // A NULL from a value that no row can have would find NULL.
        _ => !value.ty.is_string() && !is_rounded(ty, &value.ty) && (same_physical || !null_safe),
    };
    let plain = !crate::tree::logical::has_subquery(value)
        && !crate::tree::logical::expression_is_volatile(value);
    (known && comparable && plain).then(|| LookupKey {
        value: value.clone(),
        null_safe,
    })
}

/// Cost of index lookups in the right side for `left` rows.
pub(crate) fn cost(left: f64, path: &LookupPath) -> f64 {
    left * path.cost_per_row + left * path.rows_per_row * ROW_COST * 0.2
}
