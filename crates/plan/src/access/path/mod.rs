//! Access paths of one table, and their costs.
//!
//! Costs are in MySQL's unit, in which a row that is read by a scan of a small table costs 0.1.

pub(crate) mod merge;

use std::ops::Bound;
use std::sync::Arc;

use mayfly_types::{IndexMethod, Value};

use super::analysis::analyse;
use super::constant::known_value;
use crate::access::key_ranges::{Analysis, Condition, KeyRanges};
use crate::asked::IndexRanges;
use crate::catalog::{IndexPartSource, IndexSource, ValueRange};
use crate::estimate::{self, TableFacts, selectivity};
use crate::options::PlanOptions;
use crate::tree::access::{Access, HintPurpose, IndexAccess};
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnSet, Scan};

/// Minimum number of rows assumed for a table. It may have more than its statistics say, and a statement that locks
/// what it reads would keep others from all of it where a range of an index keeps them from a key.
const TABLE_ROWS_MIN: f64 = 2.0;

/// Startup cost of a read.
pub(crate) const START_COST: f64 = 0.25;
/// Cost of a row of a scan, or of a covering index, that is short or locks its rows.
pub(crate) const ROW_COST: f64 = 0.1;
/// Number of rows of a scan from which on further ones are cheaper: blocks of the columns that are read, by all threads.
const BULK_ROWS: f64 = 10_000.0;
/// Costs of such a row, of each of its columns, and of each condition. Measured on durable tables of 3 and 10 million rows with
/// two threads: 2 to 5 ns a row for one or two columns.
const BULK_ROW_COST: f64 = 0.015;
const BULK_COLUMN_COST: f64 = 0.004;
const BULK_CONDITION_COST: f64 = 0.005;
/// Cost that each doubling of a table adds to fetching a row by its position. Measured on a durable table of a million
/// rows of 60 bytes, in memory, one thread: 26 ns a row of a scan, 600 to 700 ns a row that an index leads to, whatever
/// the length of the range (0.1 % to 50 %); of 2.9 million rows of 23 columns: 1.3 µs. A covering index: 4 ns.
const FETCH_COST_OF_DOUBLING: f64 = 0.42;
/// Cost of finding the start of a range.
pub(crate) const SEEK_COST: f64 = 0.05;
/// Maximum number of ranges that are examined (index dives); further ones are assumed to be as long as the average
/// key's.
const DIVES_MAX: usize = 200;
/// Maximum number of rows of a range that are counted; of longer ranges only the ends are examined.
const DIVE_ROWS: f64 = 10_000.0;

/// Cost of reading `rows` rows one after the other, `columns` columns of each, and of evaluating `conditions` predicates.
fn sequential_cost(rows: f64, columns: usize, conditions: usize, locks_rows: bool) -> f64 {
    let bulk = match locks_rows {
        true => 0.0,
        false => (rows - BULK_ROWS).max(0.0),
    };
    let bulk_row =
        BULK_ROW_COST + columns as f64 * BULK_COLUMN_COST + conditions as f64 * BULK_CONDITION_COST;
    (rows - bulk) * (ROW_COST + check_cost(conditions)) + bulk * bulk_row
}

/// Number of columns of a table that are read.
fn columns_read(scan: &Scan, needed: &ColumnSet) -> usize {
    let columns = 0..scan.table.columns.len();
    let read = columns.filter(|column| needed.contains(scan.first + column));
    read.count()
}

/// Cost of evaluating `conditions` predicates on a row.
pub(super) fn check_cost(conditions: usize) -> f64 {
    conditions as f64 * 0.02
}

/// An access path of a table.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    pub(crate) access: Access,
    /// Cost of reading all of it.
    pub(crate) cost: f64,
    /// Number of rows that meet all conditions.
    pub(crate) rows: f64,
}

/// Whether an index may be used at all.
pub(crate) fn is_usable(
    scan: &Scan,
    position: usize,
    purpose: HintPurpose,
    options: &PlanOptions,
) -> bool {
    let index = &scan.table.indexes[position];
    index.id.is_some()
        && (index.visible || options.switches.use_invisible_indexes)
        && scan.hints.allow(purpose, position)
}

