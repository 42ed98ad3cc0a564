//! A table over batches that exist already.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mayfly_types::{Batch, PhysicalType, Result};

use crate::scan_request::{ColumnId, ScanRequest};
use crate::streamed::columns_of;
use crate::table::{Table, TableScan, TableStatistics};

/// Read-only table of batches. A scan gives them as they are.
#[derive(Debug)]
pub struct BatchTable {
    columns: Vec<PhysicalType>,
    batches: Arc<[Batch]>,
}

impl BatchTable {
    /// A table of these batches.
    pub fn new(columns: Vec<PhysicalType>, batches: impl IntoIterator<Item = Batch>) -> Self {
        Self {
            columns,
            batches: batches.into_iter().collect(),
        }
    }
}

impl Table for BatchTable {
    fn columns(&self) -> &[PhysicalType] {
        &self.columns
    }

    fn statistics(&self) -> TableStatistics {
        let rows = self.batches.iter().map(|batch| batch.row_count() as u64);
        TableStatistics {
            rows: rows.sum(),
            ..TableStatistics::default()
        }
    }

    fn scan(&self, request: &ScanRequest<'_>) -> Result<Box<dyn TableScan>> {
        Ok(Box::new(BatchScan {
            batches: Arc::clone(&self.batches),
            columns: request.columns.into(),
            next: Arc::default(),
        }))
    }
}

#[derive(Clone)]
struct BatchScan {
    batches: Arc<[Batch]>,
    columns: Arc<[ColumnId]>,
    /// Index of the next batch that no worker has taken.
    next: Arc<AtomicUsize>,
}

impl TableScan for BatchScan {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let batch = self.batches.get(index);
        Ok(batch.map(|batch| columns_of(batch, &self.columns)))
    }

    fn for_another_worker(&self) -> Box<dyn TableScan> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    #[test]
    fn workers_share_the_batches_of_a_scan() {
        let numbers = |range: std::ops::Range<i64>| {
            let rows = range.clone().count();
            Batch::new(vec![Arc::new(Int64Array::from_iter_values(range))], rows)
        };
        let table = BatchTable::new(
            vec![PhysicalType::Int64],
            [numbers(0..3), numbers(3..4), numbers(4..9)],
        );
        assert_eq!(table.statistics().rows, 9);
        let mut first = table
            .scan(&ScanRequest::of(&[ColumnId(0), ColumnId(0)]))
            .expect("a scan");
        let mut second = first.for_another_worker();
        let mut seen = Vec::new();
        while let Some(batch) = first.next_batch().expect("rows") {
            assert_eq!(batch.columns().len(), 2);
            let column = batch.column(1).as_primitive::<Int64Type>();
            seen.extend_from_slice(column.values());
            if let Some(batch) = second.next_batch().expect("rows") {
                let column = batch.column(0).as_primitive::<Int64Type>();
                seen.extend_from_slice(column.values());
            }
        }
        assert_eq!(seen, (0..9).collect::<Vec<i64>>());
    }
}
