//! Cutoff of a top-N sort: which rows cannot be among the first rows that LIMIT asks for.
//!
//! A writer that holds more rows than are wanted knows a bound: the last wanted row. Before that, and when the limit
//! is larger than memory, so that rows leave in sorted runs, a histogram of all writers' rows tells how many lie
//! before a key, and the first key with enough of them is the bound (Chronis, Do, Graefe and Peters, External Merge
//! Sort for Top-K Queries, SIGMOD 2020).
//!
//! Invariant: at least `limit` rows have a prefix that is not greater than the bound's. So a row with a greater prefix
//! is never among the first.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as Atomic};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use mayfly_memory::sync::lock;
use mayfly_types::CollationId;

use crate::row_filter::NumberRange;

/// Number of buckets above which neighbours are joined in pairs.
const BUCKETS_MAX: usize = 4096;

/// First bytes of a row's normalised key; ordered as the rows are, but for ties.
pub(super) type Prefix = (u64, u64);

/// The first sort key.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstKey {
    /// Index of the column in the table.
    pub(super) column: usize,
    pub(super) descending: bool,
    /// Collation of strings.
    pub(super) collation: CollationId,
}

/// Bound: a row that is not before the last wanted one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) prefix: Prefix,
    pub(super) first: FirstValue,
}

/// First key of a bound, in a form that can be compared with a column of values.
#[derive(Debug, Clone, Copy)]
pub(super) enum FirstValue {
    Int(i64),
    UInt(u64),
    /// The unscaled value.
    Decimal(i128),
    /// The first bytes of a string, as in a view.
    Start(u32),
    /// NULL, or of a type for which the comparison does not pay.
    Unknown,
}

impl Bound {
    /// Selects the rows of a batch that may come before the bound by their first key; `None` when the first key does
    /// not tell.
    pub(super) fn select(&self, key: FirstKey, columns: &[ArrayRef]) -> Option<BooleanBuffer> {
        let array = columns.get(key.column)?;
        let after = if key.descending {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        let rows = array.len();
        let selected = match self.first {
            FirstValue::Unknown => return None,
            FirstValue::Int(bound) => {
                let values = array.as_primitive_opt::<Int64Type>()?.values();
                BooleanBuffer::collect_bool(rows, |row| values[row].cmp(&bound) != after)
            }
            FirstValue::UInt(bound) => {
                let values = array.as_primitive_opt::<UInt64Type>()?.values();
                BooleanBuffer::collect_bool(rows, |row| values[row].cmp(&bound) != after)
            }
            FirstValue::Decimal(bound) => {
                let values = array.as_primitive_opt::<Decimal128Type>()?.values();
                BooleanBuffer::collect_bool(rows, |row| values[row].cmp(&bound) != after)
            }
            FirstValue::Start(bound) => {
                let views = array.as_binary_view_opt()?.views();
                let collation = key.collation.collation();
                BooleanBuffer::collect_bool(rows, |row| {
                    let start = (views[row] >> 32) as u32;
                    collation.compare_starts(start, bound) != Some(after)
                })
            }
        };
        // NULLs have no value to compare.
        Some(match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => &selected | &!nulls.inner(),
            None => selected,
        })
    }
}

/// Cutoff shared by the writers of a table.
#[derive(Debug)]
pub(super) struct Cutoff {
    limit: u64,
    /// Number of changes of the bound.
    version: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bound: Option<Bound>,
    /// Buckets: (bound, number of rows that are not after it and not in the buckets before).
    buckets: Vec<(Bound, u64)>,
}

