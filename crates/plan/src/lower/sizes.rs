//! Estimated bytes of temporary tables for EXPLAIN, from the statistics of columns.

use crate::lower::Lowering;
use crate::table_size::{batch_row_bytes, string_bytes};
use crate::tree::logical::ColumnId;
use crate::tree::physical::{Plan, TemporaryTable};
use mayfly_types::SqlType;

/// Number of first rows (and their bytes, at most) that a grouping holds until it knows whether keys repeat.
const SAMPLE_ROWS: f64 = (32 << 10) as f64;
const SAMPLE_BYTES: f64 = (4 << 20) as f64;
/// Maximum size of the array over the key range of groups by one integer, with room on both sides.
const WINDOW_MAX: f64 = (1 << 20) as f64;
const WINDOW_SLOT_BYTES: f64 = 4.0;

impl Lowering {
    /// A temporary table of rows of these columns, with estimated text bytes.
    pub(super) fn sized(
        &self,
        mut temporary: TemporaryTable,
        layout: &[ColumnId],
        types: &[SqlType],
    ) -> TemporaryTable {
        if self.sizes_tables {
            let texts = layout.iter().zip(types).map(|(id, ty)| {
                let known = self.estimates.average_bytes(*id, ty);
                string_bytes(ty, known)
            });
            temporary.text_bytes = Some(texts.sum::<f64>().round() as u32);
        }
        temporary
    }

    /// Adds the estimated working memory of grouping the rows of an input by these keys.
    pub(super) fn with_work(
        &self,
        mut temporary: TemporaryTable,
        keys: &[ColumnId],
        input: &Plan,
    ) -> TemporaryTable {
        if self.sizes_tables {
            let sampled = input.estimated_rows.min(SAMPLE_ROWS);
            let sample = (sampled * batch_row_bytes(&input.output)).min(SAMPLE_BYTES);
            let window = match keys {
                [key] => self.estimates.span(*key).filter(|span| *span < WINDOW_MAX),
                _ => None,
            };
            let window = window.map_or(0.0, |span| (span * 2.0).min(WINDOW_MAX));
            temporary.work_bytes = (sample + window * WINDOW_SLOT_BYTES) as u64;
        }
        temporary
    }
}
