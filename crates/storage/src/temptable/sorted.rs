//! Reading a table in order.

use std::cmp::Ordering;

use mayfly_types::{Batch, Result};

use super::keys::append_key;
use super::spec::Access;
use super::table::TempTable;

/// The rows of a table in the order of its sort keys.
pub struct SortedScan {
    rows: Batch,
    order: Vec<u32>,
    next: usize,
    batch_rows: usize,
}

impl SortedScan {
    pub(crate) fn open(table: &TempTable, offset: u64, limit: Option<u64>) -> Result<Self> {
        let rows = table.all_rows();
        let keys = match &table.spec().access {
            Access::Ordered { keys, .. } => keys.as_slice(),
            Access::Plain | Access::Hash(_) => &[],
        };
        let encoded: Vec<Vec<Vec<u8>>> = (0..rows.row_count())
            .map(|row| {
                let key = |key: &super::spec::SortKey| {
                    let mut bytes = Vec::new();
                    append_key(rows.column(key.column), row, key.mode, &mut bytes);
                    bytes
                };
                keys.iter().map(key).collect()
            })
            .collect();
        let mut order: Vec<u32> = (0..rows.row_count() as u32).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&encoded[*a as usize], &encoded[*b as usize]);
            for (index, key) in keys.iter().enumerate() {
                let order = a[index].cmp(&b[index]);
                let order = if key.descending {
                    order.reverse()
                } else {
                    order
                };
                if order != Ordering::Equal {
                    return order;
                }
            }
            Ordering::Equal
        });
        let start = order
            .len()
            .min(usize::try_from(offset).unwrap_or(usize::MAX));
        order.drain(..start);
        if let Some(limit) = limit {
            order.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let batch_rows = table.0.context.options().batch_rows;
        Ok(Self {
            rows,
            order,
            next: 0,
            batch_rows,
        })
    }

    /// The next rows, all columns; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        let count = self.batch_rows.min(self.order.len() - self.next);
        if count == 0 {
            return Ok(None);
        }
        let indices =
            arrow_array::UInt32Array::from(self.order[self.next..self.next + count].to_vec());
        self.next += count;
        let columns = self
            .rows
            .columns()
            .iter()
            .map(|column| {
                arrow_select::take::take(column, &indices, None).expect("rows lie in the table")
            })
            .collect();
        Ok(Some(Batch::new(columns, count)))
    }
}
