//! Top-n filter by partition: leaves out rows that are not among the first `n` of their partition, before they are
//! stored.
//!
//! For each partition a list of the least heads is kept: a head is a number made from a row's first sort key, which is
//! not greater for a row that comes first. A row whose head is greater than `n` heads comes behind `n` rows. Rows of
//! equal heads stay, so that the keys need not be compared as a whole.
//!
//! Where there are too many partitions for that, or too few rows are left out, all rows are kept.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use mayfly_memory::Reservation;
use mayfly_plan::physical::FirstRows;
use mayfly_storage::{GroupIndex, KeyMode, SortKey, TempTable};
use mayfly_types::{Batch, Result};

use crate::rows::filter_batch;

/// Maximum number of heads.
const HEADS_MAX: usize = 256 << 10;
/// Number of rows (and for each head that there is room for) after which the filter is judged: at least one of four
/// rows must be left out. None is before the lists are full.
const TRIAL_ROWS: u64 = 64 << 10;
const TRIAL_ROWS_PER_HEAD: u64 = 8;
const LEFT_OUT_MIN: u64 = 4;

pub(super) struct FirstRowsFilter {
    /// State of the filter; `None` where it does not pay.
    known: Option<Known>,
    partition: Vec<usize>,
    order: SortKey,
    rows: u64,
    left_out: u64,
}

/// State of the partitions.
struct Known {
    /// Index that numbers the partitions; `None` where all rows are one partition.
    index: Option<GroupIndex>,
    ids: Vec<u32>,
    heads: Heads,
    /// Memory of the heads.
    memory: Reservation,
}

/// The `n` least heads of each partition, in order.
struct Heads {
    heads: Vec<u64>,
    counts: Vec<u32>,
    count_max: usize,
    counts_values: bool,
}

impl FirstRowsFilter {
    /// Filter of a table's rows, by the partition keys and the sort keys; `None` where it cannot pay.
    pub(super) fn new(
        first: FirstRows,
        partition: &[SortKey],
        order: &[SortKey],
        table: &TempTable,
    ) -> Result<Option<Self>> {
        let count_max = usize::try_from(first.count.max(1)).unwrap_or(usize::MAX);
        let Some(order) = order.first() else {
            return Ok(None);
        };
        if count_max > HEADS_MAX {
            return Ok(None);
        }
        let index = if partition.is_empty() {
            None
        } else {
            let types = &table.spec().columns;
            let types: Vec<_> = partition.iter().map(|key| types[key.column]).collect();
            let modes: Vec<KeyMode> = partition.iter().map(|key| key.mode).collect();
            Some(GroupIndex::new(table, &types, &modes)?)
        };
        Ok(Some(Self {
            known: Some(Known {
                index,
                ids: Vec::new(),
                heads: Heads {
                    heads: Vec::new(),
                    counts: Vec::new(),
                    count_max,
                    counts_values: first.counts_values,
                },
                memory: table.reservation(),
            }),
            partition: partition.iter().map(|key| key.column).collect(),
            order: *order,
            rows: 0,
            left_out: 0,
        }))
    }

    /// Rows of a batch that may be among the first of their partitions.
    pub(super) fn keep(&mut self, batch: Batch) -> Result<Batch> {
        let rows = batch.row_count();
        let Some(known) = &mut self.known else {
            return Ok(batch);
        };
        let Some(heads) = heads_of(batch.column(self.order.column), &self.order) else {
            self.known = None;
            return Ok(batch);
        };
        let partitions = if let Some(index) = &mut known.index {
            let keys = self.partition.iter();
            let keys: Vec<ArrayRef> = keys
                .map(|key| ArrayRef::clone(batch.column(*key)))
                .collect();
            let numbered = index.find_or_insert(&keys, rows, &mut known.ids)?;
            if numbered < rows {
                self.known = None;
                return Ok(batch);
            }
            index.group_count()
        } else {
            known.ids.clear();
            known.ids.resize(rows, 0);
            1
        };
        let bytes = known.heads.bytes_of(partitions);
        if known.memory.try_resize(bytes).is_err() || !known.heads.make_room(partitions) {
            self.known = None;
            return Ok(batch);
        }
        let Known {
            ids, heads: least, ..
        } = known;
        let kept = BooleanBuffer::collect_bool(rows, |row| least.keeps(ids[row], heads[row]));
        let count = kept.count_set_bits();
        self.rows += rows as u64;
        self.left_out += (rows - count) as u64;
        let trial = TRIAL_ROWS_PER_HEAD * least.heads.len() as u64;
        if self.rows >= trial.max(TRIAL_ROWS) {
            if self.left_out < self.rows / LEFT_OUT_MIN {
                self.known = None;
            }
            (self.rows, self.left_out) = (0, 0);
        }
        Ok(filter_batch(&batch, &kept, count))
    }
}

