//! Arrays between the Arrow of Mayfly and that of DataFusion, which are of two versions.
//!
//! An array crosses by Arrow's C data interface: a pair of C structures that is the same in every version, with the array's own
//! buffers. Bytes are views in Mayfly, and are never views outside: they become offsets and values with one copy on their way
//! out, and views of the same values on their way in.

#![allow(unsafe_code)]

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_schema::DataType;
use datafusion::arrow::array::{
    ArrayRef as OutsideArray, RecordBatch, RecordBatchOptions, make_array as make_outside,
};
use datafusion::arrow::datatypes::{DataType as OutsideType, SchemaRef};
use datafusion::common::{DataFusionError, Result, internal_err};
use mayfly_types::{Batch, PhysicalType};

/// The most bytes that a column has in one batch outside, where offsets have 31 bits.
const MOST_BYTES: usize = 1 << 30;

/// The type that columns of `physical` have outside.
pub fn outside_type(physical: PhysicalType) -> OutsideType {
    match physical {
        PhysicalType::Bool => OutsideType::Boolean,
        PhysicalType::Int64 => OutsideType::Int64,
        PhysicalType::UInt64 => OutsideType::UInt64,
        PhysicalType::Float64 => OutsideType::Float64,
        PhysicalType::Decimal128(scale) => OutsideType::Decimal128(38, scale as i8),
        PhysicalType::Decimal256(scale) => OutsideType::Decimal256(76, scale as i8),
        PhysicalType::Bytes => OutsideType::Binary,
    }
}

/// The rows of `batch` outside: several batches where its bytes are too many for one.
pub fn outward(batch: &Batch, schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::with_capacity(1);
    outward_range(batch, schema, 0, batch.row_count(), &mut batches)?;
    Ok(batches)
}

/// Adds `rows` rows of `batch` from `start` on to `batches`.
fn outward_range(
    batch: &Batch,
    schema: &SchemaRef,
    start: usize,
    rows: usize,
    batches: &mut Vec<RecordBatch>,
) -> Result<()> {
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| column.slice(start, rows))
        .collect();
    if rows > 1
        && columns
            .iter()
            .any(|column| value_bytes(column) > MOST_BYTES)
    {
        let half = rows / 2;
        outward_range(batch, schema, start, half, batches)?;
        return outward_range(batch, schema, start + half, rows - half, batches);
    }
    let columns = columns
        .iter()
        .map(outward_column)
        .collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    batches.push(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?);
    Ok(())
}

/// The bytes of the values of a column of bytes.
fn value_bytes(column: &ArrayRef) -> usize {
    // The lower half of a view is the length of the value.
    let lengths = column
        .as_binary_view_opt()
        .map(|views| views.views().iter().map(|view| *view as u32 as usize));
    lengths.map_or(0, Iterator::sum)
}

/// A column outside.
fn outward_column(column: &ArrayRef) -> Result<OutsideArray> {
    let Some(views) = column.as_binary_view_opt() else {
        return export(column);
    };
    let mut values = BinaryBuilder::with_capacity(views.len(), value_bytes(column));
    for value in views {
        values.append_option(value);
    }
    let values: ArrayRef = Arc::new(values.finish());
    export(&values)
}

/// The rows of a batch from outside.
pub fn inward(batch: &RecordBatch) -> Result<Batch> {
    let columns = batch
        .columns()
        .iter()
        .map(inward_column)
        .collect::<Result<Vec<_>>>()?;
    Ok(Batch::new(columns, batch.num_rows()))
}

/// A column from outside.
fn inward_column(column: &OutsideArray) -> Result<ArrayRef> {
    let column = import(column)?;
    match column.data_type() {
        DataType::Binary => Ok(Arc::new(BinaryViewArray::from(column.as_binary::<i32>()))),
        DataType::Boolean
        | DataType::Int64
        | DataType::UInt64
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => Ok(column),
        other => internal_err!("a column of type {other} arrived"),
    }
}

/// An array of the outside version with the buffers of `array`.
fn export(array: &ArrayRef) -> Result<OutsideArray> {
    let (array, schema) = arrow_array::ffi::to_ffi(&array.to_data()).map_err(external)?;
    // SAFETY: both types are the C structure ArrowArray of the C data interface, with the same fields in the same order
    // (`#[repr(C)]`). The value is moved, so that its release callback is called once.
    let array = unsafe {
        std::mem::transmute::<arrow_array::ffi::FFI_ArrowArray, arrow_array_59::ffi::FFI_ArrowArray>(
            array,
        )
    };
    // SAFETY: as above, for the C structure ArrowSchema.
    let schema = unsafe {
        std::mem::transmute::<arrow_array::ffi::FFI_ArrowSchema, arrow_array_59::ffi::FFI_ArrowSchema>(
            schema,
        )
    };
    // SAFETY: `to_ffi` made both from a valid array, and says in them how to release it.
    let data = unsafe { arrow_array_59::ffi::from_ffi(array, &schema) }?;
    Ok(make_outside(data))
}

