//! Side of a hash join, and the table that its rows go to.
//!
//! While a side is drained into its table, its keys fill filters: of single keys for the scans of the other side, of
//! whole keys for the rows of the other side that would be written to a table. So a filter refuses a row only after the
//! whole side was read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array, ArrayRef};
use mayfly_plan::physical::TemporaryTable;
use mayfly_storage::{Access, KeyColumn, TempTable};
use mayfly_types::{Batch, Result};

use crate::context::{Node, RunContext};
use crate::hash_filter::HashFilter;
use crate::key_filter::KeyFilter;
use crate::operators::keys::Layout;
use crate::operators::tables;

/// Estimated bytes of a row of a build side: with less memory than several times this for all rows, the probe side may
/// have to be written to a table.
const HASH_FILTER_ROW_BYTES: u64 = 64;

/// Side of a hash join.
pub(super) struct Side {
    pub(super) input: Arc<dyn Node>,
    pub(super) layout: Layout,
    pub(super) keys: Vec<KeyColumn>,
}

impl Side {
    pub(super) fn key_columns(&self) -> Vec<usize> {
        self.keys.iter().map(|key| key.column).collect()
    }

    /// An empty filter of the side's whole keys, if the other side may have to be written to a table.
    fn hash_filter(&self, table: &TempTable, run: &RunContext) -> Option<HashFilter> {
        let memory = run.statement.temp.memory();
        let keys = self.input.rows_hint();
        let is_large = keys >= run.statement.options.partitioned_join_rows_min
            || keys.saturating_mul(HASH_FILTER_ROW_BYTES) > memory.available() / 4;
        is_large
            .then(|| HashFilter::new(table.hasher(), keys, memory))
            .flatten()
    }

    fn keys_of(&self, batch: &Batch) -> Vec<ArrayRef> {
        let columns = self.keys.iter().map(|key| batch.column(key.column));
        columns.map(Arc::clone).collect()
    }

    /// Drains the prepared side into a table with hash access, and its keys into filters.
    pub(super) fn fill(
        &self,
        temporary: &TemporaryTable,
        filters: &[BuildFilter],
        whole_keys: WholeKeys<'_>,
        run: &RunContext,
    ) -> Result<Built> {
        let table = tables::create(
            temporary,
            self.layout.columns.clone(),
            Access::Hash(self.keys.clone()),
            run,
        )?;
        let made = match whole_keys {
            WholeKeys::Added => self.hash_filter(&table, run),
            WholeKeys::Ignored | WholeKeys::Asked(_) => None,
        };
        let has_null_key = AtomicBool::new(false);
        tables::fill(&table, &self.input, usize::MAX, run, |batch, run| {
            let mut batch = self.layout.extend(batch, run)?;
            if let Some(made) = &made {
                made.add(&self.keys_of(&batch), batch.row_count());
            }
            if let WholeKeys::Asked(filter) = whole_keys {
                batch = filter.kept(&self.keys_of(&batch), batch);
            }
            for key in filters {
                key.filter.add(batch.column(key.build_column));
            }
            let has_null =
                |key: &KeyColumn| !key.null_safe && batch.column(key.column).null_count() > 0;
            if self.keys.iter().any(has_null) {
                has_null_key.store(true, Ordering::Relaxed);
            }
            Ok(batch)
        })?;
        let rows = table.row_count();
        let is_dense = match (self.keys.as_slice(), filters) {
            ([_], [key]) => key.filter.span().is_some_and(|span| span / 4 < rows),
            _ => false,
        };
        Ok(Built {
            rows,
            is_dense,
            table,
            has_null_key: has_null_key.into_inner(),
            whole_keys: made,
        })
    }
}

/// Table of a side, with what is known of its rows.
pub(super) struct Built {
    pub(super) table: TempTable,
    pub(super) rows: u64,
    /// Whether the only key is an integer of a dense range: rows are found in an array.
    pub(super) is_dense: bool,
    pub(super) has_null_key: bool,
    /// Filter of the whole keys, if it was asked for and the keys are many.
    whole_keys: Option<HashFilter>,
}

impl Built {
    /// Filter for the rows of the other side that are written to a table.
    pub(super) fn asked(&self) -> WholeKeys<'_> {
        self.whole_keys
            .as_ref()
            .map_or(WholeKeys::Ignored, WholeKeys::Asked)
    }
}

/// Use of the whole keys of rows that are written to a table.
#[derive(Clone, Copy)]
pub(super) enum WholeKeys<'a> {
    Ignored,
    /// Keys are added to a filter, if they are many.
    Added,
    /// Rows whose key is not in this filter are left out.
    Asked(&'a HashFilter),
}

/// A filter of the build side's values of one key.
pub(super) struct BuildFilter {
    pub(super) filter: Arc<KeyFilter>,
    pub(super) build_column: usize,
}
