//! Selectivity through key joins: the fraction of a table's rows whose key leads to a row of another table that meets
//! the conditions of that table.
//!
//! Conditions of a dimension are mostly assumed to keep the same fraction of the facts as of the dimension's own rows.
//! That is wrong by orders of magnitude where the facts refer to a few of its rows, or to some far more often than to
//! others: a calendar of 200 years has 73,000 days, and the sales of five years refer to 1,826 of them. So the keys of
//! example rows of the facts are looked up in the unique index of the dimension, and its conditions are evaluated on
//! the rows found (Leis, Radke, Gubichev, Kemper and Neumann, "Cardinality Estimation Done Right: Index-Based Join
//! Sampling", CIDR 2017). The lookups take less time than the scan of as many thousand rows, so that only large
//! tables are sampled.

use arrow_array::{Array, ArrayRef, UInt64Array};

use super::columns::TableFacts;
use super::example_rows::Examples;
use crate::catalog::IndexSource;
use crate::tree::expression::Expression;
use crate::tree::logical::{ColumnId, ColumnSet};

/// Minimum number of rows of a table whose keys are looked up.
const ROWS_MIN: f64 = 100_000.0;

/// Numbers of example keys that are looked up: the next one only where few of those before it met the conditions.
const STEPS: [usize; 3] = [48, 128, 512];

/// Number of rows that meet the conditions from which no more keys are looked up.
const ENOUGH: usize = 8;

/// A table with its conditions.
pub(super) struct Filtered<'a> {
    pub(super) table: &'a TableFacts,
    pub(super) predicates: &'a [Expression],
    /// Estimated fraction of the rows of the table that meet them.
    pub(super) fraction: f64,
}

/// Factor by which the conditions of `dimension` keep more rows of `facts`, joined by their columns, than of its own
/// rows; 1 where it is not known.
pub(super) fn correlation(
    (facts, key): (&TableFacts, usize),
    (dimension, unique): (Filtered<'_>, usize),
) -> f64 {
    let known = counted((facts, key), (&dimension, unique));
    let Some((found, all)) = known.filter(|_| dimension.fraction > 0.0) else {
        return 1.0;
    };
    let kept = match (found, all) {
        (_, 0) => return 1.0,
        // Fewer than one of all examples, or none at all.
        (0, all) => dimension.fraction.min(0.5 / all as f64),
        (found, all) => found as f64 / all as f64,
    };
    kept / dimension.fraction
}

/// (keys that lead to a row which meets the conditions, all keys) of example rows.
fn counted(
    (facts, key): (&TableFacts, usize),
    (dimension, unique): (&Filtered<'_>, usize),
) -> Option<(usize, usize)> {
    if facts.rows() < ROWS_MIN
        || dimension.predicates.is_empty()
        || facts.first == dimension.table.first
    {
        return None;
    }
    let table = dimension.table;
    let key_index = |index: &IndexSource| {
        let leads = matches!(index.parts.as_slice(), [part] if part.column == unique && part.prefix.is_none());
        index.id.filter(|_| index.unique && leads)
    };
    let index = table.source.indexes.iter().find_map(key_index)?;
    let types = [(&facts.source, key), (&table.source, unique)];
    let [ours, theirs] = types.map(|(source, column)| Some(&source.columns.get(column)?.ty));
    let (ours, theirs) = (ours?, theirs?);
    if ours.physical() != theirs.physical() || ours.collation != theirs.collation {
        return None;
    }
    let asked = table.statistics.as_ref()?;
    let of = (facts.first + key, unique);
    asked.key_joins.get(of, dimension.predicates, || {
        let known = facts.column_with_values(key)?.statistics?;
        let keys = mixed(known.examples()?)?;
        let (first, end) = (table.first, table.source.columns.len());
        let mut read = ColumnSet::new();
        read.add_read_by(dimension.predicates);
        let columns: Vec<ColumnId> = read.iter().collect();
        let place = |id: &ColumnId| id.checked_sub(first).filter(|place| *place < end);
        let places = columns.iter().map(place);
        let places = places.collect::<Option<Vec<usize>>>()?;
        let (mut found, mut all) = (0, 0);
        let mut from = 0;
        for until in STEPS {
            let until = until.min(keys.len());
            let sought: ArrayRef = keys.slice(from, until - from);
            let rows = asked.statistics().find(index, &sought, &places)?;
            let count = rows.row_count();
            let arrays = columns.iter().copied().zip(rows.into_columns()).collect();
            found += Examples::new(arrays, count).meeting(dimension.predicates)?;
            all += sought.len() - sought.null_count();
            from = until;
            if found >= ENOUGH || until == keys.len() {
                break;
            }
        }
        Some((found, all))
    })
}

/// Example values in an order in which the first ones are from all over the table.
fn mixed(values: &ArrayRef) -> Option<ArrayRef> {
    let count = values.len();
    // Multiples of the golden section are far apart from one another.
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_unstable_by_key(|place| (*place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let places = UInt64Array::from_iter_values(places.into_iter().map(|place| place as u64));
    arrow_select::take::take(values, &places, None).ok()
}
