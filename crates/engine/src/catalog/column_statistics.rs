//! Statistics of the columns of a table: computed from a sample when they are first asked for, and again once a fifth
//! of the rows was changed. They belong to the table, and all sessions share them, whatever their time zones: a
//! TIMESTAMP is in UTC here, and an estimate of a range of them is off by some hours. Histograms are read once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::Array;
use mayfly_plan::ColumnStatistics;
use mayfly_plan::statistics::Sampler;
use mayfly_storage::{ColumnId, Table};
use mayfly_types::json::Json;
use mayfly_types::{GeometryKind, Result, SqlType, TypeKind};
use parking_lot::Mutex;

use super::histogram::Histogram;

/// Rows of a sample. Twice as many would make the estimated numbers of different values better by half at most.
const SAMPLE_ROWS: usize = 16_384;
/// Rows of a sample where values may be long.
const SAMPLE_LONG_ROWS: usize = 1024;
/// The most bytes of a VECTOR that is not long.
const SHORT_VECTOR_BYTES: u32 = 255;
/// The bytes of a sample's strings, which no limit counts.
const SAMPLE_BYTES: u64 = 256 << 10;
/// Rows per piece of the table: where strings have more bytes than their share, the first rows of each piece are
/// kept.
const SAMPLE_PIECE_ROWS: usize = 32;
/// Changed rows up to which a sample is never taken anew.
const CHANGES_MIN: u64 = 16;

/// Cached statistics of a table's columns.
#[derive(Debug, Default)]
pub(crate) struct ColumnStatisticsCache {
    /// Number of rows changed so far.
    changes: AtomicU64,
    columns: Mutex<HashMap<usize, Known>>,
    histograms: Mutex<HashMap<usize, OfHistogram>>,
}

/// Statistics from a histogram, with the row count that they were computed for.
#[derive(Debug)]
struct OfHistogram {
    document: Arc<Json>,
    rows: u64,
    statistics: Option<Arc<ColumnStatistics>>,
}

/// Statistics from a sample, with the counts at that time.
#[derive(Debug)]
struct Known {
    statistics: Arc<ColumnStatistics>,
    rows: u64,
    changes: u64,
}

impl ColumnStatisticsCache {
    /// Counts `rows` added or changed rows; removed ones show in the row count.
    pub(crate) fn count_changes(&self, rows: u64) {
        self.changes.fetch_add(rows, Ordering::Relaxed);
    }

    /// Drops all cached statistics.
    pub(crate) fn forget(&self) {
        self.columns.lock().clear();
    }

    /// Statistics from the histogram of a column, for a table that now has `rows` rows; `None` for a damaged
    /// histogram.
    pub(crate) fn of_histogram(
        &self,
        histogram: &Histogram,
        column: usize,
        ty: &SqlType,
        rows: u64,
    ) -> Option<Arc<ColumnStatistics>> {
        let mut histograms = self.histograms.lock();
        if let Some(known) = histograms.get(&column)
            && known.rows == rows
            && Arc::ptr_eq(&known.document, &histogram.document)
        {
            return known.statistics.clone();
        }
        let statistics = histogram.statistics(ty, rows).map(Arc::new);
        let made = OfHistogram {
            document: Arc::clone(&histogram.document),
            rows,
            statistics: statistics.clone(),
        };
        histograms.insert(column, made);
        statistics
    }

    /// Statistics of a column, as a statement sees the table.
    pub(crate) fn column(
        &self,
        table: &dyn Table,
        column: usize,
        ty: &SqlType,
    ) -> Option<Arc<ColumnStatistics>> {
        let rows = table.statistics().rows;
        if rows == 0 {
            return None;
        }
        let changes = self.changes.load(Ordering::Relaxed);
        if let Some(known) = self.columns.lock().get(&column) {
            let moved = known.rows.abs_diff(rows);
            let moved = moved.max(changes.saturating_sub(known.changes));
            if moved <= known.rows / 5 + CHANGES_MIN.min(known.rows) {
                return Some(Arc::clone(&known.statistics));
            }
        }
        // A failing estimate is no reason for a statement to fail.
        let statistics = Arc::new(sampled(table, column, ty, rows).ok()??);
        let known = Known {
            statistics: Arc::clone(&statistics),
            rows,
            changes,
        };
        self.columns.lock().insert(column, known);
        Some(statistics)
    }
}

fn sampled(
    table: &dyn Table,
    column: usize,
    ty: &SqlType,
    rows: u64,
) -> Result<Option<ColumnStatistics>> {
    let has_long_values = match ty.kind {
        TypeKind::Geometry(GeometryKind::Point) => false,
        TypeKind::Vector => ty.length > SHORT_VECTOR_BYTES,
        kind => ty.is_blob() || kind == TypeKind::Json,
    };
    let wanted = if has_long_values {
        SAMPLE_LONG_ROWS
    } else {
        SAMPLE_ROWS
    };
    let mut sampler = Sampler::new(ty, rows, wanted);
    let expected = rows.clamp(1, wanted as u64);
    // The end of the table is represented as well as its beginning: each `rows` rows have their share of the bytes,
    // and what the rows before them left over.
    let share = |rows: u64| SAMPLE_BYTES * rows.min(expected) / expected;
    let (mut seen, mut kept_bytes) = (0, 0);
    table.sample(&[ColumnId(column)], wanted, &mut |run| {
        let rows = run.row_count();
        let fits = kept_bytes + run.string_bytes() as u64 <= share(seen + rows as u64);
        let piece_rows = if fits { rows } else { SAMPLE_PIECE_ROWS };
        for start in (0..rows).step_by(piece_rows.max(1)) {
            let piece = run.slice(start, piece_rows.min(rows - start));
            let (count, bytes) = (piece.row_count() as u64, piece.string_bytes() as u64);
            seen += count;
            let room = share(seen).saturating_sub(kept_bytes);
            // The number of strings of average length that fit.
            let fitting = (count * room)
                .checked_div(bytes)
                .map_or(count, |most| most.min(count));
            if fitting > 0 {
                kept_bytes += bytes * fitting / count;
                sampler.add(&piece.column(0).slice(0, fitting as usize));
            }
        }
        Ok(())
    })?;
    Ok(sampler.finish())
}