/// An access path that was considered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Alternative<'p> {
    /// An index that hints or its state exclude.
    NotUsable(usize),
    /// An index with no condition on it.
    NotApplicable(usize),
    /// Ranges of an index.
    Range(usize, &'p Path),
    /// Index merge: several indexes.
    Merge(&'p Path),
}

/// The cheapest access path of a table, without regard to order, and the indexes that conditions could use.
pub(crate) fn best(scan: &Scan, needed: &ColumnSet, options: &PlanOptions) -> (Path, Vec<usize>) {
    best_of(scan, needed, options, &mut |_| {})
}

/// [`best`], with `consider` called for every access path but the table scan, in the order of comparison.
pub(crate) fn best_of(
    scan: &Scan,
    needed: &ColumnSet,
    options: &PlanOptions,
    consider: &mut dyn FnMut(Alternative<'_>),
) -> (Path, Vec<usize>) {
    let whole = table_path(scan, needed, options.locks_rows);
    let mut best = whole.clone();
    if scan.hints.force(HintPurpose::Join) {
        best.cost += 1e12;
    }
    let mut possible = Vec::new();
    for position in 0..scan.table.indexes.len() {
        if !is_usable(scan, position, HintPurpose::Join, options) {
            consider(Alternative::NotUsable(position));
            continue;
        }
        let Some(path) = range_path(scan, position, needed, options) else {
            consider(Alternative::NotApplicable(position));
            continue;
        };
        consider(Alternative::Range(position, &path));
        possible.push(position);
        // The first of equal cost wins: unique indexes come first.
        if path.cost < best.cost {
            best = path;
        }
    }
    let merge = merge::best(scan, options, &mut possible);
    merge
        .as_ref()
        .inspect(|merge| consider(Alternative::Merge(merge)));
    possible.sort_unstable();
    possible.dedup();
    if let Some(merge) = merge
        && (merge.cost < best.cost || scan.hints.force(HintPurpose::Merge))
    {
        best = merge;
    }
    if matches!(best.access, Access::Table) {
        best.cost = whole.cost;
    }
    (best, possible)
}

/// Access path of a full table scan.
pub(crate) fn table_path(scan: &Scan, needed: &ColumnSet, locks_rows: bool) -> Path {
    let all = scan.table.row_count as f64;
    let read = all.max(TABLE_ROWS_MIN);
    let columns = columns_read(scan, needed);
    Path {
        access: Access::Table,
        cost: START_COST + sequential_cost(read, columns, scan.predicates.len(), locks_rows),
        rows: estimate::of_scan(scan),
    }
}

/// Access path of the ranges of an index that the conditions leave.
pub(crate) fn range_path(
    scan: &Scan,
    position: usize,
    needed: &ColumnSet,
    options: &PlanOptions,
) -> Option<Path> {
    let index = scan.table.indexes.get(position)?;
    let known = ranges_of(scan, position, options)?;
    let (read, covered) = (known.rows, &known.analysis.covered);
    let open = covered.iter().filter(|covered| !**covered).count();
    let cost = START_COST
        + known.count * SEEK_COST
        + index_cost(scan, index, needed, (read, open), options.locks_rows);
    let ranges = known.analysis.ranges.clone();
    let rows = rest(scan, read, &known.analysis.counted);
    let access = through(position, Some(ranges), read, covered.clone());
    Some(if index.method.has_each_row() {
        Path {
            access: Access::Index(Box::new(access)),
            cost,
            rows,
        }
    } else {
        merge::of_elements(access, cost, rows)
    })
}

/// Ranges of an index that the conditions leave, if any condition is on it.
fn ranges_of(
    scan: &Scan,
    position: usize,
    options: &PlanOptions,
) -> Option<Arc<IndexRanges<Analysis>>> {
    let index = scan.table.indexes.get(position)?;
    let find = || {
        let analysis = analyse(
            &scan.predicates,
            &scan.table,
            scan.first,
            index,
            &scan.generated,
        )?;
        let (count, rows) = in_ranges(scan, index, &analysis.ranges, options);
        Some(Arc::new(IndexRanges {
            analysis,
            count,
            rows,
        }))
    };
    match &scan.statistics {
        Some(asked) => {
            let index = (scan.first, position);
            asked.index_ranges.get(index, &scan.predicates, find)
        }
        None => find(),
    }
}

/// Access path through index `index` that reads `rows` rows.
fn through(index: usize, ranges: Option<KeyRanges>, rows: f64, covered: Vec<bool>) -> IndexAccess {
    IndexAccess {
        index,
        ranges,
        rows,
        reverse: false,
        ordered: false,
        groups: None,
        covered,
    }
}

/// Access path of a full index scan, in the order of the index.
pub(crate) fn whole_path(
    scan: &Scan,
    position: usize,
    needed: &ColumnSet,
    locks_rows: bool,
) -> Option<Path> {
    let index = scan
        .table
        .indexes
        .get(position)
        .filter(|index| index.method.is_ordered())?;
    let read = scan.table.row_count as f64;
    let covered = vec![false; scan.predicates.len()];
    Some(Path {
        cost: START_COST
            + index_cost(
                scan,
                index,
                needed,
                (read, scan.predicates.len()),
                locks_rows,
            ),
        rows: rest(scan, read, &covered),
        access: Access::Index(Box::new(through(position, None, read, covered))),
    })
}

/// Number of the rows read that meet the conditions which `counted` does not include.
pub(super) fn rest(scan: &Scan, read: f64, counted: &[bool]) -> f64 {
    (read * left_over(scan, counted)).min(scan.rows.unwrap_or(f64::INFINITY))
}

/// Selectivity of the conditions which `counted` does not include.
pub(super) fn left_over(scan: &Scan, counted: &[bool]) -> f64 {
    let open = scan.predicates.iter().zip(counted);
    let open = open.filter(|(_, counted)| !**counted);
    let open: Vec<Expression> = open.map(|(predicate, _)| predicate.clone()).collect();
    selectivity::of_conjunction(scan, &open)
}

/// Cardinality of a table before an access path is chosen: by the index that covers most conditions.
pub(crate) fn estimated_rows(scan: &Scan, options: &PlanOptions) -> f64 {
    let mut known: Option<(usize, f64)> = None;
    for position in 0..scan.table.indexes.len() {
        if scan.table.indexes[position].id.is_none() {
            continue;
        }
        if let Some(ranges) = ranges_of(scan, position, options) {
            let counted = &ranges.analysis.counted;
            let rows = rest(scan, ranges.rows, counted);
            let said = counted.iter().filter(|counted| **counted).count();
            if known.is_none_or(|(most, fewest)| said > most || said == most && rows < fewest) {
                known = Some((said, rows));
            }
        }
    }
    match known {
        Some((_, rows)) => rows,
        None => scan.table.row_count as f64 * selectivity::of_conjunction(scan, &scan.predicates),
    }
}

/// Cost of a row of an index: higher when columns that it lacks are fetched from the table, growing with the size of
/// the table.
pub(crate) fn row_cost(scan: &Scan, index: &IndexSource, needed: &ColumnSet) -> f64 {
    if is_covering(scan, index, needed) {
        return ROW_COST;
    }
    ROW_COST + fetch_cost(scan)
}

/// Cost of reading `rows` rows in the order of an index, with `conditions` further predicates.
fn index_cost(
    scan: &Scan,
    index: &IndexSource,
    needed: &ColumnSet,
    (rows, conditions): (f64, usize),
    locks_rows: bool,
) -> f64 {
    if is_covering(scan, index, needed) {
        return sequential_cost(rows, columns_read(scan, needed), conditions, locks_rows);
    }
    let entries = sequential_cost(rows, index.parts.len(), 0, locks_rows);
    entries + rows * (fetch_cost(scan) + check_cost(conditions))
}

/// Cost of fetching a row by its position.
pub(super) fn fetch_cost(scan: &Scan) -> f64 {
    FETCH_COST_OF_DOUBLING * doublings(scan)
}

/// Number of doublings from a thousand rows to the size of the table: each makes a position harder to find.
pub(crate) fn doublings(scan: &Scan) -> f64 {
    (1.0 + scan.table.row_count as f64 / 1000.0).log2()
}

/// Whether an index is covering: all needed columns can be read from it.
pub(crate) fn is_covering(scan: &Scan, index: &IndexSource, needed: &ColumnSet) -> bool {
    index.method == IndexMethod::Clustered
        || (0..scan.table.columns.len())
            .all(|column| !needed.contains(scan.first + column) || index.covers.contains(&column))
}

/// (number of ranges, number of rows in them).
fn in_ranges(
    scan: &Scan,
    index: &IndexSource,
    ranges: &KeyRanges,
    options: &PlanOptions,
) -> (f64, f64) {
    let all = scan.table.row_count as f64;
    let id = index.id;
    let known =
        ranges.resolve_usual(&mut |value| Ok(known_value(value, &[], options.session.sql_mode)));
    if let Ok(Some(ranges)) = known {
        let count = ranges.len() as f64;
        let rows = match &scan.statistics {
            Some(statistics) => {
                let seen = ranges.iter().take(DIVES_MAX);
                let rows: f64 = seen
                    .map(|range| {
                        if is_one_row(index, range) {
                            1.0
                        } else {
                            id.map_or(all, |id| {
                                statistics.statistics().rows_in_range(id, range) as f64
                            })
                        }
                    })
                    .sum();
                // An empty sum is minus zero.
                let rows = rows.max(0.0) * (count / count.min(DIVES_MAX as f64).max(1.0));
                let by_values = (rows > DIVE_ROWS).then(|| by_values(scan, index, &ranges));
                by_values.flatten().unwrap_or(rows)
            }
            None => ranges
                .iter()
                .map(|range| {
                    if is_one_row(index, range) {
                        1.0
                    } else {
                        all * 0.1
                    }
                })
                .sum(),
        };
        return (count, rows.min(all));
    }
    let mut count = 0.0;
    let mut rows = 0.0;
    for one in &ranges.boxes {
        let mut points = 0;
        let mut keys = 1.0;
        let mut share = 1.0;
        for (conditions, part) in one.parts.iter().zip(&ranges.parts) {
            let single = conditions
                .iter()
                .filter(|condition| condition.is_points(&part.ty))
                .map(Condition::point_count)
                .min();
            match single {
                Some(single) => {
                    points += 1;
                    keys *= single as f64;
                }
                None => share *= 0.3333_f64.powi(conditions.len().min(2) as i32),
            }
        }
        let per_key = match points {
            0 => all,
            _ => rows_per_key(scan, index, points),
        };
        count += keys;
        rows += keys * per_key * share;
    }
    (count, rows.min(all))
}

/// Number of rows in long ranges of the first part of an index, by the statistics of its column.
fn by_values(scan: &Scan, index: &IndexSource, ranges: &[ValueRange]) -> Option<f64> {
    let is_whole = |part: &&IndexPartSource| part.prefix.is_none() && part.elements.is_none();
    let part = index.parts.first().filter(is_whole)?;
    let is_of_first = |bound: &Bound<Vec<Value>>| match bound {
        Bound::Unbounded => true,
        Bound::Included(values) | Bound::Excluded(values) => values.len() == 1,
    };
    let mut bounds = ranges.iter().flat_map(|range| [&range.start, &range.end]);
    if part.descending || part.approximate || !bounds.all(is_of_first) {
        return None;
    }
    let facts = TableFacts::of(scan).column_with_values(part.column)?;
    let ty = &scan.table.columns[part.column].ty;
    facts.statistics.as_ref()?;
    Some(facts.rows * selectivity::of_value_ranges(&facts, ty, ranges))
}

/// Average number of rows with the same values in the first `parts` parts of an index.
pub(crate) fn rows_per_key(scan: &Scan, index: &IndexSource, parts: usize) -> f64 {
    let all = scan.table.row_count as f64;
    if index.unique && parts >= index.parts.len() {
        return 1.0_f64.min(all);
    }
    let columns: Vec<usize> = index.parts.iter().map(|part| part.column).collect();
    let whole = index
        .parts
        .iter()
        .take(parts)
        .all(|part| part.prefix.is_none() && part.elements.is_none());
    if let Some(columns) = columns.get(..parts).filter(|_| whole)
        && let Some(rows) = selectivity::rows_per_key(&TableFacts::of(scan), columns)
    {
        return rows;
    }
    let distinct = match (&scan.statistics, index.id) {
        (Some(statistics), Some(id)) => statistics.statistics().distinct_keys(id, parts) as f64,
        _ => all * 0.1,
    };
    all / distinct.max(1.0)
}

fn is_one_row(index: &IndexSource, range: &ValueRange) -> bool {
    index.unique
        && match (&range.start, &range.end) {
            (Bound::Included(start), Bound::Included(end)) => {
                start.len() == index.parts.len()
                    && start == end
                    && !start.iter().any(Value::is_null)
            }
            _ => false,
        }
}