impl Heads {
    /// Bytes of the heads of `partitions` partitions.
    fn bytes_of(&self, partitions: usize) -> u64 {
        let heads = partitions.saturating_mul(self.count_max);
        (heads.min(HEADS_MAX) * size_of::<u64>() + partitions * size_of::<u32>()) as u64
    }

    /// Reserves memory for the heads of `partitions` partitions; false where they are too many.
    fn make_room(&mut self, partitions: usize) -> bool {
        let wanted = partitions.saturating_mul(self.count_max);
        if wanted > HEADS_MAX {
            return false;
        }
        self.heads.resize(wanted, 0);
        self.counts.resize(partitions, 0);
        true
    }

    /// Whether a row may be among the first of its partition.
    #[inline]
    fn keeps(&mut self, partition: u32, head: u64) -> bool {
        let partition = partition as usize;
        let start = partition * self.count_max;
        let count = self.counts[partition] as usize;
        let is_full = count == self.count_max;
        if is_full {
            let last = self.heads[start + count - 1];
            if head >= last {
                return head == last;
            }
        }
        let known = &mut self.heads[start..start + self.count_max];
        let at = known[..count].partition_point(|other| *other < head);
        if self.counts_values && at < count && known[at] == head {
            return true;
        }
        // The last head of a full list is dropped.
        let end = if is_full { count } else { count + 1 };
        known[at..end].rotate_right(1);
        known[at] = head;
        self.counts[partition] = end as u32;
        true
    }
}

/// Heads of rows; `None` for keys of a type without heads.
fn heads_of(column: &ArrayRef, order: &SortKey) -> Option<Vec<u64>> {
    let signed = |value: i64| value.cast_unsigned() ^ 1 << 63;
    let mut heads: Vec<u64> = match column.data_type() {
        DataType::Int64 => {
            let values = column.as_primitive::<Int64Type>().values();
            values.iter().map(|value| signed(*value)).collect()
        }
        DataType::UInt64 => column.as_primitive::<UInt64Type>().values().to_vec(),
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>().values();
            let bits = |value: &f64| {
                let bits = (value + 0.0).to_bits();
                bits ^ if bits >> 63 == 1 { u64::MAX } else { 1 << 63 }
            };
            values.iter().map(bits).collect()
        }
        DataType::Decimal128(..) => {
            let values = column.as_primitive::<Decimal128Type>().values();
            let near = |value: &i128| (*value).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            values.iter().map(|value| signed(near(value))).collect()
        }
        _ => return None,
    };
    if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (row, head) in heads.iter_mut().enumerate() {
            if nulls.is_null(row) {
                *head = 0;
            }
        }
    }
    if order.descending {
        heads.iter_mut().for_each(|head| *head = !*head);
    }
    Some(heads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(counts_values: bool, rows: &[u64]) -> Vec<u64> {
        let mut heads = Heads {
            heads: Vec::new(),
            counts: Vec::new(),
            count_max: 3,
            counts_values,
        };
        assert!(heads.make_room(2));
        let rows = rows.iter().copied();
        rows.filter(|row| heads.keeps(1, *row)).collect()
    }

    #[test]
    fn rows_behind_as_many_as_are_asked_for_are_left_out() {
        assert_eq!(
            kept(false, &[5, 9, 7, 8, 9, 7, 1, 6, 2, 5]),
            [5, 9, 7, 8, 7, 1, 6, 2, 5]
        );
        assert_eq!(kept(false, &[4, 4, 4, 4, 5]), [4, 4, 4, 4]);
        assert_eq!(
            kept(true, &[4, 4, 4, 5, 6, 7, 6, 3, 6, 5]),
            [4, 4, 4, 5, 6, 6, 3, 5]
        );
    }
}
