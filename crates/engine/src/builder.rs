//! Builders of columns, in the physical type of the column.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryViewBuilder, Decimal128Builder, Decimal256Builder, Float64Builder, Int64Builder,
    UInt64Builder,
};
use arrow_buffer::i256;
use mayfly_types::{Batch, PhysicalType, SqlType, Value};

/// A column under construction.
#[derive(Debug)]
pub(crate) enum ColumnBuilder {
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Float64(Float64Builder),
    Decimal128(Decimal128Builder, u8),
    Decimal256(Decimal256Builder, u8),
    Bytes(BinaryViewBuilder),
}

impl ColumnBuilder {
    /// An empty column of a type.
    pub(crate) fn new(ty: &SqlType) -> Self {
        Self::with_capacity(ty, 0)
    }

    /// An empty column of type `ty` with room for `rows` rows.
    fn with_capacity(ty: &SqlType, rows: usize) -> Self {
        let physical = ty.physical();
        match physical {
            PhysicalType::Bool | PhysicalType::Int64 => {
                Self::Int64(Int64Builder::with_capacity(rows))
            }
            PhysicalType::UInt64 => Self::UInt64(UInt64Builder::with_capacity(rows)),
            PhysicalType::Float64 => Self::Float64(Float64Builder::with_capacity(rows)),
            PhysicalType::Decimal128(scale) => {
                let builder = Decimal128Builder::with_capacity(rows);
                let builder = builder.with_data_type(physical.arrow());
                Self::Decimal128(builder, scale)
            }
            PhysicalType::Decimal256(scale) => {
                let builder = Decimal256Builder::with_capacity(rows);
                let builder = builder.with_data_type(physical.arrow());
                Self::Decimal256(builder, scale)
            }
            // Its blocks grow with their contents.
            PhysicalType::Bytes => Self::Bytes(BinaryViewBuilder::with_capacity(rows)),
        }
    }

    /// Appends a value of the column's type; a value of another physical type becomes NULL.
    pub(crate) fn push(&mut self, value: &Value) {
        match self {
            Self::Int64(builder) => builder.append_option(match value {
                Value::Int(number) => Some(*number),
                Value::UInt(number) => i64::try_from(*number).ok(),
                _ => None,
            }),
            Self::UInt64(builder) => builder.append_option(match value {
                Value::UInt(number) => Some(*number),
                Value::Int(number) => u64::try_from(*number).ok(),
                _ => None,
            }),
            Self::Float64(builder) => builder.append_option(match value {
                Value::Float(number) => Some(*number),
                _ => None,
            }),
            Self::Decimal128(builder, scale) => {
                builder.append_option(rescaled(value, *scale).and_then(i256::to_i128));
            }
            Self::Decimal256(builder, scale) => builder.append_option(rescaled(value, *scale)),
            Self::Bytes(builder) => builder.append_option(match value {
                Value::Bytes(bytes) => Some(bytes.as_slice()),
                _ => None,
            }),
        }
    }

    /// Finishes the column.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::UInt64(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::Decimal128(builder, _) => Arc::new(builder.finish()),
            Self::Decimal256(builder, _) => Arc::new(builder.finish()),
            Self::Bytes(builder) => Arc::new(builder.finish()),
        }
    }
}

/// The unscaled value of a decimal at a scale not less than its own.
fn rescaled(value: &Value, to: u8) -> Option<i256> {
    let Value::Decimal { unscaled, scale } = value else {
        return None;
    };
    let mut digits = *unscaled;
    for _ in *scale..to {
        digits = digits.checked_mul(i256::from_i128(10))?;
    }
    Some(digits)
}

/// A column with one value in `rows` rows.
pub(crate) fn constant(value: &Value, ty: &SqlType, rows: usize) -> ArrayRef {
    let mut builder = ColumnBuilder::with_capacity(ty, rows);
    for _ in 0..rows {
        builder.push(value);
    }
    builder.finish()
}

/// One row as a batch.
pub(crate) fn row<'t>(types: impl Iterator<Item = &'t SqlType>, values: &[Value]) -> Batch {
    let columns = types.zip(values).map(|(ty, value)| constant(value, ty, 1));
    Batch::new(columns.collect(), 1)
}

/// Rows as a batch: one value per column, NULL where a row is shorter.
pub(crate) fn batch<R: AsRef<[Value]>>(types: &[SqlType], rows: &[R]) -> Batch {
    let column = |(index, ty): (usize, &SqlType)| {
        let mut builder = ColumnBuilder::new(ty);
        for row in rows {
            builder.push(row.as_ref().get(index).unwrap_or(&Value::Null));
        }
        builder.finish()
    };
    Batch::new(types.iter().enumerate().map(column).collect(), rows.len())
}
