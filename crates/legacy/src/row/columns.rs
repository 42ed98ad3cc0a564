//! Building of columns from rows, value by value.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryViewBuilder;
use arrow_buffer::{NullBufferBuilder, i256};
use mayfly_storage::values::{StoredValue, decimal128_array, decimal256_array, word_array};
use mayfly_types::{Batch, PhysicalType};

#[derive(Debug)]
enum Values {
    Words(Vec<u64>),
    Decimal128(Vec<i128>),
    Decimal256(Vec<i256>),
    Bytes(BinaryViewBuilder),
}

#[derive(Debug)]
struct Column {
    ty: PhysicalType,
    values: Values,
    nulls: NullBufferBuilder,
}

impl Column {
    fn new(ty: PhysicalType) -> Self {
        Self {
            ty,
            values: match ty {
                PhysicalType::Decimal128(_) => Values::Decimal128(Vec::new()),
                PhysicalType::Decimal256(_) => Values::Decimal256(Vec::new()),
                PhysicalType::Bytes => Values::Bytes(BinaryViewBuilder::new()),
                _ => Values::Words(Vec::new()),
            },
            nulls: NullBufferBuilder::new(0),
        }
    }

    #[inline]
    fn push(&mut self, value: StoredValue<'_>) {
        if matches!(value, StoredValue::Null) {
            self.nulls.append_null();
        } else {
            self.nulls.append_non_null();
        }
        match (&mut self.values, value) {
            (Values::Words(words), StoredValue::Word(word)) => words.push(word),
            (Values::Words(words), _) => words.push(0),
            (Values::Decimal128(values), StoredValue::Decimal128(value)) => values.push(value),
            (Values::Decimal128(values), _) => values.push(0),
            (Values::Decimal256(values), StoredValue::Decimal256(value)) => values.push(value),
            (Values::Decimal256(values), _) => values.push(i256::ZERO),
            (Values::Bytes(values), StoredValue::Bytes(text)) => values.append_value(text),
            // `nulls` tells which rows are NULL.
            (Values::Bytes(values), _) => values.append_value([]),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let nulls = self.nulls.finish();
        match &mut self.values {
            Values::Words(words) => word_array(self.ty, std::mem::take(words), nulls),
            Values::Decimal128(values) => decimal128_array(self.ty, std::mem::take(values), nulls),
            Values::Decimal256(values) => decimal256_array(self.ty, std::mem::take(values), nulls),
            Values::Bytes(values) => {
                let (views, buffers, _) = values.finish().into_parts();
                Arc::new(arrow_array::BinaryViewArray::new(views, buffers, nulls))
            }
        }
    }
}

/// Builder of some columns from rows.
#[derive(Debug)]
pub(crate) struct RowSink {
    columns: Vec<(usize, Column)>,
    /// For each column of the table, its index among `columns`.
    places: Vec<Option<usize>>,
    /// Output columns, as indexes among `columns`.
    wanted: Vec<usize>,
    rows: usize,
    bytes: usize,
}

impl RowSink {
    /// A builder for a table with columns of these types, whose output is `wanted`.
    pub(crate) fn new(types: &[PhysicalType], wanted: &[usize]) -> Self {
        let mut sink = Self {
            columns: Vec::new(),
            places: vec![None; types.len()],
            wanted: Vec::with_capacity(wanted.len()),
            rows: 0,
            bytes: 0,
        };
        for &column in wanted {
            let next = sink.columns.len();
            let place = *sink.places[column].get_or_insert(next);
            if place == next {
                sink.columns.push((column, Column::new(types[column])));
            }
            sink.wanted.push(place);
        }
        sink
    }

    /// Adds a row whose columns `value` returns.
    #[inline]
    pub(crate) fn push_row<'a>(&mut self, value: impl Fn(usize) -> StoredValue<'a>) {
        for (column, values) in &mut self.columns {
            let value = value(*column);
            self.bytes += bytes_of(value);
            values.push(value);
        }
        self.rows += 1;
    }

    /// Adds a value of the next row; every wanted column must be added before the row ends.
    #[inline]
    pub(crate) fn push(&mut self, column: usize, value: StoredValue<'_>) {
        if let Some(place) = self.places[column] {
            self.bytes += bytes_of(value);
            self.columns[place].1.push(value);
        }
    }

    /// Completes the row.
    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of their strings.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The rows as a batch.
    pub(crate) fn finish(&mut self) -> Batch {
        let columns = self.columns.iter_mut();
        let columns: Vec<_> = columns.map(|(_, column)| column.finish()).collect();
        let wanted = self.wanted.iter().map(|place| Arc::clone(&columns[*place]));
        self.bytes = 0;
        Batch::new(wanted.collect(), std::mem::take(&mut self.rows))
    }
}

fn bytes_of(value: StoredValue<'_>) -> usize {
    match value {
        StoredValue::Bytes(text) => text.len(),
        _ => 0,
    }
}