/// An array of Mayfly's version with the buffers of `array`.
fn import(array: &OutsideArray) -> Result<ArrayRef> {
    let (array, schema) = arrow_array_59::ffi::to_ffi(&array.to_data())?;
    // SAFETY: as in `export`.
    let array = unsafe {
        std::mem::transmute::<arrow_array_59::ffi::FFI_ArrowArray, arrow_array::ffi::FFI_ArrowArray>(
            array,
        )
    };
    // SAFETY: as in `export`.
    let schema = unsafe {
        std::mem::transmute::<arrow_array_59::ffi::FFI_ArrowSchema, arrow_array::ffi::FFI_ArrowSchema>(
            schema,
        )
    };
    // SAFETY: as in `export`.
    let data = unsafe { arrow_array::ffi::from_ffi(array, &schema) }.map_err(external)?;
    Ok(arrow_array::make_array(data))
}

/// An error of Mayfly's version of Arrow.
fn external(error: arrow_schema::ArrowError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::BinaryViewBuilder;
    use arrow_array::{
        BooleanArray, Decimal128Array, Decimal256Array, Float64Array, Int64Array, UInt64Array,
    };
    use arrow_buffer::i256;
    use datafusion::arrow::datatypes::{Field, Schema};

    use super::*;

    fn rows() -> (Batch, SchemaRef) {
        let mut bytes = BinaryViewBuilder::new();
        bytes.append_value(b"");
        bytes.append_null();
        bytes.append_value(b"short");
        bytes.append_value([7; 1000]);
        let wide = i256::from_parts(u128::MAX, -5);
        let columns: Vec<(PhysicalType, ArrayRef)> = vec![
            (
                PhysicalType::Bool,
                Arc::new(BooleanArray::from(vec![
                    Some(true),
                    None,
                    Some(false),
                    Some(true),
                ])),
            ),
            (
                PhysicalType::Int64,
                Arc::new(Int64Array::from(vec![
                    Some(i64::MIN),
                    None,
                    Some(0),
                    Some(i64::MAX),
                ])),
            ),
            (
                PhysicalType::UInt64,
                Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1, 2])),
            ),
            (
                PhysicalType::Float64,
                Arc::new(Float64Array::from(vec![-0.0, f64::MAX, 1.5, 2.5])),
            ),
            (
                PhysicalType::Decimal128(4),
                Arc::new(
                    Decimal128Array::from(vec![Some(i128::MAX / 10), None, Some(-1), Some(0)])
                        .with_precision_and_scale(38, 4)
                        .expect("decimal"),
                ),
            ),
            (
                PhysicalType::Decimal256(30),
                Arc::new(
                    Decimal256Array::from(vec![
                        Some(wide),
                        None,
                        Some(i256::ZERO),
                        Some(i256::ONE),
                    ])
                    .with_precision_and_scale(76, 30)
                    .expect("decimal"),
                ),
            ),
            (PhysicalType::Bytes, Arc::new(bytes.finish())),
        ];
        let fields: Vec<_> = columns
            .iter()
            .map(|(physical, _)| Field::new(format!("{physical:?}"), outside_type(*physical), true))
            .collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        (Batch::new(arrays, 4), Arc::new(Schema::new(fields)))
    }

    #[test]
    fn rows_return_as_they_left() {
        let (batch, schema) = rows();
        let outside = outward(&batch, &schema).expect("outward");
        assert_eq!(outside.len(), 1);
        let inside = inward(&outside[0]).expect("inward");
        for (left, returned) in batch.columns().iter().zip(inside.columns()) {
            assert_eq!(left.as_ref(), returned.as_ref());
        }
    }

    #[test]
    fn a_part_of_the_rows_returns_as_it_left() {
        let (batch, schema) = rows();
        let part = Batch::new(
            batch
                .columns()
                .iter()
                .map(|column| column.slice(1, 2))
                .collect(),
            2,
        );
        let outside = outward(&part, &schema).expect("outward");
        let inside = inward(&outside[0].slice(1, 1)).expect("inward");
        for (left, returned) in part.columns().iter().zip(inside.columns()) {
            assert_eq!(left.slice(1, 1).as_ref(), returned.as_ref());
        }
    }

    #[test]
    fn rows_without_columns_keep_their_number() {
        let schema = Arc::new(Schema::empty());
        let outside = outward(&Batch::new(Vec::new(), 5), &schema).expect("outward");
        assert_eq!(inward(&outside[0]).expect("inward").row_count(), 5);
    }
}
