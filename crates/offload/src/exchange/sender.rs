//! The sending end of an exchange.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, UInt64Array, new_null_array};
use mayfly_storage::table::IndexPart;
use mayfly_storage::{KeyEncoder, KeyMode};
use mayfly_types::{Batch, PhysicalType, SqlType};

use super::Note;
use crate::exchange::ENVELOPE;
use crate::job::{Exchange, carried};

/// Sender of a run's rows to the runs of the receiving fragment.
pub(crate) struct Sender {
    /// Arrays of the columns.
    columns: Vec<PhysicalType>,
    /// Encoder of the columns that decide where a row goes; `None` where all rows go to partition 0.
    keys: Option<KeyEncoder>,
    /// Number of rows sent to each partition.
    sent: Vec<u64>,
    /// Bytes of the rows sent.
    bytes: u64,
}

impl Sender {
    /// A sender by an exchange to that many runs.
    pub(crate) fn new(types: &[SqlType], exchange: &Exchange, receivers: usize) -> Self {
        let columns: Vec<PhysicalType> = types.iter().map(carried).collect();
        let (keys, targets) = match exchange {
            Exchange::Hash(keys) => (keys.as_slice(), receivers.max(1)),
            // The transport brings each row to all runs.
            Exchange::Broadcast | Exchange::Gather => (&[][..], 1),
        };
        let part = |column: &usize| {
            let ty = &types[*column];
            let mode = match ty.physical() {
                PhysicalType::Bytes => KeyMode::Collated(ty.comparison_collation()),
                _ => KeyMode::Binary,
            };
            IndexPart::new(*column, mode)
        };
        let parts: Vec<IndexPart> = keys.iter().map(part).collect();
        let keys = (!parts.is_empty()).then(|| KeyEncoder::new(&columns, &parts));
        Self {
            columns,
            keys,
            sent: vec![0; targets],
            bytes: 0,
        }
    }

    /// Rows in their envelope.
    pub(crate) fn send(&mut self, batch: Batch) -> Batch {
        let batch = batch.decoded();
        let rows = batch.row_count();
        let targets = match &self.keys {
            Some(keys) if self.sent.len() > 1 => {
                let keys = keys.rows(batch.columns());
                let mut key = Vec::new();
                let targets = (0..rows).map(|row| {
                    key.clear();
                    keys.append(row, &mut key);
                    hash(&key) % self.sent.len() as u64
                });
                UInt64Array::from_iter_values(targets)
            }
            _ => UInt64Array::from_value(0, rows),
        };
        for target in targets.values() {
            // In range: it is a remainder.
            self.sent[*target as usize] += 1;
        }
        self.bytes += batch.columns().iter().map(bytes_of).sum::<u64>();
        let note = new_null_array(&PhysicalType::Bytes.arrow(), rows);
        let mut columns = batch.into_columns();
        columns.extend([Arc::new(targets) as ArrayRef, note]);
        Batch::new(columns, rows)
    }

    /// Number of rows sent.
    pub(crate) fn rows(&self) -> u64 {
        self.sent.iter().sum()
    }

    /// Bytes of the rows sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The last batch of a run: `note` to each partition, with warnings and figures to the first one.
    pub(crate) fn end(&self, note: &Note) -> Batch {
        let notes = self.sent.iter().enumerate().map(|(target, rows)| {
            let own = match target {
                0 => note.clone(),
                _ => Note {
                    partition: note.partition,
                    rows: 0,
                    condition_count: 0,
                    conditions: Vec::new(),
                    figures: Vec::new(),
                },
            };
            Note { rows: *rows, ..own }.encode()
        });
        let notes: BinaryViewArray = notes.map(Some).collect();
        let targets = UInt64Array::from_iter_values(0..self.sent.len() as u64);
        let nothing = |ty: &PhysicalType| new_null_array(&ty.arrow(), self.sent.len());
        let mut columns: Vec<ArrayRef> = self.columns.iter().map(nothing).collect();
        columns.extend([Arc::new(targets) as ArrayRef, Arc::new(notes)]);
        debug_assert_eq!(columns.len(), self.columns.len() + ENVELOPE.len());
        Batch::new(columns, self.sent.len())
    }
}

/// Hash of an encoded key: FNV-1a, whose high bits are mixed into the low ones, which choose the partition. Every worker
/// has to compute the same one.
fn hash(key: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
}

/// Bytes of the values of an array, without those of buffers that it shares with other rows.
fn bytes_of(array: &ArrayRef) -> u64 {
    match array.as_binary_view_opt() {
        // The low half of a view is the length of its value.
        Some(texts) => {
            let lengths = texts.views().iter().map(|view| u64::from(*view as u32));
            lengths.sum::<u64>() + 16 * array.len() as u64
        }
        None => array.to_data().get_slice_memory_size().unwrap_or(0) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_rows_are_those_of_their_values() {
        let texts = (0..1000).map(|n| Some(vec![b'x'; 40 + n % 2]));
        let all: ArrayRef = Arc::new(texts.collect::<BinaryViewArray>());
        // Ten rows share the buffer of all.
        assert_eq!(bytes_of(&all.slice(0, 10)), 5 * (40 + 41) + 160);
        let numbers: ArrayRef = Arc::new(UInt64Array::from_value(1, 1000));
        assert_eq!(bytes_of(&numbers.slice(3, 10)), 80);
    }
}