impl Cutoff {
    /// A cutoff for the first `limit` rows, without a bound yet.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            version: AtomicU64::new(0),
            state: Mutex::default(),
        }
    }

    /// Number of wanted rows.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Updates a writer's copy of the bound, whose version is `version`.
    pub(super) fn refresh(&self, version: &mut u64, bound: &mut Option<Bound>) {
        let now = self.version.load(Atomic::Acquire);
        if now != *version {
            *version = now;
            *bound = self.lock().bound;
        }
    }

    /// Offers a bound: at least the wanted number of rows is not after it.
    pub(super) fn offer(&self, bound: Bound) {
        self.lower(&mut self.lock(), bound);
    }

    /// Counts further rows: for each bucket, a bound that none of its rows is after, and their number.
    pub(super) fn add(&self, buckets: impl IntoIterator<Item = (Bound, u64)>) {
        let mut state = self.lock();
        state.buckets.extend(buckets);
        state.buckets.sort_by_key(|(bound, _)| bound.prefix);
        let mut before = 0_u64;
        let enough = state.buckets.iter().position(|(_, rows)| {
            before += rows;
            before >= self.limit
        });
        if let Some(last) = enough {
            state.buckets.truncate(last + 1);
            let (bound, _) = state.buckets[last];
            self.lower(&mut state, bound);
        }
        if state.buckets.len() > BUCKETS_MAX {
            let pairs = state.buckets.chunks(2);
            let joined = pairs.map(|pair| {
                let rows = pair.iter().map(|(_, rows)| rows).sum();
                (pair[pair.len() - 1].0, rows)
            });
            state.buckets = joined.collect();
        }
    }

    fn lower(&self, state: &mut State, bound: Bound) {
        if state.bound.is_none_or(|known| bound.prefix < known.prefix) {
            state.bound = Some(bound);
            self.version.fetch_add(1, Atomic::Release);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Bound of the first sort key of a table with a limit, for the source of the table's rows: rows beyond it need not come.
#[derive(Debug, Clone)]
pub struct FirstKeyBound {
    cutoff: Arc<Cutoff>,
    descending: bool,
}

impl FirstKeyBound {
    pub(super) fn new(cutoff: Arc<Cutoff>, descending: bool) -> Self {
        Self { cutoff, descending }
    }

    /// Range of the numbers (unscaled ones of decimals) that the first key of a row among the first can have, and becomes
    /// smaller while rows come; `None` as long as it is not known. NULL is in no range: of an ascending key it comes before
    /// all numbers.
    #[must_use]
    pub fn range(&self) -> Option<NumberRange> {
        let number = match self.cutoff.lock().bound?.first {
            FirstValue::Int(number) => number.into(),
            FirstValue::UInt(number) => number.into(),
            FirstValue::Decimal(number) => number,
            FirstValue::Start(_) | FirstValue::Unknown => return None,
        };
        Some(match self.descending {
            true => NumberRange {
                least: number,
                ..NumberRange::ALL
            },
            false => NumberRange {
                greatest: number,
                ..NumberRange::ALL
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(prefix: u64) -> Bound {
        Bound {
            prefix: (prefix, 0),
            first: FirstValue::Unknown,
        }
    }

    fn current(cutoff: &Cutoff) -> Option<u64> {
        let mut known = None;
        cutoff.refresh(&mut u64::MAX.clone(), &mut known);
        known.map(|bound| bound.prefix.0)
    }

    #[test]
    fn runs_together_give_a_bound() {
        let cutoff = Cutoff::new(100);
        cutoff.add((0..32).map(|bucket| (bound(bucket * 20 + 10), 2)));
        assert_eq!(current(&cutoff), None);
        // Up to 100 there are 10 rows of the first buckets, and 100 of these.
        cutoff.add((0..64).map(|bucket| (bound(bucket * 10 + 9), 10)));
        let first = current(&cutoff).expect("there are enough rows");
        assert!((90..=110).contains(&first), "{first}");
        cutoff.offer(bound(500));
        assert_eq!(current(&cutoff), Some(first));
        cutoff.offer(bound(7));
        assert_eq!(current(&cutoff), Some(7));
    }

    #[test]
    fn a_bound_is_never_too_low() {
        let cutoff = Cutoff::new(1000);
        let mut prefixes = Vec::new();
        for run in 0..2000_u64 {
            let mut rows: Vec<u64> = (0..7 + run % 90)
                .map(|row| row * 7919 % 1000 + run % 13)
                .collect();
            rows.sort_unstable();
            let buckets = rows.chunks(5);
            cutoff.add(buckets.map(|rows| (bound(rows[rows.len() - 1]), rows.len() as u64)));
            prefixes.extend(rows);
            if let Some(limit) = current(&cutoff) {
                let before = prefixes.iter().filter(|prefix| **prefix <= limit).count();
                assert!(before >= 1000);
            }
        }
        assert!(cutoff.lock().buckets.len() <= BUCKETS_MAX);
        assert!(current(&cutoff).is_some_and(|limit| limit < 100));
    }
}
