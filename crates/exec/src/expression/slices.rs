//! Number of rows to take at once where results may be long, so that the results fit in memory.
//!
//! Types give the maximum length of a result, not its length. So a slice begins with one row, and grows as long as the
//! rows before have made little.

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use mayfly_types::{PhysicalType, SqlType, TypeKind};

use crate::context::RunContext;

/// Length up to which results are not sliced: a batch of them is a few MiB.
const LENGTH_MAX: u32 = 1024;
/// Maximum and minimum bytes that the rows of a slice should make.
const BYTES_MAX: u64 = 4 << 20;
const BYTES_MIN: u64 = 64 << 10;
/// Fraction of the memory limit that a slice should make at most.
const PART_OF_LIMIT: u64 = 64;
/// Fraction of the memory limit for a batch of texts that are not long.
const PART_OF_LIMIT_FOR_SHORT: u64 = 8;

/// Whether a value of this type may be long.
pub(crate) fn is_wide(ty: &SqlType) -> bool {
    ty.physical() == PhysicalType::Bytes && (ty.length > LENGTH_MAX || ty.kind == TypeKind::Json)
}

/// Adaptive number of rows of a slice; shared by the threads that take slices.
#[derive(Debug)]
pub(crate) struct SliceRows(AtomicUsize);

impl Default for SliceRows {
    fn default() -> Self {
        Self(AtomicUsize::new(1))
    }
}

/// Rows taken, and the bytes made before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    rows: usize,
    made: u64,
}

impl SliceRows {
    /// Number of rows to take from `start` on of the `count` rows of a batch. Long strings in its columns are assumed
    /// to make long strings.
    pub(crate) fn take(
        &self,
        columns: &[ArrayRef],
        start: usize,
        count: usize,
        run: &RunContext,
    ) -> Taken {
        let mut rows = self.0.load(Ordering::Relaxed).min(count - start);
        let most = bytes_max(run);
        let mut bytes = 0_u64;
        if rows > 1 {
            let strings: Vec<_> = columns
                .iter()
                .filter(|column| column.len() == count)
                .filter_map(AsArray::as_binary_view_opt)
                .collect();
            for row in start..start + rows {
                let lengths = strings.iter().map(|strings| strings.views()[row] as u32);
                bytes += lengths.map(u64::from).sum::<u64>();
                if bytes > most {
                    rows = (row - start).max(1);
                    break;
                }
            }
        }
        Taken {
            rows,
            made: run.evaluation().made.load(Ordering::Relaxed),
        }
    }

    /// Records that the rows taken are processed.
    pub(crate) fn done(&self, taken: Taken, run: &RunContext) {
        let made = run.evaluation().made.load(Ordering::Relaxed);
        let made = made.saturating_sub(taken.made);
        let most = taken.rows.saturating_mul(2);
        let rows = match made / taken.rows as u64 {
            0 => most,
            of_row => usize::try_from(bytes_max(run) / of_row).map_or(most, |rows| rows.min(most)),
        };
        let limit = run.statement.options.batch_rows;
        self.0.store(rows.clamp(1, limit.max(1)), Ordering::Relaxed);
    }
}

/// Number of rows to take at once of rows that make texts of at most these lengths; `None` where memory has room for a
/// whole batch.
pub(crate) fn slice_of_short(
    lengths: impl Iterator<Item = u32>,
    run: &RunContext,
) -> Option<usize> {
    let of_row = lengths.map(u64::from).sum::<u64>();
    let limit = run.statement.temp.memory().effective_limit();
    let batch = of_row.saturating_mul(run.statement.options.batch_rows as u64);
    (batch > limit / PART_OF_LIMIT_FOR_SHORT)
        .then(|| usize::try_from(bytes_max(run) / of_row.max(1)).unwrap_or(usize::MAX))
        .map(|rows| rows.max(1))
}

impl Taken {
    /// Rows from which no slice size is learned.
    pub(crate) fn of_rows(rows: usize) -> Self {
        Self { rows, made: 0 }
    }

    pub(crate) fn rows(self) -> usize {
        self.rows
    }
}

fn bytes_max(run: &RunContext) -> u64 {
    let limit = run.statement.temp.memory().effective_limit();
    (limit / PART_OF_LIMIT).clamp(BYTES_MIN, BYTES_MAX)
}
